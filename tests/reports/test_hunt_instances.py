"""Hunts over parameters: the smallest exact counterexample, and the control without an assumption."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.orders import InputError
from marginaudit.reports.audit.user_claims import claims_of_file
from marginaudit.reports.hunt import Hunt, hunt
from tests.command_line import Command

CLAIMS = '''\
import math
from marginaudit import Bounded, Claim, by_formula, floats, integers, vectors

def small_step(of):
    """eta <= 1/L"""
    return of.eta * of.L <= 1

def whole(of):
    return None

def decrease(of):
    return of.L * (of.x**2 - (of.x - of.eta * of.L * of.x) ** 2) / 2

def exp(K):
    return K.exp() if hasattr(K, "exp") else by_formula(math.exp(K))

about = dict(source="a test", statement="..", formula="x")
STEP = dict(L=floats(1, 10), eta=floats(0.1, 1), x=floats(-5, 5))
n = integers(1, 6)
CLAIMS = [
    Claim(id="mine.descent", **about, box=STEP, assumptions=(small_step,),
          judgement=Bounded(decrease, lower=lambda of, _: of.eta * (of.L * of.x) ** 2 / 2)),
    Claim(id="mine.short", **about, box=dict(n=n, x=vectors(n, 0, 1)), assumptions=(),
          judgement=Bounded(lambda of: sum(of.x), upper=lambda of, _: 2)),
    Claim(id="mine.exp", **about, box=dict(K=floats(0, 3)), assumptions=(),
          judgement=Bounded(lambda of: exp(of.K), upper=lambda of, _: 5)),
    Claim(id="mine.strip", **about, box=dict(K=floats(0, 1)), assumptions=(),
          judgement=Bounded(lambda of: of.K, upper=lambda of, _: of.K if of.K < 0.3 or of.K > 0.301 else 0)),
    Claim(id="mine.whole", **about, box=dict(K=floats(0, 1)), assumptions=(whole,),
          judgement=Bounded(lambda of: of.K, upper=lambda of, _: 1)),
    Claim(id="mine.none", **about, paper="instances", judgement=Bounded(lambda of: of.K, upper=lambda of, _: 1)),
]
'''


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(CLAIMS, encoding="utf-8")
    return file


def found(path: Path, claim: str, **more: Any) -> Hunt:
    return hunt(claims_of_file(path, [])[claim], INSTANCES, **{"seconds": 10, **more})


def test_without_its_assumption_a_statement_has_a_smallest_counterexample(path: Path) -> None:
    without = found(path, "mine.descent", without="small_step")
    assert without.dataset is not None
    assert without.finding is not None
    assert without.dataset.values == {"L": 2, "eta": 1, "x": 1}
    assert without.finding.evidence == "exact"
    kept = found(path, "mine.descent", seconds=3)
    assert (kept.dataset, kept.tried > 0) == (None, True)


def test_vectors_are_shortened(path: Path) -> None:
    dataset = found(path, "mine.short").dataset
    assert dataset is not None
    assert dataset.values == {"n": 3, "x": (1, 1, 1)} or dataset.complexity <= 9


def test_a_violation_in_float64_is_judged_again_in_balls(path: Path) -> None:
    result = found(path, "mine.exp")
    assert result.dataset is not None
    assert result.finding is not None
    assert result.dataset.values == {"K": 2}
    assert result.finding.evidence == "certified"


def test_a_narrow_strip_is_found_by_drawing(path: Path) -> None:
    result = found(path, "mine.strip")
    assert result.dataset is not None
    assert result.dataset.values == {"K": Fraction(3, 10)}


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("mine.whole", "claim mine.whole: assumption whole: got Unreportable: returned None as assumption whole"),
        ("mine.none", "claim mine.none: got no box of parameters to hunt in"),
    ],
)
def test_what_cannot_be_hunted_says_why(path: Path, claim: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        found(path, claim, seconds=1)


def test_a_claim_about_all_instances_together_is_not_hunted(command: Command, path: Path) -> None:
    about_all = "AllInstances(lambda of: of.K, shape=lambda of: 1, size=lambda of: of.K)"
    text = CLAIMS.replace("Bounded(lambda of: of.K, upper=lambda of, _: 1)),\n]", f"{about_all}),\n]")
    path.write_text(text.replace("import Bounded", "import AllInstances, Bounded"), encoding="utf-8")
    line = command.refused("hunt", "mine.none", "--claims", path)
    assert line.endswith("claim mine.none: got a claim about all instances together, expected one about each by itself")


def test_the_command_writes_an_instance_that_an_audit_reads(command: Command, path: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    options = ("--claims", path, "--without", "small_step", "--seconds", "10", "--out", out)
    answer = command.json("hunt", "mine.descent", *options)
    assert (answer["found"], answer["evidence"]) == (True, "exact")
    row = command.json("audit", out, "--claims", path, "--claim", "mine.descent", "--out", tmp_path / "report")
    assert row["verdicts"][0]["failed_assumption"] == "small_step"
    told = command("hunt", "mine.descent", "--claims", path, "--seconds", "1", "--out", tmp_path / "none.json").out
    assert "no counterexample to mine.descent in" in told


def test_the_template_is_hunted_and_not_tightened(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    command("new-claim", path)
    answer = command.json(
        *("hunt", "mine.descent-control", "--claims", path, "--seconds", "5", "--out", tmp_path / "found.json")
    )
    assert (answer["found"], answer["evidence"]) == (True, "exact")
    line = command.refused("tighten", "mine.descent", "--claims", path, "--out", tmp_path / "found.svg")
    assert "got a claim about instances, expected one about a paper's datasets or worst cases" in line
    assert line.endswith("; marginaudit hunt mine.descent searches its box")
