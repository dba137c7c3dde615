"""The kind of dataset: points x in R^d with y = +-1, absorbed as x <- y x, and what can be assumed of them."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from io import StringIO
from typing import Annotated, Any, Literal, NotRequired

import numpy as np
from annotated_types import Interval, Len
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray
from typing_extensions import TypedDict

from marginaudit.margins import NotExact
from marginaudit.margins.rational import ExactMargin, Vector, dot, exact_hard_margin, nearest, written
from marginaudit.orders import InputError, Kind, Witness, as_document, counted, shown
from marginaudit.orders.reading import Text, float64, validated

Floats = NDArray[np.float64]

Row = Annotated[list[Annotated[float, Interval(ge=-1e6, le=1e6)]], Len(1, 100)]
Rows = Annotated[list[Row], Len(1, 10_000)]
Signs = Annotated[list[Literal[-1, 1]], Len(1, 10_000)]


class HeldOut(TypedDict, closed=True):
    """Points on which nothing is trained."""

    x: Rows
    y: Signs


class Document(TypedDict, closed=True):
    """A dataset in JSON."""

    name: NotRequired[Annotated[Text, Len(1)]]
    x: Rows
    y: Signs
    held_out: NotRequired[HeldOut]
    start: NotRequired[Row]


@dataclass(frozen=True)
class Points:
    """Labelled points. A number is a float64, and in rational arithmetic its shortest decimal, 5.1 say.

    Attributes
    ----------
    name : str
    x : rows of numbers
    y : labels, 1 or -1
    held_x, held_y : points on which nothing is trained
    start : w(0) unless a run is told another; () for 0
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
        return np.array(row, dtype=float), float(least)

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
    found = validated(Document, document, where)
    held: HeldOut = found.get("held_out", HeldOut(x=[], y=[]))
    for key, rows, signs in (("", found["x"], found["y"]), ("/held_out", held["x"], held["y"])):
        if len(signs) != len(rows):
            got, expected = counted(len(signs), "label"), f"{len(rows)}, one a point"
            raise InputError(f"{where}: {key}/y", got=got, expected=expected)
        _of_length(len(found["x"][0]), {f"{where}: {key}/x/{n}": row for n, row in enumerate(rows)})
    start = found.get("start", [])
    _of_length(len(found["x"][0]), {f"{where}: /start": start} if start else {})
    x, held_x = (tuple(tuple(map(float, row)) for row in rows) for rows in (found["x"], held["x"]))
    y, held_y = tuple(found["y"]), tuple(held["y"])
    return Points(found.get("name", default_name), x, y, held_x, held_y, tuple(map(float, start)))


def _of_length(d: int, rows: dict[str, list[float]]) -> None:
    for where, row in rows.items():
        if len(row) != d:
            raise InputError(where, got=counted(len(row), "coordinate"), expected=f"{d}, as in /x/0")


def from_csv(text: str, where: str, default_name: str) -> Points:
    """The dataset of a table with a header, whose last column is y."""
    header, *lines = [*csv.reader(StringIO(text)), []][:10_002]
    if not header or header[-1] != "y":
        raise InputError(f"{where}: line 1", got=shown(",".join(header)), expected="a header whose last column is y")
    rows = []
    for number, line in enumerate((line for line in lines if line), 2):
        try:
            rows.append([float64(value) for value in line])
        except ValueError:
            raise InputError(f"{where}: line {number}", got=shown(",".join(line)), expected="numbers") from None
    document = {"x": [row[:-1] for row in rows], "y": [int(row[-1]) if row[-1] in (1, -1) else row[-1] for row in rows]}
    return from_document(document, where, default_name)


def to_document(data: Points) -> dict[str, Any]:
    """The JSON document that gives the dataset."""
    document: dict[str, Any] = {"name": data.name, "x": [list(row) for row in data.x], "y": list(data.y)}
    if data.held_x:
        document["held_out"] = {"x": [list(row) for row in data.held_x], "y": list(data.held_y)}
    if data.start:
        document["start"] = list(data.start)
    return document


def separable(data: Points) -> Witness:
    """Some w has y_n x_n.w > 0 for all n; else multipliers y >= 0 of sum 1 under which the y_n x_n sum to 0."""
    try:
        data.svm  # noqa: B018  (solved now, and kept)
    except NotExact:
        return {"farkas": {str(n): str(m) for n, m in enumerate(nearest(data.exact)[0]) if m > 0}}
    return None


def generic(data: Points) -> Witness:
    """Some dual solution is positive on every support vector; else those without, with what shows it."""
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


def describe(data: Points) -> dict[str, Any]:
    """What `marginaudit classify` answers; `solve` has the maximum-margin vector and its duals."""
    found = {name: POINTS.check(data, name) for name in POINTS.assumptions}
    return {"N": data.N, "d": data.d, "assumptions": as_document(found)}


def _figure_1() -> Points:
    """As figure 1 of the source: its two support vectors a class, and six random points a class beyond the margin."""
    random = np.random.default_rng(1)
    ahead = random.uniform(0.3, 0.7, 12), random.uniform(-1.5, 1.5, 12)
    more = [(round(float(1 + a + b), 2), round(float(1 + a - b), 2)) for a, b in zip(*ahead, strict=True)]
    above, below = [(0.5, 1.5), (1.5, 0.5), *more[:6]], [(-0.5, -1.5), (-1.5, -0.5), *((-u, -v) for u, v in more[6:])]
    return Points("figure-1", (*above, *below), (1,) * 8 + (-1,) * 8, ((-0.5, -0.25),), (1,))


def _iris() -> Points:
    return from_csv(files("separable").joinpath("data/iris.csv").read_text("utf-8"), "iris", "iris")


CASES: dict[str, Callable[[], Points]] = {
    "two-points": lambda: Points("two-points", ((1.0, 0.0), (0.0, 2.0)), (1, 1), ((-1.0, 0.5),), (1,)),
    "one-point": lambda: Points("one-point", ((1.0, 0.0),), (1,), start=(0.0, 1.0)),
    "zero-dual": lambda: Points("zero-dual", ((1.0, 0.0), (1.0, 1.0)), (1, 1)),
    "tie": lambda: Points("tie", ((1.0, 1.0), (1.0, -1.0), (1.0, 0.0)), (1, 1, 1)),
    "figure-1": _figure_1,
    "iris": cache(_iris),
}
"""Built-in datasets; one-point is of appendix B, iris is setosa against the rest with a coordinate 1 for the offset."""

POINTS = Kind(
    name="labelled points",
    data=Points,
    accepts=lambda document: isinstance(document, dict) and {"x", "y"} <= document.keys(),
    from_document=from_document,
    to_document=to_document,
    from_csv=from_csv,
    cases=CASES,
    assumptions={"separable": separable, "generic": generic, "spanned": spanned, "step": step},
    describe=describe,
    in_words=lambda data: "; ".join(f"{x} -> {y}" for x, y in zip(data.x, data.y, strict=True)),
)
