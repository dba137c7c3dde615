"""SGD on Y in K dimensions against SGD on the whole matrix."""

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.training.snap.counts.drawn import class_sequences
from marginaudit.training.snap.limit.descent import descend
from marginaudit.training.snap.limit.fluctuation import decoder, fluctuation, rows
from marginaudit.training.snap.limit.overlap import overlap
from tests.training.snap.dense import counts_of, features, padded, precise_sgd, sgd

M, K = 12, 4
F = features(seed=5, tokens=9, K=K)


def whole(A: NDArray[np.float64], M: int) -> NDArray[np.float64]:
    """Columns for all M tokens."""
    K = A.shape[-1] - 1
    return np.concatenate([A[..., :K], np.repeat(A[..., K:], M - K, axis=-1)], axis=-1)


@pytest.mark.parametrize("eta", [0.05, 1.0, 7.0])
def test_eq_7_against_the_whole_matrix(eta: float) -> None:
    sequences = class_sequences(60, [0.4, 0.3, 0.2, 0.1], seeds=3, entropy=0)
    at = [0, 1, 17, 60]
    run = descend(overlap(F), sequences, at, M, eta)
    for seed, sequence in enumerate(sequences):
        dense = sgd(F, sequence, M, eta, modified=False)[at]
        np.testing.assert_allclose(padded(F, M) @ whole(run.A[seed], M), dense, atol=2e-13 * eta)
        np.testing.assert_allclose(whole(run.W[seed], M), padded(F, M).T @ dense, atol=2e-13 * eta)


@pytest.mark.parametrize("eta", [0.5, 3.9, 4.5])
def test_rounding_is_within_its_bar(eta: float) -> None:
    tokens, steps = 6, 40
    F = features(seed=8, tokens=5, K=3)
    sequence = class_sequences(steps, [1 / 3] * 3, seeds=1, entropy=0)
    run = descend(overlap(F), sequence, [steps], tokens, eta)
    Y = precise_sgd(F, sequence[0], tokens, eta, modified=False)
    with mpmath.workdps(60):
        f = [[mpmath.mpf(float(x)) for x in row] for row in padded(F, tokens)]
        found = [
            [mpmath.fsum(f[i][k] * float(whole(run.A[0, 0], tokens)[k, j]) for k in range(3)) for j in range(tokens)]
            for i in range(tokens)
        ]
        off = mpmath.sqrt(sum((found[i][j] - Y[i][j]) ** 2 for i in range(tokens) for j in range(tokens)))
    assert 0 < float(off) <= run.error[0, 0] <= (1e-9 if eta > 4 else 1e-12)


def test_no_bar_where_steps_could_expand_without_end() -> None:
    run = descend(overlap(np.eye(3)[:, :2]), class_sequences(2000, [0.5, 0.5], 1, entropy=0), [2000], 3, 40.0)
    assert run.error[0, 0] == np.inf


@pytest.mark.parametrize("eta", [0.05, 1.0, 7.0])
def test_the_modified_gradient_leaves_rows_that_depend_on_counts_alone(eta: float) -> None:
    steps = [8, 60]
    for sequence in class_sequences(60, [0.4, 0.3, 0.2, 0.1], seeds=3, entropy=0):
        dense = sgd(F, sequence, M, eta, modified=True)[steps]
        counts = counts_of(sequence, steps, K)
        at = fluctuation(counts, M, eta)
        zeta = (np.eye(M)[:K] - 1 / M) * M / (M - 1)
        W = (M - 1) * at.rows.h.value[..., np.newaxis] * zeta
        np.testing.assert_allclose(padded(F, M).T @ dense, W, atol=1e-13 * eta)
        np.testing.assert_allclose(whole(rows(at), M), W, atol=1e-13 * eta)
        np.testing.assert_allclose(whole(decoder(overlap(F), at), M), dense[:, : len(F)], atol=1e-13 * eta)


def test_what_cannot_be_run_is_refused() -> None:
    sequence = np.zeros((1, 3), dtype=np.int64)
    with pytest.raises(ValueError, match=r"^M: got 8, expected at least 9"):
        descend(overlap(F), sequence, [1], 8, 0.5)
    with pytest.raises(ValueError, match=r"^at: got \[4\]"):
        descend(overlap(F), sequence, [4], M, 0.5)
    with pytest.raises(ValueError, match=r"^at: got \[-1\]"):
        descend(overlap(F), sequence, [-1], M, 0.5)
    with pytest.raises(ValueError, match=r"^eta_Y: got 0"):
        descend(overlap(F), sequence, [1], M, 0)
