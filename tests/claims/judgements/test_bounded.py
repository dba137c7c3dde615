"""What a bound is judged by beyond its verdict: thresholds, proofs beyond them, vacuity, and the numbers shown."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any, NoReturn

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun, NotFollowed
from marginaudit.claims.judgements import Bounded, Parts, Threshold
from marginaudit.claims.judgements.bounded import first_step
from marginaudit.claims.judgements.compare import UNDERFLOW, unseen
from marginaudit.claims.series import Series, exact_series, series
from marginaudit.claims.values.numbers import bound, brief
from marginaudit.claims.verdict import LEAST, Evidence, Finding, Verdict
from tests.claims.judgements.test_judgements import STEP, measured, run
from tests.solutions import known


class LongRun:
    """A run that remembers which lengths of stage 1 a proof was looked at for."""

    def __init__(self, steps1: float, asked: list[float]) -> None:
        self.config, self.asked = SimpleNamespace(steps1=steps1), asked

    def with_steps1(self, steps1: float) -> "LongRun":
        self.asked.append(steps1)
        return LongRun(steps1, self.asked)


def beyond(guaranteed: Any, upper: Any = lambda _, t: -1.0 * t, *, steps1: float = 10.5, **change: Any) -> Any:
    """The finding of a bound on logarithms that speaks from t >= 2000.5 on, on a run of 1000 steps."""
    given: dict[str, Any] = {
        "upper": upper,
        "threshold": lambda on: Threshold(2000.5, steps1, on.config.steps1, "T", on.with_steps1),
        "guaranteed": guaranteed,
    }
    on: Any = LongRun(5, [])
    return Bounded(measured(-2.0 * STEP, log=True), **given | change).judge(on), on.asked


def test_beyond_a_threshold_a_proof_decides_for_every_longer_stage_1() -> None:
    found, asked = beyond(lambda _, t: -1.5 * t)
    assert (found.verdict, found.evidence, found.informative_from) == (Verdict.HOLDS, Evidence.FLOAT64, 2001)
    assert asked == [10.5, 105, 10_500_000]
    assert found.needs == "T ≥ 10.5, run has 5"
    assert beyond(lambda _, t: -1.5 * t, steps1=5)[0].needs == "t ≥ 2000, run has 1000"
    assert "it follows from " in found.detail
    assert "T >= 10.5 and t >= 2000" in found.detail


def test_beyond_a_threshold_a_proof_is_looked_at_up_to_1e40() -> None:
    found, _ = beyond(lambda _, t: -1.5 * t + np.where(t > 1.001e40, 1e43, 0.0))
    assert found.verdict is Verdict.HOLDS


@pytest.mark.parametrize("start", [10**30, 10**60, 10**111, 1e111])
def test_beyond_a_threshold_further_than_1e40_a_proof_is_looked_at_from_there_on(start: float) -> None:
    def judged(gap_from: float) -> Any:
        found, _ = beyond(
            lambda _, t: -1.5 * t + np.where(t > gap_from * start, 3.0 * t, 0.0),
            threshold=lambda on: Threshold(start, 10.5, on.config.steps1, "T", on.with_steps1),
        )
        return found

    assert (judged(1e21).verdict, judged(1e19).verdict) == (Verdict.HOLDS, Verdict.INCONCLUSIVE)
    assert judged(1e21).informative_from == (start if start <= 10**100 else float(start))
    assert isinstance(judged(1e21).informative_from, int if start <= 10**100 else float)


@pytest.mark.parametrize(("early", "verdict"), [(2.9, "holds"), (3.1, "inconclusive")])
def test_a_proof_with_a_gap_at_an_early_step_of_which_it_speaks_decides_nothing(early: float, verdict: str) -> None:
    found, _ = beyond(
        lambda _, t: -1.5 * t + np.where(t == 3, 9.0, 0.0),
        threshold=lambda on: Threshold(2000, 10.5, on.config.steps1, "T", on.with_steps1, early),
    )
    assert found.verdict == verdict


@pytest.mark.parametrize(("start", "verdict"), [(1e280, "holds"), (1e281, "inconclusive"), (np.inf, "inconclusive")])
def test_a_threshold_may_lie_at_the_end_of_float64_and_beyond(start: float, verdict: str) -> None:
    found, _ = beyond(
        lambda _, t: -1.5 * t, threshold=lambda on: Threshold(start, 10.5, on.config.steps1, "T", on.with_steps1)
    )
    assert (found.verdict, found.informative_from) == (verdict, start if start < np.inf else None)


@pytest.mark.parametrize(
    "guaranteed",
    [
        lambda _, t: -1.5 * t + np.where(t > 9e39, 1e41, 0.0),
        lambda _, t: -1.5 * t + np.where(t <= 2001, 1e4, 0.0),
        lambda run, t: -1.5 * t + (1e42 if run.config.steps1 > 1e6 else 0.0),
        lambda run, t: -1.5 * t + (1e42 if run.config.steps1 == 105 else 0.0),
        None,
    ],
    ids=["late", "at the threshold", "very long stage 1", "longer stage 1", "nothing"],
)
def test_beyond_a_threshold_a_proof_with_a_gap_decides_nothing(guaranteed: Any) -> None:
    found, _ = beyond(guaranteed)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "There it follows" not in found.detail


def test_beyond_a_threshold_a_proof_of_the_other_side_decides_nothing() -> None:
    found, asked = beyond(lambda _, t: -1.5 * t, None, lower=lambda _, t: -3.0 * t)
    assert (found.verdict, asked) == (Verdict.INCONCLUSIVE, [])


def test_a_proof_beyond_a_threshold_is_compared_in_logarithms() -> None:
    """Of two equal numbers 1e8 the rounding is nothing; of two logarithms 1e8 it is more than is allowed."""
    found, _ = beyond(lambda _, t: 0 * t + 1e8, lambda _, t: 0 * t + 1e8)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_without_the_threshold_the_evidence_and_the_first_violation_are_the_runs_own() -> None:
    value = replace(series(1.0 * STEP, radius=0, step=STEP), evidence=Evidence.CERTIFIED)
    claim = Bounded(lambda _: value, upper=lambda _, t: [500] * len(t), threshold=lambda _: Threshold(2000))
    found = claim.judge(run())
    assert (found.verdict, found.evidence, found.first_violation) == (
        Verdict.INCONCLUSIVE,
        Evidence.CERTIFIED,
        None,
    )
    assert "violated from t = 501" in found.detail
    held = replace(claim, upper=lambda _, t: 2 * t).judge(run())
    assert "threshold: holds" in held.detail


def test_a_threshold_that_the_last_step_just_reaches_is_reached() -> None:
    value = measured(np.where(STEP < 1000, 9.0, 1.0))

    def start(position: float) -> Any:
        return lambda on: Threshold(position, 900, on.config.steps1, "T")

    claim = Bounded(value, upper=lambda _, t: 0 * t + 2, threshold=start(1000))
    found = claim.judge(run(steps1=900))
    assert (found.verdict, found.worst_step) == (Verdict.HOLDS, 1000)
    assert claim.judge(run(steps1=899)).verdict is Verdict.INCONCLUSIVE
    half = replace(claim, threshold=start(999.5)).judge(run(steps1=900))
    assert (half.verdict, half.worst_step) == (Verdict.HOLDS, 1000)


def test_steps_before_the_first_of_which_it_speaks_are_left_out() -> None:
    claim = Bounded(measured(np.where(STEP < 3, 9.0, 1.0)), upper=lambda _, t: 0 * t + 2, first=3)
    assert claim.judge(run()).verdict is Verdict.HOLDS
    assert replace(claim, first=2).judge(run()).first_violation == 2
    assert replace(claim, threshold=lambda _: Threshold(2000)).judge(run()).detail.count("holds") == 1
    with pytest.raises(BeyondTheRun, match="t = 1001"):
        replace(claim, first=1001).judge(run())


def test_where_nothing_was_recorded_a_formula_says_where_the_bound_begins_to_say_anything() -> None:
    unrecorded = Bounded(measured(1 / STEP), upper=lambda _, t: 1e5 / t, largest=1.0, first=1001)
    not_followed = replace(unrecorded, measure=raising(NotFollowed("it overflows")))
    no_formula = replace(unrecorded, upper=raising(ValueError("there is none")))
    found = Parts({"a": unrecorded}).judge(run())
    assert (found.verdict, found.informative_from) == (Verdict.INCONCLUSIVE, 100_001)
    for other in (not_followed, no_formula):
        found = Parts({"a": other}).judge(run())
        assert (found.verdict, found.informative_from) == (Verdict.INCONCLUSIVE, None)


def raising(error: Exception) -> Any:
    def raises(*_: object) -> NoReturn:
        raise error

    return raises


def test_early_steps_of_which_it_speaks_count() -> None:
    claim = Bounded(measured(1.0 * (STEP == 3)), upper=lambda _, t: 0.5 + 0 * t, largest=2.0)

    def judged_from(position: float, early: float) -> Any:
        start = Threshold(position, early=early)
        return str(start), replace(claim, threshold=lambda _: start, upper=lambda _, t: 0.5 + 5 * (t < 3)).judge(run())

    words, found = judged_from(20.0, 3.4)
    assert (found.verdict, found.first_violation, found.informative_from) == (Verdict.VIOLATED, 3, 3)
    assert words == "t >= 20, and to t = 3.4"
    _, before = judged_from(20.0, 2.9)
    assert (before.verdict, before.informative_from) == (Verdict.HOLDS, 20)
    second = replace(claim, first=2, threshold=lambda _: Threshold(20, early=2))
    assert second.judge(run()).informative_from == 2
    start = Threshold(20, early=2)
    above = Bounded(measured(STEP), lower=lambda _, t: 1.0 * (t > 2), smallest=0.0, threshold=lambda _: start)
    assert above.judge(run()).informative_from == 20
    _, beyond = judged_from(2000.0, 3.0)
    assert (beyond.verdict, beyond.beyond_the_run) == (Verdict.VIOLATED, False)


def test_from_when_a_bound_is_informative_counts_from_where_it_speaks() -> None:
    def upper(_: Any, t: Any) -> Any:
        return np.where((t == 3) | (t >= 600), 0.5, 5.0)

    claim = Bounded(measured(0 * STEP + 0.1), upper=upper, largest=2.0)
    assert claim.judge(run()).informative_from == 3
    assert replace(claim, first=4).judge(run()).informative_from == 600
    late = replace(claim, threshold=lambda _: Threshold(2.5))
    assert late.judge(run()).informative_from == 3
    assert replace(late, threshold=lambda _: Threshold(3.5)).judge(run()).informative_from == 600
    assert replace(late, first=700).judge(run()).informative_from == 700
    assert replace(claim, largest=lambda _: 0.5).judge(run()).informative_from is None
    assert replace(claim, largest=np.inf).judge(run()).informative_from is None
    assert replace(claim, largest=np.inf, smallest=0.0).judge(run()).informative_from is None
    assert replace(claim, upper=lambda _, t: 0 * t + 1).judge(run()).informative_from == 1
    below = Bounded(measured(0 * STEP + 0.1), lower=lambda _, t: 0 * t)
    assert below.judge(run()).informative_from is None


def test_kinds() -> None:
    zero = measured(0 * STEP)
    assert Bounded(zero, upper=lambda _, t: t).kind == "upper bound"
    assert Bounded(zero, lower=lambda _, t: t).kind == "lower bound"
    assert Bounded(zero, lower=lambda _, t: t, upper=lambda _, t: t).kind == "two-sided bound"


def test_a_lower_bound_is_vacuous_at_the_least_that_can_be_reached() -> None:
    claim = Bounded(measured(0 * STEP + 1.0), lower=lambda _, t: 0 * t - 1.0, smallest=0.0)
    assert claim.judge(run()).verdict is Verdict.VACUOUS
    rises = replace(claim, lower=lambda _, t: (t - 700.5) / 1e4)
    assert (rises.judge(run()).verdict, rises.judge(run()).informative_from) == (Verdict.HOLDS, 701)
    meets = replace(claim, lower=lambda _, t: (t - 700) / 1e4)
    assert meets.judge(run()).informative_from == 701
    assert replace(claim, smallest=lambda _: -2.0).judge(run()).verdict is Verdict.HOLDS
    never = claim.judge(run())
    assert never.informative_from is None
    assert Bounded(measured(0 * STEP + 1.0), lower=lambda _, t: 0 * t).judge(run()).verdict is Verdict.HOLDS
    both = replace(claim, upper=lambda _, t: 0 * t + 2.0)
    assert both.judge(run()).verdict is Verdict.HOLDS
    assert replace(both, largest=2.0 * (1 - 1e-12)).judge(run()).verdict is Verdict.VACUOUS
    assert replace(both, largest=2.1).judge(run()).verdict is Verdict.HOLDS


def test_a_bound_exactly_at_what_can_be_reached_is_vacuous() -> None:
    claim = Bounded(measured(0 * STEP + 1.0), upper=lambda _, t: np.minimum(2, 1e6 / t), largest=2.0)
    assert (claim.judge(run()).verdict, claim.judge(run()).informative_from) == (Verdict.VACUOUS, 500_001)
    low = Bounded(measured(0 * STEP + 3.0), lower=lambda _, t: 0 * t + 2.0, smallest=2.0)
    assert low.judge(run()).verdict is Verdict.VACUOUS


def test_the_numbers_shown_are_those_of_the_side_and_entry_with_the_least_room() -> None:
    value = measured(np.where(STEP == 7, 3.0, 10.0))
    found = Bounded(value, lower=lambda _, t: 0 * t + 2, upper=lambda _, t: 0 * t + 20).judge(run())
    assert (found.side, found.worst_step, found.measured, found.bound) == ("lower", 7, 3.0, 2.0)
    assert found.slack == pytest.approx(3 / 2)
    assert "9.5e-15" in found.detail  # the error bar of the bound
    above = Bounded(value, lower=lambda _, t: 0 * t + 2, upper=lambda _, t: 0 * t + 10.5).judge(run())
    assert (above.side, above.worst_step, above.measured, above.bound) == ("upper", 1, 10.0, 10.5)


def test_the_first_violation_is_of_either_side() -> None:
    value = measured(np.where(STEP == 5, 0.0, np.where(STEP == 4, 9.0, 1.0)))
    claim = Bounded(value, lower=lambda _, t: 0 * t + 0.5, upper=lambda _, t: 0 * t + 5)
    assert claim.judge(run()).first_violation == 4
    assert replace(claim, upper=lambda _, t: 0 * t + 50).judge(run()).first_violation == 5


def test_the_curve_is_on_the_natural_scale() -> None:
    value = series([-1.0, -2.0], radius=0, step=np.array([1, 2]), log=True)
    claim = Bounded(lambda _: value, upper=lambda _, t: 0 * t - 0.5, lower=lambda _, t: -3 * t, largest=0.0)
    found = claim.judge(run())
    curve = found.curve
    assert curve is not None
    assert curve.step == [1, 2]
    assert curve.measured == pytest.approx([np.exp(-1), np.exp(-2)])
    assert curve.upper == pytest.approx([np.exp(-0.5)] * 2)
    assert curve.lower == pytest.approx([np.exp(-3), np.exp(-6)])
    assert curve.vacuous_above == 1.0
    plain = Bounded(measured(1.0 * STEP), upper=lambda _, t: 2 * t).judge(run()).curve
    assert plain is not None
    assert (plain.lower, plain.vacuous_above) == (None, None)
    assert plain.measured == STEP.tolist()
    lower = Bounded(measured(1.0 * STEP), lower=lambda _, t: t / 2, largest=5.0).judge(run()).curve
    assert lower is not None
    assert (lower.upper, lower.vacuous_above) == (None, 5.0)


def test_the_first_step_at_the_edges_of_what_is_tried() -> None:
    for start in (9_999, 10_000, 10_001, 10_002, 10**6, 123_456_789_012):
        assert first_step(partial(np.less_equal, start), 2) == start
    assert first_step(lambda t: t >= 20_000, 15_000) == 20_000
    assert first_step(lambda t: t >= 3, 15_000) == 15_000
    assert first_step(lambda t: (t >= 3) & (t <= 5), 2) == 3
    assert first_step(lambda t: t >= 9e39, 2) == pytest.approx(9e39, rel=1e-12, abs=0)
    assert first_step(lambda t: t >= 1.1e40, 2) == pytest.approx(1.1e40, rel=1e-12, abs=0)
    assert first_step(lambda t: t**2 * 0 + t >= 3e250, 2) is None
    assert first_step(lambda t: t >= 3e250, 2) == pytest.approx(3e250, rel=1e-12, abs=0)
    assert first_step(lambda t: t >= 1.1e300, 2) is None


def test_a_part_of_a_series_keeps_what_belongs_to_its_entries() -> None:
    whole = replace(
        series([-1.0, -2.0, -3.0], radius=[0.1, 0.2, 0.3], step=np.array([4, 5, 6]), label=("a", "b", "c"), log=True),
        evidence=Evidence.CERTIFIED,
    )
    found = whole.taken(np.array([True, False, True]))
    assert found.value.tolist() == [-1.0, -3.0]
    assert found.radius.tolist() == [0.1, 0.3]
    assert found.step is not None
    assert found.step.tolist() == [4, 6]
    assert (found.label, found.log, found.evidence) == (("a", "c"), True, Evidence.CERTIFIED)
    bare = exact_series([1, 2]).taken(np.array([False, True]))
    assert (bare.value.tolist(), bare.step, bare.label) == ([2], None, ())


def of_entries(value: Series, **bounds: list[float]) -> Finding:
    """The finding of bounds that are given entry by entry."""
    given: dict[str, Any] = {side: lambda *_, bound=bound: np.array(bound) for side, bound in bounds.items()}
    return Bounded(lambda _: value, **given).judge(run())


@pytest.mark.parametrize(
    ("value", "log", "side", "bound", "worst"),
    [
        ([1.0, 90.0], False, "upper", [2.0, 100.0], 2),
        ([1.0, 90.0], False, "lower", [0.5, 80.0], 2),
        ([-8.0, -1.0], False, "upper", [4.0, 5.0], 2),
        ([4.0, 5.0], False, "lower", [-8.0, -1.0], 2),
        ([1.0, 0.0], False, "upper", [2.0, 0.0], 2),
        ([np.inf, 4.0], False, "lower", [3.0, 2.0], 2),
        ([1.0, 4.0], False, "upper", [2.0, 1.0], 2),
        ([2.0, 4.0], False, "upper", [1.0, 3.0], 1),
        ([1e3, 5.0], True, "upper", [1010.0, 12.0], 2),
        ([1e-20, 1e-18, 1e-19], False, "upper", [1.0, 1.0, 1.0], 2),  # beyond a slack of 1e16 by their ratio
    ],
)
def test_the_least_room_is_relative_to_the_larger_side_or_a_difference_of_logarithms(
    value: list[float], log: bool, side: str, bound: list[float], worst: int
) -> None:
    entries = series(value, radius=0, step=np.arange(1, len(value) + 1), log=log)
    assert of_entries(entries, **{side: bound}).worst_step == worst


@pytest.mark.parametrize(
    ("value", "radius", "side", "bound", "expected"),
    [
        (1.0, 0.25, "upper", 4.0, (4 / 1) / (4 / 1.5) - 1),
        (1.0, 0.25, "lower", 0.5, (1 / 0.5) / (0.5 / 0.5) - 1),
        (-1.0, 0.25, "upper", -0.2, (1 / 0.2) / (0.5 / 0.2) - 1),
        (-1.0, 1.0, "upper", 3.0, np.inf),
        (2.0, 0.0, "upper", -2.0, np.inf),
        (0.0, 0.0, "upper", 0.0, 0.0),
    ],
)
def test_a_slack_repeats_within_what_error_bars_of_two_runs_reach(
    value: float, radius: float, side: str, bound: float, expected: float
) -> None:
    found = of_entries(series([value], radius=radius), **{side: [bound]})
    assert found.repeats_within == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_slack_repeats_within_what_the_bars_of_any_entry_reach() -> None:
    found = of_entries(series([3.0], radius=0.5, log=True), upper=[5.0])
    assert found.repeats_within == pytest.approx(np.exp(1) - 1, rel=1e-9, abs=0)
    value = measured(1 / STEP, radius=np.where(STEP == 1, 0.1, 0.0))
    found = Bounded(value, upper=lambda _, t: 2 / t).judge(run())
    assert found.repeats_within == pytest.approx(2 / (2 / 1.2) - 1, rel=1e-9, abs=0)


@pytest.mark.parametrize(
    ("value", "bound", "log", "slack"),
    [
        (4.0, 2.0, False, 0.5),
        (0.0, 2.0, False, None),
        (1e-300, np.inf, False, None),
        (1.0, 3.0, True, np.exp(2)),
        (0.0, 1e4, True, None),
    ],
)
def test_the_slack_is_the_ratio_on_the_natural_scale(
    value: float, bound: float, log: bool, slack: float | None
) -> None:
    found = of_entries(series([value], radius=0, log=log), upper=[bound]).slack
    assert found == (slack if slack is None else pytest.approx(slack, rel=1e-12, abs=0))


def test_the_detail_gives_relative_error_bars() -> None:
    labelled = series([2.0], radius=0.125, step=np.array([3]), label=("a",))
    said = "Least room at a, t = 3, against the upper bound; relative error bars 3.1e-02."
    assert of_entries(labelled, upper=[-4.0]).detail == said
    assert "; error bars 5.0e-01" in of_entries(series([0.0], radius=0.5), upper=[0.0]).detail
    assert "error bars 2.5e-01" in of_entries(series([2.0], radius=0.25, log=True), upper=[5.0]).detail


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scale", [1.0, 1e-20])  # beyond a slack of 1e16 the ratios decide
def test_a_value_less_than_its_error_bar_is_known_no_better_than_the_bar(sign: int, scale: float) -> None:
    seen, bars = scale * sign * np.array([1e-26, 1e-3]), scale * np.array([1e-4, 1e-5])
    noise = series(seen, radius=bars, step=np.array([1, 2]))
    found = of_entries(noise, **{"upper" if sign > 0 else "lower": [sign * 1e-3, sign * 1.0]})
    assert (found.worst_step, found.bound) == (1, sign * 1e-3)
    assert found.measured == pytest.approx(sign * scale * 1e-4, rel=1e-9, abs=0)
    assert found.slack == pytest.approx(10 / scale, rel=1e-9, abs=0)
    assert found.repeats_within == np.inf
    assert "larger than the value" in found.detail


def test_the_numbers_are_from_where_the_bound_says_something() -> None:
    """1/t against 4/t - 1/t^2 has the least room at t = 1, where a bound of 3 says nothing of what is at most 1."""
    claim = Bounded(measured(1 / STEP), lambda _, t: 4 / t - 1 / t**2, largest=1.0)
    found = claim.judge(run())
    assert (found.worst_step, found.informative_from) == (4, 4)
    assert found.slack == pytest.approx(4 - 1 / 4, rel=1e-12, abs=0)
    everywhere = replace(claim, largest=np.inf).judge(run())
    assert everywhere.worst_step == 1
    assert everywhere.slack == pytest.approx(3, rel=1e-12, abs=0)


def test_where_no_bound_says_anything_the_detail_says_so() -> None:
    claim = Bounded(measured(1 / STEP), lambda _, t: 4 / t**1.1, largest=1e-9)
    found = claim.judge(run())
    assert (found.verdict, found.worst_step) == (Verdict.VACUOUS, 1000)
    assert "The bounds are vacuous at every step of the run." in found.detail
    assert "At no step" not in replace(claim, largest=1.0).judge(run()).detail


def test_what_breaks_a_bound_is_shown_even_where_it_is_beyond_reach() -> None:
    claim = Bounded(measured(np.where(STEP == 5, 9.0, 0.1)), lambda _, t: 0 * t + np.where(t < 10, 5, 0.5), largest=1.0)
    found = claim.judge(run())
    assert (found.verdict, found.worst_step, found.measured) == (Verdict.VIOLATED, 5, 9.0)


def above_zero(_: Any, t: Any) -> Any:
    return np.full(len(t), LEAST)


def test_a_strict_sign_is_shown_as_a_bound_of_0() -> None:
    above = Bounded(measured(1e-7 / STEP), lower=above_zero).judge(run())
    assert (above.verdict, above.bound, above.slack) == (Verdict.HOLDS, 0.0, None)
    below = Bounded(measured(-1e-7 / STEP), lambda _, t: np.full(len(t), -LEAST)).judge(run())
    assert (below.verdict, below.bound, below.slack) == (Verdict.HOLDS, 0.0, None)
    at_zero = Bounded(measured(0.0 * STEP), lower=above_zero).judge(run())
    assert (at_zero.verdict, at_zero.slack) == (Verdict.VIOLATED, None)
    assert Bounded(measured(0.0 * STEP), lambda _, t: np.full(len(t), -LEAST)).judge(run()).verdict is Verdict.VIOLATED
    open_ = Bounded(measured(0.0 * STEP, radius=0.25), lower=above_zero).judge(run())
    assert (open_.verdict, "; error bars 2.5e-01." in open_.detail) == (Verdict.INCONCLUSIVE, True)
    assert UNDERFLOW not in open_.detail
    underflown = series(0.0 * STEP, radius=1e-323, step=STEP)
    assert Bounded(lambda _: underflown, lower=above_zero).judge(run()).verdict is Verdict.INCONCLUSIVE
    assert Bounded(lambda _: underflown, upper=lambda run, t: -above_zero(run, t)).judge(run()).verdict is (
        Verdict.INCONCLUSIVE
    )


@pytest.mark.parametrize(
    ("steps", "first", "said"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15], 1, "t = 13 to 13"),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18], 1, ""),
        ([1, 10, 100], 1, "t = 2 to 9"),
        ([1000], 1, "t = 1 to 999"),
        ([1000], 1000, ""),
        ([100, 112, 126, 1000], 100, "t = 127 to 999"),
        ([0, 0.5, 1.5], 0, ""),
    ],
)
def test_steps_that_were_left_out_are_named(steps: list[float], first: int, said: str) -> None:
    one = Bounded(
        measure=lambda _: series(np.ones(len(steps)), radius=0, step=np.array(steps)), upper=twos, first=first
    )
    found = one.judge(None)
    assert (found.verdict, found.left_out) == (Verdict.HOLDS, said)
    swept = replace(one, measure=lambda _: series(np.ones(len(steps)), radius=0, step=np.array(steps), clock="M"))
    assert swept.judge(None).left_out == ""
    both = Parts({"one": one, "other": swept, "again": one})
    assert both.judge(None).left_out == said
    late = replace(one, threshold=lambda _: Threshold(steps[-1]))
    assert late.judge(None).left_out == ""


def twos(_: object, t: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.full(len(t), 2.0)


def test_the_worst_entry_of_a_violation_is_one_that_violates_it_beyond_its_bars() -> None:
    three = series(np.array([3.0, 1.0, 9.0]), radius=np.array([0.0, 0.0, 100.0]), step=np.array([1, 2, 3]))
    found = Bounded(measure=lambda _: three, upper=twos).judge(None)
    assert (found.verdict, found.worst_step, found.measured) == (Verdict.VIOLATED, 1, 3.0)


def test_a_violated_row_says_where_error_bars_hide_more() -> None:
    """Steps 1 to 1000: above the upper bound at 3, and hidden from 998 on."""
    value = np.where(STEP == 3, 2.0, 0.5)
    bounds: dict[str, Any] = {"upper": lambda _, t: 1 + 0 * t, "lower": lambda _, t: -9 + 0 * t}
    found = Bounded(measured(value, radius=np.where(STEP >= 998, 1.0, 0.0)), **bounds).judge(run())
    assert (found.verdict, found.worst_step) == (Verdict.VIOLATED, 3)
    assert re.search(r"3 of 1000 .*998.* hide", found.detail)
    clear = Bounded(measured(value), **bounds).judge(run())
    assert "hide" not in clear.detail


def test_an_unknown_measurement_has_no_slack() -> None:
    found = Bounded(lambda _: series([2.0], radius=[np.inf], step=np.array([5])), upper=lambda _, t: 0 * t + 3).judge(
        run
    )
    assert (found.verdict, found.measured, found.slack) == (Verdict.INCONCLUSIVE, None, None)


def test_what_is_certified_of_every_step_has_every_step() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        end, first = int(rng.integers(5, 60)), int(rng.integers(1, 5))
        step = np.sort(rng.choice(np.arange(1, end + 1), size=int(rng.integers(1, end + 1)), replace=False))
        given = replace(series(np.ones(len(step)), radius=0, step=step), evidence=Evidence.CERTIFIED)
        missing = [t for t in range(first, end + 1) if t not in step]
        said = unseen(SimpleNamespace(lengths=(end,)), given, Evidence.CERTIFIED, first)
        assert said.startswith(f"t = {missing[0]} to " if missing else "")
        assert bool(said) == bool(missing)


def test_a_bound_far_below_float64_is_not_0() -> None:
    """exp(-5000) against exp(-1): flint's balls have the ratio."""
    measured_, stated = series([-1.0], radius=0, log=True), lambda _, t: np.full(len(t), -5000.0)
    found = Bounded(lambda _: measured_, upper=stated).judge(run())
    assert 0 < flint.arb(-4999).exp() < flint.arb(known(found.slack))
    assert (found.verdict, found.bound, found.slack) == (Verdict.VIOLATED, 5e-324, 5e-324)
    assert (bound({"bound": found.bound, "side": "upper"}), brief(found.slack)) == ("≤ below 1e-308", "below 1e-308")
    exact = Bounded(lambda _: exact_series([1]), upper=lambda _, t: Fraction(1, 10**400)).judge(run())
    assert (exact.verdict, exact.bound, exact.slack) == (Verdict.VIOLATED, 5e-324, 5e-324)
    assert "1 apart" in exact.detail


@pytest.mark.parametrize(("value", "stated"), [(2.0, 8.0), (2.0, 0.5), (-2.0, -0.5), (-2.0, -8.0), (1e-7, 3e5)])
@pytest.mark.parametrize("log", [False, True])
def test_above_a_slack_of_1_there_is_room_on_either_side(value: float, stated: float, log: bool) -> None:
    ratio = max(value / stated, stated / value)
    if log:
        value, stated = math.log(abs(value)), math.log(abs(stated))
    given = series([value], radius=0, log=log)
    upper = Bounded(lambda _: given, upper=lambda _, t: np.full(len(t), stated)).judge(run())
    lower = Bounded(lambda _: given, lower=lambda _, t: np.full(len(t), stated)).judge(run())
    for found in (upper, lower):
        holds = found.verdict is Verdict.HOLDS
        assert known(found.slack) == pytest.approx(ratio if holds else 1 / ratio, rel=1e-12, abs=0)
    assert {upper.verdict, lower.verdict} == {Verdict.HOLDS, Verdict.VIOLATED}
