"""The third paper's kind of dataset: numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marginaudit.orders import Kind, Witness, shown
from marginaudit.orders.assumption import as_document
from marginaudit.orders.reading import Reader


@dataclass(frozen=True)
class Numbers:
    """A few numbers; ``name`` is what every dataset has."""

    name: str
    values: tuple[float, ...]

    @property
    def N(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        return sum(self.values) / self.N


def accepts(document: Any) -> bool:
    return isinstance(document, dict) and "numbers" in document


def from_document(document: dict[str, Any], where: str, default_name: str) -> Numbers:
    reader = Reader(where)
    reader.known_keys(document, "", ("name", "numbers"))
    values = reader.array(document["numbers"], "/numbers", "numbers")
    if not values:
        reader.fail("/numbers", got="no number", expected="at least one")
    for i, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e100:
            reader.fail(f"/numbers/{i}", got=shown(value), expected="a number from -1e100 to 1e100")
    return Numbers(reader.name(document, default_name), tuple(map(float, values)))


def to_document(data: Numbers) -> dict[str, Any]:
    return {"name": data.name, "numbers": list(data.values)}


def nonnegative(data: Numbers) -> Witness:
    """No number is below 0; the witness is the first that is."""
    return next(({"number": value} for value in data.values if value < 0), None)


def describe(data: Numbers) -> dict[str, Any]:
    assumptions = {name: NUMBERS.check(data, name) for name in NUMBERS.assumptions}
    return {"mean": data.mean, "assumptions": as_document(assumptions)}


def classified(data: Numbers, answer: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]]:
    return [(data.name, ("numbers", "mean"), [(data.N, answer["mean"])])]


NUMBERS = Kind(
    name="numbers",
    data=Numbers,
    accepts=accepts,
    from_document=from_document,
    to_document=to_document,
    cases={"three-numbers": lambda: Numbers("three-numbers", (1.0, 2.0, 6.0))},
    assumptions={"nonnegative": nonnegative},
    describe=describe,
    in_words=lambda data: f"the numbers {', '.join(map(str, data.values))}",
)
