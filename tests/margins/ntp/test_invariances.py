"""What must not change the solutions: the tokens' names and order, rotations, more dimensions."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.margins.method import Method
from marginaudit.margins.ntp import MaxMargin, solve_kq, solve_ov
from marginaudit.orders.ntp import CASES, Dataset, broken, free_dataset

DATASETS = [CASES["example-1"](), free_dataset(V=8, N=30, L=4, seed=2, optimal=(1, 4))]


def orthonormal_rows(rows: int, columns: int, seed: int = 0) -> NDArray[np.float64]:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(columns, rows)))[0].T


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda d: d.name)
@pytest.mark.parametrize("extra", [0, 3])
@pytest.mark.parametrize("method", ["auto", "cvxpy"])
def test_orthonormal_embeddings_are_one_hot_tokens_turned(dataset: Dataset, extra: int, method: Method) -> None:
    E = orthonormal_rows(dataset.V, dataset.V + extra)
    turned = replace(dataset, embedding=E)
    kq, ov = solve_kq(turned, method=method).optimal(), solve_ov(turned, method=method).optimal()
    for before, after in ((solve_kq(dataset).exact(), kq), (solve_ov(dataset).exact(), ov)):
        if method == "auto":
            assert dict(after.exact().weights_exact) == dict(before.weights_exact)
        assert np.abs(after.scores - before.scores).max() < 1e-5
        assert np.linalg.norm(after.matrix) ** 2 == pytest.approx(after.norm_squared, rel=1e-12, abs=0)
    assert np.allclose(E @ kq.matrix @ E.T, kq.scores, rtol=0, atol=1e-12)
    assert np.allclose(ov.matrix @ E.T, ov.scores, rtol=0, atol=1e-12)
    assert kq.matrix.shape == (dataset.V + extra,) * 2
    assert ov.matrix.shape == (dataset.V, dataset.V + extra)


@pytest.mark.parametrize("solve", [solve_kq, solve_ov])
def test_general_embeddings_turned_and_in_more_dimensions(solve: Callable[..., MaxMargin]) -> None:
    dataset = broken(CASES["example-1"](), "orthonormal")
    before = solve(dataset).optimal()
    for dimension in (4, 5, 11):
        after = solve(replace(dataset, embedding=dataset.embeddings @ orthonormal_rows(4, dimension))).optimal()
        assert after.norm_squared == pytest.approx(before.norm_squared, rel=1e-9, abs=0)
        assert np.abs(after.scores - before.scores).max() < 1e-4
        assert after.matrix.shape[1] == dimension
