"""`audit --check-bars`: error bars by hand against a rerun in 256 bits; no right bar is accused."""

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest

import marginaudit
from marginaudit import (
    AllInstances,
    Bounded,
    Claim,
    Equal,
    Evidence,
    HiddenConstant,
    Verdict,
    audit,
    by_formula,
    instance,
    iterate,
)
from marginaudit.claims import Parts
from marginaudit.reports.audit import check_bars
from marginaudit.reports.audit.check_bars import Checked, in_more_digits
from marginaudit.reports.python import Report
from marginaudit.training.digits import Tracked
from tests.command_line import Command

Series: Any = marginaudit.Series
"""It takes lists and ranges, too."""

X, R, STEPS = 0.3, 3.75, 40
EDGE = instance("edge", x=X, r=R)


def walk(p: Any) -> list[Any]:
    x, found = p.x, []
    for _ in range(STEPS):
        x = p.r * x * (1 - x)
        found.append(x)
    return found


def true_walk() -> list[Fraction]:
    x, found = Fraction(X), []
    for _ in range(12):
        x = Fraction(R) * x * (1 - x)
        found.append(x)
    return found


def claim(measure: Any, name: str = "mine", **more: Any) -> Claim:
    judgement = more.pop("judgement", Bounded(measure, upper=lambda p, t: 1))
    return Claim(id=name, source="", statement="It is so.", assumptions=(), judgement=judgement, **more)


def checked(measure: Any, of: Any = EDGE, **more: Any) -> Report:
    return audit(of, [claim(measure, **more)], check_bars=True)


def said(measure: Any, of: Any = EDGE, **more: Any) -> str:
    """Verdict, and what its detail says of the bar."""
    [row] = checked(measure, of, **more).rows
    _, _, found = row.finding.detail.partition("Its error bar is ")
    return f"{row.finding.verdict}: {found}" if found else str(row.finding.verdict)


def test_a_bar_of_one_rounding_is_wrong_after_chaotic_steps() -> None:
    [row] = checked(lambda p: Series(walk(p), 1e-15, range(1, STEPS + 1))).rows
    assert row.finding.verdict is Verdict.BROKEN
    assert "at t = 40 the value 0.600986 is off by 1.6e-09, and its bar is 1e-15" in row.finding.detail
    assert row.finding.witness is not None
    assert row.finding.witness["bar"] == 1e-15
    assert (row.finding.measured, row.finding.slack) == (None, None)


def test_a_derived_bar_is_confirmed_and_the_verdict_stays() -> None:
    bars = [1e-15 * 4.0**t for t in range(STEPS)]
    assert said(lambda p: Series(walk(p)[:20], bars[:20], range(1, 21))) == "holds: confirmed in 256 bits."


def test_no_bar_that_holds_is_accused_to_the_last_digit() -> None:
    """Bars around the exact errors: all that contain the truth are accepted, half of them are wrong."""
    first, exact = [float(x) for x in walk(instance("edge", x=X, r=R).value)[:12]], true_walk()
    off = [abs(Fraction(x) - truth) for x, truth in zip(first, exact, strict=True)]
    up = [math.nextafter(float(one), math.inf) for one in off]
    assert said(lambda p: Series(walk(p)[:12], up)) == "holds: confirmed in 256 bits."
    assert said(lambda p: Series(walk(p)[:12], [0.75 * one for one in up])).startswith("holds: in doubt: the value")
    assert said(lambda p: Series(walk(p)[:12], [0.45 * one for one in up])).startswith("broken: wrong: the value")
    at_last = [1.0] * 11 + [0.45 * up[-1]]
    assert "at b" in said(lambda p: Series(walk(p)[:12], at_last, label=("a",) * 11 + ("b",)))
    at_first = [1e-3 * up[0], *at_last[1:]]
    assert "at a" in said(lambda p: Series(walk(p)[:12], at_first, label=("a",) * 11 + ("b",)))


def test_a_bar_for_the_truncation_of_both_runs_is_not_accused() -> None:
    """Newton's steps until they are short: in more digits they end elsewhere, within the bars of both runs."""

    def root(p: Any) -> Any:
        x = p.x
        for _ in range(100):
            moved = (x + 2 / x) / 2
            if abs(moved - x) < 1e-3:
                break
            x = moved
        return Series([x], 2e-3)

    assert said(root, instance("root", x=1.0)) == "violated: confirmed in 256 bits."


@pytest.mark.parametrize(
    ("measure", "why"),
    [
        (lambda p: Series([math.exp(-p.x)], 1e-15), "test_check_bars.py line"),
        (lambda p: Series(np.array([p.x], dtype=float), 1e-15), "converts to float64"),
        (lambda p: Series([np.random.default_rng().random() * p.x], 1e-15), "other values the second time"),
        (lambda p: Series([0.1 + 0.2], 0), "its values are float64 in the second run, too"),
        (lambda p: Series([float(f"{p.x:.2f}")], 1e-15), "TypeError"),
        (lambda p: Series([p.x] * (1 if isinstance(p.x, float) else 2), 0), "others in more digits"),
        (lambda p: Series([(p.x + 2.0**300) - 2.0**300], 1e-15), "256 bits do not keep its digits"),
    ],
)
def test_what_could_not_be_rerun_is_said_and_not_accused(measure: Any, why: str) -> None:
    found = said(measure)
    assert found.startswith("holds: not checked, as it could not be rerun: ")
    assert why in found


def test_a_rerun_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_bars, "forkable", lambda **_: True)  # whatever threads other tests have left here

    def slow(p: Any) -> Any:
        while isinstance(p.x, Tracked):
            pass
        return Series([p.x], 0)

    found = audit(EDGE, [claim(slow)], check_bars=True, claim_timeout=2.0).rows[0].finding
    assert found.verdict is Verdict.HOLDS
    assert "as it could not be rerun: its process was ended after 2 s" in found.detail


def test_exact_numbers_and_balls_have_no_bar_by_hand() -> None:
    assert said(lambda p: Fraction(1, 3)) == "holds"
    assert said(lambda p: flint.arb(1) / 3) == "holds"
    assert said(lambda p: Series([Fraction(1, 3)], 0, evidence=Evidence.EXACT)) == "holds"
    assert said(lambda p: by_formula(np.exp(-p.x))) == "holds: confirmed in 256 bits."
    assert said(lambda p: iterate(lambda x: p.r * x * (1 - x), p.x, [1])) == "holds: confirmed in 256 bits."


def test_every_form_of_statement_with_bars_is_checked() -> None:
    def tight(p: Any) -> Any:
        return Series(walk(p), 1e-15, range(1, STEPS + 1))

    def right(p: Any) -> Any:
        return Series(walk(p), 1.0, range(1, STEPS + 1))

    def lost(p: Any) -> Any:
        return Series([math.exp(-p.x)], 1.0)

    for judgement in (
        Equal(right, tight),
        HiddenConstant(tight, lambda p, t: t**0),
        Parts({"first": Bounded(lost, upper=lambda p, t: 1), "second": Bounded(tight, upper=lambda p, t: 1)}),
    ):
        assert said(None, judgement=judgement).startswith("broken: wrong: at t = 40")
    last = AllInstances(lambda p: Series(walk(p)[-1:], 1e-15), shape=lambda p: 1, size=lambda p: 1)
    details = [row.finding.detail for row in audit([EDGE], [claim(None, judgement=last)], check_bars=True).rows]
    assert any("Its error bar is wrong" in detail for detail in details)


def test_without_the_option_nothing_is_rerun() -> None:
    row = audit(EDGE, [claim(lambda p: Series(walk(p), 1e-15, range(1, STEPS + 1)))]).rows[0]
    assert (row.finding.verdict, "Its error bar" in row.finding.detail) == (Verdict.HOLDS, False)


def test_values_of_instances_in_more_digits() -> None:
    @dataclass
    class Pair:
        x: Any
        n: int

    found = in_more_digits({"a": np.array([[0.5, 1.5]]), "b": [Fraction(1, 3), 2, (0.25,)], "c": Pair(0.1, 3)})
    assert found["a"].shape == (1, 2)
    assert isinstance(found["a"][0, 1], Tracked)
    assert found["b"][:2] == [Fraction(1, 3), 2]
    assert isinstance(found["b"][2][0], Tracked)
    assert (isinstance(found["c"].x, Tracked), found["c"].n) == (True, 3)
    assert str(Checked("confirmed")) == "Its error bar is confirmed in 256 bits."


FILE = """
from marginaudit import Bounded, Claim, Series

INSTANCES = {{"edge": {{"n": {steps}}}}}

def walk(p, start=1):
    x = 0.3
    for _ in range(p.n):
        x = 3.75 * x * (1 - x)
    return Series([x], {bar})

CLAIMS = [
    Claim(id="mine", source="", statement="x <= 1", assumptions=(), judgement=Bounded(walk, upper=lambda p, t: 1))
]
"""


def test_literals_of_a_file_are_in_more_digits_and_a_wrong_bar_exits_with_1(command: Command) -> None:
    """No number of the instance is a float: without the literals nothing would be seen."""
    Path("mine.py").write_text(FILE.format(steps=STEPS, bar="1e-15"), encoding="utf-8")
    answer = command("audit", "--claims", "mine.py", "--check-bars")
    assert answer.status == 1
    assert "mine on edge: Its error bar is wrong: the value 0.600986 is off by 1.6e-09" in answer.err
    assert "broken" in answer.out
    assert command("audit", "--claims", "mine.py").status == 0
    Path("mine.py").write_text(FILE.format(steps=STEPS, bar="1e-8"), encoding="utf-8")
    answer = command("audit", "--claims", "mine.py", "--check-bars")
    assert (answer.status, "error bar" in answer.err) == (0, False)


def test_the_option_needs_claims_of_ones_own(command: Command) -> None:
    answer = command("audit", "example-1", "--claim", "ntp.prop2.*", "--check-bars")
    assert answer.status == 2
    assert "expected --claims FILE beside it" in answer.err


def test_a_training_run_is_not_rerun(command: Command) -> None:
    text = FILE.format(steps=STEPS, bar="1e-15").replace("INSTANCES", "_").replace("p.n", "3")
    Path("mine.py").write_text(text, encoding="utf-8")
    answer = command(
        "audit", "example-1", "--steps1", "5", "--steps2", "5", "--claims", "mine.py", "--only-mine", "--check-bars"
    )
    assert answer.status == 0
    assert "a training run has no second one in more digits" in answer.err
