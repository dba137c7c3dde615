"""Rational arithmetic: balanced vectors, the hard-margin problem, its duals."""

import numpy as np
import pytest
from flint import fmpq

from marginaudit.margins import SolverFailure
from marginaudit.margins.rational import balanced, combined, dot, exact_hard_margin, floats


def rows(*points: tuple[int, ...]) -> list[tuple[fmpq, ...]]:
    return [tuple(map(fmpq, point)) for point in points]


def test_vectors_are_balanced_by_multipliers_or_kept_apart_by_a_vector() -> None:
    random = np.random.default_rng(0)
    outcomes = set()
    for _ in range(60):
        vectors = rows(*random.integers(-2, 3, (4, 3)).tolist())
        weights = random.integers(-1, 2, 4).tolist()
        y, v = balanced(vectors, weights)
        outcomes.add(y is None)
        if y is not None:
            assert min(y) >= 0
            assert (combined(y, vectors), dot(y, weights)) == ((0, 0, 0), 1)
        else:
            assert all(dot(v, x) >= weight for x, weight in zip(vectors, weights, strict=True))
    assert outcomes == {True, False}


def test_rationals_become_the_nearest_floats() -> None:
    assert floats([fmpq(1, 10), fmpq(2, 3), fmpq(-1, 3)]).tolist() == [0.1, 2 / 3, -1 / 3]


@pytest.mark.parametrize(
    ("points", "w", "zero"),
    [
        (((1, 0), (0, 2)), ("1", "1/2"), []),
        (((1, 0), (1, 1)), ("1", "0"), [1]),
        (((1, 0), (1, 1), (1, 2)), ("1", "0"), [1, 2]),
        (((1, 1), (1, -1), (1, 0)), ("1", "0"), []),
        (((1, 0), (1, 1), (1, -1)), ("1", "0"), []),
        (((1, 0, 0), (1, 1, 0), (1, 0, 2)), ("1", "0", "0"), [1, 2]),
    ],
)
def test_the_optimum_of_small_sets(points: tuple[tuple[int, ...], ...], w: tuple[str, ...], zero: list[int]) -> None:
    X = rows(*points)
    found = exact_hard_margin(X)
    assert tuple(map(str, found.w)) == w
    assert sorted(found.zero) == zero


def test_rows_without_a_solution_are_refused() -> None:
    with pytest.raises(SolverFailure):
        exact_hard_margin(rows((1,), (-1,)))
