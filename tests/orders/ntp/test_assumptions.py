"""Every assumption against its restatement, every witness against what it claims, and how far embeddings are off."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from marginaudit.orders.ntp import (
    ASSUMPTIONS,
    Dataset,
    assumptions,
    broken,
    check_assumption,
    check_assumptions,
    dataset_from_document,
    dataset_to_document,
    gram_deviation,
)
from tests.orders.ntp import restated
from tests.strategies import Document, documents, free_datasets

IMPLIED = {
    "next_from_sentence": {"optimal_majority"},
    "well_defined_orders": {"no_confused_tokens"},
}
"""What fails with an assumption: no optimal position is fewer than one other; a cycle confuses its tokens."""


def failing(dataset: Dataset) -> set[str]:
    return {name for name, found in check_assumptions(dataset).items() if not found.holds}


@given(documents())
def test_every_predicate_and_witness(document: Document) -> None:
    found = check_assumptions(dataset_from_document(document))
    assert {name: a.holds for name, a in found.items()} == restated.holds(document)
    for name, assumption in found.items():
        assert assumption.name == name
        assert (assumption.witness is None) == assumption.holds
        if assumption.witness is not None:
            assert restated.witnesses(document, name, assumption.witness), assumption.witness
            json.dumps(assumption.witness, allow_nan=False)


@pytest.mark.parametrize("name", ASSUMPTIONS)
@given(dataset=free_datasets())
@settings(max_examples=8)
def test_broken_free_datasets(name: str, dataset: Dataset) -> None:
    assert failing(dataset) == {"prefix_closed"}
    assert_broken(dataset, name)


def assert_broken(dataset: Dataset, name: str) -> None:
    worse = broken(dataset, name)
    document = dataset_to_document(worse)
    assert failing(worse) == failing(dataset) | {name} | IMPLIED.get(name, set())
    assert failing(worse) == {a for a, holds in restated.holds(document).items() if not holds}
    witness = check_assumption(worse, name).witness
    assert witness is not None
    assert restated.witnesses(document, name, witness)
    if name != "orthonormal":
        assert worse.vocabulary[: dataset.V] == dataset.vocabulary
        assert worse.samples[: dataset.N] == dataset.samples
        assert worse.counts[: dataset.N] == dataset.counts


def test_broken_turns_one_unit_vector_towards_another() -> None:
    E = broken(Dataset.from_sentences("cycle", ["abcda"]), "orthonormal").embeddings
    gram = np.eye(4)
    gram[0, 3] = gram[3, 0] = 0.6
    np.testing.assert_allclose(E @ E.T, gram, rtol=0, atol=1e-15)


def embedded(rows: object) -> Dataset:
    embedding = np.array(rows, dtype=np.float64)
    return Dataset("embedded", tuple(f"x{i}" for i in range(len(embedding))), (), (), embedding=embedding)


def test_what_is_put_down_to_rounding() -> None:
    """An inner product of 1e-12, and no more, whatever its sign; so far a squared norm may be off too."""
    for tolerated in (1e-12, -1e-12):
        assert check_assumption(embedded([[1.0, 0.0], [tolerated, 1.0]]), "orthonormal").holds
        beyond = float(np.nextafter(tolerated, 2 * tolerated))
        assert not check_assumption(embedded([[1.0, 0.0], [beyond, 1.0]]), "orthonormal").holds
    assert check_assumption(embedded([[1 + 4.9e-13]]), "orthonormal").holds
    assert not check_assumption(embedded([[1 + 5.1e-13]]), "orthonormal").holds


def largest_entry(dataset: Dataset) -> Fraction:
    assert dataset.embedding is not None
    rows = [[Fraction(value) for value in row] for row in dataset.embedding.tolist()]
    gram = [[sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) for v in rows] for u in rows]
    return max(abs(entry - (i == j)) for i, row in enumerate(gram) for j, entry in enumerate(row))


def rotation(size: int, seed: int) -> np.ndarray:
    return np.asarray(np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0])


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([[1 + 2.0**-27, 0], [0, 1]], id="finer than is exact"),
        pytest.param([[1 + 4.5e-13, 0], [0, 1 + 4.5e-13]], id="scaled"),
        pytest.param([[3 * 2.0**25, 1 + 2.0**-26], [1, 0]], id="multiples with large products"),
        pytest.param([[1 + 2.0**-26, 1]], id="multiples with products above 2"),
        pytest.param([[1, 1, 2.0**-26]], id="multiples with products that round to 2"),
        pytest.param([[1, 2.0**-600], [2.0**-600, 1]], id="products that underflow"),
    ],
)
def test_rounded_products_are_bounded_from_above(rows: object) -> None:
    exact, bound = largest_entry(embedded(rows)), gram_deviation(embedded(rows))
    assert exact < bound <= float(exact) * (1 + 4e-15) + 1e-15


def test_the_bound_term_by_term(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a coarse unit roundoff u, of which a sum of d products has d: d u/(1 - 2 d u) of |E||E|^T, and 16 more."""
    u, E = 2.0**-10, rotation(5, 0)
    monkeypatch.setattr(assumptions, "UNIT_ROUNDOFF", u)
    rounded = np.abs(E @ E.T - np.eye(5)) + 5 * u / (1 - 10 * u) * (np.abs(E) @ np.abs(E).T)
    assert gram_deviation(embedded(E)) == pytest.approx(rounded.max() * (1 + 16 * u), rel=1e-14, abs=0)


@pytest.mark.parametrize("third", [1.0, 1e200, 1.7e308])
def test_products_that_overflow_are_infinitely_far(third: float) -> None:
    data = embedded([[1e200, -1e200, third], [1e200, 1e200, third], [0, 1, 0]])
    assert gram_deviation(data) == np.inf
    assert not check_assumption(data, "orthonormal").holds


def test_orthonormal_embeddings_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assumptions, "BLOCK", 2)
    E = np.eye(5)
    assert check_assumption(embedded(E.tolist()), "orthonormal").holds
    E[3, 0] = 0.5
    data = embedded(E.tolist())
    witness = check_assumption(data, "orthonormal").witness
    assert witness is not None
    assert set(witness["tokens"]) in ({data.vocabulary[3]}, {data.vocabulary[0], data.vocabulary[3]})
