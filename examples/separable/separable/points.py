"""The kind of dataset: points x in R^d with y = +-1, absorbed as x <- y x, and the assumptions on them."""

from dataclasses import dataclass, fields
from functools import cache, cached_property, partial
from importlib.resources import files
from io import StringIO
from typing import Annotated, Any, Literal, NotRequired

import numpy as np
from annotated_types import Interval, Len
from flint import fmpq, fmpq_mat
from typing_extensions import TypedDict

from marginaudit.margins import NotExact
from marginaudit.margins.rational import ExactMargin, Vector, dot, exact_hard_margin, nearest, to_float, written
from marginaudit.orders import InputError, Kind, Witness, counted, shown
from marginaudit.orders.reading import Text, csv_rows, float64, parsed_json, validated
from separable.descent import Floats

Row = Annotated[list[Annotated[float, Interval(ge=-1e6, le=1e6)]], Len(1, 100)]
Rows = Annotated[list[Row], Len(1, 10_000)]
Signs = Annotated[list[Literal[-1, 1]], Len(1, 10_000)]


class PointsDocument(TypedDict, closed=True):
    """A dataset in JSON."""

    name: NotRequired[Annotated[Text, Len(1)]]
    x: Rows
    y: Signs
    held_x: NotRequired[Rows]
    held_y: NotRequired[Signs]
    start: NotRequired[Row]


@dataclass(frozen=True)
class Points:
    """Labelled points. A number is a float64, and in rational arithmetic its shortest decimal, such as 5.1.

    Attributes
    ----------
    name : str
    x : rows of numbers
    y : labels, 1 or -1
    held_x, held_y : held-out points, not trained on
    start : default w(0) of a run; () for 0
    """

    name: str
    x: tuple[tuple[float, ...], ...]
    y: tuple[int, ...]
    held_x: tuple[tuple[float, ...], ...] = ()
    held_y: tuple[int, ...] = ()
    start: tuple[float, ...] = ()

    @property
    def N(self) -> int:
        """The number of points."""
        return len(self.x)

    @property
    def d(self) -> int:
        """Their dimension."""
        return len(self.x[0])

    @cached_property
    def exact(self) -> tuple[Vector, ...]:
        """y_n x_n as rationals."""
        return absorbed(self.x, self.y)

    @cached_property
    def signed(self) -> Floats:
        """y_n x_n in float64, shape (N, d)."""
        return np.array(self.exact, dtype=float)

    @cached_property
    def wrong_side(self) -> tuple[Floats, float]:
        """The held-out y x with the least product with w^, and that product; 0 for both where there is none."""
        found = [(dot(row, self.svm.w), row) for row in absorbed(self.held_x, self.held_y)]
        least, row = min(found, default=(fmpq(0), (fmpq(0),) * self.d))
        return np.array(row, dtype=float), to_float(least)

    @cached_property
    def svm(self) -> ExactMargin:
        """The hard-margin SVM, exactly."""
        return exact_hard_margin(self.exact)

    @property
    def supports(self) -> list[Vector]:
        """The support vectors."""
        return [self.exact[n] for n in self.svm.support]


def absorbed(x: tuple[tuple[float, ...], ...], y: tuple[int, ...]) -> tuple[Vector, ...]:
    """y_n x_n, each number its shortest decimal."""
    return written([sign * v for v in row] for row, sign in zip(x, y, strict=True))


def from_document(document: dict[str, Any], where: str, default_name: str) -> Points:
    """The dataset of a JSON document."""
    found: dict[str, Any] = {"name": default_name, "held_x": [], "held_y": [], "start": []}
    found |= validated(PointsDocument, document, where)
    rows, d = {f"/{key}/{n}": row for key in ("x", "held_x") for n, row in enumerate(found[key])}, len(found["x"][0])
    for place, row in (rows | {"/start": found["start"] or found["x"][0]}).items():
        if len(row) != d:
            raise InputError(f"{where}: {place}", got=counted(len(row), "coordinate"), expected=f"{d}, as in /x/0")
    for x, y in (("x", "y"), ("held_x", "held_y")):
        if len(found[x]) != (labels := len(found[y])):
            raise InputError(f"{where}: /{y}", got=counted(labels, "label"), expected=f"{len(found[x])}, one a point")
        found[x] = map(tuple, found[x])
    return Points(found.pop("name"), **{key: tuple(value) for key, value in found.items()})


def from_csv(text: str, where: str, default_name: str) -> Points:
    """The dataset of a table with a header, whose last column is y."""
    (_, header), *lines = [*csv_rows(StringIO(text), where)] or [(1, [])]
    if header[-1:] != ["y"]:
        raise InputError(f"{where}: line 1", got=shown(",".join(header)), expected="a header whose last column is y")
    rows = []
    for number, line in lines:
        try:
            rows.append([float64(value) for value, _ in zip(line, header, strict=True)])
        except ValueError:
            expected = counted(len(header), "number")
            raise InputError(f"{where}: line {number}", got=shown(",".join(line)), expected=expected) from None
    document = {"x": [row[:-1] for row in rows], "y": [int(row[-1]) if row[-1] in (1, -1) else row[-1] for row in rows]}
    return from_document(document, where, default_name)


def to_document(data: Points) -> dict[str, Any]:
    """The JSON document that gives the dataset."""
    own = {field.name: getattr(data, field.name) for field in fields(data)}
    return {key: np.array(value).tolist() for key, value in own.items() if value}


def separable(data: Points) -> Witness:
    """Some w has y_n x_n.w > 0 for all n; else multipliers y >= 0 of sum 1 under which the y_n x_n sum to 0."""
    try:
        data.svm  # noqa: B018  (solved now, and kept)
    except NotExact:
        return {"farkas": {str(n): str(m) for n, m in enumerate(nearest(data.exact)[0]) if m > 0}}
    return None


def generic(data: Points) -> Witness:
    """Some dual solution is positive on every support vector; else those without, and the witness."""
    if (inseparable := separable(data)) is not None:
        return inseparable
    zero = data.svm.zero.items()
    return {"zero_duals": {str(n): [str(v) for v in vector] for n, vector in zero}} if zero else None


def spanned(data: Points) -> Witness:
    """The support vectors span the data; else both ranks."""
    if (inseparable := separable(data)) is not None:
        return inseparable
    support, everything = (fmpq_mat(rows).rank() for rows in (data.supports, data.exact))
    return None if support == everything else {"rank_of_support": support, "rank_of_data": everything}


def step(data: Points) -> Witness:
    """The step size is below 2/(beta sigma_max^2): about the settings, so that a run decides it."""
    return None


@cache
def built_in(name: str) -> Points:
    """A dataset of the folder ``data``."""
    folder = files("separable").joinpath("data")
    return from_document(parsed_json(folder.joinpath(f"{name}.json").read_text("utf-8"), name), name, name)


CASES = {name: partial(built_in, name) for name in ("two-points", "one-point", "zero-dual", "tie", "figure-1", "iris")}
"""One-point is of appendix B; figure-1 has the source's two support vectors a class, and six random points beyond the
margin; iris is setosa against the rest with a coordinate 1 for the offset."""

POINTS = Kind(
    name="labelled points",
    data=Points,
    accepts=lambda document: isinstance(document, dict) and {"x", "y"} <= document.keys(),
    from_document=from_document,
    to_document=to_document,
    from_csv=from_csv,
    cases=CASES,
    assumptions={"separable": separable, "generic": generic, "spanned": spanned, "step": step},
    describe=lambda data: {"N": data.N, "d": data.d},
    in_words=lambda data: "; ".join(f"{x} -> {y}" for x, y in zip(data.x, data.y, strict=True)),
)
