"""The zero that separates slow from fast growth, and the phases of Theorem 4."""

import mpmath
import numpy as np
import pytest

from marginaudit.training.snap.growth import larger_zero, scan_end, snap_start


@pytest.mark.parametrize("M", [4, 5000, 10**30])
def test_the_larger_zero(M: int) -> None:
    zero = larger_zero(M)
    assert zero > 1
    assert zero == pytest.approx(float(mpmath.log((M - 1) * mpmath.mpf(zero))), rel=1e-14, abs=0)


def test_phases() -> None:
    assert snap_start(3, 5000, 0.5) == pytest.approx(12 * larger_zero(5000), rel=1e-15, abs=0)
    assert scan_end(3, 5000, 0.5) == pytest.approx(6 * np.log(5000), rel=1e-15, abs=0)
    with pytest.raises(ValueError, match="got 3, expected at least 4"):
        snap_start(3, 3, 0.5)
