"""What a sweep of audits says of each statement."""

import csv
import json
import statistics
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.run import Run
from marginaudit.orders.ntp import free_dataset
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.study.grid import audited
from marginaudit.reports.study.merge import page, placed, statement_rows
from marginaudit.reports.study.spec import Spec
from tests.command_line import Command

WORDS = ("verdict", "side", "constant", "slack")


PLACE = partial(placed, ("V", "seed"))


def spec(text: str = "") -> Spec:
    return cast(Spec, SimpleNamespace(name="corpus", text=text))


def runs(claim: str, **columns: list[Any]) -> list[dict[str, Any]]:
    count = len(next(iter(columns.values())))
    return [
        {"V": 4 + i // 2, "seed": i % 2, "status": "done"}
        | {f"{claim}:{word}": values[i] for word, values in columns.items()}
        for i in range(count)
    ]


def row(claim: str, **columns: list[Any]) -> dict[str, Any]:
    (found,) = statement_rows([f"{claim}:{word}" for word in WORDS], runs(claim, **columns), PLACE)
    return found


class TestCounts:
    def test_each_verdict_is_counted_and_the_first_of_the_worst_named(self) -> None:
        found = row("a", verdict=["holds", "vacuous", "violated", "holds", "violated", "inconclusive"])
        assert {name: found[name] for name in ("audits", "holds", "vacuous", "violated", "inconclusive", "broken")} == {
            "audits": 6,
            "holds": 2,
            "vacuous": 1,
            "violated": 2,
            "inconclusive": 1,
            "broken": 0,
        }
        assert (found["worst"], found["worst in"]) == ("violated", "V = 5, seed = 0")

    def test_a_run_that_failed_is_no_audit(self) -> None:
        made = runs("a", verdict=["violated", "holds"])
        made[0] |= {"status": "failed", "a:verdict": None}
        (found,) = statement_rows(["a:verdict"], made, PLACE)
        assert (found["audits"], found["violated"], found["worst"]) == (1, 0, "holds")

    def test_nothing_is_said_where_no_run_is_done(self) -> None:
        (found,) = statement_rows(["a:verdict"], [{"V": 4, "seed": 0, "status": "killed", "a:verdict": None}], PLACE)
        assert (found["audits"], found["worst"], found["worst in"]) == (0, None, None)

    def test_claims_whose_verdicts_are_not_kept_have_no_row(self) -> None:
        assert statement_rows(["a:slack"], runs("a", slack=[1.0]), PLACE) == []


VALUES = [float(k) for k in range(1, 41)]


class TestNumbers:
    @pytest.mark.parametrize(
        ("side", "word", "worst", "but", "place"),
        [
            ("upper", "constant", 40.0, 39.0, "V = 23, seed = 1"),
            ("lower", "constant", 1.0, 2.0, "V = 4, seed = 0"),
            ("upper", "slack", 1.0, 2.0, "V = 4, seed = 0"),
            ("lower", "slack", 1.0, 2.0, "V = 4, seed = 0"),
        ],
    )
    def test_which_is_worst(self, side: str, word: str, worst: float, but: float, place: str) -> None:
        found = row("a", verdict=["holds"] * 40, side=[side] * 40, **{word: VALUES})
        assert (found[f"{word} worst"], found[f"{word} worst in"]) == (worst, place)
        assert found[f"{word} median"] == statistics.median(VALUES)
        assert found[f"{word} worst but 5%"] == but
        worse = [v for v in VALUES if (v > but) == (worst > but) and v != but]
        assert len(worse) <= 0.05 * len(VALUES)
        other = "slack" if word == "constant" else "constant"
        assert found[f"{other} worst"] is None

    def test_bounds_on_both_sides_have_no_worst_constant(self) -> None:
        found = row("a", verdict=["holds"] * 2, side=["upper", "lower"], slack=[2.0, 10.0], constant=[1.0, 2.0])
        assert (found["slack worst"], found["constant worst"]) == (2.0, None)

    def test_a_violated_audit_without_a_number_leaves_no_worst(self) -> None:
        found = row("a", verdict=["holds", "violated"], side=["upper"] * 2, slack=[2.0, 0.5], constant=[3.0, None])
        assert (found["slack worst"], found["constant worst"], found["constant median"]) == (0.5, None, None)

    def test_audits_without_the_number_are_left_out(self) -> None:
        found = row("a", verdict=["holds"] * 3, side=["upper", None, "upper"], slack=[3.0, None, 2.0])
        assert (found["slack worst"], found["slack worst in"], found["slack median"]) == (2.0, "V = 5, seed = 0", 2.5)


def test_a_run_is_an_audit() -> None:
    data, configs = free_dataset(V=4, N=8, L=3, seed=2), [Config(steps1=9, steps2=9), Config(steps1=20, steps2=50)]
    keep = ["ntp.prop1.loss:constant", "ntp.theorem1.direction:verdict"]
    found = audited(PAPER, data, configs, keep)
    for config, results in zip(configs, found, strict=True):
        run = Run(data, config)
        claims = {claim.id: claim for claim in PAPER.claims}
        loss, direction = (claims[name].judge(run) for name in ("ntp.prop1.loss", "ntp.theorem1.direction"))
        assert results["ntp.prop1.loss:constant"] == loss.constant is not None
        assert results["ntp.theorem1.direction:verdict"] == direction.verdict
        assert results["ntp.theorem1.direction:evidence"] == "proved"  # not float64
        assert {name.partition(":")[0] for name in results} == {"ntp.prop1.loss", "ntp.theorem1.direction"}


def test_the_page_ranks_escapes_and_names_what_was_run() -> None:
    keep = [f"{claim}:{word}" for claim in ("a", "<b>") for word in WORDS]
    made = [
        {**one, **two}
        for one, two in zip(
            runs("a", verdict=["holds"], side=["upper"], slack=[2.5]), runs("<b>", verdict=["violated"]), strict=True
        )
    ]
    rows = statement_rows(keep, made, PLACE)
    html = page(spec("# <i>"), rows, made, b"<?xml?><svg><g/></svg>")
    assert "1 of 1 audit done. 1 of 2 statements fails" in html
    assert html.index("&lt;b&gt;") < html.index('<td class="id" data-label="statement">a</td>')
    assert "<b>" not in html
    assert "# &lt;i&gt;" in html
    assert "<figure><svg><g/></svg></figure>" in html
    assert '<td data-label="of its">slack</td><td class="n" data-label="worst">2.5</td>' in html
    assert [html.count(f'{wrong}" data-label="violated">') for wrong in ("worse", "none")] == [1, 1]
    assert "<figure>" not in page(spec(), rows, made, None)


SPEC = """
paper = "ntp"
seeds = 2
keep = ["ntp.theorem*:verdict", "ntp.theorem*:side", "ntp.theorem*:slack"]
[data]
generator = "free"
V = [4, 5]
N = 8
L = 3
[settings]
steps1 = 9
steps2 = 9
"""
"""Of audits that take seconds."""


@pytest.mark.slow
def test_a_sweep_of_audits_writes_statements(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SPEC, encoding="utf-8")
    answer = json.loads(command("sweep", str(path), "--out", "out", "--jobs", "1", "--json").out)
    with Path("out/statements.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [one["claim"] for one in written] == [one["claim"] for one in answer["statements"]]
    false = "ntp.theorem3.prediction.any-length"
    (found,) = (one for one in answer["statements"] if one["claim"] == false)
    assert (found["violated"], found["worst in"]) == (4, "V = 4, seed = 0")
    assert false in Path("out/sweep.html").read_text(encoding="utf-8")
    printed = command("sweep", str(path), "--out", "out", "--jobs", "1").out
    assert printed.splitlines()[1].split()[:2] == ["claim", "violated"]


def test_a_statement_that_fails_often_fails_once() -> None:
    made = runs("a", verdict=["violated"] * 3, side=["upper"] * 3, slack=[0.5] * 3)
    html = page(spec(), statement_rows([f"a:{word}" for word in WORDS], made, PLACE), made, None)
    assert "3 of 3 audits done. 1 of 1 statement fails" in html
