"""Hasse diagrams of the orders: which relations, tokens and witnesses are drawn."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.orders import InputError
from marginaudit.orders.ntp import Dataset, QueryOrder, check_assumption, dataset_from_document
from marginaudit.reports.ntp.figures import orders
from marginaudit.reports.ntp.figures.orders import hasse, layers, lines, orders_figure, panels, witness
from tests.command_line import SVOP, Command, dataset_file
from tests.solutions import known

CONFUSED = Dataset.from_sentences("x", ["abab", "bac", "cbaa"])
"""Under a, a and b beat each other; b beats c."""


def texts(figure: Any) -> Iterator[str]:
    for axis in figure.axes:
        yield axis.get_title(loc="left")
        yield from (text.get_text() for text in axis.texts if text.get_text())


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda edge: edge[0] != edge[1]), min_size=1))
def test_a_diagram_says_neither_more_nor_less_than_the_order(edges: set[tuple[int, int]]) -> None:
    """What follows from it is what follows from the relations; without cycles nothing in it follows from the rest."""
    graph: nx.DiGraph[str] = nx.DiGraph((str(a), str(b)) for a, b in edges)
    order = QueryOrder("0", tuple("0123456"), dict.fromkeys(graph.edges, 0))
    drawn = hasse(order)
    closures = [set(nx.transitive_closure(one, reflexive=False).edges) for one in (drawn, graph)]
    assert closures[0] == closures[1]
    assert set(drawn.edges) <= set(graph.edges)
    if nx.is_directed_acyclic_graph(graph):
        for edge in list(drawn.edges):
            rest = drawn.copy()
            rest.remove_edge(*edge)
            assert not nx.has_path(rest, *edge)
    found = layers(order)
    assert sorted(token for layer in found for token in layer) == sorted(graph)
    depth = {token: i for i, layer in enumerate(found) for token in layer}
    together = {frozenset(part): part for part in nx.strongly_connected_components(graph)}
    part_of = {token: part for part in together for token in part}
    for a, b in graph.edges:
        assert depth[a] < depth[b] or (part_of[a] == part_of[b] and depth[a] == depth[b])
    assert max(map(len, lines(order))) <= orders.MOST_BESIDE
    assert [token for line in lines(order) for token in line] == [token for layer in found for token in layer]


def test_tokens_lie_below_the_middle_of_what_beats_them() -> None:
    beats = dict.fromkeys([("a", "y"), ("b", "x"), ("a", "z"), ("b", "z")], 0)
    assert layers(QueryOrder("q", tuple("abxyz"), beats)) == [["a", "b"], ["y", "z", "x"]]


def test_the_witness_is_red() -> None:
    confusion = known(check_assumption(CONFUSED, "no_confused_tokens").witness)
    tokens, edges = witness(CONFUSED.orders["a"], confusion)
    assert tokens == {"a", "b"}
    assert edges >= {("a", "b"), ("b", "a")}
    assert edges <= set(CONFUSED.orders["a"].graph.edges)
    assert witness(CONFUSED.orders["b"], confusion) == (set(), set())
    confused = Dataset.from_sentences("y", ["ab", "bc", "cd", "da", "bacc", "abcc"])
    found = check_assumption(confused, "no_confused_tokens").witness
    for query, order in confused.orders.items():
        tokens, edges = witness(order, found)
        assert bool(tokens) == (order.cycle() is not None or (found is not None and found["query"] == query))
        assert edges <= set(order.graph.edges)


def test_arrows_are_drawn_in_one_order_whatever_the_hashes() -> None:
    star = {"tokens": list("abcdefgh"), "next": "a"}
    itself = [{"tokens": [x], "next": x} for x in "abcdefgh"]
    axis: Any = orders_figure(dataset_from_document({"name": "star", "samples": [*itself, star]})).axes[0]
    token = {text.get_position(): text.get_text() for text in axis.texts if text.get_text()}
    arrows = [(token[text.xyann], token[text.xy]) for text in axis.texts if not text.get_text()]
    assert len(arrows) > 5
    assert arrows == sorted(arrows)


def test_tokens_have_the_colours_of_their_classes() -> None:
    figure = orders_figure(CONFUSED)
    assert "every query" in figure.get_suptitle()
    [axis] = [axis for axis in figure.axes if axis.get_title(loc="left") == "under a"]
    colours = {}
    for text in axis.texts:
        patch = text.get_bbox_patch()
        if patch is not None and text.get_text():
            colours[text.get_text()] = (patch.get_edgecolor(), patch.get_facecolor())
    from matplotlib.colors import to_rgba

    assert colours["a"] == (to_rgba(orders.WITNESS), to_rgba(orders.FILLED[orders.CONFUSED]))
    assert colours["c"] == (to_rgba(orders.NON_OPTIMAL), to_rgba(orders.FILLED[orders.NON_OPTIMAL]))
    [axis] = [axis for axis in figure.axes if axis.get_title(loc="left") == "under b"]
    optimal = [text for text in axis.texts if text.get_text() in CONFUSED.orders["b"].optimal]
    assert optimal
    for text in optimal:
        assert known(text.get_bbox_patch()).get_edgecolor() == to_rgba(orders.OPTIMAL)


def test_large_orders_are_left_out_but_for_what_breaks_an_assumption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "MOST_TOKENS", 2)
    data = CONFUSED
    found = {panel.order.query: panel for panel in panels(data)}
    assert len(data.orders["a"].graph) == 3
    assert set(found["a"].part.graph) >= {"a", "b"}
    assert set(found["a"].part.graph) == {token for edge in found["a"].edges for token in edge}
    monkeypatch.setattr(orders, "MOST_PANELS", 1)
    assert [panel.order.query for panel in panels(data)] == ["a"]
    assert " 1 of " in orders_figure(data).get_suptitle()
    assert [axis.get_title(loc="left") for axis in orders_figure(data).axes] == ["under a, 2 of 3 tokens"]
    monkeypatch.setattr(orders, "MOST_TOKENS", 1)
    with pytest.raises(InputError, match="orders of more tokens, expected an order of 1 tokens or less"):
        orders_figure(dataset_from_document(SVOP))
    with pytest.raises(InputError, match="got no two tokens that are related"):
        orders_figure(Dataset.from_sentences("z", ["aa"]))


def test_a_token_of_control_characters_is_escaped_before_it_is_shortened() -> None:
    bells = "\a" * 10
    figure = orders_figure(Dataset.from_sentences("x", [[bells, "b", bells, "b"]]))
    [escaped] = {text.get_text() for axis in figure.axes for text in axis.texts} - {"", "b"}
    assert escaped == r"\x07\ … 7\x07"


def test_the_command(command: Command, tmp_path: Path) -> None:
    path = dataset_file(tmp_path, SVOP | {"name": "a $b/"})
    assert command.json("figure", "orders", path) == {"figure": "orders", "file": "orders-a-b.svg"}
    assert Path("orders-a-b.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "orders" in command.json("figure", "list")["figures"]
    assert command.refused("figure", "orders").startswith("DATASET: got the figure orders and no DATASET, expected ")
    refused = command.refused("figure", "statements", path)
    assert refused.startswith("DATASET: got the figure statements and ")
    assert (
        "got a built-in case of sequence classes, expected sentences: a path or one of example-1, section-7, free-20"
        in command.refused("figure", "orders", "snap-single")
    )
