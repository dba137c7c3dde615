"""Every assumption against its restatement, and every witness against what it claims."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from marginaudit.orders.ntp import (
    ASSUMPTIONS,
    Dataset,
    broken,
    check_assumption,
    check_assumptions,
    dataset_from_document,
    dataset_to_document,
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


def with_embedding(rows: list[list[float]]) -> Dataset:
    vocabulary = [f"x{i}" for i in range(len(rows))]
    samples = [{"tokens": vocabulary, "next": "x0"}]
    dataset = dataset_from_document({"vocabulary": vocabulary, "samples": samples})
    return replace(dataset, embedding=np.array(rows))


def test_what_is_put_down_to_rounding() -> None:
    """An inner product of 1e-12, and no more, whatever its sign; so far a squared norm may be off too."""
    for tolerated in (1e-12, -1e-12):
        assert check_assumption(with_embedding([[1.0, 0.0], [tolerated, 1.0]]), "orthonormal").holds
        beyond = float(np.nextafter(tolerated, 2 * tolerated))
        assert not check_assumption(with_embedding([[1.0, 0.0], [beyond, 1.0]]), "orthonormal").holds
    assert check_assumption(with_embedding([[1 + 4.9e-13]]), "orthonormal").holds
    assert not check_assumption(with_embedding([[1 + 5.1e-13]]), "orthonormal").holds
