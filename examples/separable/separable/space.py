"""Where a hunt looks: a few points with small whole coordinates, a start, a held-out point, steps of two sizes."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from types import MappingProxyType
from typing import TYPE_CHECKING

from marginaudit.claims.paper import Space
from separable.points import Points
from separable.run import DescentConfig

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

SHORT, LONG = DescentConfig(true_steps=1000), DescentConfig(true_steps=10**5)

TOO_LARGE = 1.5
"""A step size, as a share of what `step` allows."""

RUNS = [(SHORT, LONG), (replace(SHORT, share=TOO_LARGE), replace(LONG, share=TOO_LARGE))]

Row = tuple[int, ...]


def _points(rows: Sequence[Row], held: Sequence[Row] = (), start: Row = ()) -> Points:
    x, held_x = (tuple(tuple(map(float, row)) for row in found) for found in (rows, held))
    return Points("found", x, (1,) * len(x), held_x, (1,) * len(held_x), tuple(map(float, start)))


def _without(rows: Sequence[Row], i: int) -> list[Row]:
    """The rows without a coordinate."""
    return [row[:i] + row[i + 1 :] for row in rows]


def _nearer(row: Row) -> Iterator[Row]:
    """One coordinate nearer to 0."""
    for i, value in enumerate(row):
        if value:
            yield (*row[:i], value - (1 if value > 0 else -1), *row[i + 1 :])


class PointSpace(Space):
    """Points that are absorbed already: every y is 1."""

    measures = ("N", "d")
    implies = MappingProxyType({"separable": frozenset({"generic", "spanned"})})
    runs = MappingProxyType(dict.fromkeys((False, True), RUNS))

    def smallest(self) -> Iterator[Points]:
        """All sets of up to three points of the plane with coordinates from -1 to 2."""
        every = sorted(product((0, 1, -1, 2), repeat=2), key=lambda row: sum(map(abs, row)))
        return (_points(rows) for N in (1, 2, 3) for rows in combinations(every, N))

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[Points]":
        """Up to five points in up to three dimensions, with a first coordinate above 0 if they are to be separable.

        A half has a start, and a half a held-out point.
        """
        from hypothesis import strategies as st

        first = st.integers(1, 3) if "separable" in required else st.integers(-3, 3)

        def of(dimensions: int) -> "SearchStrategy[Points]":
            others = [st.integers(-3, 3)] * (dimensions - 1)
            rows = st.lists(st.tuples(first, *others), min_size=1, max_size=5, unique=True)
            anywhere = st.tuples(st.integers(-3, 3), *others)
            return st.builds(_points, rows, st.just(()) | st.tuples(anywhere), st.just(()) | anywhere)

        return st.integers(2, 3).flatmap(of)

    def reductions(self, dataset: Points) -> Iterator[Points]:
        """One point less, a dimension less, no held-out point, no start, then a coordinate nearer to 0."""
        rows, held = ([tuple(map(int, row)) for row in found] for found in (dataset.x, dataset.held_x))
        start = tuple(map(int, dataset.start))
        for n in range(len(rows) if len(rows) > 1 else 0):
            yield _points(rows[:n] + rows[n + 1 :], held, start)
        for i in range(dataset.d if dataset.d > 1 else 0):
            yield _points(_without(rows, i), _without(held, i), start[:i] + start[i + 1 :])
        if held:
            yield _points(rows, (), start)
        if start:
            yield _points(rows, held)
        for n, row in enumerate(rows):
            for nearer in _nearer(row):
                yield _points([*rows[:n], nearer, *rows[n + 1 :]], held, start)
        for n, row in enumerate(held):
            for nearer in _nearer(row):
                yield _points(rows, [*held[:n], nearer, *held[n + 1 :]], start)
        for nearer in _nearer(start):
            yield _points(rows, held, nearer)

    def size(self, dataset: Points) -> tuple[int, ...]:
        """Points, dimensions, held-out points, whether there is a start, the sum of all coordinates' sizes."""
        every = (*dataset.x, *dataset.held_x, dataset.start)
        total = int(sum(abs(v) for row in every for v in row))
        return dataset.N, dataset.d, len(dataset.held_x), int(bool(dataset.start)), total
