"""Rational arithmetic: balanced vectors, the hard-margin problem, its duals."""

import numpy as np
import pytest
import scipy.optimize
from flint import fmpq
from numpy.typing import NDArray

from marginaudit.margins import NotExact
from marginaudit.margins.rational import balanced, combined, dot, exact_hard_margin, nearest


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


@pytest.mark.parametrize("ratio", [fmpq(10**12), fmpq(10**30, 10**30 - 1)])
def test_the_optimum_is_exact_where_floats_do_not_tell_which_rows_it_rests_on(ratio: fmpq) -> None:
    assert exact_hard_margin([(ratio, fmpq(0)), (fmpq(0), 1 / ratio)]).w == (1 / ratio, ratio)
    assert exact_hard_margin([(fmpq(1),), (ratio,)]).support == (0,)


def test_the_optimum_of_random_points_meets_the_conditions_of_karush_kuhn_and_tucker() -> None:
    random = np.random.default_rng(0)
    for _ in range(60):
        X = rows(*random.integers(-3, 4, (7, 3)).tolist())
        _, apart = balanced(X, [1] * len(X))
        if not apart:
            with pytest.raises(NotExact):
                exact_hard_margin(X)
            continue
        found = exact_hard_margin(X)
        assert min(found.margins) == 1
        assert min(found.alpha) >= 0
        assert combined(found.alpha, X) == found.w
        assert {n for n, alpha in enumerate(found.alpha) if alpha > 0} == set(found.support) - set(found.zero)


@pytest.mark.parametrize("guess", ["right", "first", "all", "lost"])
def test_the_optimum_is_the_same_from_any_guess(guess: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows at once are mostly dependent; where the guess is lost, least squares did not converge."""
    nnls = scipy.optimize.nnls

    def guessed(A: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        if guess == "lost":
            raise RuntimeError("maximum number of iterations")
        return {"right": nnls(A, b)[0], "first": np.eye(A.shape[1])[0], "all": np.ones(A.shape[1])}[guess], 0.0

    monkeypatch.setattr(scipy.optimize, "nnls", guessed)
    random = np.random.default_rng(1)
    for _ in range(30):
        X = rows(*np.add(random.integers(-3, 4, (6, 4)), [4, 0, 0, 0]).tolist())
        weights, point = nearest(X)
        assert min(weights) >= 0
        assert sum(weights) == 1
        assert combined(weights, X) == point
        assert min(dot(x, point) for x in X) >= dot(point, point)
