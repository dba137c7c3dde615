"""Every rule by which numbers become a verdict, on series made by hand."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import flint
import numpy as np
import pytest

from marginaudit.claims.claim import Judgement
from marginaudit.claims.judgements import Bounded, Equal, HiddenConstant, Limit, Parts, Threshold
from marginaudit.claims.judgements.compare import FADED, UNDERFLOW
from marginaudit.claims.run import BaseRun
from marginaudit.claims.series import Series, by_formula, exact_series, exactly, series
from marginaudit.claims.verdict import Evidence, Verdict, outside_to_detail

STEP = np.arange(1, 1001)
ENDS = (0.0, 1e308, -1e308, np.inf, -np.inf)


def run(steps1: int = 900, steps2: int = 1000) -> Any:
    return SimpleNamespace(config=SimpleNamespace(steps1=steps1, steps2=steps2))


def measured(value: Any, *, radius: Any = 0.0, log: bool = False) -> Any:
    return lambda _: series(value, radius=radius, step=STEP, log=log)


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


def test_what_error_bars_hide_may_follow_from_a_proof() -> None:
    hidden = measured(1 / STEP, radius=np.where(STEP > 500, np.inf, 0.0))
    claim = Bounded(hidden, upper=lambda _, t: 2 / t)
    assert claim.judge(run()).verdict is Verdict.INCONCLUSIVE
    proved = replace(claim, guaranteed=lambda _, t: 1.5 / t).judge(run())
    assert (proved.verdict, proved.slack) == (Verdict.HOLDS, 2.0)
    assert proved.worst_step is not None
    assert proved.worst_step <= 500
    assert proved.measured == 1 / proved.worst_step
    assert "500 of 1000 entries, the first at t = 501" in proved.detail
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


def test_the_first_violation_is_the_least_step_whatever_the_order_of_the_entries() -> None:
    """As where a quantity of one token along all steps stands before that of the next."""
    step = np.array([1, 5, 9, 1, 5, 9])
    value = series([1.0, 1.0, 3.0, 1.0, 3.0, 1.0], radius=0, step=step)
    for claim in (
        Bounded(lambda _: value, upper=lambda _, t: 0 * t + 2),
        Equal(lambda _: value, lambda _: series(np.ones(6), radius=0, step=step)),
    ):
        found = claim.judge(run())
        assert (found.verdict, found.first_violation) == (Verdict.VIOLATED, 5)


def test_ends_of_a_run_are_its_steps_whatever_the_order_of_the_entries() -> None:
    step = np.array([5, 9, 1, 4])
    hidden = series(np.ones(4), radius=np.inf, step=step)
    proved = Bounded(lambda _: hidden, upper=lambda _, t: 0 * t + 3, guaranteed=lambda _, t: 0 * t + 2).judge(run())
    assert "4 of 4 entries, the first at t = 1," in proved.detail
    value = series(np.ones(4), radius=0, step=step)
    early = Bounded(lambda _: value, upper=lambda _, t: 0 * t + 3, threshold=lambda _: Threshold(20)).judge(run())
    assert early.needs == "t ≥ 20, run has 9"
    assert outside_to_detail(replace(early, informative_from=20, needs=""), "")["needs"] == early.needs


# functions of a claim that return the wrong thing


VALUES: Any = measured(1.0 * STEP)
ARRAY: Any = lambda *_: np.ones(3)  # noqa: E731
NUMBER: Any = lambda *_: 2.0  # noqa: E731
COMPLEX = "got complex numbers, expected real ones"
NO_SERIES = "returned a value of type ndarray as measure, expected a Series"


def along(*steps: int) -> Any:
    return lambda _: series(np.ones(len(steps)), radius=0, step=np.array(steps))


@pytest.mark.parametrize(
    ("judgement", "said"),
    [
        (Bounded(ARRAY, upper=NUMBER), NO_SERIES),
        (Equal(ARRAY, VALUES), NO_SERIES),
        (Limit(ARRAY, NUMBER, NUMBER), NO_SERIES),
        (HiddenConstant(ARRAY, NUMBER), NO_SERIES),
        (Equal(VALUES, ARRAY), "returned a value of type ndarray as expected, expected a Series"),
        (Equal(VALUES, lambda _: series([1.0], radius=0)), "got 1 expected values, expected 1000"),
        (Bounded(VALUES, upper=ARRAY), r"the upper bound: got the shape \(3,\), expected \(1000,\)"),
        (
            Bounded(VALUES, lower=lambda _, t: np.where(t == 3, np.nan, t)),
            "the lower bound: got nan at entry 2, expected",
        ),
        (Bounded(VALUES, upper=NUMBER, threshold=NUMBER), "returned a value of type float as threshold"),
        (
            Bounded(lambda _: series([1.0], radius=0), upper=NUMBER, threshold=lambda _: Threshold(1)),
            "a statement with a threshold needs a series with steps",
        ),
        (Bounded(lambda _: Series(1j * STEP, 0, STEP), upper=NUMBER), COMPLEX),
        (Bounded(lambda _: series(1j * STEP, radius=0, step=STEP), upper=NUMBER), COMPLEX),
        (Bounded(VALUES, upper=lambda _, t: 1j * t), COMPLEX),
        (HiddenConstant(VALUES, lambda _, t: 1j * t), COMPLEX),
        (Limit(VALUES, lambda _: 0.0, NUMBER, positive=True), "got 0 as predicted"),
        (Limit(lambda _: series([1.0], radius=0), NUMBER, NUMBER), "a limit is approached along steps, and the series"),
        (HiddenConstant(lambda _: series([1.0], radius=0), NUMBER), "is fitted along steps, and the series has none"),
        (HiddenConstant(along(0, 1, 9), NUMBER), "is fitted along steps: got t = 0, expected more than 0"),
        (HiddenConstant(along(1, 9, 4), NUMBER), "is fitted along steps: got t = 4, expected at least 9"),
        (HiddenConstant(VALUES, lambda _, t: np.where(t == 5, np.nan, 1.0)), "not a number on one side"),
        (HiddenConstant(VALUES, lambda _, t: 500.0 - t), "got a shape of -1 at t = 501, expected > 0"),
    ],
)
def test_the_message_names_what_was_returned(judgement: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        judgement.judge(run())


def test_a_number_serves_as_a_bound_and_as_a_shape() -> None:
    assert Bounded(VALUES, upper=lambda *_: 1000.0).judge(run()).verdict == "holds"
    assert HiddenConstant(measured(0 * STEP + 3.0), NUMBER).judge(run()).constant == pytest.approx(1.5)
    assert Bounded(VALUES, upper=NUMBER, threshold=lambda _: Threshold(2.5)).judge(run()).first_violation == 3


def test_a_bound_has_a_side() -> None:
    with pytest.raises(ValueError, match="got neither upper nor lower"):
        Bounded(VALUES)


# statements along another clock than training steps


POSITIONS = np.geomspace(1.5, 1.5e6, 61)


def along_ln_M(_: Any) -> Series:
    return by_formula(1 + 1 / POSITIONS, step=POSITIONS, clock="ln M")


def ones(_: Any, at: Any) -> Any:
    return np.ones(len(at))


@pytest.mark.parametrize(
    "judgement",
    [
        Bounded(along_ln_M, lower=ones),
        Bounded(along_ln_M, lower=ones, threshold=lambda _: Threshold(1000.0)),
        HiddenConstant(along_ln_M, shape=ones),
        Limit(along_ln_M, predicted=lambda _: 1.0, regime=lambda _: 1.0),
    ],
)
def test_the_clock_is_named(judgement: Any) -> None:
    found = judgement.judge(None)
    assert found.verdict is Verdict.HOLDS
    assert "ln M = " in found.detail
    assert " t = " not in found.detail
    assert found.curve is not None
    assert found.curve.clock == "ln M"
    assert found.curve.step[-1] == POSITIONS[-1]
    assert found.informative_from is None


def test_positions_need_not_be_whole() -> None:
    found = Bounded(along_ln_M, upper=ones).judge(None)
    assert (found.verdict, found.first_violation) == (Verdict.VIOLATED, 1.5)


def drawn(rng: Any) -> tuple[Any, Any]:
    """Two rational numbers that float64 hardly tells apart, or not at all; in one draw of five they are equal."""
    size = 10 ** int(rng.integers(0, 25))
    one = Fraction(int(rng.integers(-9, 10)) * size, int(rng.choice([1, 3, 7, 10**20])))
    apart = int(rng.integers(-2, 3)) * Fraction(1, 10 ** int(rng.integers(0, 330)))
    return one, one + apart


def always(value: Any) -> Any:
    """A measure or a bound that is this whatever the run."""
    return lambda *_: value


def kind_of(number: Fraction, kind: str) -> Any:
    """The number as Python has it, in float64, or in a ball of 53 bits."""
    if kind == "float":
        return float(number)
    if kind == "ball":
        return flint.arb(flint.fmpq(number.numerator, number.denominator))
    return number.numerator if number.denominator == 1 else number


@pytest.mark.parametrize(("kind", "draws"), [("exact", 2000), ("ball", 200), ("float", 200)])
def test_evidence_is_the_weaker_of_both_sides_and_no_exact_one_is_wrong(kind: str, draws: int) -> None:
    """Beside flint's rational numbers; what a ball refutes is false too."""
    rng, holds = np.random.default_rng(48), {True: Verdict.HOLDS, False: Verdict.VIOLATED}
    expected = {"exact": Evidence.EXACT, "ball": Evidence.CERTIFIED, "float": Evidence.FLOAT64}[kind]
    counted: Counter[Verdict] = Counter()
    for _ in range(draws):
        one, other = drawn(rng)
        left, right = (flint.fmpq(number.numerator, number.denominator) for number in (one, other))
        value, stated = always(exact_series([kind_of(one, "exact")])), kind_of(other, kind)
        side = exactly([stated], (1,)) or by_formula([stated])
        judged: dict[str, tuple[Judgement, bool]] = {
            "upper": (Bounded(value, upper=always(stated)), left <= right),
            "lower": (Bounded(value, lower=always([stated])), left >= right),
            "equal": (Equal(value, always(side)), left == right),
        }
        for name, (claim, true) in judged.items():
            found = Parts({"part": claim}).judge(run())
            assert found.evidence is expected, (name, one, other)
            assert kind != "exact" or found.verdict is holds[true], (name, one, other)
            # of balls that overlap and are narrow equality is granted
            assert kind != "ball" or found.verdict is Verdict.HOLDS or not true, (name, one, other)
            counted[found.verdict] += found.verdict is holds[true]
    assert min(counted[verdict] for verdict in holds.values()) > draws / 10


def test_numbers_that_float64_does_not_tell_apart_are_compared_as_they_are() -> None:
    cases = ((10**20 + 1, 10**20, False), (Fraction(1, 3) + Fraction(1, 10**30), Fraction(1, 3), False))
    for one, bound, true in (*cases, (1, (10**16 + 1) - 10**16, True), (Fraction(1, 10**400), 0, False)):
        found = Bounded(always(exact_series([one])), upper=always(bound)).judge(run())
        assert (found.verdict, found.evidence) == (Verdict.HOLDS if true else Verdict.VIOLATED, Evidence.EXACT)
    in_float64 = Bounded(always(exact_series([1])), upper=always(1.0)).judge(run())
    assert (in_float64.verdict, in_float64.evidence) == (Verdict.HOLDS, Evidence.FLOAT64)
    with pytest.raises(ValueError, match="no Fraction or integer"):
        exact_series([0.5])
    with pytest.raises(ValueError, match="the evidence proved"):
        replace(series([1.0], radius=0), evidence=Evidence.PROVED)
