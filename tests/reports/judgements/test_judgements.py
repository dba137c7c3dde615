"""Every rule by which numbers become a verdict, on series made by hand."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.reports.claim import Judgement
from marginaudit.reports.judgements import Bounded, Equal, HiddenConstant, Limit, Threshold
from marginaudit.reports.judgements.bounded import first_step
from marginaudit.reports.judgements.compare import FADED, UNDERFLOW
from marginaudit.reports.run import BaseRun
from marginaudit.reports.series import by_formula, exact_series, series
from marginaudit.reports.verdict import Evidence, Verdict

STEP = np.arange(1, 1001)
ENDS = (0.0, 1e308, -1e308, np.inf, -np.inf)


def run(steps1: int = 900, steps2: int = 1000) -> Any:
    return SimpleNamespace(config=SimpleNamespace(steps1=steps1, steps2=steps2))


def measured(value: Any, *, radius: Any = 0.0, log: bool = False) -> Any:
    return lambda _: series(value, radius=radius, step=STEP, log=log)


def test_overlapping_error_bars_are_inconclusive() -> None:
    finding = Bounded(measured(0 * STEP + 5.0, radius=0.1), upper=lambda _, t: 0 * t + 5).judge(run())
    assert finding.verdict is Verdict.INCONCLUSIVE


def test_an_attained_bound_holds_within_rounding() -> None:
    attained = measured(STEP * (1 + 1e-15), radius=1e-13 * STEP)
    assert Bounded(attained, upper=lambda _, t: t).judge(run()).verdict is Verdict.HOLDS


def test_an_attained_bound_passed_by_more_than_its_error_bars_is_violated() -> None:
    passed = measured(STEP * (1 + 1e-11), radius=1e-13 * STEP)
    assert Bounded(passed, upper=lambda _, t: t).judge(run()).verdict is Verdict.VIOLATED


def test_a_bound_above_what_the_quantity_can_reach_is_vacuous_and_says_from_when_not() -> None:
    finding = Bounded(measured(0 * STEP + 0.1), upper=lambda _, t: 1e6 / t, largest=2.0).judge(run())
    assert finding.verdict is Verdict.VACUOUS
    assert finding.informative_from == 500_001


def test_a_violation_is_no_vacuous_pass() -> None:
    finding = Bounded(measured(0 * STEP + 9.0), upper=lambda _, t: 0 * t + 5, largest=2.0).judge(run())
    assert finding.verdict is Verdict.VIOLATED


def test_lower_bound_and_two_sides() -> None:
    both = Bounded(measured(STEP * 1.0), lower=lambda _, t: t / 2, upper=lambda _, t: 2 * t)
    assert both.judge(run()).verdict is Verdict.HOLDS
    low = Bounded(measured(STEP * 1.0), lower=lambda _, t: t + (t > 700), upper=lambda _, t: 2 * t)
    assert (low.judge(run()).verdict, low.judge(run()).first_violation) == (Verdict.VIOLATED, 701)


def test_nan_is_refused_not_passed() -> None:
    with pytest.raises(ValueError, match="not a number"):
        Bounded(measured(np.where(STEP == 7, np.nan, 0.0)), upper=lambda _, t: t).judge(run())


@pytest.mark.parametrize("stated", ENDS)
@pytest.mark.parametrize("value", ENDS)
def test_no_rule_overflows_at_the_ends_of_float64(value: float, stated: float) -> None:
    wide, bound = measured(0 * STEP + value), lambda _, t: np.full(len(t), stated)
    alike = Verdict.HOLDS if np.isfinite(value) else Verdict.INCONCLUSIVE
    true = Verdict.HOLDS if np.isfinite(stated) else Verdict.VACUOUS
    expected: dict[Judgement, Verdict] = {
        Bounded(wide, upper=bound): true if value < stated else Verdict.VIOLATED,
        Bounded(wide, lower=bound): true if value > stated else Verdict.VIOLATED,
        Equal(wide, measured(0 * STEP + stated)): Verdict.VIOLATED,
    }
    for claim, verdict in expected.items():
        assert claim.judge(run()).verdict is (alike if value == stated else verdict)
    swinging = measured(np.where(STEP % 2, value, stated), radius=1e308)
    assert Limit(swinging, lambda _: 1e-300, lambda _: 1.0).judge(run()).verdict is not Verdict.HOLDS
    grows = HiddenConstant(swinging, lambda _, t: t).judge(run())
    assert (grows.verdict is Verdict.VIOLATED) == (np.inf in (value, stated))
    of_logarithms = HiddenConstant(measured(0 * STEP + value, log=True), bound).judge(run())
    assert (of_logarithms.verdict is Verdict.HOLDS) == (np.isfinite(value - stated) or value < stated)


@pytest.mark.parametrize("factor", [3, 1e14])
def test_what_underflows_decides_nothing(factor: float) -> None:
    """Both are exp(-t) times a factor: from t = 710 on exp(-t) has lost digits, and at 746 it is 0."""
    value, stated = factor * np.exp(-STEP), np.exp(-STEP / 2) * factor * np.exp(-STEP / 2)
    one, other = (lambda _, side=side: by_formula(side, step=STEP) for side in (value, stated))
    for claim in (Bounded(one, upper=lambda _, t: stated), Bounded(one, lower=lambda _, t: stated), Equal(one, other)):
        found = claim.judge(run())
        assert (found.verdict, found.detail.endswith(UNDERFLOW)) == (Verdict.INCONCLUSIVE, True)
    unknown = Bounded(measured(0.0 * STEP, radius=np.inf, log=True), upper=lambda _, t: 0 * t).judge(run())
    assert (unknown.verdict, UNDERFLOW in unknown.detail) == (Verdict.INCONCLUSIVE, False)
    above = Bounded(measured(0 * STEP + FADED), upper=lambda _, t: 0 * t)
    assert above.judge(run()).verdict is Verdict.INCONCLUSIVE
    assert replace(above, measure=measured(0 * STEP + 2 * FADED)).judge(run()).verdict is Verdict.VIOLATED
    assert Equal(measured(0 * STEP + 2 * FADED), measured(0.0 * STEP)).judge(run()).verdict is Verdict.VIOLATED


def test_an_attained_bound_holds_whatever_the_rounding_of_its_exponent() -> None:
    t = np.arange(1, 600)
    stated, value = np.exp(-1.1 * t), np.exp(-1.1 * t / 3) ** 3
    attained = Bounded(lambda _: by_formula(value, step=t), upper=lambda *_: stated, lower=lambda *_: stated)
    assert attained.judge(run()).verdict is Verdict.HOLDS


def test_nothing_measured_is_not_applicable() -> None:
    empty = Bounded(lambda _: series(np.empty(0), radius=0, step=np.empty(0, dtype=int)), upper=lambda _, t: t)
    assert empty.judge(run()).verdict is Verdict.NOT_APPLICABLE


def test_a_threshold_counts_only_the_steps_beyond_it() -> None:
    claim = Bounded(
        measured(np.where(STEP < 500, 9.0, 1.0)),
        upper=lambda _, t: 0 * t + 2,
        threshold=lambda run: Threshold(500, needed=10, there=run.config.steps1, size="T"),
    )
    assert claim.judge(run()).verdict is Verdict.HOLDS
    short = claim.judge(run(steps1=9))
    assert short.verdict is Verdict.INCONCLUSIVE
    assert "speaks from T >= 10 and t >= 500; the run has T = 9 and ends at t = 1000." in short.detail


def test_what_error_bars_hide_may_follow_from_a_proof() -> None:
    hidden = measured(1 / STEP, radius=np.where(STEP > 500, np.inf, 0.0))
    claim = Bounded(hidden, upper=lambda _, t: 2 / t)
    assert claim.judge(run()).verdict is Verdict.INCONCLUSIVE
    proved = replace(claim, guaranteed=lambda _, t: 1.5 / t).judge(run())
    assert (proved.verdict, proved.slack) == (Verdict.HOLDS, 2.0)
    assert proved.worst_step is not None
    assert proved.worst_step <= 500
    assert proved.measured == 1 / proved.worst_step
    assert "At 500 of 1000 entries, the first at t = 501," in proved.detail
    assert replace(claim, guaranteed=lambda _, t: 2.5 / t).judge(run()).verdict is Verdict.INCONCLUSIVE
    nothing = Bounded(measured(1 / STEP, radius=np.inf), upper=lambda _, t: 2 / t, guaranteed=lambda _, t: 1 / t)
    found = nothing.judge(run())
    assert (found.verdict, found.measured, found.slack) == (Verdict.HOLDS, None, None)


def test_a_proof_decides_only_its_own_side_and_never_against_what_is_seen() -> None:
    hidden = measured(1.0 * STEP, radius=np.where(STEP > 500, np.inf, 0.0))
    both = Bounded(hidden, lower=lambda _, t: t / 2, upper=lambda _, t: 2 * t, guaranteed=lambda _, t: t)
    assert both.judge(run()).verdict is Verdict.INCONCLUSIVE
    assert replace(both, guaranteed_lower=lambda _, t: t).judge(run()).verdict is Verdict.HOLDS
    assert replace(both, guaranteed_lower=lambda _, t: t / 3).judge(run()).verdict is Verdict.INCONCLUSIVE
    seen = Bounded(measured(3.0 * STEP), upper=lambda _, t: 2 * t, guaranteed=lambda _, t: t)
    assert seen.judge(run()).verdict is Verdict.VIOLATED


class Departing(BaseRun[Any]):
    departs = True


def test_a_proof_says_nothing_of_another_algorithm() -> None:
    hidden = measured(1.0 * STEP, radius=np.inf)
    claim = Bounded(hidden, upper=lambda _, t: 2 * t, guaranteed=lambda _, t: t)
    assert claim.judge(run()).verdict is Verdict.HOLDS
    assert claim.judge(Departing(None)).verdict is Verdict.INCONCLUSIVE


def test_first_step_beyond_the_tried_ones() -> None:
    assert first_step(lambda t: t > 3e17, 2) == pytest.approx(3e17, rel=1e-15, abs=0)
    assert first_step(lambda t: t < 0, 2) is None
    assert first_step(lambda t: t > 1, 2) == 2


def equal(left: Any, right: Any, radius: float) -> Verdict:
    return (
        Equal(lambda _: series(left, radius=radius, step=STEP[: len(left)]), lambda _: series(right, radius=0))
        .judge(run())
        .verdict
    )


def test_equality_has_three_outcomes() -> None:
    assert equal([1.0, 2.0], [1.0, 2.0 + 1e-12], radius=1e-11) is Verdict.HOLDS
    assert equal([1.0, 2.0], [1.0, 2.0 + 1e-10], radius=1e-11) is Verdict.VIOLATED
    assert equal([1.0, 2.0], [1.0, 2.0 + 1e-7], radius=1e-6) is Verdict.INCONCLUSIVE


def test_exact_equality_allows_no_difference() -> None:
    third = Fraction(1, 3)
    same = Equal(lambda _: exact_series([third]), lambda _: exact_series([Fraction(2, 6)])).judge(run())
    assert (same.verdict, same.evidence) == (Verdict.HOLDS, Evidence.EXACT)
    near = Equal(
        lambda _: exact_series([third]),
        lambda _: exact_series([third + Fraction(1, 10**40)]),
        witness=lambda _: {"w": 1},
    ).judge(run())
    assert (near.verdict, near.witness) == (Verdict.VIOLATED, {"w": 1})


def test_a_needed_constant_that_settles_late_is_not_violated() -> None:
    settling = measured((1 - np.exp(-STEP / 100.0)) / STEP)
    assert HiddenConstant(settling, shape=lambda _, t: 1 / t).judge(run()).verdict is Verdict.INCONCLUSIVE


def limit(value: Any, predicted: float, *, regime: float = 10, positive: bool = False) -> Verdict:
    claim = Limit(measured(value), predicted=lambda _: predicted, regime=lambda _: regime, positive=positive)
    return claim.judge(run()).verdict


@pytest.mark.parametrize(("radius", "verdict"), [(1e-2, "violated"), (2e-2, "inconclusive"), (np.inf, "inconclusive")])
def test_a_limit_is_refuted_only_beyond_error_bars(radius: float, verdict: str) -> None:
    value = series(2 * (1 - 0.0067) + 0 * STEP, radius=radius * np.ones(len(STEP)), step=STEP)
    claim = Limit(lambda _: value, predicted=lambda _: 2.0, regime=lambda _: 10)
    assert claim.judge(run()).verdict == verdict


@pytest.mark.parametrize(
    ("power", "verdict"),
    [(1.0, "holds"), (0.02, "holds"), (0.001, "violated"), (0.0, "violated")],
)
def test_a_limit_has_to_be_approached(power: float, verdict: str) -> None:
    """A distance that falls by less than half a percent in half a decade counts as settled."""
    assert limit(2 * (1 + 0.009 * STEP**-power), 2.0) == verdict


def test_without_a_prediction_a_drift_does_not_refute() -> None:
    claim = Limit(measured(1.0 * STEP), predicted=lambda _: float("nan"), regime=lambda _: 10)
    assert claim.judge(run()).verdict is Verdict.INCONCLUSIVE
    few = series([1.0, 3.0] * 5, radius=0, step=np.arange(91, 101))
    claim = Limit(lambda _: few, predicted=lambda _: float("nan"), regime=lambda _: 1)
    assert claim.judge(run()).verdict is Verdict.INCONCLUSIVE


def late(value: Any, regime: float) -> Any:
    return HiddenConstant(
        measured(value), shape=lambda _, t: t, side="lower", regime=lambda _: regime, late=True
    ).judge(run())


def test_a_statement_about_late_steps_is_judged_in_its_last_decade_and_in_the_regime() -> None:
    rises = np.where(STEP < 60, -1.0, 1.0) * STEP
    assert late(rises, regime=100).verdict is Verdict.HOLDS
    assert late(rises, regime=101).verdict is Verdict.INCONCLUSIVE
    assert late(-1.0 * STEP, regime=101).verdict is Verdict.INCONCLUSIVE
    falls = late(-1.0 * np.where(STEP > 500, STEP, -STEP), regime=100)
    assert (falls.verdict, falls.first_violation) == (Verdict.VIOLATED, 501)
    assert late(-1.0 * STEP, regime=100).verdict is Verdict.VIOLATED


def test_what_fails_early_in_the_last_decade_may_still_come_true() -> None:
    found = late(np.where(STEP == 310, -1.0, 1.0) * STEP, regime=100)
    assert (found.verdict, found.first_violation) == (Verdict.INCONCLUSIVE, None)
    assert late(np.where(STEP == 320, -1.0, 1.0) * STEP, regime=100).verdict is Verdict.VIOLATED


def test_a_positive_limit_is_refuted_only_by_vanishing() -> None:
    assert limit(3 / STEP, 1.0, positive=True) is Verdict.VIOLATED
    assert limit(3 + 1 / STEP**2, 1.0, positive=True) is Verdict.INCONCLUSIVE
    assert limit(3 / np.log(STEP + 1), 1.0, positive=True) is Verdict.INCONCLUSIVE


def test_error_bars_that_reach_zero_refute_no_constant() -> None:
    value, radius = np.where(STEP == 3, -1e-18, 1.0) * STEP, np.where(STEP == 3, 1e-16, 0.0)
    claim = HiddenConstant(measured(value, radius=radius), shape=lambda _, t: t, side="lower")
    assert claim.judge(run()).verdict is Verdict.INCONCLUSIVE
