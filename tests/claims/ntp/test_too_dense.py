"""Beyond so many tokens nothing is made of all pairs: what needs none is judged all the same, the rest says why."""

import json
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.ntp import Config, Run
from marginaudit.margins.ntp import TooDenseError, constraints, solve_kq
from marginaudit.orders.ntp import Dataset, QueryOrder, Sample, dataset_to_document, free_dataset
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.ntp.tables import DIRECTION, PROPOSITION2
from marginaudit.reports.python import audit
from tests.command_line import Command

SIZE = "8 tokens, 8 x 8 weights none of which is zero"
REASON = f"W_ov is not computed: {SIZE}"


def small() -> Dataset:
    return free_dataset(V=8, N=30, L=4, seed=3)


@pytest.fixture
def seven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight tokens are too many; neither their one-hot embeddings nor lists of the unrelated ones are made."""

    def made(_: Dataset | QueryOrder) -> NoReturn:
        raise MemoryError("all pairs of many tokens")

    monkeypatch.setattr(constraints, "MOST_TOKENS", 7)
    monkeypatch.setattr(Dataset, "embeddings", property(made))
    monkeypatch.setattr(QueryOrder, "non_comparable", property(made))


@pytest.fixture
def whole() -> dict[str, Verdict]:
    """The verdicts where nothing is too dense; made before `seven`."""
    run = Run(small(), Config(steps1=900))
    return {claim.id: claim.judge(run).verdict for claim in PAPER.claims}


def test_each_statement_has_the_verdict_of_the_whole_audit_or_says_why_not(
    whole: dict[str, Verdict], seven: None
) -> None:
    run = Run(small(), Config(steps1=900))
    found = {claim.id: claim.judge(run) for claim in PAPER.claims}
    open_ones = {name: one for name, one in found.items() if one.verdict is Verdict.INCONCLUSIVE}
    assert all(SIZE in one.detail for one in open_ones.values())
    decided = {name: one.verdict for name, one in found.items() if name not in open_ones}
    assert {name: verdict for name, verdict in decided.items() if verdict is not whole[name]} == {}
    assert {"ntp.gradient.ov", "ntp.theorem1.direction", "sharp.prop2", "ntp.prop2.corollary"} <= decided.keys()


def test_facts_and_tables_have_what_needs_no_training(seven: None) -> None:
    run = Run(small())
    said = PAPER.facts(run)
    assert (said["ov"], said["kq"]["method"], said["steps2"], said["not_trained"]) == (None, "exact", None, REASON)
    assert DIRECTION.of(run)["stage2"] == []
    assert DIRECTION.of(run)["notes"]["stage1"] == [f"Not trained: {REASON}."]
    rows = PROPOSITION2.of(run)
    assert rows
    assert all(row["solved"] and row["trained"] is None for row in rows)
    assert {row["note"] for row in rows} == {f"Not trained: {REASON}."}


def test_the_report_says_so_and_checks_the_one_solution(seven: None, tmp_path: Path) -> None:
    audit(small()).save(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"<td>{REASON}</td>" in page
    assert "--only kq --certificate 1.json" in page


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("train", "{}"), "at most 7 tokens"),
        (("relax", "{}"), "at most 7 tokens"),
        (("solve", "{}"), "at most 7 tokens, or W*_kq alone"),
        (("solve", "{}", "--only", "kq", "--method", "cvxpy"), "at most 7 tokens"),
    ],
)
def test_commands_that_need_all_pairs_refuse_in_one_line(
    command: Command, seven: None, tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    path = tmp_path / "eight.json"
    path.write_text(json.dumps(dataset_to_document(small())), encoding="utf-8")
    answer = command(*(argument.format(path) for argument in arguments))
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert "got 8 tokens, 8 x 8 weights" in answer.err
    assert answer.err.endswith(f"expected {expected}\n")


def test_a_quadratic_program_over_all_pairs_is_refused_and_the_audit_goes_on(seven: None) -> None:
    data = small()
    chain = (Sample(("x1", "x2", "x3"), data.next_token["x1"]), Sample(("x4", "x1", "x3"), data.next_token["x4"]))
    confused = replace(data, samples=chain, counts=(1, 1))
    with pytest.raises(TooDenseError, match="8 x 8 weights as x3 has confused tokens, expected at most 7 tokens"):
        solve_kq(confused)
    assert PAPER.facts(Run(confused))["kq"]["status"] == "not solved"
    with pytest.raises(TooDenseError, match="of tokens that are not orthonormal"):
        solve_kq(replace(data, embedding=np.ones((8, 2))))
