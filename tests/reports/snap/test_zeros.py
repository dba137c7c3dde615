"""The zeros of exp(x) = (M-1) x against Lambert's W."""

import mpmath
import numpy as np
import pytest

from marginaudit.reports.snap import zeros


@pytest.mark.parametrize("M", [4, 5, 100, 5000, 2**53, 10**299])
def test_zeros(M: int) -> None:
    with mpmath.workdps(400):
        inverse = -1 / mpmath.mpf(M - 1)
        low, high = -mpmath.lambertw(inverse), -mpmath.lambertw(inverse, -1)
        zero = 1 + mpmath.log(low) / mpmath.log(M)
        L = np.array([float(mpmath.log(M))])
        assert zeros.smaller_zero(L)[0] == pytest.approx(float(mpmath.re(low)), rel=1e-12, abs=0)
        assert zeros.larger_zero(L)[0] == pytest.approx(float(mpmath.re(high)), rel=1e-14, abs=0)
        assert zeros.omega_0(L)[0] == pytest.approx(float(mpmath.re(zero)), rel=1e-11, abs=0)
        assert zeros.omega_1(L)[0] == pytest.approx(float(mpmath.re(high) / mpmath.log(M) - 1), rel=1e-12, abs=0)
