"""A cycle in a query's relation, which proves that no W_kq meets all rows."""

from dataclasses import dataclass
from typing import Any

from marginaudit.margins.errors import CertificateError
from marginaudit.orders.ntp import Dataset, Token


@dataclass(frozen=True)
class Cycle:
    """Tokens x_1 >_q x_2 >_q .. >_q x_1: the rows of these relations add up to 0 >= their number."""

    query: Token
    tokens: tuple[Token, ...]

    def verify(self, dataset: Dataset) -> None:
        """Check that each step of the cycle is a relation of the dataset.

        Raises
        ------
        CertificateError
            One is not.
        """
        order = dataset.orders.get(self.query)
        steps = zip(self.tokens, (*self.tokens[1:], *self.tokens[:1]), strict=True)
        if order is None or not self.tokens or not all(order.graph.has_edge(*step) for step in steps):
            raise CertificateError(f"{self.tokens} is no cycle under query {self.query!r}")

    def as_document(self) -> dict[str, Any]:
        """The certificate as plain JSON data."""
        return {"kind": "cycle", "query": self.query, "tokens": list(self.tokens)}


def find_cycle(dataset: Dataset, query: Token) -> Cycle | None:
    """A checked cycle of the query's relation, or None."""
    tokens = dataset.orders[query].cycle()
    if tokens is None:
        return None
    cycle = Cycle(query, tokens)
    cycle.verify(dataset)
    return cycle
