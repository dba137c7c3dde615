"""Quantiles over seeds: ranks of their bounds, and the error bar between them."""

import numpy as np
import pytest

from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.counts import quantiles
from marginaudit.training.snap.counts.quantiles import largest, quantile, ranks


def test_ranks_by_the_binomial_law() -> None:
    assert ranks(2000, 0.01) == (35, 7)
    assert ranks(12, 0.5, 2.0**-12) == (11, 0)  # all of twelve on one side of a median: 2^-12


def test_a_quantile_is_between_its_bounds_or_open() -> None:
    """Values 0 to 1999, and of the larger ones an error of 3: 35 and 7 of them are above the bounds at 0.01."""
    value = np.random.default_rng(0).permutation(2000).astype(float)
    error = np.where(value < 1000, 1.0, 3.0)
    found = quantile(Approximation(value[:, None], error[:, None]), 0.01)
    assert (found.value.tolist(), found.error.tolist()) == ([(1964 + 1992) / 2], [(1992 - 1964) / 2 + 3])
    few = quantile(Approximation(value[:20, None], error[:20, None]), 0.01)
    assert (few.value.tolist(), few.error.tolist()) == ([value[:20].max()], [np.inf])


def test_quantiles_to_the_last_order_statistic(monkeypatch: pytest.MonkeyPatch) -> None:
    value = Approximation(np.arange(9.0)[:, None], np.zeros((9, 1)))
    monkeypatch.setattr(quantiles, "ranks", lambda seeds, delta: (3, 0))
    found = quantile(value, 0.1)
    assert ((found.value - found.error).tolist(), (found.value + found.error).tolist()) == ([5], [8])


def test_the_largest_of_all_classes_is_as_unsure_as_the_least_known() -> None:
    both = largest(Approximation(np.array([[1.0, -7.0], [2.0, 0.5]]), np.array([[0.1, 0.2], [0.4, 0.3]])))
    assert (both.value.tolist(), both.error.tolist()) == ([7, 2], [0.2, 0.4])
