"""The graph of tokens and classes, and distinct and common tokens, against loops over the document."""

import networkx as nx
from hypothesis import given

from marginaudit.orders.snap import (
    SequenceClasses,
    classes_from_document,
    common_tokens,
    distinct_tokens,
    token_class_graph,
)
from tests.orders.snap import restated
from tests.orders.snap.strategies import class_documents
from tests.strategies import Document


def under(document: Document, query: str) -> Document:
    return {"classes": [c for c in document["classes"] if c["query"] == query]}


def check(document: Document, data: SequenceClasses, query: str | None = None) -> None:
    expected = document if query is None else under(document, query)
    graph = token_class_graph(data, query)
    P, names = restated.probabilities(expected), [c["next"] for c in expected["classes"]]
    edges = {
        (("token", t), ("class", n)): float(p) for n, found in zip(names, P, strict=True) for t, p in found.items()
    }
    assert {(a, b): d["probability"] for a, b, d in graph.edges(data=True)} == edges
    sides = {node: data["bipartite"] for node, data in graph.nodes(data=True)}
    assert sides == dict.fromkeys((token for token, _ in edges), 0) | {("class", n): 1 for n in names}
    assert nx.is_bipartite(graph)
    common, distinct = common_tokens(data, query), distinct_tokens(data, query)
    assert set(common) == restated.common(expected)
    assert {n: set(tokens) for n, tokens in distinct.items()} == dict(
        zip(names, restated.distinct(expected), strict=True)
    )
    for listed in (common, *distinct.values()):
        assert list(listed) == [token for token in data.tokens if token in listed]


@given(class_documents())
def test_in_all_classes_and_under_each_query(document: Document) -> None:
    data = classes_from_document(document)
    check(document, data)
    for query in data.queries:
        check(document, data, query)
