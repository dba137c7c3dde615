"""What is said of an equality beyond its verdict."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.judgements import Equal
from marginaudit.claims.series import Series, exact_series, series
from marginaudit.claims.verdict import Evidence, Finding, Verdict
from marginaudit.reports.audit.planted import one_entry_off

ANY: Any = None


def judged(left: Series, right: Series, **change: Any) -> Finding:
    return Equal(lambda _: left, lambda _: right, **change).judge(ANY)


def numbers(found: Finding) -> list[str]:
    """Numbers in a detail: counts, the largest difference, its step, the rounding allowance."""
    return re.findall(r"\d+(?:\.\d+e[+-]\d+)?", found.detail)


def test_the_worst_entry_is_one_that_differs_beyond_its_bars() -> None:
    left = series([10.0, 2.0, 3.0], radius=[5.0, 1e-12, 1e-12], step=np.array([4, 5, 6]))
    found = judged(left, series([13.0, 2.1, 3.2], radius=0))
    assert (found.verdict, found.worst_step, found.first_violation) == (Verdict.VIOLATED, 6, 5)
    assert (found.measured, found.bound) == (3.0, 3.2)
    assert found.slack is None
    assert numbers(found) == ["2", "3", "2.3e-01", "6", f"{1e-12 / 3.2:.1e}"]


def test_entries_that_agree_are_counted() -> None:
    found = judged(series([1.0, -4.0], radius=1e-12, label=("a", "b")), series([1.0, -4.0], radius=1e-12))
    assert (found.verdict, found.worst_step, found.first_violation) == (Verdict.HOLDS, None, None)
    assert numbers(found) == ["2", "0.0e+00", "5.0e-13"]
    assert "(b)" in found.detail
    assert judged(series([], radius=0), series([], radius=0)).verdict is Verdict.NOT_APPLICABLE


def test_differences_are_relative_to_the_larger_side_the_scale_or_of_logarithms() -> None:
    left, right = series([-4.0], radius=1.0), series([1.0], radius=9.0)
    assert numbers(judged(left, right))[-2:] == numbers(judged(right, left))[-2:] == ["1.2e+00", "2.5e+00"]
    scaled = judged(left, right, scale=lambda _: np.array(10.0))
    assert numbers(scaled)[-2:] == ["5.0e-01", "1.0e+00"]
    logs = judged(replace(left, log=True), replace(right, log=True))
    assert numbers(logs)[-2:] == ["5.0e+00", "1.0e+01"]
    assert (logs.measured, logs.bound) == (np.exp(-4.0), np.exp(1.0))
    nothing = judged(series([0.0], radius=0), series([0.0], radius=0))
    assert nothing.verdict is Verdict.HOLDS
    assert numbers(nothing)[-2:] == ["0.0e+00", "0.0e+00"]


def test_a_side_without_a_finite_value_is_not_shown() -> None:
    found = judged(series([5.0], radius=np.inf, log=True), series([1e4], radius=0, log=True))
    assert (found.measured, found.bound) == (None, None)


def test_the_weaker_evidence_counts_and_a_witness_only_against() -> None:
    exact = exact_series([1])
    assert judged(exact, exact).evidence is Evidence.EXACT
    assert judged(exact, series([1.0], radius=0)).evidence is Evidence.FLOAT64
    certified = replace(series([1.0], radius=0), evidence=Evidence.CERTIFIED)
    assert judged(certified, certified).evidence is Evidence.CERTIFIED
    assert judged(exact, exact, witness=lambda _: {"w": 1}).witness is None
    differs = judged(exact, exact_series([2]), witness=lambda _: {"w": 1}, note=lambda _: "A part.")
    assert (differs.witness, differs.first_violation) == ({"w": 1}, None)
    assert differs.detail.endswith(" A part.")


def test_a_number_or_a_formula_of_the_steps_is_expected() -> None:
    step = np.array([1, 2, 4])
    halves = replace(exact_series([Fraction(1, 2), Fraction(1, 4), Fraction(1, 16)]), step=step)
    zeros = replace(exact_series([0, 0, 0]), step=step)
    cases: tuple[tuple[Series, Any], ...] = (
        (zeros, lambda _: 0),
        (zeros, lambda _: Fraction(0)),
        (zeros, lambda _, t: 0 * t),
        (halves, lambda _, t: [Fraction(1, 2 ** int(k)) for k in t]),
        (halves, lambda _, t: 0.5**t),
        (series([0.5, 0.5], radius=0), lambda _: 0.5),
    )
    for measured, expected in cases:
        judgement = Equal({ANY: measured}.__getitem__, expected)
        assert judgement.judge(ANY).verdict is Verdict.HOLDS
        assert one_entry_off(judgement).judge(ANY).verdict is Verdict.VIOLATED
    floats: Any = lambda _: [0.0, 0.0, 0.0]  # noqa: E731
    found = Equal(lambda _: halves, lambda _, t: Fraction(1, 2)).judge(ANY)
    assert (found.verdict, found.evidence, found.first_violation) == (Verdict.VIOLATED, Evidence.EXACT, 2)
    with pytest.raises(ValueError, match="floats need error bars"):
        Equal(lambda _: zeros, floats).judge(ANY)
