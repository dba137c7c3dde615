"""Certificates with a lie, and what the checker makes of them."""

from collections.abc import Callable
from typing import Any, TypeAlias

from marginaudit.orders.ntp import dataset_to_document
from tests.margins.restated import related
from tests.strategies import Document

Outcome: TypeAlias = Callable[..., list[str]]


Refusal: TypeAlias = Callable[..., None]


def related_data(edges: list[tuple[str, str]], **more: Any) -> Document:
    """The relations of one query z; every winner beats z, too, as each sample ends with it."""
    return dataset_to_document(related({"z": edges})) | more


COMPLETE = related_data([("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")])
"""a and b beat c, d and z: k = 2, m = 3, so 3/5 and -2/5, and 1/5 on each of the six constraints."""


WINNERS, LOSERS = ("a", "b"), ("c", "d", "z")


TRUE: Document = {
    "status": "optimal",
    "norm_squared": "6/5",
    "weights": {"z": dict.fromkeys(WINNERS, "3/5") | dict.fromkeys(LOSERS, "-2/5")},
    "multipliers": {"z": [[i, j, "1/5"] for i in WINNERS for j in LOSERS]},
    "closed_form": {"z": {"holds": True, "S": []}},
}


def multipliers(values: dict[tuple[str, str], str]) -> Document:
    """{(winner, loser): value} instead of 1/5."""
    return {"z": [[i, j, values.get((i, j), "1/5")] for i in WINNERS for j in LOSERS]}


def cycle(*tokens: str, query: str = "z") -> Document:
    return {"status": "infeasible", "query": query, "cycle": list(tokens)}


CYCLIC = related_data([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
