"""The zeros of exp(x) = (M-1) x against Lambert's W, and the phases of Theorem 4."""

import mpmath
import numpy as np
import pytest

from marginaudit.training.snap.growth import larger_zero, omega_0, omega_1, scan_end, smaller_zero, snap_start


@pytest.mark.parametrize("M", [4, 5, 100, 5000, 2**53, 10**299])
def test_zeros(M: int) -> None:
    with mpmath.workdps(400):
        inverse = -1 / mpmath.mpf(M - 1)
        low, high = -mpmath.lambertw(inverse), -mpmath.lambertw(inverse, -1)
        zero = 1 + mpmath.log(low) / mpmath.log(M)
        L = np.array([float(mpmath.log(M))])
        assert smaller_zero(L)[0] == pytest.approx(float(mpmath.re(low)), rel=1e-12, abs=0)
        assert larger_zero(L)[0] == pytest.approx(float(mpmath.re(high)), rel=1e-14, abs=0)
        assert omega_0(L)[0] == pytest.approx(float(mpmath.re(zero)), rel=1e-11, abs=0)
        assert omega_1(L)[0] == pytest.approx(float(mpmath.re(high) / mpmath.log(M) - 1), rel=1e-12, abs=0)


def test_phases() -> None:
    zero = float(mpmath.re(-mpmath.lambertw(-1 / mpmath.mpf(4999), -1)))
    assert snap_start(3, 5000, 0.5) == pytest.approx(12 * zero, rel=1e-14, abs=0)
    assert scan_end(3, 5000, 0.5) == pytest.approx(6 * np.log(5000), rel=1e-15, abs=0)
    with pytest.raises(ValueError, match="got 3, expected at least 4"):
        snap_start(3, 3, 0.5)
