"""E and E' against inversion in high precision."""

from importlib import import_module

import mpmath
import numpy as np
import pytest

from marginaudit.training.snap.limit.overlap import overlap
from tests.training.snap.dense import features
from tests.training.snap.growth import DIGITS, within


@pytest.mark.parametrize(("K", "own"), [(1, 3.0), (2, 3.0), (5, 3.0), (10, 1.0), (10, 0.05)])
def test_E_prime_is_within_its_bars(K: int, own: float) -> None:
    F = features(seed=K, tokens=30, K=K, own=own)
    found = overlap(F)
    with mpmath.workdps(DIGITS):
        gram = mpmath.matrix((np.eye(K) + found.E).tolist())
        truth = mpmath.eye(K) - gram**-1
        assert within(found.E_prime, [truth[i, j] for i in range(K) for j in range(K)]) <= 1
    assert (np.diag(found.E) == 0).all()
    np.testing.assert_allclose(np.eye(K) + found.E, F.T @ F, atol=1e-15)
    assert found.E_prime.error.max() <= 1e-12 / (1 + found.eigenvalues[0])


def test_eigenvalues_and_the_dual_features() -> None:
    F = features(seed=0, tokens=12, K=4)
    found = overlap(F)
    np.testing.assert_allclose(found.dual, np.linalg.pinv(F).T, atol=1e-14)
    assert found.eigenvalues[0] < 0 < found.eigenvalues[-1] == found.largest
    np.testing.assert_allclose(np.prod(found.eigenvalues), np.linalg.det(found.E), rtol=1e-12)
    assert found.K == 4


@pytest.mark.parametrize("off", [0.9e-12, -0.9e-12, 1.1e-12, -1.1e-12])
def test_how_far_from_1_a_length_may_be(off: float) -> None:
    F = np.eye(3)[:, :2] * [1, 1 + off]
    if abs(off) < 1e-12:
        assert overlap(F).K == 2
    else:
        with pytest.raises(ValueError, match=r"^F: got length .* of column 1"):
            overlap(F)


@pytest.mark.parametrize("beyond", [0.99, 1.01])
def test_how_small_an_eigenvalue_may_be(beyond: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a unit roundoff u of 2^-10: 1 + lambda, less 4 K u (1 + |lambda_1|), is to be above 4 K u."""
    monkeypatch.setattr(import_module("marginaudit.training.snap.limit.overlap"), "UNIT_ROUNDOFF", 2.0**-10)
    rounding = 4 * 2 * 2.0**-10
    e = (1 - rounding - beyond * rounding) / (1 + rounding)
    F = np.array([[np.sqrt(e), np.sqrt(e)], [np.sqrt(1 - e), 0], [0, np.sqrt(1 - e)]])
    if beyond > 1:
        assert overlap(F).largest == pytest.approx(e, rel=1e-12, abs=0)
    else:
        with pytest.raises(ValueError, match=r"^F: got linearly dependent columns"):
            overlap(F)


def test_features_that_have_no_inverse_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^F: got shape \(3,\)"):
        overlap([1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"^F: got shape \(3, 0\)"):
        overlap(np.zeros((3, 0)))
    with pytest.raises(ValueError, match=r"^F: got length 0\.5 of column 1"):
        overlap([[1.0, 0.5], [0.0, 0.0]])
    with pytest.raises(ValueError, match=r"^F: got length nan of column 0"):
        overlap([[np.nan], [0.0]])
    with pytest.raises(ValueError, match=r"^F: got linearly dependent columns"):
        overlap([[0.6, 0.6], [0.8, 0.8]])
