"""E and E' against inversion in high precision."""

import mpmath
import numpy as np
import pytest

from marginaudit.training.snap.limit import overlap
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


def test_features_that_have_no_inverse_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^F: got shape \(3,\), expected tokens x classes"):
        overlap([1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"^F: got shape \(3, 0\), expected tokens x classes, at least one class"):
        overlap(np.zeros((3, 0)))
    with pytest.raises(ValueError, match=r"^F: got length 0\.5 of column 1, expected 1"):
        overlap([[1.0, 0.5], [0.0, 0.0]])
    with pytest.raises(ValueError, match=r"^F: got length nan of column 0"):
        overlap([[np.nan], [0.0]])
    with pytest.raises(ValueError, match=r"^F: got linearly dependent columns"):
        overlap([[0.6, 0.6], [0.8, 0.8]])
