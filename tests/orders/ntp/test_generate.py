"""The seeded generators and the named cases."""

import time
from typing import Any

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


def test_both_ends_of_the_ranges_of_classes_are_drawn() -> None:
    dataset = free_dataset(V=12, N=600, L=8, seed=0, optimal=(1, 2), non_optimal=(3, 4))
    sizes = {(len(order.optimal), len(order.non_optimal)) for order in dataset.orders.values()}
    assert sizes == {(1, 3), (1, 4), (2, 3), (2, 4)}


@pytest.mark.parametrize("generator", [prefix_closed_dataset, free_dataset])
def test_same_seed_same_data_other_seed_other_data(generator: Any) -> None:
    def document(seed: int) -> dict[str, Any]:
        return dataset_to_document(generator(V=10, N=40, L=6, seed=seed, max_count=3))

    assert document(7) == document(7)
    assert len({str(document(seed)) for seed in range(20)}) == 20


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
