"""The graph of statements as the page has it: small, and each statement a link to its section."""

from collections.abc import Sequence
from typing import Any

from marginaudit.reports.paper import Paper
from marginaudit.reports.standing import Status
from marginaudit.reports.statements.graph import Link, drawn_arcs, graph, layers

COLUMN, ROW, HIGH, LEFT = 190, 25, 19, 20
"""Pixels between layers, between statements of a layer, of a statement's height, and of room at the left."""

LETTER, PADDING = 6.2, 12
"""Pixels of a letter's width, and of a statement's beside its letters."""


def panels(papers: Sequence[Paper]) -> list[dict[str, Any]]:
    """Of each paper with a statement that is more than open: boxes and arcs with their places in pixels."""
    return [_panel(paper) for paper in papers if any(c.standing.status is not Status.OPEN for c in paper.claims)]


def _panel(paper: Paper) -> dict[str, Any]:
    found = graph([paper])
    order = layers(found)
    tall = max(map(len, order)) * ROW
    boxes = {
        name: {
            "name": name,
            "status": found.nodes[name]["status"].value,
            "x": round(LEFT + COLUMN * (column + 0.5)),
            "y": round(tall * (row + 0.5) / len(layer)),
            "half": round((LETTER * len(name) + PADDING) / 2),
        }
        for column, layer in enumerate(order)
        for row, name in enumerate(layer)
    }
    arcs = [{"link": link.name.lower(), "path": _path(boxes[a], boxes[b])} for a, b, link in drawn_arcs(found)]
    return {
        "source": paper.source,
        "width": 2 * LEFT + COLUMN * len(order),
        "height": tall + HIGH,
        "boxes": list(boxes.values()),
        "arcs": arcs,
    }


def _path(start: dict[str, Any], end: dict[str, Any]) -> str:
    """A curve from the right side of one to the left of the other, or to its right where it is no farther."""
    x, y = start["x"] + start["half"], start["y"]
    forward = end["x"] > start["x"]
    to_x, to_y = end["x"] + (-1 if forward else 1) * end["half"], end["y"]
    return f"M{x} {y}C{x + 40} {y} {to_x + (-40 if forward else 40)} {to_y} {to_x} {to_y}"


LINKS = {link.name.lower(): link.value for link in Link}
"""What the arcs mean, for the legend."""
