"""Relations, orders and classes against the double loop of Definition 1."""

import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.orders.ntp import (
    CASES,
    Dataset,
    QueryOrder,
    broken,
    check_assumption,
    dataset_from_document,
    dataset_to_document,
)
from marginaudit.orders.ntp.relations import Encoded
from tests.oracle.problem import problem
from tests.orders.ntp import restated
from tests.strategies import Document, documents, realizable_datasets


def named(dataset: Dataset) -> list[tuple[str, str, str]]:
    """The relations as (query, winner, loser), in the order of the arrays."""
    words, found = dataset.vocabulary, dataset.relations
    columns = (found.query.tolist(), found.winner.tolist(), found.loser.tolist())
    return [(words[q], words[x], words[y]) for q, x, y in zip(*columns, strict=True)]


def class_table(orders: dict[str, QueryOrder]) -> dict[str, dict[str, list[str]]]:
    return {query: {name: list(getattr(order, name)) for name in restated.CLASSES} for query, order in orders.items()}


@given(documents())
def test_relations_are_those_of_definition_1(document: Document) -> None:
    dataset, expected = dataset_from_document(document), restated.relations(document)
    assert len(dataset.relations) == len(expected)
    assert dict(zip(named(dataset), dataset.relations.sample.tolist(), strict=True)) == expected


@given(documents())
def test_relations_are_sorted_by_query_winner_loser(document: Document) -> None:
    dataset = dataset_from_document(document)
    rows = np.stack([dataset.relations.query, dataset.relations.winner, dataset.relations.loser], axis=1).tolist()
    assert rows == sorted(rows)


@given(documents())
def test_classes_are_those_of_the_ledger(document: Document) -> None:
    orders = dataset_from_document(document).orders
    assert class_table(orders) == restated.classes(document)
    assert list(orders) == list(restated.classes(document))


@given(documents())
def test_graphs_hold_the_relations_with_the_sample_that_makes_each(document: Document) -> None:
    dataset, expected = dataset_from_document(document), restated.relations(document)
    edges = {
        (query, *edge): order.graph.edges[edge]["sample"]
        for query, order in dataset.orders.items()
        for edge in order.graph.edges
    }
    assert edges == expected
    assert [(q, x, y) for q, order in dataset.orders.items() for x, y in order.relations] == named(dataset)
    assert all(order.query == query for query, order in dataset.orders.items())


@given(realizable_datasets())
def test_relations_of_larger_datasets(dataset: Dataset) -> None:
    document = dataset_to_document(dataset)
    assert dict(zip(named(dataset), dataset.relations.sample.tolist(), strict=True)) == restated.relations(document)
    assert class_table(dataset.orders) == restated.classes(document)


@given(documents())
def test_encoded_samples(document: Document) -> None:
    dataset = dataset_from_document(document)
    encoded, words, n = dataset.encoded, dataset.vocabulary, restated.next_tokens(document)
    examples = list(restated.weighted_examples(document))
    assert [words[i] for i in encoded.token] == [x for e in examples for x in e.tokens]
    assert encoded.owner.tolist() == [i for i, e in enumerate(examples) for _ in e.tokens]
    assert [words[i] for i in encoded.query] == [e.tokens[-1] for e in examples]
    assert [words[i] for i in encoded.next] == [e.next for e in examples]
    assert encoded.optimal.tolist() == [e.next in n[x] for e in examples for x in e.tokens]
    assert encoded.vocabulary_size == len(words)


@given(documents())
def test_dataset_of_a_document(document: Document) -> None:
    dataset, expected = dataset_from_document(document), restated.weighted_examples(document)
    assert dict(zip(((s.tokens, s.next) for s in dataset.samples), dataset.counts, strict=True)) == expected
    assert [(s.tokens, s.next) for s in dataset.samples] == list(expected)
    assert [s.query for s in dataset.samples] == [e.tokens[-1] for e in expected]
    assert [s.bag for s in dataset.samples] == [Counter(e.tokens) for e in expected]
    assert dataset.vocabulary == problem(document).vocabulary
    assert len(expected) == dataset.N
    assert dataset.L_max == max(len(e.tokens) for e in expected)
    assert {x: set(read) for x, read in dataset.collocation.values.items()} == restated.next_tokens(document)


@given(documents())
def test_frequencies(document: Document) -> None:
    dataset, p = dataset_from_document(document), problem(document)
    expected = [Fraction(count, p.total) for count in p.counts.values()]
    np.testing.assert_allclose(dataset.frequencies, [float(f) for f in expected], rtol=1e-15)
    assert dataset.smallest_frequency == min(expected)


def test_frequencies_of_the_most_samples() -> None:
    samples = [{"tokens": ["a"], "next": "a", "count": 2**53 - 1}, {"tokens": ["b"], "next": "b"}]
    assert dataset_from_document({"samples": samples}).frequencies.tolist() == [1 - 2**-53, 2**-53]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), max_size=12))
def test_cycles_of_any_digraph(pairs: list[tuple[int, int]]) -> None:
    words = tuple("abcdef")
    graph = nx.DiGraph([(words[x], words[y]) for x, y in pairs])
    cycle = QueryOrder("a", words, graph).cycle()
    assert (cycle is None) == nx.is_directed_acyclic_graph(graph)
    if cycle is not None:
        assert all(graph.has_edge(x, y) for x, y in zip(cycle, cycle[1:] + cycle[:1], strict=True))


def test_relations_of_a_graph_come_in_vocabulary_order() -> None:
    graph = nx.DiGraph([("c", "b"), ("a", "c"), ("c", "a"), ("b", "a"), ("a", "b")])
    order = QueryOrder("a", ("c", "a", "b"), graph)
    assert order.relations == [("c", "a"), ("c", "b"), ("a", "c"), ("a", "b"), ("b", "a")]
    assert order.confused == ("c", "a", "b")


# Invariances


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
