"""Graph of statements: proofs, implications, refutations and derivations in the sources; and its figure."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

import networkx as nx

from marginaudit.claims.paper import Figure as PaperFigure
from marginaudit.claims.paper import Paper
from marginaudit.claims.standing import Status
from marginaudit.claims.verdict import Verdict
from marginaudit.reports.plots.style import LINES, STANDINGS, empty_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SWEEPS = 24
"""Number of passes that sort each layer by the mean position of neighbours."""


class Link(StrEnum):
    """Relation of one statement to another."""

    PROVES = "the proof of the second rests on the first"
    IMPLIES = "the second follows from the first on data that meet a condition"
    REFUTES = "the first contradicts the second"
    PRINTED = "the source derives the second from the first, which is false"


def graph(papers: Iterable[Paper]) -> "nx.DiGraph[str]":
    """Graph with the papers' claims as nodes (``status``) and arcs with ``link`` and ``words``.

    Words are the condition of an implication, or the part of a statement that survives a refutation. Statements of
    other papers are left out.
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
    """Statements in topological layers, ordered for few crossings.

    Links PRINTED are ignored: they may point backwards.
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
    """The graph without the links PRINTED."""
    kept: nx.DiGraph[str] = nx.DiGraph()
    kept.add_nodes_from(found.nodes(data=True))
    kept.add_edges_from(arc for arc in found.edges(data=True) if arc[2]["link"] is not Link.PRINTED)
    return kept


def drawn_arcs(found: "nx.DiGraph[str]") -> list[tuple[str, str, Link]]:
    """Arcs of the transitive reduction, and all links PRINTED."""
    reduced = nx.transitive_reduction(sound(found))
    arcs: list[tuple[str, str, Link]] = list(found.edges(data="link"))
    return [arc for arc in arcs if arc[2] is Link.PRINTED or reduced.has_edge(*arc[:2])]


DASHES = {Link.PROVES: "-", Link.IMPLIES: (0, (5, 2)), Link.REFUTES: "-", Link.PRINTED: (0, (1, 2))}

FILLED = {Status.PROVED: "#ecfdf3", Status.REFUTED: "#fef3f2", Status.OPEN: "#fffaeb"}
"""Background colours by standing."""

ROW, COLUMN = 0.27, 2.3
"""Inches between statements of a layer, and between layers."""

LETTER = 0.0128
"""Half the width of a letter, in columns."""

LEGEND = 0.8
"""Height of the legend, in inches."""


@styled
def statements_figure(papers: Sequence[Paper], *, links: bool = False) -> "Figure":
    """Graph of statements and implications, coloured by standing; one panel per paper.

    With ``links``, statements link to the anchors of their ids.
    """
    found = [graph([paper]) for paper in papers]
    linked = [one.subgraph([name for name, degree in one.degree if degree]).copy() for one in found]
    orders = [layers(one) for one in linked]
    heights = [ROW * (max(map(len, order), default=1) + 7) for order in orders]
    columns = max(map(len, orders))
    tall = sum(heights) + LEGEND
    figure = empty_figure((COLUMN * columns + 0.5, tall))
    panels = figure.subplots(len(papers), 1, height_ratios=heights, squeeze=False)[:, 0]
    figure.subplots_adjust(left=0.01, right=0.99, top=1 - 0.35 / tall, bottom=LEGEND / tall, hspace=0.08)
    for axis, paper, whole, one, order in zip(panels, papers, found, linked, orders, strict=True):
        _panel(axis, whole, one, order, links=links)
        axis.set_xlim(-0.45, columns - 0.35)
        counts = ", ".join(f"{_count(whole, status)} {status}" for status in Status)
        axis.set_title(f"{paper.source}: {counts}", fontsize=12)
    _legend(figure)
    return figure


def graph_figures(papers: Iterable[Paper]) -> list[tuple[Paper, PaperFigure]]:
    """Papers with a proved or refuted statement, each with the figure of its graph for a report."""
    return [
        (paper, PaperFigure(f"statements of {paper.name}", partial(statements_figure, [paper], links=True)))
        for paper in papers
        if any(claim.standing.status is not Status.OPEN for claim in paper.claims)
    ]


def _count(found: "nx.DiGraph[str]", status: Status) -> int:
    return sum(found.nodes[name]["status"] is status for name in found)


def _panel(
    axis: "Axes", whole: "nx.DiGraph[str]", linked: "nx.DiGraph[str]", order: list[list[str]], *, links: bool
) -> None:
    axis.set_axis_off()
    at = {
        name: (column, 1 - (row + 0.5) / len(layer))
        for column, layer in enumerate(order)
        for row, name in enumerate(layer)
    }
    axis.set_ylim(-0.1, 1)
    for source, target, link in drawn_arcs(linked):
        _arc(axis, source, target, at, link)
    for name, (x, y) in at.items():
        _box(axis, name, x, y, linked.nodes[name]["status"], links=links)
    alone = [name for name in whole if name not in linked]
    if alone:
        axis.text(-0.4, -0.02, "Independent of all others:", fontsize=8, va="top", color="#475467")
    across = max(1, len(order))
    for i, name in enumerate(alone):
        _box(axis, name, i % across, -0.07 - 0.035 * (i // across), whole.nodes[name]["status"], links=links)


def _arc(axis: "Axes", source: str, target: str, at: Mapping[str, tuple[float, float]], link: Link) -> None:
    """Draw an arc from the right side of one box to the left side of the other, or to its right if it points back."""
    (x, y), (to_x, to_y) = at[source], at[target]
    forward = to_x > x
    axis.annotate(
        "",
        xy=(to_x - (1 if forward else -1) * _half(target), to_y),
        xytext=(x + _half(source), y),
        arrowprops={
            "arrowstyle": "-|>",
            "color": LINES[link.name.lower()],
            "linestyle": DASHES[link],
            "linewidth": 0.9,
            "alpha": 0.8,
            "shrinkA": 0,
            "shrinkB": 0,
            "connectionstyle": "arc3,rad=0.04" if forward else "arc3,rad=-0.2",
        },
        zorder=1,
    )


def _half(name: str) -> float:
    return LETTER * len(name) + 0.03


def _box(axis: "Axes", name: str, x: float, y: float, status: Status, *, links: bool) -> None:
    frame = {
        "boxstyle": "round,pad=0.25",
        "facecolor": FILLED[status],
        "edgecolor": STANDINGS[status],
        "linewidth": 1.2,
    }
    url = f"#{name}" if links else None
    axis.text(x, y, name, ha="center", va="center", fontsize=7.5, bbox=frame, zorder=3, clip_on=False, url=url)


def _legend(figure: "Figure") -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        *(Patch(facecolor=FILLED[status], edgecolor=STANDINGS[status], label=status.value) for status in Status),
        *(Line2D([], [], color=LINES[link.name.lower()], ls=DASHES[link], label=link.value) for link in Link),
    ]
    figure.legend(handles=handles, loc="lower center", ncols=4, fontsize=9)
