"""The seeded generators and the named cases."""

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginaudit.orders.ntp import (
    CASES,
    Dataset,
    check_assumptions,
    dataset_to_document,
    free_dataset,
    prefix_closed_dataset,
)
from marginaudit.orders.ntp.generate import _optimal_token
from tests.orders.ntp import restated

SIZES = [(1, 1, 1), (1, 3, 3), (2, 5, 4), (5, 9, 5), (5, 20, 5), (8, 30, 6), (20, 70, 8), (30, 37, 8)]
FREE_SIZES = [(2, 1, 2), (2, 1, 6), (2, 3, 3), (3, 6, 6), (5, 20, 5), (8, 40, 7), (20, 100, 8)]


def assert_realizable(dataset: Dataset, *, prefix_closed: bool) -> None:
    holds = restated.holds(dataset_to_document(dataset))
    assert holds == dict.fromkeys(holds, True) | {"prefix_closed": prefix_closed}
    assert {name: a.holds for name, a in check_assumptions(dataset).items()} == holds


@pytest.mark.parametrize(("V", "N", "L"), SIZES)
@given(seed=st.integers(0, 2**64))
@settings(max_examples=8)
def test_prefix_closed(V: int, N: int, L: int, seed: int) -> None:
    dataset = prefix_closed_dataset(V=V, N=N, L=L, seed=seed)
    assert (dataset.V, dataset.N, dataset.L_max) == (V, N, L)
    assert set(dataset.counts) <= set(range(1, N + 1))
    assert_realizable(dataset, prefix_closed=True)
    assert all(len(order.optimal) == 1 for order in dataset.orders.values())  # sharp.single-optimum


@pytest.mark.parametrize(("V", "N", "L"), FREE_SIZES)
@given(seed=st.integers(0, 2**64))
@settings(max_examples=8)
def test_free(V: int, N: int, L: int, seed: int) -> None:
    dataset = free_dataset(V=V, N=N, L=L, seed=seed)
    assert (dataset.V, dataset.N, dataset.L_max) == (V, N, L)
    assert set(dataset.counts) == {1}
    assert dataset.collocation.require_function() == dataset.next_token
    assert_realizable(dataset, prefix_closed=False)


@pytest.mark.parametrize(
    ("N", "ranges"),
    [(100, ((1, 1), (1, 1))), (600, ((2, 2), (3, 3))), (600, ((1, 3), (2, 5))), (420, ((4, 4), (1, 1)))],
)
def test_tokens_per_class(N: int, ranges: tuple[tuple[int, int], tuple[int, int]]) -> None:
    seen: set[tuple[int, int]] = set()
    (least, most), (fewest, greatest) = ranges
    for seed in range(3):
        dataset = free_dataset(V=12, N=N, L=5, seed=seed, optimal=ranges[0], non_optimal=ranges[1])
        assert len(dataset.orders) == 12
        seen |= {(len(order.optimal), len(order.non_optimal)) for order in dataset.orders.values()}
    assert {k for k, _ in seen} == set(range(least, most + 1))
    assert {m for _, m in seen} == set(range(fewest, greatest + 1))


def test_a_query_can_be_its_own_optimal_token() -> None:
    dataset = free_dataset(V=12, N=400, L=5, seed=0, optimal=(1, 1))
    own = [q for q, order in dataset.orders.items() if order.optimal == (q,)]
    assert 0 < len(own) < 12


def test_sentences_grow_at_random_until_one_must_be_the_longest() -> None:
    """Of 15 tokens more than the 60 sentences [x, n(x)], 8 go to any of them, the last 7 to the longest."""
    grown = []
    for seed in range(20):
        dataset = prefix_closed_dataset(V=60, N=75, L=8, seed=seed)
        grown.append(sum(len(sample.tokens) == 2 for sample in dataset.samples))
    assert 8.5 < sum(grown) / 20 <= 9
    for seed in range(10):
        just = prefix_closed_dataset(V=20, N=25, L=6, seed=seed)
        assert sum(len(sample.tokens) == 2 for sample in just.samples) == 1


def test_the_token_that_continues_a_sentence() -> None:
    """The query's optimal token where it is in the majority, any of the majority where none is fixed yet."""

    def drawn(sentence: str, optimum: dict[str, str]) -> set[str | None]:
        return {_optimal_token(tuple(sentence), optimum, np.random.default_rng(seed)) for seed in range(20)}

    assert drawn("aa", {"a": "b"}) == drawn("aa", {}) == {"a"}
    assert drawn("abba", {}) == drawn("abba", {"b": "a"}) == {"a", "b"}
    assert drawn("abba", {"a": "b"}) == {"b"}
    assert drawn("aba", {"a": "b"}) == {None}
    assert drawn("aba", {}) == {"a"}


@pytest.mark.parametrize("most", [1, 2, 5])
def test_free_multiplicities(most: int) -> None:
    dataset = free_dataset(V=10, N=200, L=6, seed=0, max_count=most)
    assert set(dataset.counts) == set(range(1, most + 1))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_prefix_closed_multiplicities(most: int) -> None:
    dataset = prefix_closed_dataset(V=60, N=90, L=4, seed=0, max_count=most)
    alone = [c for s, c in zip(dataset.samples, dataset.counts, strict=True) if len(s.tokens) == 1]
    assert set(alone) == set(range(1, most + 1))


@pytest.mark.parametrize("generator", [prefix_closed_dataset, free_dataset])
def test_same_seed_same_data_other_seed_other_data(generator: Any) -> None:
    def document(seed: int) -> dict[str, Any]:
        return dataset_to_document(generator(V=10, N=40, L=6, seed=seed, max_count=3))

    assert document(7) == document(7)
    assert len({str(document(seed)) for seed in range(20)}) == 20


@pytest.mark.parametrize(
    "sizes",
    [
        {"V": 0, "N": 0, "L": 1},
        {"V": 3, "N": 2, "L": 1},  # not even every [x]
        {"V": 3, "N": 4, "L": 1},
        {"V": 3, "N": 4, "L": 3},  # too few for the prefixes of a sample of length 3
        {"V": 3, "N": 10, "L": 3},  # more than V sentences of L samples
        {"V": 20, "N": 1000, "L": 8},
    ],
)
def test_impossible_prefix_closed_sizes(sizes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"no prefix-closed dataset with V=\d+, N=\d+, L=\d found"):
        prefix_closed_dataset(**sizes, seed=0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"V": 1, "N": 1, "L": 3},
        {"V": 3, "N": 1, "L": 1},
        {"V": 3, "N": 1, "L": 3, "optimal": (0, 2)},
        {"V": 3, "N": 1, "L": 3, "non_optimal": (0, 1)},
        {"V": 2, "N": 200, "L": 2},
    ],
)
def test_impossible_free_sizes(wrong: dict[str, Any]) -> None:
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"no (\d+ distinct )?free samples with V=\d, L=\d"):
        free_dataset(**wrong, seed=0)
    assert time.perf_counter() - start < 10


def test_the_three_cases() -> None:
    assert list(CASES) == ["example-1", "section-7", "free-20"]
    assert all(case().name == name for name, case in CASES.items())


def test_example_1() -> None:
    dataset = CASES["example-1"]()
    assert (dataset.vocabulary, dataset.N, dataset.L_max, sum(dataset.counts)) == (tuple("SVOP"), 9, 3, 9)
    assert dataset.collocation.function == {"S": "V", "V": "O", "O": "P", "P": "S"}
    assert {q: order.relations for q, order in dataset.orders.items()} == {
        "S": [("S", "P")],
        "V": [("V", "S")],
        "O": [("O", "S"), ("O", "V")],
        "P": [("O", "P")],
    }
    assert_realizable(dataset, prefix_closed=True)


def test_section_7() -> None:
    dataset = CASES["section-7"]()
    assert (dataset.V, dataset.N, dataset.L_max) == (20, 70, 8)
    assert_realizable(dataset, prefix_closed=True)


def test_free_20() -> None:
    dataset = CASES["free-20"]()
    assert (dataset.V, dataset.N, dataset.L_max) == (20, 100, 8)
    assert any(len(order.optimal) > 1 for order in dataset.orders.values())
    assert_realizable(dataset, prefix_closed=False)
