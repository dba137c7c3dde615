"""Hasse diagrams of the queries' orders."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import networkx as nx

from marginaudit.claims.standing import Status
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import InputError, Token, Witness, counted, printable, shortened
from marginaudit.orders.ntp import Dataset, QueryOrder, check_assumption, check_assumptions
from marginaudit.reports.plots.style import REFERENCE, STANDINGS, VERDICTS, as_text, empty_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Edge = tuple[Token, Token]

MOST_PANELS = 24
MOST_TOKENS = 24
"""Largest number of tokens in a panel."""

MOST_BESIDE = 6
"""Most tokens in a row of a layer."""

ACROSS = 4
"""Most panels in a row."""

WIDE, LAYER, AROUND = 3.4, 0.55, 0.75
"""Inches: width of a panel, height of a layer, title and margins of a row."""

NARROWEST = 5.0
"""Least width in inches, for title and legend."""

LONGEST_TOKEN = 10
"""Longest name of a token in characters; longer ones are shortened."""

OPTIMAL, NON_OPTIMAL, CONFUSED = STANDINGS[Status.PROVED], REFERENCE, STANDINGS[Status.OPEN]
WITNESS = VERDICTS[Verdict.VIOLATED]

FILLED = {OPTIMAL: "#ecfdf3", NON_OPTIMAL: "#ffffff", CONFUSED: "#fffaeb"}


@dataclass(frozen=True)
class Panel:
    """Drawing of one order.

    Attributes
    ----------
    part : QueryOrder
        The relations to draw: all, or for a large order only those that violate an assumption.
    tokens, edges : sets
        Tokens and relations that violate an assumption.
    """

    order: QueryOrder
    part: QueryOrder
    tokens: set[Token]
    edges: set[Edge]


@styled
def orders_figure(dataset: Dataset) -> "Figure":
    """One panel per query: the transitive reduction of its relations, winners on top.

    Violations of assumptions are red: cycles, and confused tokens with the relations in which they win and lose. Too
    many queries are cut to those with violations, then those with the largest orders.

    Raises
    ------
    InputError
        No query has an order, or all are too large.
    """
    drawn = panels(dataset)
    if not drawn:
        got = (
            f"{counted(len(dataset.orders), 'order')} of more tokens"
            if dataset.orders
            else "no two tokens that are related"
        )
        expected = f"an order of {MOST_TOKENS} tokens or less"
        raise InputError(f"figure orders of {printable(dataset.name)}", got=got, expected=expected)
    across = min(ACROSS, len(drawn))
    rows = [drawn[i : i + across] for i in range(0, len(drawn), across)]
    heights = [AROUND + LAYER * max(len(lines(panel.part)) for panel in row) for row in rows]
    tall = sum(heights) + 1.1
    figure = empty_figure((max(WIDE * across, NARROWEST), tall))
    axes = figure.subplots(len(rows), across, height_ratios=heights, squeeze=False)
    figure.subplots_adjust(left=0.01, right=0.99, top=1 - 0.8 / tall, bottom=0.55 / tall, wspace=0.05, hspace=0.35)
    for axis in axes.ravel():
        axis.set_axis_off()
    for axis, panel in zip(axes.ravel(), drawn, strict=False):
        _draw(axis, panel)
    figure.suptitle(as_text(_title(dataset, len(drawn))), x=0.01, ha="left", fontsize=11)
    _legend(figure)
    return figure


def panels(dataset: Dataset) -> list[Panel]:
    """Panels to draw, in the vocabulary's order."""
    confusion = check_assumption(dataset, "no_confused_tokens").witness
    found = []
    for order in dataset.orders.values():
        tokens, edges = witness(order, confusion)
        part = order
        if len(order.graph) > MOST_TOKENS:
            kept = order.graph.subgraph(chain(*edges)).edges
            part = replace(order, samples={edge: order.samples[edge] for edge in kept})
        if part.samples:
            found.append(Panel(order, part, tokens, edges))
    found.sort(key=lambda panel: (not panel.tokens, -len(panel.part.samples)))
    return sorted(found[:MOST_PANELS], key=lambda panel: dataset.index[panel.order.query])


def hasse(order: QueryOrder) -> "nx.DiGraph[Token]":
    """Transitive reduction of the relations, with all relations between tokens of a cycle.

    >>> beats = dict.fromkeys([("a", "b"), ("b", "c"), ("a", "c")], 0)
    >>> sorted(hasse(QueryOrder("q", ("a", "b", "c"), beats)).edges)
    [('a', 'b'), ('b', 'c')]
    """
    parts = nx.condensation(order.graph)
    part_of = parts.graph["mapping"]
    kept = nx.transitive_reduction(parts).edges
    found: nx.DiGraph[Token] = nx.DiGraph()
    found.add_nodes_from(order.graph)
    found.add_edges_from(
        (a, b) for a, b in order.samples if part_of[a] == part_of[b] or (part_of[a], part_of[b]) in kept
    )
    return found


def layers(order: QueryOrder) -> list[list[Token]]:
    """Layers of tokens by longest path from a winner; tokens of a cycle share a layer.

    Within a layer, tokens are sorted by the mean position of those that beat them.
    """
    parts = nx.condensation(order.graph)
    diagram = hasse(order)
    found: list[list[Token]] = []
    at: dict[Token, float] = {}
    for generation in nx.topological_generations(parts):
        members = {token for part in generation for token in parts.nodes[part]["members"]}
        named = [token for token in order.vocabulary if token in members]
        above = {token: [at[x] for x in diagram.predecessors(token) if x in at] for token in named}
        named.sort(key=lambda token: sum(above[token]) / len(above[token]) if above[token] else 0.0)
        at |= {token: (i + 0.5) / len(named) for i, token in enumerate(named)}
        found.append(named)
    return found


def lines(order: QueryOrder) -> list[list[Token]]:
    """Layers, each split into rows of at most `MOST_BESIDE` tokens."""
    return [layer[i : i + MOST_BESIDE] for layer in layers(order) for i in range(0, len(layer), MOST_BESIDE)]


def witness(order: QueryOrder, confusion: Witness) -> tuple[set[Token], set[Edge]]:
    """Tokens and relations that violate an assumption; ``confusion`` is the witness of confused tokens."""
    cycle = order.cycle() or ()
    edges = set(zip(cycle, (*cycle[1:], *cycle[:1]), strict=True))
    tokens = set(cycle)
    if confusion is not None and confusion["query"] == order.query:
        token = confusion["token"]
        tokens.add(token)
        edges |= {(token, confusion["beats"]["token"]), (confusion["beaten_by"]["token"], token)}
    return tokens, edges


def _draw(axis: "Axes", panel: Panel) -> None:
    order, tokens, edges = panel.order, panel.tokens, panel.edges
    found = lines(panel.part)
    at = {
        token: ((i + 0.5) / len(line), -float(depth))
        for depth, line in enumerate(found)
        for i, token in enumerate(line)
    }
    axis.set_xlim(0, 1)
    axis.set_ylim(0.5 - len(found), 0.5)
    part = "" if panel.part is order else f", {len(panel.part.graph)} of {len(order.graph)} tokens"
    axis.set_title(as_text(f"under {_name(order.query)}{part}"), fontsize=9)
    for edge in sorted({*hasse(panel.part).edges, *edges}):
        _arrow(axis, at, edge, red=edge in edges)
    for token, (x, y) in at.items():
        colour = OPTIMAL if token in order.optimal else CONFUSED if token in order.confused else NON_OPTIMAL
        frame = {
            "boxstyle": "round,pad=0.25",
            "facecolor": FILLED[colour],
            "edgecolor": WITNESS if token in tokens else colour,
            "linewidth": 2.0 if token in tokens else 1.2,
        }
        axis.text(x, y, as_text(_name(token)), ha="center", va="center", fontsize=7, bbox=frame, zorder=3)


def _arrow(axis: "Axes", at: dict[Token, tuple[float, float]], edge: Edge, *, red: bool) -> None:
    level = at[edge[0]][1] <= at[edge[1]][1]
    axis.annotate(
        "",
        xy=at[edge[1]],
        xytext=at[edge[0]],
        arrowprops={
            "arrowstyle": "-|>",
            "color": WITNESS if red else REFERENCE,
            "linewidth": 1.6 if red else 0.7,
            "shrinkA": 8,
            "shrinkB": 9,
            "connectionstyle": f"arc3,rad={0.45 if level else 0}",
        },
        zorder=2 if red else 1,
    )


def _title(dataset: Dataset, drawn: int) -> str:
    which = f"{drawn} of {len(dataset.orders)} queries" if drawn < len(dataset.orders) else "every query"
    failing = [name for name, found in check_assumptions(dataset).items() if not found.holds]
    return f"{dataset.name}: the order of {which}" + (f"; failing: {', '.join(failing)}" if failing else "")


def _name(token: Token) -> str:
    return shortened(printable(token), LONGEST_TOKEN)


def _legend(figure: "Figure") -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    named: Sequence[tuple[str, str]] = ((OPTIMAL, "optimal"), (NON_OPTIMAL, "non-optimal"), (CONFUSED, "confused"))
    handles = [
        *(Patch(facecolor=FILLED[colour], edgecolor=colour, label=label) for colour, label in named),
        Line2D([], [], color=REFERENCE, marker=">", markersize=4, label="beats"),
        Line2D([], [], color=WITNESS, lw=1.6, label="breaks an assumption"),
    ]
    figure.legend(handles=handles, loc="lower center", ncols=3 if figure.get_figwidth() <= NARROWEST else 5, fontsize=8)
