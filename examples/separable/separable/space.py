"""Where a hunt looks: a few points with small whole coordinates."""

from collections.abc import Collection, Iterator
from itertools import combinations, product
from types import MappingProxyType
from typing import TYPE_CHECKING

from marginaudit.reports.paper import Space
from separable.points import Points
from separable.run import DescentConfig

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

SHORT, LONG = DescentConfig(true_steps=1000), DescentConfig(true_steps=10**5)


def _points(rows: Collection[tuple[int, ...]], name: str = "found") -> Points:
    return Points(name, tuple(tuple(map(float, row)) for row in rows), (1,) * len(rows))


class PointSpace(Space):
    """Points that are absorbed already: every y is 1."""

    measures = ("N", "d")
    implies = MappingProxyType({"separable": frozenset({"generic", "spanned"})})
    runs = MappingProxyType({late: [(SHORT, LONG)] for late in (False, True)})

    def smallest(self) -> Iterator[Points]:
        """All sets of up to three points of the plane with coordinates from -1 to 2."""
        every = sorted(product((0, 1, -1, 2), repeat=2), key=lambda row: sum(map(abs, row)))
        return (_points(rows) for N in (1, 2, 3) for rows in combinations(every, N))

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[Points]":
        """Up to five points in up to three dimensions, with a first coordinate above 0 if they are to be separable."""
        from hypothesis import strategies as st

        first = st.integers(1, 3) if "separable" in required else st.integers(-3, 3)
        rows = st.integers(1, 2).flatmap(
            lambda d: st.lists(st.tuples(first, *[st.integers(-3, 3)] * d), min_size=1, max_size=5, unique=True)
        )
        return rows.map(_points)

    def reductions(self, dataset: Points) -> Iterator[Points]:
        """One point less, then a coordinate nearer to 0."""
        rows = [tuple(map(int, row)) for row in dataset.x]
        for n in range(len(rows) if len(rows) > 1 else 0):
            yield _points(rows[:n] + rows[n + 1 :])
        for n, row in enumerate(rows):
            for i, value in enumerate(row):
                if value:
                    nearer = value - (1 if value > 0 else -1)
                    yield _points([*rows[:n], (*row[:i], nearer, *row[i + 1 :]), *rows[n + 1 :]])

    def size(self, dataset: Points) -> tuple[int, ...]:
        """Points, dimensions, the sum of all coordinates' sizes."""
        return dataset.N, dataset.d, int(sum(abs(v) for row in dataset.x for v in row))
