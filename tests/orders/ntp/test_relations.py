"""Relations, orders and classes against the double loop of Definition 1."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from marginaudit.orders.ntp import (
    CASES,
    Dataset,
    Sample,
    broken,
    check_assumption,
    dataset_from_document,
)
from marginaudit.orders.ntp.relations import Encoded
from tests.orders.ntp import restated
from tests.strategies import Document, documents


def named(dataset: Dataset) -> list[tuple[str, str, str]]:
    """The relations as (query, winner, loser), in the order of the arrays."""
    words, found = dataset.vocabulary, dataset.relations
    columns = (found.query.tolist(), found.winner.tolist(), found.loser.tolist())
    return [(words[q], words[x], words[y]) for q, x, y in zip(*columns, strict=True)]


@given(documents())
def test_relations_are_those_of_definition_1(document: Document) -> None:
    dataset, expected = dataset_from_document(document), restated.relations(document)
    assert len(dataset.relations) == len(expected)
    assert dict(zip(named(dataset), dataset.relations.sample.tolist(), strict=True)) == expected


@given(documents())
def test_classes_are_those_of_the_ledger(document: Document) -> None:
    dataset, expected = dataset_from_document(document), restated.classes(document)
    assert restated.class_table(dataset.orders) == expected
    assert list(dataset.orders) == list(expected)
    assert [(q, *pair) for q, order in dataset.orders.items() for pair in order.relations] == named(dataset)


def test_what_a_dataset_keeps_of_numbers_is_read_only() -> None:
    """A caller that changed it would change every later result on the dataset."""
    one_hot = Dataset.from_sentences("tiny", [["a", "b", "a"]])
    for dataset in (one_hot, replace(one_hot, embedding=np.eye(2))):
        for kept in (dataset.frequencies, dataset.embeddings):
            with pytest.raises(ValueError, match="read-only"):
                kept[0] = 0.5


@pytest.mark.parametrize("block", [1, 3, 4, 1000])
def test_positions_are_looked_at_in_blocks_of_whole_samples(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = CASES["section-7"]()
    whole, majority = data.relations, check_assumption(broken(data, "optimal_majority"), "optimal_majority").witness
    monkeypatch.setattr(sys.modules[Encoded.__module__], "BLOCK", block)
    encoded = data.encoded
    blocks = list(encoded.blocks())
    assert [i for one in blocks for i in range(one.start, one.stop)] == list(range(len(encoded.token)))
    assert all(one.start == 0 or encoded.owner[one.start] != encoded.owner[one.start - 1] for one in blocks)
    assert all(one.stop - one.start < block + data.L_max for one in blocks)
    in_blocks = CASES["section-7"]()
    for name in ("query", "winner", "loser", "sample"):
        assert getattr(in_blocks.relations, name).tolist() == getattr(whole, name).tolist()
    assert check_assumption(broken(in_blocks, "optimal_majority"), "optimal_majority").witness == majority


def test_pairs_of_a_large_vocabulary_are_told_apart() -> None:
    """V^2 is beyond 32 bits."""
    names = tuple(f"t{i}" for i in range(46_342))
    samples = (Sample(names[-1:], names[0]), Sample((names[0], names[-1]), names[0]))
    data = Dataset("many", names, samples, (1, 1), next_token={names[0]: names[-1]})
    assert data.encoded.optimal.tolist() == [True, False, True]
