"""Exact and numerical solutions agree within the certified radius, on thousands of random datasets."""

import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import free_dataset, prefix_closed_dataset


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_exact_and_cvxpy_agree_on_two_thousand_datasets() -> None:
    rng = np.random.default_rng(2024)
    failing = 0
    for seed in range(2000):
        V, L = int(rng.integers(4, 9)), int(rng.integers(3, 7))
        if seed % 8 == 7:
            dataset = prefix_closed_dataset(V=V, N=V + L, L=L, seed=seed, max_count=3)
        else:
            N = int(rng.integers(V, 3 * V))
            dataset = free_dataset(V=V, N=N, L=L, seed=seed, optimal=(1, 4), non_optimal=(1, 5), max_count=3)
        if not len(dataset.relations):
            continue
        exact, numerical = solve_kq(dataset, method="exact").optimal(), solve_kq(dataset, method="cvxpy").optimal()
        assert exact.scores is not None
        assert numerical.scores is not None
        assert numerical.direction_radius is not None
        assert numerical.weight_radius is not None
        off = np.linalg.norm(exact.scores - numerical.scores)
        assert off <= numerical.weight_radius
        unit, other = (s / np.linalg.norm(s) for s in (exact.scores, numerical.scores))
        assert np.linalg.norm(unit - other) <= numerical.direction_radius <= 1e-4
        assert exact.closed_form is not None
        failing += any(not form.holds for form in exact.closed_form.values())
    assert failing > 100
