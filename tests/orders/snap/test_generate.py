"""Generators over many seeds: what they promise, judged by the predicates; the built-in cases, Syn-*."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.snap import (
    CASES,
    SequenceClasses,
    check_assumption,
    common_tokens,
    distinct_tokens,
    single_common_dataset,
    symmetric_dataset,
    syn_medium,
    syn_small,
    weakly_correlated_dataset,
)
from marginaudit.orders.snap.generate import random_overlap

ASSUMPTION_2 = ("uniform_classes", "wide_vocabulary", "small_overlap", "spread_overlap")
COROLLARY_2 = ("single_query", "symmetric_classes", "shared_common")
SEEDS = range(4)
SIZES = (2, 3, 4, 7, 10)

Generator = Callable[..., SequenceClasses]


def failing(dataset: SequenceClasses, names: tuple[str, ...] = ASSUMPTION_2) -> set[str]:
    return {name for name in names if not check_assumption(dataset, name).holds}


def least_M(make: Generator, K: int) -> int:
    """The largest M at which no such classes exist."""
    if make is weakly_correlated_dataset:
        return 36 * K**2 if K % 2 == 0 else 144 * K**2
    return 36 * K**2 * (K - 1) ** 2


@pytest.mark.parametrize("K", SIZES)
@pytest.mark.parametrize("make", [single_common_dataset, symmetric_dataset, weakly_correlated_dataset])
def test_assumption_2_holds(make: Generator, K: int) -> None:
    for seed in SEEDS:
        for M in (least_M(make, K) + 1, 10**9):
            data = make(K=K, M=M, seed=seed)
            assert failing(data) == set()
            assert (data.K, data.M) == (K, M)
            assert data.next_tokens == tuple(f"n{n}" for n in range(1, K + 1))
            assert check_assumption(data, "single_query").holds
            assert all(1 <= len(tokens) <= 4 for tokens in distinct_tokens(data).values())


@pytest.mark.parametrize("K", SIZES)
def test_what_else_the_generators_promise(K: int) -> None:
    M = 40 * K**2 * K**2
    for seed in SEEDS:
        single = single_common_dataset(K=K, M=M, seed=seed)
        assert common_tokens(single) == ("c1",)
        assert np.count_nonzero(single.P[:, single.contextual.index("c1")]) == K
        assert check_assumption(single, "distinct_beside_common").holds
        symmetric = symmetric_dataset(K=K, M=M, seed=seed)
        assert failing(symmetric, (*COROLLARY_2, "equal_overlaps")) == set()
        assert 2 <= len(common_tokens(symmetric)) <= 4


@pytest.mark.parametrize("make", [single_common_dataset, weakly_correlated_dataset])
def test_queries(make: Generator) -> None:
    for seed in SEEDS:
        for queries in (1, 2, 5):
            data = make(K=5, M=10**6, seed=seed, queries=queries)
            assert set(data.queries) == {f"q{m}" for m in range(1, queries + 1)}
            assert failing(data) == set()
    for queries in (0, 6):
        with pytest.raises(ValueError, match=f"{queries} queries for 5 classes"):
            make(K=5, M=10**6, seed=0, queries=queries)


@pytest.mark.parametrize("make", [single_common_dataset, symmetric_dataset, weakly_correlated_dataset])
@pytest.mark.parametrize("K", SIZES)
def test_too_few_classes_or_tokens(make: Generator, K: int) -> None:
    for M in (least_M(make, K), 0, -1):
        with pytest.raises(ValueError, match=rf"^no such classes with K={K}, M={M}: "):
            make(K=K, M=M, seed=0)
    for K_too_few in (0, 1):
        with pytest.raises(ValueError, match=rf"^no such classes with K={K_too_few}, M=5000: "):
            make(K=K_too_few, M=5000, seed=0)


@pytest.mark.parametrize("K", SIZES)
def test_F_is_made_for_E(K: int) -> None:
    M, common_to_all = 10**6, 0
    for seed in range(20):
        E = random_overlap(np.random.default_rng(seed), K, M)
        sizes = np.abs(np.linalg.eigvalsh(E))
        assert 6 / M**0.5 < sizes.min() <= sizes.max() < 1 / K
        assert (E == E.T).all()
        assert E.min() >= 0
        assert np.diag(E).tolist() == [0] * K
        data = weakly_correlated_dataset(K=K, M=M, seed=seed)
        assert pytest.approx(E, rel=1e-12, abs=1e-15) == data.overlap.E
        common_to_all += max(np.count_nonzero(data.P, axis=0)) == K
    assert 0 < common_to_all < 20 or K == 2


def test_the_cases() -> None:
    assert set(CASES) == {"snap-single", "snap-symmetric", "snap-medium", "syn-small"}
    single, symmetric = CASES["snap-single"](), CASES["snap-symmetric"]()
    assert (single.K, single.M, common_tokens(single)) == (2, 5000, ("the",))
    assert single.overlap.largest == pytest.approx(0.3 * 0.35 / (0.38 * 0.365) ** 0.5, rel=1e-14, abs=0)
    assert symmetric.overlap.largest == pytest.approx(2 * 0.0325 / 0.285, rel=1e-14, abs=0)
    assert (symmetric.K, symmetric.M, common_tokens(symmetric)) == (3, 5000, ("the", "of"))
    assert CASES["snap-medium"]().M == syn_medium(3).M == 79


def row(data: SequenceClasses, n: int) -> dict[str, float]:
    return dict(data.classes[n].probabilities)


def test_syn_small() -> None:
    data = syn_small()
    assert (data.K, data.M) == (2, 30)
    assert set(data.tokens) == {str(token) for token in range(30)}
    assert common_tokens(data) == tuple(str(token) for token in range(10))
    total = 10 + 5.5  # ten ones; .1 + .2 + .. + 1
    for n, first in enumerate((10, 20)):
        expected: dict[str, Any] = {str(token): 1 / total for token in range(10)}
        expected |= {str(first + i): 0.1 * (i + 1) / total for i in range(10)}
        assert row(data, n) == pytest.approx(expected, rel=1e-14, abs=0)
    assert data.next_tokens == ("0", "1")
    assert data.queries == {"2": (0, 1)}


@pytest.mark.parametrize("num_last", [1, 3, 5, 10])
def test_syn_medium(num_last: int) -> None:
    data = syn_medium(num_last)
    K = 2 * num_last
    assert (data.name, data.K, data.M) == (f"syn-medium-{num_last}", K, 10 + 10 * K + num_last + K)
    assert len(data.tokens) == data.M
    assert [len(classes) for classes in data.queries.values()] == [2] * num_last
    assert len(common_tokens(data)) == 10
    for n, tokens in enumerate(distinct_tokens(data).values()):
        found = row(data, n)
        assert [found[token] * 15.5 for token in tokens] == pytest.approx(np.linspace(0.1, 1, 10), rel=1e-14, abs=0)
        assert [found[token] * 15.5 for token in common_tokens(data)] == pytest.approx([1] * 10, rel=1e-14, abs=0)
    assert failing(data, (*COROLLARY_2[1:], "uniform_classes", "equal_overlaps")) == set()
