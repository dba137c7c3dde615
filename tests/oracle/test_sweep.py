"""The sweep: a few random audits on every run of the tests, and lies planted in the rows of real ones."""

import dataclasses
import random
import re
from collections.abc import Iterator
from typing import Any

import flint
import numpy as np
import pytest

from tests.oracle.audited import Audited, audited
from tests.oracle.checking import (
    STATEMENTS,
    assumption_faults,
    check,
    experiment,
    record_faults,
    row_faults,
    solution_faults,
)
from tests.oracle.definitions import assumptions
from tests.oracle.experiment import BITS, Experiment
from tests.oracle.problem import problem
from tests.oracle.random_audits import Settings, random_audit, random_document
from tests.oracle.sweep import HARMLESS, main

FIRST, AUDITS = 7000, 8
LONGEST = 40
"""Steps of both stages here; the sweep has long runs too."""

EXAMPLE = {"name": "example", "sentences": [list(sentence) for sentence in ("SVOP", "VOP", "OPP", "PSV")]}

SETTINGS = Settings(12, 25, 0.5, 0.3, None, 0)


def short(settings: Settings) -> Settings:
    steps1, steps2 = min(settings.steps1, LONGEST), min(settings.steps2 or LONGEST, LONGEST)
    at = settings.at and (tuple(t for t in settings.at if t <= max(steps1, steps2)) or (0,))
    return dataclasses.replace(settings, steps1=steps1, steps2=steps2, at=at)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + AUDITS))
def test_a_random_audit_is_right(seed: int) -> None:
    document, settings = random_audit(seed)
    found = check(document, audited(document, short(settings)))
    assert [(claim, one) for claim, one in found if one.kind not in HARMLESS] == []


@pytest.fixture(scope="module")
def example() -> Audited:
    audit = audited(EXAMPLE, SETTINGS)
    assert check(EXAMPLE, audit) == []
    return audit


@pytest.fixture(scope="module")
def truth(example: Audited) -> Experiment:
    return experiment(EXAMPLE, example)


@pytest.fixture(autouse=True)
def _bits() -> Iterator[None]:
    with flint.ctx.workprec(BITS):
        yield


def lie_found(truth: Experiment, audit: Audited, claim: str, **changes: int | str | None) -> set[str]:
    """Kinds of what is found wrong with a claim's row once it is changed."""
    return {found.kind for found in row_faults(claim, dict(audit.rows[claim]) | changes, truth, audit)}


DECIDED = sorted(
    name
    for name in set(STATEMENTS) - {"ntp.theorem2.rate", "ntp.theorem3.order"}
    if not name.startswith(("sharp.floor", "sharp.rate"))
)
"""What a run so short decides; the others are limits."""

FROM_A_THRESHOLD = ("ntp.lemma7", "ntp.lemma7.rederived", "ntp.theorem3.order.any-t", "ntp.theorem3.prediction")
"""Entries can refute these and not prove them."""


@pytest.mark.parametrize("claim", DECIDED)
def test_a_verdict_turned_around_is_noticed(truth: Experiment, example: Audited, claim: str) -> None:
    row = example.rows[claim]
    other = {"holds": "violated", "violated": "holds", "vacuous": "holds"}[row["verdict"]]
    if claim not in FROM_A_THRESHOLD:
        assert "verdict" in lie_found(truth, example, claim, verdict=other, first_violation=row["worst_step"])
    assert "verdict" in lie_found(truth, example, claim, verdict="not-applicable")
    assert lie_found(truth, example, claim, verdict="broken") >= {"broken"}


@pytest.mark.parametrize("name", ["measured", "bound"])
@pytest.mark.parametrize("claim", ["ntp.lemma5", "ntp.theorem1.norm", "ntp.prop1.direction", "sharp.theorem1"])
def test_a_number_that_is_off_is_noticed(truth: Experiment, example: Audited, claim: str, name: str) -> None:
    off = example.rows[claim][name] * 1.001 + 1e-6
    assert lie_found(truth, example, claim, **{name: off}) == {"number"}


def test_hidden_constants_are_compared(truth: Experiment, example: Audited) -> None:
    for claim in ("ntp.prop1.loss", "ntp.theorem3.order.any-t"):
        off = example.rows[claim]["constant"] * 1.001
        assert lie_found(truth, example, claim, constant=off) == {"number"}


@pytest.mark.parametrize("claim", ["ntp.prop1.direction", "ntp.theorem1.direction", "sharp.theorem1"])
@pytest.mark.parametrize("off", [-1, 1])
def test_the_first_informative_step_is_compared(truth: Experiment, example: Audited, claim: str, off: int) -> None:
    step = example.rows[claim]["informative_from"]
    assert lie_found(truth, example, claim, informative_from=step + off) == {"number"}


def test_what_is_said_of_short_sentences_is_compared(truth: Experiment, example: Audited) -> None:
    detail = example.rows["ntp.theorem3.prediction.any-length"]["detail"]
    told = re.search(r": (\d+) are answered", detail), re.search(r"by length: 2: (\w+)", detail)
    count, since = (found[1] for found in told if found is not None)
    for lie in (
        detail.replace(f": {count} are answered", f": {int(count) - 1} are answered"),
        detail.replace(f"by length: 2: {since}", "by length: 2: never"),
        detail.replace(f"by length: 2: {since}", f"by length: 2: {int(since) - 1} or earlier"),
    ):
        assert lie_found(truth, example, "ntp.theorem3.prediction.any-length", detail=lie) == {"evidence"}


def test_a_first_step_that_error_bars_leave_open_is_no_lie(truth: Experiment, example: Audited) -> None:
    detail = example.rows["ntp.theorem3.prediction.any-length"]["detail"]
    later = re.sub(r"by length: 2: \d+", "by length: 2: 5 or earlier", detail)
    assert later != detail
    assert not lie_found(truth, example, "ntp.theorem3.prediction.any-length", detail=later)


def test_a_longer_sentence_is_no_shortest_one(truth: Experiment, example: Audited) -> None:
    witness = example.rows["ntp.theorem3.prediction.any-length"]["witness"]
    longer = witness | {"copies": witness["copies"] + 1}
    assert lie_found(truth, example, "ntp.theorem3.prediction.any-length", witness=longer) == {"evidence"}


def test_assumptions_are_compared(truth: Experiment, example: Audited) -> None:
    lie = dataclasses.replace(example, assumptions=dict(example.assumptions) | {"optimal_majority": False})
    assert [name for name, _ in assumption_faults(truth, lie)] == ["optimal_majority"]
    lie = dataclasses.replace(example, classes=dict(example.classes) | {"S": (("S",), ("V",), (), ("O", "P"))})
    assert [name for name, _ in assumption_faults(truth, lie)] == ["classes"]


@pytest.mark.parametrize(
    ("which", "changes"),
    [("kq", {"exact": 2}), ("ov", {"value": 3.00001}), ("kq", {"value": None}), ("kq", {"weights": {}})],
)
def test_solutions_are_compared(truth: Experiment, example: Audited, which: str, changes: dict[str, Any]) -> None:
    norm = dataclasses.replace(example.solved[which], **changes)
    lie = dataclasses.replace(example, solved=dict(example.solved) | {which: norm})
    assert [name for name, _ in solution_faults(truth, lie)] == [which]


@pytest.mark.parametrize("name", ["norm", "one_minus_cos"])
def test_a_recorded_number_outside_its_bar_is_noticed(truth: Experiment, example: Audited, name: str) -> None:
    column = example.columns[name].copy()
    column[20] *= 1 + 1e-7
    lie = dataclasses.replace(example, columns=dict(example.columns) | {name: column})
    assert [name for name, _ in record_faults(truth, lie)] == [f"train.{name}"]


def test_a_recorded_number_where_nothing_is_known_is_noticed(truth: Experiment, example: Audited) -> None:
    bars = np.where(np.arange(len(example.stage2)) == 20, 2.0, example.columns["distance_error"])
    lie = dataclasses.replace(example, columns=dict(example.columns) | {"distance_error": bars})
    assert [name for name, _ in record_faults(truth, lie)] == ["train.norm", "train.one_minus_cos"]


@pytest.mark.parametrize("name", ["log_loss", "log_other_weight"])
def test_a_recorded_logarithm_outside_its_bar_is_noticed(truth: Experiment, example: Audited, name: str) -> None:
    value, radius = example.logarithms[name]
    off = value + np.where(np.arange(len(value)) == 20, 1e-9, 0)
    lie = dataclasses.replace(example, logarithms=dict(example.logarithms) | {name: (off, radius)})
    assert [name for name, _ in record_faults(truth, lie)] == [f"train.{name}"]


def test_the_command_reports_and_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, example: Audited
) -> None:
    monkeypatch.setattr("tests.oracle.sweep.random_audit", lambda seed: (EXAMPLE, SETTINGS))
    monkeypatch.setattr("tests.oracle.sweep.audited", lambda document, settings: example)
    assert main(["--audits", "1"]) == 0
    assert f"1 audits, {len(STATEMENTS)} verdicts" in capsys.readouterr().out
    lie = dict(example.rows) | {"ntp.lemma3": dict(example.rows["ntp.lemma3"]) | {"verdict": "violated"}}
    monkeypatch.setattr("tests.oracle.sweep.audited", lambda *_: dataclasses.replace(example, rows=lie))
    assert main(["--audits", "1"]) == 1
    assert "verdict: ntp.lemma3: violated" in capsys.readouterr().out


def test_random_documents_meet_and_break_every_assumption() -> None:
    found = [assumptions(problem(random_document(random.Random(seed)))) for seed in range(300)]
    for name in found[0]:
        assert 0 < sum(one[name] for one in found) < len(found), name
    assert sum(all(holds for name, holds in one.items() if name != "prefix_closed") for one in found) > 100
