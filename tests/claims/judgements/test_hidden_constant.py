"""The rules of hidden constants at their edges, and the numbers that they show."""

import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.judgements import HiddenConstant
from marginaudit.claims.judgements.compare import FADED
from marginaudit.claims.judgements.hidden_constant import RISES, TOO_SHORT
from marginaudit.claims.series import series
from marginaudit.claims.verdict import Evidence, Finding, Verdict
from tests.claims.judgements.test_judgements import STEP, measured, run

HOLDS, VIOLATED, OPEN = Verdict.HOLDS, Verdict.VIOLATED, Verdict.INCONCLUSIVE
BEGUN: dict[str, Any] = {"regime": lambda _: 1.0}
EARLY = STEP <= 31
"""The first half of the steps' logarithms."""


def one(_: Any, t: Any) -> Any:
    return 0 * t + 1.0


def judged(value: Any, *, shape: Any = one, radius: Any = 0.0, log: bool = False, **change: Any) -> Finding:
    return HiddenConstant(measured(value, radius=radius, log=log), shape, **BEGUN | change).judge(run())


def test_kinds_and_what_has_nothing_to_judge() -> None:
    assert HiddenConstant(measured(1.0 * STEP), one).kind == "upper bound with a hidden constant"
    assert HiddenConstant(measured(1.0 * STEP), one, side="lower").kind == "lower bound with a hidden constant"
    nothing = series([], radius=0, step=np.empty(0, dtype=int))
    assert HiddenConstant(lambda _: nothing, one).judge(run()).verdict is Verdict.NOT_APPLICABLE


def test_one_step_is_too_few_and_two_are_enough() -> None:
    single = series([1.0], radius=0, step=np.array([7]))
    found = HiddenConstant(lambda _: single, one).judge(run())
    assert (found.verdict, found.detail[:15]) == (OPEN, "1 recorded step")
    pair = series([1.5, 1.0], radius=0, step=np.array([7, 9]))
    assert HiddenConstant(lambda _: pair, one).judge(run()).verdict is HOLDS


@pytest.mark.parametrize("middle", [2, 10])
def test_the_step_in_the_middle_is_fitted(middle: int) -> None:
    three = series([1.0, 3.0, 2.0], radius=0, step=np.array([1, middle, middle**2]))
    found = HiddenConstant(lambda _: three, one).judge(run())
    assert found.verdict is HOLDS
    assert re.findall(r"\d+", found.detail)[1:4] == [str(middle), "2", "6"]


def test_the_fitted_constant_has_a_factor_2_of_room() -> None:
    assert judged(np.where(EARLY, 1.0, 2.0)).verdict is HOLDS
    assert judged(np.where(EARLY, 1.0, 2.01)).verdict is OPEN
    assert judged(np.where(STEP <= 32, 1.0, 2.01)).verdict is OPEN
    assert judged(np.where(STEP <= 30, 1.0, 2.01)).verdict is HOLDS


def test_the_numbers_of_an_upper_bound() -> None:
    value = replace(
        series(np.where(STEP == 500, 1.5, np.where(STEP == 20, 3.0, 1.0)) * STEP, radius=0, step=STEP),
        evidence=Evidence.CERTIFIED,
    )
    found = HiddenConstant(lambda _: value, lambda _, t: t).judge(run())
    assert (found.verdict, found.evidence, found.side) == (HOLDS, Evidence.FLOAT64, "upper")
    assert (found.worst_step, found.measured, found.first_violation) == (500, 750.0, None)
    assert found.constant == pytest.approx(3)
    assert found.bound == pytest.approx(6 * 500)
    assert found.slack == pytest.approx(4)
    assert re.findall(r"\d+", found.detail) == ["3", "31", "2", "6", "1000"]
    assert found.curve is not None
    assert found.curve.lower is None
    assert found.curve.upper == pytest.approx(6 * STEP)
    assert found.curve.measured[19] == 60.0
    assert found.curve.step == STEP.tolist()


def test_the_numbers_of_a_lower_bound() -> None:
    found = judged(np.where(EARLY, 1.0, np.where(STEP == 400, 0.6, 0.7)) * STEP, shape=lambda _, t: t, side="lower")
    assert (found.verdict, found.side, found.worst_step) == (HOLDS, "lower", 400)
    assert found.constant == pytest.approx(0.6)
    assert found.bound == pytest.approx(200)
    assert found.slack == pytest.approx(0.6 / 0.5)
    assert found.curve is not None
    assert found.curve.upper is None
    assert found.curve.lower == pytest.approx(STEP / 2)
    assert judged(np.where(EARLY, 1.0, 0.49) * STEP, shape=lambda _, t: t, side="lower").verdict is OPEN


def test_the_numbers_of_a_logarithm() -> None:
    found = judged(np.log(3) - 0.1 * STEP, shape=lambda _, t: -0.1 * t, log=True)
    assert found.verdict is HOLDS
    assert found.constant == pytest.approx(3)
    assert found.bound == pytest.approx(6 * np.exp(-0.1 * (found.worst_step or 0)))
    assert found.slack == pytest.approx(2)
    assert found.curve is not None
    assert found.curve.measured[9] == pytest.approx(3 * np.exp(-1))
    assert found.curve.upper is not None
    assert found.curve.upper[9] == pytest.approx(6 * np.exp(-1))


T = np.geomspace(2.0, 1e6, 200)


@pytest.mark.parametrize(
    ("needed", "verdict"),
    [
        (np.log(T), OPEN),
        (np.log(T) ** 0.5, OPEN),
        (np.log(T) ** 0.2, HOLDS),
        (T**0.03, OPEN),
        (3 - 1 / np.log(T) ** 2, HOLDS),
        (1 - T**-0.1, HOLDS),
        (np.where(T > 9e5, 1.08, 1.0), OPEN),
        (np.where(T > 9e5, 1.06, 1.0), HOLDS),
    ],
)
def test_a_constant_that_rises_as_a_logarithm_at_the_end_is_open(needed: Any, verdict: Verdict) -> None:
    upper = HiddenConstant(lambda _: series(needed / T, radius=0, step=T), lambda _, t: 1 / t)
    assert (upper.judge(run()).verdict, upper.judge(run()).detail.endswith(RISES)) == (verdict, verdict is OPEN)
    lower = HiddenConstant(lambda _: series(T / needed, radius=0, step=T), lambda _, t: t, side="lower")
    assert lower.judge(run()).verdict is verdict
    for noisy in (T > 37606, T <= 37606):
        bars = series(needed, radius=needed * noisy, step=T)
        assert HiddenConstant(partial(lambda found, _: found, bars), one).judge(run()).verdict is HOLDS


def test_two_first_steps_that_rise_are_open() -> None:
    first = series([1.0, 1.5], radius=0, step=np.array([1, 2]))
    assert HiddenConstant(lambda _: first, one).judge(run()).verdict is OPEN


def path(first: float, second: float) -> Finding:
    """A needed constant whose logarithm rises by ``first``, then by ``second``, in the halves of what is tested."""
    log_t = np.log(STEP)
    begin, end = np.log(32), np.log(1000)
    needed = np.interp(log_t, [begin, (begin + end) / 2, end], [0.0, first, first + second])
    return judged(np.exp(needed))


def test_a_constant_that_runs_away_by_a_factor_10_beyond_the_room_is_refuted() -> None:
    found = path(np.log(20.2) / 2, np.log(20.2) / 2)
    assert found.verdict is VIOLATED
    assert found.worst_step == 1000
    past = np.log(32) + np.log(2) / np.log(20.2) * np.log(1000 / 32)
    assert found.first_violation == int(np.ceil(np.exp(past)))
    at_the_fitted_one = np.where(EARLY, 1.0, np.where(STEP == 32, 2.0, 2.0 * (STEP / 32.0) ** 4))
    assert (judged(at_the_fitted_one).verdict, judged(at_the_fitted_one).first_violation) == (VIOLATED, 33)
    open_yet = path(np.log(19.8) / 2, np.log(19.8) / 2)
    assert (open_yet.verdict, open_yet.first_violation) == (OPEN, None)


def test_a_constant_that_slows_down_is_not_refuted() -> None:
    assert path(2.0, 2.0 * 0.90).verdict is VIOLATED
    assert path(2.0, 2.0 * 0.86).verdict is OPEN
    assert path(-1.0, 5.0).verdict is VIOLATED
    assert judged(np.where(EARLY, 1.0, 20.2)).verdict is OPEN
    assert judged(np.where(EARLY, 0.0, STEP**2.0)).verdict is VIOLATED


def test_a_pace_is_seen_on_both_sides_of_the_middle_at_least() -> None:
    def at(*steps: int) -> Verdict:
        step = np.array(steps)
        rises_between_32_and_60 = 1 + 100 / (1 + (45 / step) ** 20)
        rising = series(rises_between_32_and_60, radius=0, step=step)
        return HiddenConstant(lambda _: rising, one, **BEGUN).judge(run()).verdict

    assert at(1, 10, 900) is OPEN
    assert at(1, 10, 40, 900) is OPEN
    assert at(1, 10, 300, 900) is OPEN
    assert at(1, 10, 30, 35, 300, 900) is OPEN
    for rising in ([0, 0, 0, 4, 4], [0, 0, 1.2, 1.2, 3.2]):  # where only one neighbour of the middle shows it slow
        found = series(np.exp(rising), radius=0, step=np.array([1, 10, 40, 300, 1000]))
        assert HiddenConstant(partial(lambda given, _: given, found), one, **BEGUN).judge(run()).verdict is OPEN
    line = series([1.0, 10.0, 1e2, 1e3], radius=0, step=np.array([1, 10, 100, 1000]))
    assert HiddenConstant(lambda _: line, one, **BEGUN).judge(run()).verdict is VIOLATED


@pytest.mark.parametrize(("last", "clock", "verdict"), [(1e6, "t", VIOLATED), (9e5, "t", OPEN), (1e3, "M", VIOLATED)])
def test_without_a_regime_three_decades_of_tested_steps_refute(last: float, clock: str, verdict: Verdict) -> None:
    step = np.geomspace(1, last, 61)
    found = HiddenConstant(lambda _: series(step, radius=0, step=step, clock=clock), one).judge(run())
    assert (found.verdict, found.detail.endswith(TOO_SHORT)) == (verdict, verdict is OPEN)
    assert (
        not HiddenConstant(lambda _: series(step, radius=0, step=step), lambda _, t: t)
        .judge(run())
        .detail.endswith(TOO_SHORT)
    )


def test_a_step_that_leaves_no_constant() -> None:
    found = judged(np.where(STEP == 5, 0.0, 1.0), side="lower")
    assert (found.verdict, found.worst_step, found.first_violation) == (VIOLATED, 5, 5)
    assert (found.measured, found.bound) == (0.0, 0.0)
    assert "no constant" in found.detail
    assert judged(np.where(STEP == 5, 0.0, 1.0)).verdict is HOLDS
    assert judged(np.where(STEP == 5, -9.0, 1.0)).verdict is HOLDS
    hidden = judged(np.where(STEP == 5, 0.1, 1.0), radius=np.where(STEP == 5, 0.2, 0.0), side="lower")
    assert (hidden.verdict, hidden.worst_step, hidden.first_violation) == (OPEN, 5, None)
    assert "leave open" in hidden.detail
    assert judged(np.where(STEP == 5, 0.3, 1.0), radius=np.where(STEP == 5, 0.2, 0.0), side="lower").verdict is HOLDS
    both = judged(np.where(STEP == 8, -1.0, np.where(STEP == 5, 0.1, 1.0)), radius=0.2 * (STEP == 5), side="lower")
    assert (both.verdict, both.worst_step) == (VIOLATED, 8)


def test_where_both_sides_underflow_nothing_is_known() -> None:
    def falling(factor: float, power: float = 1.0, side: Any = "upper") -> Finding:
        return judged(factor * np.exp(-power * STEP), shape=lambda _, t: np.exp(-t), side=side)

    assert falling(30.0).verdict is HOLDS
    assert falling(1 / 30, side="lower").verdict is HOLDS
    assert falling(1.0, 0.9).verdict is VIOLATED
    assert judged(1e14 * np.exp(-STEP / 2) * np.exp(-STEP / 2), shape=lambda _, t: 1e14 * np.exp(-t)).verdict is HOLDS
    assert judged(2 * np.sqrt(FADED) + 0 * STEP, shape=lambda _, t: 0 * t).verdict is VIOLATED
    assert judged(0.0 * STEP, shape=lambda _, t: 0 * t).verdict is OPEN
    assert "no constant" not in judged(1e200 * STEP, shape=lambda _, t: 1e-200 / t).detail
    assert judged(-1.0 * STEP, shape=lambda _, t: np.inf * t, side="lower").verdict is VIOLATED
    assert (judged(STEP**2.0).verdict, judged(STEP**2.0, regime=lambda _: 101.0).verdict) == (VIOLATED, OPEN)


def test_the_second_half_of_the_last_decade_decides_a_late_statement() -> None:
    def late(failing: list[int], regime: float = 100) -> Finding:
        value = np.where(np.isin(STEP, failing), -1.0, 1.0) * STEP
        return judged(value, shape=lambda _, t: t, side="lower", regime=lambda _: regime, late=True)

    assert late([99]).verdict is HOLDS
    early = late([100])
    assert early.verdict is OPEN
    assert early.detail.startswith("What fails at t = 100 ")
    assert "last decade: violated" in early.detail
    assert late([316]).verdict is OPEN
    assert (late([317]).verdict, late([317]).first_violation) == (VIOLATED, 317)
    assert (late([100, 400]).verdict, late([100, 400]).first_violation) == (VIOLATED, 400)
    before = late([400], regime=101)
    assert (before.verdict, before.first_violation) == (OPEN, None)
    assert "t = 101;" in before.detail
    assert before.needs == "t ≥ 1010, run has 1000"
    never = late([400], regime=np.inf)
    assert (never.verdict, never.beyond_the_run, never.needs) == (OPEN, True, "")
    assert "late steps" in never.detail


def test_what_repeats_within_the_error_bars_of_two_runs() -> None:
    both = judged(1.0 + 0 * STEP, radius=np.where(EARLY, 0.1, 0.2))
    assert both.repeats_within == pytest.approx(1.4 / 0.8 - 1)
    only_constant = judged(np.where(STEP == 2, 1.2, 1.0), radius=np.where(STEP == 1, 0.3, 0.0))
    assert only_constant.repeats_within == pytest.approx(1.6 / 1.2 - 1)
    tested = judged(1.0 + 0 * STEP, radius=np.where(STEP == 100, 0.1, 0.0))
    assert tested.repeats_within == pytest.approx(0.2)
    uneven = judged(np.where(STEP == 900, 0.5, 1.0), radius=np.where(EARLY, 0.1, 0.2))
    assert uneven.repeats_within == pytest.approx(1.4 / 0.8 - 1)
    low = judged(1.0 + 0 * STEP, radius=np.where(EARLY, 0.1, 0.2), side="lower")
    assert low.repeats_within == pytest.approx(1.2 / 0.6 - 1)
    assert judged(1.0 + 0 * STEP, radius=np.where(EARLY, 0.5, 0.0)).repeats_within == np.inf


def test_what_runs_away_within_its_error_bars_refutes_nothing() -> None:
    assert judged(1e-16 * STEP**2).verdict is VIOLATED
    assert judged(1e-16 * STEP**2, radius=1e-16 * STEP**2).verdict is OPEN
    assert judged(1.0 / STEP**2, side="lower", radius=1.0 / STEP**2).verdict is OPEN


def test_a_quantity_that_is_0_holds_and_has_no_slack() -> None:
    found = judged(0.0 * STEP, radius=1e-16)
    assert (found.verdict, found.constant, found.slack) == (HOLDS, 0.0, None)


def test_what_the_settings_did_not_record_is_named_unless_only_late_steps_matter() -> None:
    claim = HiddenConstant(measured(1.0 + 0 * STEP), one)
    sparse = SimpleNamespace(lengths=(10**6,))
    assert claim.judge(sparse).left_out == f"t = {int(STEP[-1])} to 1000000"
    assert claim.judge(run()).left_out == ""
    assert replace(claim, late=True, regime=lambda _: 1.0).judge(sparse).left_out == ""
