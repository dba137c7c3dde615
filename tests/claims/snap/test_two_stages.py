"""Times of the two stages, and h and gamma there against many digits."""

from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit.claims.series import Series
from marginaudit.claims.snap.appendix_d3_growth import lemma9, two_stages
from marginaudit.claims.snap.conditions import VOCABULARIES
from tests.claims.snap.samples import run
from tests.training.snap.growth import DIGITS, precise_logit


def test_times() -> None:
    M, K, eta_Y = 5000, 2, 0.5
    with mpmath.workdps(DIGITS):
        low, high = (float(mpmath.re(-mpmath.lambertw(mpmath.mpf(-1) / (M - 1), k))) for k in (0, -1))
    at_low = (np.exp(low) + (M - 1) * low - 1) / M
    assert lemma9.under_way(run()) == pytest.approx(at_low * K / eta_Y, rel=1e-10, abs=0)
    scan, snap = two_stages.scan_times(run()), two_stages.snap_times(run())
    assert scan[-1] == pytest.approx(K * np.log(M) / eta_Y, rel=1e-12, abs=0)
    assert snap[0] == pytest.approx(2 * K * high / eta_Y, rel=1e-12, abs=0)
    recorded = run().steps.tolist()
    assert {t for t in recorded if t <= scan[-1]} <= set(scan.tolist())
    assert {t for t in recorded if t >= snap[0]} <= set(snap.tolist())
    assert scan[-1] > 1e5 * scan[0]
    assert snap[-1] > 1e12 * snap[0]
    assert lemma9.from_start(run())[0] == 0
    under_way = lemma9.once_under_way(run())
    assert under_way[0] == pytest.approx(at_low * K / eta_Y, rel=1e-5, abs=0)
    assert under_way[0] > at_low * K / eta_Y * (1 + 1e-9)
    assert (np.diff(under_way) > 0).all()


def precise_gamma(t: Any, K: int, M: Any, eta_Y: float) -> Any:
    x = precise_logit(mpmath.mpf(t) / K, M, eta_Y)
    return (M - 1) ** 2 * x / M / (M - 1 + mpmath.exp(x))


@pytest.mark.parametrize("t", [0.0, 1.0, 34.0, 1e3, 1e18])
def test_formulas_by_hand(t: float) -> None:
    on, at, M, K, eta_Y = run(), np.array([t]), 5000, 2, 0.5
    with mpmath.workdps(DIGITS):
        x = precise_logit(mpmath.mpf(t) / K, M, eta_Y)
        e = mpmath.exp(x)
        measured: tuple[tuple[Series, Any], ...] = (
            (lemma9.power(on, at), e),
            (two_stages.h(on, at), x / M),
            (two_stages.speeds(on, at), precise_gamma(t, K, M, eta_Y)),
        )
        for found, true in measured:
            assert abs(mpmath.mpf(float(found.value[0])) - true) <= float(found.radius[0])
            assert found.radius[0] <= 1e-12 * abs(found.value[0])
        assert float(lemma9.smaller(on, at)[0]) == pytest.approx(float(min(M - 1, (M - 1) * x)), rel=1e-12, abs=0)
        assert float(lemma9.larger(on, at)[0]) == pytest.approx(float(max(M - 1, (M - 1) * x)), rel=1e-12, abs=0)


def test_the_largest_over_M() -> None:
    found = two_stages.largest_over_M("gamma", lambda M: np.array([1.0, 2.0]), lambda _, y: y)
    assert (found.clock, len(found)) == ("M", len(VOCABULARIES))
    for at in (0, 12):
        M = int(VOCABULARIES[at])
        with mpmath.workdps(DIGITS):
            true = max(precise_gamma(y, 1, M, 1.0) / y for y in (1, 2))
            assert abs(mpmath.mpf(float(found.value[at])) - true) <= float(found.radius[at])
    assert (found.radius <= 1e-12 * found.value).all()
    heights = two_stages.largest_over_M("h", lambda M: np.array([1.0, 2.0]), lambda M, y: y / M)
    assert heights.value[0] == pytest.approx(float(precise_logit(1, 1000, 1.0)), rel=1e-12, abs=0)
