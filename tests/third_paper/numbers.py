"""The third paper's kind of dataset: numbers."""

from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from annotated_types import Interval, Len
from typing_extensions import TypedDict

from marginaudit.orders import Kind, Witness
from marginaudit.orders.assumption import as_document
from marginaudit.orders.reading import Text, validated


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


class Document(TypedDict, closed=True):
    name: NotRequired[Annotated[Text, Len(1)]]
    numbers: Annotated[list[Annotated[float, Interval(ge=-1e100, le=1e100)]], Len(1)]


def accepts(document: Any) -> bool:
    return isinstance(document, dict) and "numbers" in document


def from_document(document: dict[str, Any], where: str, default_name: str) -> Numbers:
    found = validated(Document, document, where)
    return Numbers(found.get("name", default_name), tuple(found["numbers"]))


def to_document(data: Numbers) -> dict[str, Any]:
    return {"name": data.name, "numbers": list(data.values)}


def nonnegative(data: Numbers) -> Witness:
    """No number is below 0; the witness is the first that is."""
    return next(({"number": value} for value in data.values if value < 0), None)


def describe(data: Numbers) -> dict[str, Any]:
    assumptions = {name: NUMBERS.check(data, name) for name in NUMBERS.assumptions}
    return {"mean": data.mean, "assumptions": as_document(assumptions)}


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
