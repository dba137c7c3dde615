"""The rules of limits at their edges, each number of them from both sides."""

import re
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.judgements import Limit
from marginaudit.claims.series import series
from marginaudit.claims.verdict import Finding, Verdict
from tests.claims.judgements.test_judgements import STEP, run

HOLDS, VIOLATED, OPEN = Verdict.HOLDS, Verdict.VIOLATED, Verdict.INCONCLUSIVE


def judged(
    value: Any,
    predicted: float = 2.0,
    *,
    radius: Any = 0.0,
    step: Any = STEP,
    regime: float = 10,
    positive: bool = False,
) -> Finding:
    measured = series(value, radius=np.asarray(radius) + 0.0 * step, step=step)
    return Limit(lambda _: measured, lambda _: predicted, lambda _: regime, positive=positive).judge(run())


def off(distance: Any, **change: Any) -> Verdict:
    """The verdict where the relative distance from the predicted limit is this."""
    return judged(1 + np.asarray(distance), 1.0, **change).verdict


def test_a_series_of_logarithms_is_judged_as_the_quantity_itself() -> None:
    quantity = 2 + 1 / STEP
    logs = series(np.log(quantity), radius=0.01, step=STEP, log=True)
    found = Limit(lambda _: logs, lambda _: 2.0, lambda _: 10).judge(run())
    assert found.measured == pytest.approx(quantity[-1], rel=1e-14, abs=0)
    assert "error bars 1.0e-02." in found.detail
    upper = logs.natural.upper / quantity
    assert ((np.exp(0.01) <= upper) & (upper < np.exp(0.01) + 1e-12)).all()


def test_the_numbers_shown_are_those_of_the_last_step() -> None:
    found = judged(-2 - 1 / STEP, -2.0, radius=0.5)
    assert (found.measured, found.bound, found.worst_step) == (-2.001, -2.0, 1000)
    assert found.slack is None
    assert "50 % at t = 1, 5 % at t = 10, 0.5 % at t = 100, 0.05 % at t = 1000; error bars 2.5e-01." in found.detail
    assert found.curve is not None
    assert (found.curve.predicted, found.curve.upper) == (-2.0, None)
    assert found.curve.measured[0] == -3.0
    assert found.curve.step == STEP.tolist()
    held = judged(-2 - 1 / STEP, -2.0)
    assert (held.verdict, held.first_violation) == (HOLDS, None)
    assert held.detail.endswith("error bars 0.0e+00.")
    elsewhere = judged(0 * STEP)
    assert (elsewhere.verdict, elsewhere.first_violation) == (VIOLATED, 1000)
    assert "elsewhere" in elsewhere.detail
    assert "vanishes" in judged(3 / STEP, positive=True).detail


def test_a_run_without_steps_shows_no_limit() -> None:
    nothing = series([], radius=0, step=np.empty(0, dtype=int))
    found = Limit(lambda _: nothing, lambda _: 1.0, lambda _: 1).judge(run())
    assert (found.verdict, "too few steps" in found.detail) == (OPEN, True)


def test_without_a_prediction_the_last_value_is_shown() -> None:
    found = judged(3.0 * STEP, np.nan)
    assert (found.verdict, found.measured, found.bound) == (OPEN, 3000.0, None)
    assert "predicted" in found.detail


def test_a_limit_is_a_statement_about_late_steps() -> None:
    """By this a hunt knows to train for long."""
    assert Limit(lambda _: series([], radius=0), lambda _: 1.0, lambda _: 1).late


def test_the_regime_may_begin_with_the_last_decade() -> None:
    assert judged(2 + 1 / STEP, regime=100).verdict is HOLDS
    assert judged(2 + 1 / STEP, regime=100.001).verdict is OPEN


def test_what_a_prediction_is_uncertain_by_hides_where_a_quantity_settles() -> None:
    settled = series(np.full(len(STEP), 1.03), radius=0.0, step=STEP)
    for uncertainty, verdict in ((0.0, VIOLATED), (0.04, Verdict.INCONCLUSIVE)):
        found = Limit(lambda _: settled, lambda _: 1.0, lambda _: 10, uncertainty=uncertainty).judge(run())
        assert (found.verdict, f"error bars {uncertainty:.1e}." in found.detail) == (verdict, True)


def test_the_end_is_within_one_percent_of_the_prediction() -> None:
    assert judged(np.where(STEP < 1000, 100 + 1100 / STEP, 101.0), 100.0).verdict is OPEN
    assert judged(np.where(STEP < 1000, 100 + 1100 / STEP, 100.99), 100.0).verdict is HOLDS
    assert off(9.5 / STEP, radius=0.0004) is HOLDS
    assert off(9.5 / STEP, radius=0.0006) is OPEN


def test_each_decade_brings_the_limit_nearer_beyond_error_bars() -> None:
    slow = 0.009 * STEP**-0.02
    assert off(slow, radius=1e-4) is HOLDS
    assert off(slow, radius=2e-4) is OPEN
    first_decade_rises = np.where(STEP < 10, 0.01, 1.0) / STEP
    assert off(first_decade_rises) is OPEN
    last_decade_rests = np.where(STEP < 100, 1 / STEP, 0.005 / (1 + 1e-4 * np.log(STEP)))
    assert off(last_decade_rests) is VIOLATED
    zero_in_the_end = np.where(STEP < 100, 1 / STEP, 0.0)
    assert off(zero_in_the_end, radius=1e-6) is HOLDS
    assert off(2.0**-14 + 0 * STEP, radius=2.0**-14) is HOLDS
    assert off(0 * STEP, radius=1e-4) is HOLDS
    assert off(0 * STEP, radius=np.nextafter(1e-4, 1)) is OPEN


def test_a_decade_that_brings_it_nearer_by_half_a_percent_brings_it_no_nearer() -> None:
    """0.034 and 0.03383: what is left after half a percent, in float64 too."""
    for second, verdict in ((1.03383, OPEN), (1.03382, HOLDS)):
        value = np.where(STEP < 10, 1.034, np.where(STEP < 100, second, 1 + 0.1 / STEP))
        assert judged(value, 1.0).verdict is verdict


def decades(first: int) -> Any:
    """Steps from ``first`` to 10,000."""
    return np.unique(np.append(np.geomspace(first, 10_000, 300).astype(int), [100, 1000]))


def test_the_entries_that_stand_for_decades_lie_near_them() -> None:
    assert off(1 / decades(12), step=decades(12)) is HOLDS
    assert off(1 / decades(13), step=decades(13)) is OPEN
    gap = np.array([10, 85, 1000, 2000, 4000, 10_000])
    assert off(1 / gap, step=gap) is HOLDS
    gap[1] = 75
    assert off(1 / gap, step=gap) is OPEN


def test_three_entries_of_each_half_of_the_last_decade_show_that_it_settled() -> None:
    step = np.array([1, 10, 100, 150, 316, 317, 700, 1000])
    assert off(0 * step[1:] + 0.5, step=step[1:]) is VIOLATED
    for left_out in (2, 3, 4, 5, 6):
        fewer = np.delete(step, left_out)
        assert off(0 * fewer + 0.5, step=fewer) is OPEN
    step[2] = 99
    assert off(0 * step + 0.5, step=step) is OPEN


def test_what_settled_elsewhere_wavers_by_less_than_half_its_room() -> None:
    one = np.where(STEP == 200, 1.0, 0.0)
    assert off(1 + 0.5 * one) is VIOLATED
    assert off(1 + 0.51 * one) is OPEN
    assert off(1 + 0.1 * one, radius=0.5) is VIOLATED
    assert off(1 + 0.3 * one, radius=0.5) is OPEN
    assert off(1 + 9 * np.where(STEP == 99, 1.0, 0.0)) is VIOLATED


def test_the_second_half_of_the_last_decade_is_no_nearer() -> None:
    for nearer, verdict in ((0.996, VIOLATED), (0.994, OPEN)):
        assert off(np.where(STEP <= 316, 1.0, nearer)) is verdict
    assert judged(np.where(STEP <= 316, 0.0, 0.005), 1.0).verdict is VIOLATED
    assert off(np.where(STEP <= 250, 1.0, 0.994)) is OPEN
    assert off(np.where(STEP <= 200, 1.0, 0.994)) is VIOLATED


def test_a_distance_that_error_bars_just_reach_is_not_beyond_them() -> None:
    assert off(0.5 + 0.0 * STEP, radius=0.5) is OPEN
    assert off(0.5 + 0.0 * STEP, radius=0.499) is VIOLATED
    assert off(0.5 + 0.0 * STEP, radius=np.where(STEP == 100, 0.5, 0.0)) is OPEN
    assert off(0.5 + 0.0 * STEP, radius=np.where(STEP == 99, 0.5, 0.0)) is VIOLATED


def vanishing(before: float, after: float, **change: Any) -> Verdict:
    """A quantity with a positive limit: so much at the start of the last decade and in its last fifth."""
    value = np.where(STEP < 100, 1e3, np.where(STEP <= 125, before, np.where(STEP < 800, 5.0, after)))
    return judged(value, 77.0, positive=True, **change).verdict


def test_a_positive_limit_vanishes_if_a_fifth_is_left_after_a_decade() -> None:
    assert vanishing(1.0, 0.19) is VIOLATED
    assert vanishing(1.0, 0.2) is OPEN
    assert vanishing(1.0, 0.19, radius=0.02) is OPEN
    assert vanishing(0.0, -2.0) is OPEN
    assert vanishing(1.0, 0.19, regime=101) is OPEN
    assert judged(np.where(STEP <= 125, 1.0, 0.001), 0.001 * 1.05, positive=True).verdict is VIOLATED
    assert judged(3 / STEP[[0, -1]], positive=True, step=STEP[[0, -1]]).verdict is OPEN


def cycle(sizes: list[float], turns: str, *, radius: Any = 0.0, base: float = 3.0, **change: Any) -> Finding:
    """A last decade that goes up and down as told, from a base on; without a prediction."""
    signs = [1.0 if turn == "+" else -1.0 for turn in turns]
    values = base + np.concatenate([[0.0], np.cumsum(np.array(signs) * sizes)])
    step = np.rint(np.geomspace(100, 1000, len(values))).astype(int)
    return judged(values, np.nan, radius=radius, step=step, **change)


def test_a_cycle_turns_back_in_four_of_five_steps() -> None:
    assert cycle([1.0] * 11, "+-+-+-+-+++").verdict is VIOLATED
    assert cycle([1.0] * 11, "+-+-+-+----").verdict is OPEN
    assert cycle([1.0] * 10, "+-+-+-+-+-").verdict is VIOLATED
    assert cycle([1.0] * 9, "+-+-+-+-+").verdict is OPEN
    assert cycle([1.0, 0.0] * 6, "+-" * 6).verdict is OPEN


def test_a_cycle_is_beyond_error_bars_and_no_smaller_in_the_end() -> None:
    turns = "+-" * 6
    assert cycle([1.0] * 12, turns, radius=0.47).verdict is VIOLATED
    assert cycle([1.0] * 12, turns, radius=0.49).verdict is OPEN
    one = np.zeros(13)
    one[0] = 0.6
    assert cycle([1.0] * 12, turns, radius=one).verdict is OPEN
    assert cycle([1.0] * 12, turns, base=98.0).verdict is VIOLATED
    assert cycle([1.0] * 12, turns, base=99.0).verdict is OPEN
    assert cycle([1.0] * 12, turns, base=-100.5).verdict is OPEN
    assert cycle([1.0] * 6 + [0.996] * 6, turns).verdict is VIOLATED
    assert cycle([1.0] * 6 + [0.995] * 6, turns, base=0.0).verdict is VIOLATED
    assert cycle([1.0] * 6 + [0.994] * 6, turns).verdict is OPEN


def test_a_cycle_is_shown_with_the_two_values_between_which_it_goes() -> None:
    found = judged(np.where(STEP < 100, 99.0, np.where(STEP % 2, 4.0, 2.0)), 3.0)
    assert (found.verdict, found.measured, found.worst_step, found.first_violation) == (VIOLATED, 2.0, 1000, 1000)
    assert re.findall(r"\d+", found.detail) == ["100", "1000", "2", "4"]
    assert judged(np.where(STEP % 2, 4.0, 2.0), 3.0, positive=True).verdict is OPEN


def extrapolated(
    distance: Any, approach: Any, predicted: float = 2.0, *, radius: float = 0.0, last: float = 1e18
) -> Finding:
    """Verdict at the last step on 2 plus a distance, whose order is stated as ``approach``."""
    step = np.geomspace(1, last, 10 * round(np.log10(last)) + 1)
    measured = series(2 + distance(step), radius=radius, step=step)
    return Limit(lambda _: measured, lambda _: predicted, lambda _: 10, approach=approach).judge(run())


def of_log(t: Any) -> Any:
    return 1 / np.log(t + 2)


def of_root(t: Any) -> Any:
    return np.log(t + 2) ** -0.5


def of_log_of_log(t: Any) -> Any:
    return 1 / np.log(np.log(t + 20))


def test_a_wrong_order_of_the_approach_does_not_refute_a_true_limit() -> None:
    """The extrapolated distances settle elsewhere within a decade, and move over three."""
    for distance in (of_log, of_root, of_log_of_log):
        assert extrapolated(distance, distance).verdict is HOLDS
        assert extrapolated(distance, distance, 1.95).verdict is VIOLATED
    for distance, stated in ((of_root, of_log_of_log), (of_log_of_log, of_root)):
        found = extrapolated(distance, stated)
        assert found.verdict is OPEN
        assert found.detail.endswith("The extrapolated distance still changes, as under a wrong order.")
    undecided = extrapolated(of_log, of_root)
    assert undecided.verdict is OPEN
    assert "wrong order" not in undecided.detail


def test_a_refutation_by_extrapolation_needs_narrow_bars_and_three_decades_of_it() -> None:
    assert extrapolated(of_log, of_log, 1.95, radius=2e-5).verdict is VIOLATED
    assert extrapolated(of_log, of_log, 1.95, radius=5e-4).verdict is OPEN
    assert extrapolated(of_log, of_log, 1.95, last=1e6).verdict is VIOLATED
    assert extrapolated(of_log, of_log, 1.95, last=1e5).verdict is OPEN


def test_a_slightly_wrong_order_is_not_seen() -> None:
    """The verdict is as good as the order: 1/log^2 t, stated as 1/log t, tends to 1.9993 in place of 2."""
    found = extrapolated(lambda t: of_log(t) ** 2, of_log)
    assert found.verdict is HOLDS
    assert found.measured == pytest.approx(1.9993, abs=1e-4)


def test_a_distance_that_stops_short_of_zero_does_not_hold() -> None:
    """Of three decades of falls, down to 1 %, the last may already end at another limit."""
    early = np.unique(np.geomspace(1, 4000, 100).round())
    assert off(0.005 + 1 / STEP) is OPEN
    assert "slows" in judged(1.005 + 1 / STEP, 1.0).detail
    assert off(1.43e-4 + np.exp(-early / 100), step=early) is OPEN
    for fall in (1 / STEP, STEP**-0.7, np.exp(-STEP / 10), np.log(STEP + 1) ** -3.0, 1 / STEP + 0.005 * STEP**-0.3):
        assert off(fall) is HOLDS
    few = np.array([1, 10, 100, 1000])
    assert (off(0.005 + 1 / few, step=few), off(1 / few, step=few)) == (OPEN, HOLDS)


def test_a_slowing_fall_is_open_beyond_three_fifths() -> None:
    for rest, verdict in ((0.0013, HOLDS), (0.0018, OPEN)):
        assert off(rest + 1 / STEP) is verdict
