"""The graph of statements, its picture, the page of it and the section of the report."""

import re
from dataclasses import replace

import matplotlib as mpl
import networkx as nx
import pytest

from marginaudit.claims.standing import OPEN, Status
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.page import svg
from marginaudit.reports.plots.measured import rendered
from marginaudit.reports.statements import Link, drawn_arcs, graph, graph_figures, layers, sound, statements_figure
from tests.pages import ROOT, script
from tests.papers import changed

WHOLE = graph(PAPERS)
STATUS = {name: WHOLE.nodes[name]["status"] for name in WHOLE}


def test_every_statement_is_in_the_graph_with_its_standing() -> None:
    assert {name: claim.standing.status for name, claim in LEDGER.items()} == STATUS


def test_no_proof_goes_round_in_a_circle() -> None:
    """Nor does what a source derives."""
    assert nx.is_directed_acyclic_graph(WHOLE)


def test_only_what_is_proved_bears_on_another_statement() -> None:
    for source, target in WHOLE.edges:
        link = WHOLE.edges[source, target]["link"]
        assert (STATUS[source] is Status.PROVED) == (link is not Link.PRINTED)
        if link is Link.PRINTED:
            assert STATUS[source] is Status.REFUTED
        if link is Link.PROVES:
            assert STATUS[target] is Status.PROVED
        if link is Link.REFUTES:
            assert STATUS[target] is Status.REFUTED
        if link is Link.IMPLIES:
            assert STATUS[target] is not Status.PROVED


def test_each_statement_comes_after_those_that_bear_on_it() -> None:
    order = layers(WHOLE)
    place = {name: i for i, layer in enumerate(order) for name in layer}
    assert sorted(place) == sorted(LEDGER)
    assert all(place[source] < place[target] for source, target in sound(WHOLE).edges)


def test_an_arc_that_others_make_up_for_is_not_drawn() -> None:
    arcs = {(source, target) for source, target, _ in drawn_arcs(WHOLE)}
    assert WHOLE.has_edge("sharp.lemma6", "sharp.floor")
    assert ("sharp.lemma6", "sharp.floor") not in arcs
    assert {("sharp.lemma6", "sharp.theorem1"), ("sharp.theorem1", "sharp.floor")} <= arcs
    assert (
        nx.transitive_closure_dag(sound(WHOLE)).edges
        == nx.transitive_closure_dag(
            nx.DiGraph([(a, b) for a, b, link in drawn_arcs(WHOLE) if link is not Link.PRINTED])
        ).edges
    )
    assert ("ntp.lemma7", "ntp.theorem1.direction") in arcs


def test_the_page_and_its_picture_are_what_the_script_makes() -> None:
    assert (ROOT / "docs" / "statements.md").read_text(encoding="utf-8") == script("statements").page()
    picture = (ROOT / "docs" / "statements.svg").read_bytes()
    if f"Matplotlib v{mpl.__version__}," not in picture.decode("utf-8"):
        pytest.skip("the picture was drawn by another version of matplotlib, which places it otherwise")
    assert picture == rendered(statements_figure(PAPERS), ".svg")


def test_the_page_has_a_link_to_each_statement_and_no_picture_of_a_paper_of_which_nothing_is_known() -> None:
    first, second = (rendered(figure.draws(), ".svg") for _, figure in graph_figures(PAPERS))
    linked = re.findall(r'<a href="#([^"]*)"', svg.inline(first) + svg.inline(second))
    assert sorted(linked) == sorted(LEDGER)
    unknown = tuple(replace(claim, standing=OPEN, implications=()) for claim in PAPERS[0].claims)
    assert graph_figures([changed(PAPERS[0], claims=unknown)]) == []


def test_what_another_paper_proves_has_no_arc_here() -> None:
    ntp = PAPERS[0]
    alone = [claim for claim in ntp.claims if claim.id == "ntp.lemma6"]
    found = graph([changed(ntp, claims=tuple(alone), figures=())])
    assert (list(found), list(found.edges)) == (["ntp.lemma6"], [])
