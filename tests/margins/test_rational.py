"""Rational arithmetic: balanced vectors, the hard-margin problem, its duals."""

import numpy as np
import pytest
from flint import fmpq

from marginaudit.margins import NotExact, SolverFailure
from marginaudit.margins.rational import balanced, combined, dot, exact_hard_margin, optimum


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
            assert all(value == 0 for value in combined(y, vectors))
            assert dot(y, rows(weights)[0]) == 1
        else:
            assert all(dot(v, x) >= weight for x, weight in zip(vectors, weights, strict=True))
    assert outcomes == {True, False}


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


@pytest.mark.parametrize("points", [((1, 0), (0, 2)), ((1, 0),)])
def test_a_vector_that_meets_not_all_rows_or_is_too_long_is_no_optimum(points: tuple[tuple[int, ...], ...]) -> None:
    assert optimum(rows(*points), (fmpq(1), fmpq(2 - len(points)))) is None


def test_rows_that_floats_do_not_tell_apart_give_no_optimum() -> None:
    with pytest.raises(NotExact):
        exact_hard_margin([(fmpq(1),), (fmpq(10**30 - 1, 10**30),)])
