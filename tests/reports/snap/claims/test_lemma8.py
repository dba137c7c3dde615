"""Lemma 8: the two sides of its interval, and M of 2 and 3."""

import mpmath
import numpy as np
import pytest

from marginaudit.reports import Verdict
from marginaudit.reports.snap.claims import lemma7, lemma8
from tests.reports.snap.growth_runs import contains, small
from tests.training.snap.growth import DIGITS, precise_logit, precise_star
from tests.twins import part

HOLDS, VIOLATED = Verdict.HOLDS, Verdict.VIOLATED


NOTHING, OPEN = Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE


def test_sides() -> None:
    found = lemma8.sides(small(100))
    assert found.step is not None
    x = found.step
    expected = np.where(np.array(found.label) == "inside", 1, -1) * np.log(np.exp(np.minimum(x, 700)) / (99 * x))
    near = x < 700
    np.testing.assert_allclose(found.value[near], expected[near], rtol=1e-9, atol=1e-12)
    assert (found.label.count("inside"), found.label.count("outside")) == (200, 200)
    low, high = -mpmath.lambertw(mpmath.mpf(-1) / 99), -mpmath.lambertw(mpmath.mpf(-1) / 99, -1)
    zero, one = float(mpmath.log(100 * low, 100)), float(mpmath.log(mpmath.exp(high), 100) - 1)
    assert f"omega_0 = {zero:.3g} and omega_1 = {one:.3g};" in lemma8.LEMMA8_ANY_M.judge(small(100)).detail


@pytest.mark.parametrize("M", [2, 3])
def test_the_counterexample_to_lemma_8(M: int) -> None:
    """At M h = ln M, which every interval with positive omegas contains; by brute force there is no zero at all."""
    x = np.linspace(1e-6, 10, 100_000)
    assert (np.exp(x) > (M - 1) * x).all()
    found = lemma8.LEMMA8_ANY_M.judge(small(M))
    assert (found.verdict, found.worst_step) == (VIOLATED, np.log(M))
    assert found.measured == pytest.approx(M / ((M - 1) * np.log(M)), rel=1e-12, abs=0)
    assert lemma8.LEMMA8_REDERIVED.judge(small(M)).verdict is NOTHING
    assert lemma8.LEMMA8_ANY_M.judge(small(4)).verdict is HOLDS
    assert lemma8.LEMMA8.judge(small(999)).verdict is NOTHING
    assert lemma8.LEMMA8.judge(small(1000)).verdict is HOLDS
    assert lemma8.LEMMA8_REDERIVED.judge(small(4)).verdict is HOLDS


def test_error_bars_of_sides_and_of_one_plus_the_gap() -> None:
    found = lemma8.sides(small(5000))
    assert found.step is not None
    with mpmath.workdps(DIGITS):
        precise = [mpmath.mpf(float(x)) for x in found.step]
        signs = [1 if side == "inside" else -1 for side in found.label]
        contains(found, [s * (x - mpmath.log(4999 * x)) for s, x in zip(signs, precise, strict=True)])
        star = precise_star(30, 3, 0.5)
        limit = part(lemma7.LEMMA7_LIMIT, "").measure(small(3, at=tuple(range(1, 31))))
        contains(limit, [1 + 6 * (star[s] / 3 - precise_logit(s, 3, 0.5) / 3) for s in range(1, 31)])
    assert (found.radius <= 1e-12 * (1 + found.step)).all()
