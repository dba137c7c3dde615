"""The graph of statements: proofs, implications under a condition, refutations, and what a source derives from what."""

from collections.abc import Iterable
from enum import StrEnum

import networkx as nx

from marginaudit.reports.paper import Paper
from marginaudit.reports.standing import Status
from marginaudit.reports.verdict import Verdict

SWEEPS = 24
"""Passes that sort each layer by the mean place of the neighbours."""


class Link(StrEnum):
    """How one statement bears on another."""

    PROVES = "the proof of the second rests on the first"
    IMPLIES = "the second follows from the first on data that meet a condition"
    REFUTES = "the first contradicts the second"
    PRINTED = "the source derives the second from the first, which is false"


def graph(papers: Iterable[Paper]) -> "nx.DiGraph[str]":
    """Every claim of the papers as a node with ``status``; each arc has its ``link`` and ``words``.

    Words are the condition of an implication, or what remains where the first is refuted. What rests on a statement of
    none of the papers has no arc from it.
    """
    found: nx.DiGraph[str] = nx.DiGraph()
    for paper in papers:
        for claim in paper.claims:
            found.add_node(claim.id, status=claim.standing.status)
        for claim in paper.claims:
            link = Link.REFUTES if claim.standing.status is Status.REFUTED else Link.PROVES
            found.add_edges_from(((used, claim.id) for used in claim.standing.uses), link=link, words="")
            for one in claim.implications:
                link = Link.REFUTES if one.verdict is Verdict.VIOLATED else Link.IMPLIES
                found.add_edges_from(((source, claim.id) for source in one.sources), link=link, words=one.condition)
        for claim in paper.claims:
            arcs = ((claim.id, relied) for relied in claim.standing.relied_on_by)
            found.add_edges_from(arcs, link=Link.PRINTED, words=claim.standing.remains)
    found.remove_nodes_from([name for name in found if "status" not in found.nodes[name]])
    return found


def layers(found: "nx.DiGraph[str]") -> list[list[str]]:
    """The statements in layers, each after those that bear on it, in an order with few crossings.

    What a source derives from what is false does not count: it may point back.
    """
    order = [sorted(layer) for layer in nx.topological_generations(sound(found))]
    for _ in range(SWEEPS):
        place = {name: i / len(layer) for layer in order for i, name in enumerate(layer)}
        for layer in order:
            near = {name: [place[other] for other in nx.all_neighbors(found, name)] for name in layer}
            layer.sort(key=lambda name: sum(near[name]) / len(near[name]) if near[name] else place[name])
            place |= {name: i / len(layer) for i, name in enumerate(layer)}
    return order


def sound(found: "nx.DiGraph[str]") -> "nx.DiGraph[str]":
    """The graph without the paper's own derivations, the links PRINTED."""
    kept: nx.DiGraph[str] = nx.DiGraph()
    kept.add_nodes_from(found.nodes(data=True))
    kept.add_edges_from(arc for arc in found.edges(data=True) if arc[2]["link"] is not Link.PRINTED)
    return kept


def drawn_arcs(found: "nx.DiGraph[str]") -> list[tuple[str, str, Link]]:
    """The arcs of the transitive reduction, with the links PRINTED."""
    reduced = nx.transitive_reduction(sound(found))
    arcs: list[tuple[str, str, Link]] = list(found.edges(data="link"))
    return [arc for arc in arcs if arc[2] is Link.PRINTED or reduced.has_edge(*arc[:2])]
