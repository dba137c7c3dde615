"""Iterates of users' steps: exact, in balls, and by two precisions, against mpmath, closed forms and brute force."""

import math
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
import pytest

from marginaudit import Evidence, iterate
from marginaudit.training.digits import Digits, Enclosed, Undecided
from marginaudit.training.iterates import iterated


def logistic(x: Any) -> Any:
    return 3.75 * x * (1 - x)


def in_mpmath(step: Any, start: float, steps: int) -> float:
    with mpmath.workdps(2500):
        x = mpmath.mpf(start)
        for _ in range(steps):
            x = step(x)
        return float(x)


def test_fractions_are_exact() -> None:
    found = iterate(lambda x: x - x / 4, Fraction(1, 3), [0, 1, 40])
    assert found.value.tolist() == [Fraction(1, 3) * Fraction(3, 4) ** k for k in (0, 1, 40)]
    assert found.evidence is Evidence.EXACT
    assert found.radius.tolist() == [0, 0, 0]
    assert found.step is not None
    assert found.step.tolist() == [0, 1, 40]


def test_descent_attains_the_worst_case_in_rationals() -> None:
    """The last value of Drori and Teboulle's Huber function is L R^2/(4 N + 2), to the last digit."""
    for N in (1, 2, 7):
        L, R = Fraction(3), Fraction(5, 2)
        knee = R / (2 * N + 1)

        def step(x: Any, L: Fraction = L, knee: Fraction = knee) -> Any:
            return x - (L * x if abs(x) < knee else L * knee) / L

        found = iterate(step, R, [N], measure=lambda x, L=L, knee=knee: L * knee * (abs(x) - knee / 2))
        assert found.evidence is Evidence.EXACT
        assert found.value.tolist() == [L * R**2 / (4 * N + 2)]


def test_a_step_that_leaves_fractions_is_enclosed_from_the_exact_start() -> None:
    found = iterate(lambda x: np.exp(-x), Fraction(1, 3), [3])
    assert found.evidence is Evidence.CERTIFIED
    with mpmath.workdps(40):
        expected = mpmath.exp(-mpmath.exp(-mpmath.exp(mpmath.mpf(-1) / 3)))
        assert abs(mpmath.mpf(float(found.value[0])) - expected) <= mpmath.mpf(float(found.radius[0]))
    assert found.radius[0] < 1e-15


@pytest.mark.parametrize("steps", [50, 400])
def test_a_chaotic_map_is_enclosed_where_float64_is_lost(steps: int) -> None:
    found = iterate(logistic, 0.3, [steps])
    assert found.evidence is Evidence.CERTIFIED
    assert abs(found.value[0] - in_mpmath(logistic, 0.3, steps)) <= found.radius[0] < 1e-15
    naive = 0.3
    for _ in range(400):
        naive = logistic(naive)
    assert abs(naive - in_mpmath(logistic, 0.3, 400)) > 1e-3


def test_where_balls_need_too_many_bits_the_bar_is_measured() -> None:
    """A rotation: in balls each step widens by sqrt 2, while both runs lose nothing."""
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    found = iterate(lambda x: turn @ x, [1.0, 0.0], [9000], measure=lambda x: x[0])
    assert found.evidence is Evidence.FLOAT64
    with mpmath.workdps(60):
        z = mpmath.mpc(0.6, 0.8) ** 9000
        assert abs(z.real - mpmath.mpf(float(found.value[0]))) <= mpmath.mpf(float(found.radius[0]))
    assert found.radius[0] < 1e-15


def test_a_run_that_loses_all_digits_has_a_bar_as_large_as_its_values() -> None:
    found = iterated(logistic, 0.3, range(1500, 1510))
    assert found.kind == "measured"
    relative = [error / abs(value[0]) for value, error in zip(found.value, found.error, strict=True)]
    assert relative[0] > 0.05
    assert (np.diff(relative) > -1e-9).all(), "two wrong runs may come near each other"
    early = iterated(logistic, 0.3, [60, 1500])
    assert early.error[0] < 1e-12
    assert abs(early.value[0][0] - in_mpmath(logistic, 0.3, 60)) <= early.error[0]


def test_step_sizes_along_the_steps_are_in_more_digits_too() -> None:
    found = iterate(lambda x, t: x - x / np.sqrt(t + 2), 1.0, [30], measure=lambda x, t: x * t)
    with mpmath.workdps(50):
        expected = 30 * mpmath.fprod(1 - 1 / mpmath.sqrt(t + 2) for t in range(30))
        assert abs(mpmath.mpf(float(found.value[0])) - expected) <= mpmath.mpf(float(found.radius[0]))
    sizes = [0.5, 0.25]
    assert iterate(lambda x, t: x - sizes[t % 2] * x, 1.0, [2]).value.tolist() == [0.375]


def test_cancellation_in_the_measure_is_seen() -> None:
    """1 - cos of an angle of 1e-10 is 0 in float64."""
    found = iterate(lambda x: x / 10, 1.0, [10], measure=lambda x: 1 - np.cos(x))
    assert 1 - math.cos(1e-10) == 0
    assert found.value[0] == pytest.approx(5e-21, rel=1e-12, abs=0)


def test_balls_of_the_start_are_carried_on() -> None:
    found = iterate(lambda x: x / 2, flint.arb(1, 0.25), [1])
    assert found.evidence is Evidence.CERTIFIED
    assert found.value.tolist() == [0.5]
    assert found.radius[0] == pytest.approx(0.125, rel=1e-8, abs=0)
    with pytest.raises(Undecided):
        iterate(lambda x: x if x > 1 else -x, flint.arb(1, 0.25), [1])


def test_an_undecided_comparison_is_never_certified() -> None:
    """At a kink, 1/3 * 3 against 1: a ball cannot tell, two precisions can only measure."""
    found = iterate(lambda x: np.maximum(x / 3 * 3, x), 1.0, [5])
    assert found.evidence is Evidence.FLOAT64
    assert abs(found.value[0] - 1) <= found.radius[0]
    with flint.ctx.workprec(100):
        third = Enclosed(Fraction(1, 3)) * 3
        for compare in (lambda: third < 1, lambda: third == 1, lambda: third >= 1, lambda: bool(third - 1)):
            with pytest.raises(Undecided):
                compare()
        assert Digits(Fraction(1, 3)) * 3 <= 1.5
        assert (Enclosed(2) == 2, Enclosed(2) != 2, Enclosed(2) < 3, Enclosed(2) > 3) == (True, False, True, False)


def test_functions_of_numpy_are_those_of_mpmath() -> None:
    names = ["exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"]
    names += ["arcsin", "arccos", "arctan", "arcsinh", "arctanh"]
    others = {"log2": lambda x: mpmath.log(x, 2), "log10": mpmath.log10, "expm1": mpmath.expm1, "log1p": mpmath.log1p}
    with flint.ctx.workprec(200), mpmath.workprec(200):
        x = np.array([Digits(0.375)])
        for name in names:
            oracle = others.get(name) or getattr(mpmath, name.replace("arc", "a"))
            found = getattr(np, name)(x)[0].ball
            expected = flint.arb(mpmath.nstr(oracle(mpmath.mpf(0.375)), 60))
            assert abs(found - expected).abs_upper() < 1e-50, name
        assert abs((np.arccosh(np.array([Digits(1.5)]))[0].ball - flint.arb(1.5).acosh()).abs_upper()) < 1e-50


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda x: math.exp(-x), r"in <lambda>, test_iterates.py"),
        (lambda x: np.logaddexp(0, x), "logaddexp"),
        (lambda x: np.array(x, dtype=float), "loses its digits"),
        (lambda x: np.zeros(3), "shape"),
        (lambda x: int(x * 1.5), "integer"),
    ],
)
def test_a_step_that_cannot_be_rerun_is_refused(step: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        iterate(step, 0.3, [2])


def test_a_step_that_remembers_is_refused() -> None:
    velocity = [0.0]

    def momentum(x: Any) -> Any:
        velocity[0] = 0.5 * velocity[0] - x / 4
        return x + velocity[0]

    with pytest.raises(ValueError, match="belongs into the state"):
        iterate(momentum, 1.0, [10])
    heavy = iterate(
        lambda s: np.array([s[0] + s[1] / 2 - s[0] / 4, s[1] / 2 - s[0] / 4]), [1.0, 0.0], [10], measure=sum
    )
    assert heavy.evidence is Evidence.CERTIFIED


@pytest.mark.parametrize(("at", "said"), [([], "no step"), ([-1], "got -1"), ([0.5], "got 0.5")])
def test_steps_that_are_none(at: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        iterate(logistic, 0.3, at)


def test_states_of_several_numbers_need_a_measure() -> None:
    with pytest.raises(ValueError, match="expected measure="):
        iterate(lambda x: x / 2, [1.0, 2.0], [1])
    with pytest.raises(ValueError, match="no finite number"):
        iterate(lambda x: np.log(x - 5), 1.0, [3])
