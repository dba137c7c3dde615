"""Polished solutions for general embeddings: their radii against rational optima, and wrong rows refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from marginaudit.margins.certificate import Certified
from marginaudit.margins.ntp import Exact, solve_kq, solve_ov
from marginaudit.margins.ntp.constraints import kq_rows
from marginaudit.margins.polish import polished
from marginaudit.margins.quadratic import solve_quadratic
from marginaudit.margins.rows import Rows
from marginaudit.orders.ntp import CASES, Dataset, broken, free_dataset
from tests.margins.restated import (
    combine,
    dot,
    exact_rows,
    kq_constraints,
    ov_constraints,
    rational_optimum,
    related,
    true_distances,
)
from tests.solutions import certified

FLOOR = 2e-16


def general(dataset: Dataset, dimension: int, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    return replace(dataset, embedding=rng.normal(size=(dataset.V, dimension)))


def tied() -> Dataset:
    """Rows that depend on each other whatever the embeddings: shortcuts, and winners that beat the same losers."""
    return related(
        {
            "z": [("a", "b"), ("b", "c"), ("a", "c")],
            "y": [("a", "b"), ("a", "c"), ("d", "b"), ("d", "c")],
        }
    )


def whole_numbers(dimension: int) -> Dataset:
    """Embeddings on a grid, in few dimensions: dependent rows, and rows tight by chance."""
    dataset = free_dataset(V=6, N=14, L=4, seed=3)
    rng = np.random.default_rng(dimension)
    return replace(dataset, embedding=rng.integers(-2, 3, size=(6, dimension)).astype(float))


DATASETS = {
    "skewed": broken(CASES["example-1"](), "orthonormal"),
    "fewer dimensions": general(free_dataset(V=5, N=14, L=4, seed=0), 4),
    "as many": general(free_dataset(V=5, N=14, L=4, seed=1), 5),
    "more": general(free_dataset(V=5, N=14, L=4, seed=2), 8),
    "tied": general(tied(), 6, seed=1),
    "tied, more dimensions": general(tied(), 9, seed=2),
    "longer one-hot": replace(tied(), embedding=2 * np.eye(6)),
    "whole numbers": whole_numbers(5),
    "whole numbers, more": whole_numbers(7),
    "badly scaled": replace(free_dataset(V=5, N=14, L=4, seed=1), embedding=np.diag([1e3, 1.0, 1e-3, 7.0, 0.1])),
    "nearly parallel": replace(
        free_dataset(V=5, N=14, L=4, seed=1), embedding=1.0 + 1e-4 * np.random.default_rng(5).normal(size=(5, 5))
    ),
}


@pytest.mark.parametrize("problem", ["kq", "ov"])
@pytest.mark.parametrize("dataset", DATASETS.values(), ids=DATASETS)
def test_within_the_radius_of_the_rational_optimum(dataset: Dataset, problem: str) -> None:
    E = dataset.embeddings
    if problem == "kq":
        solve, A = solve_kq, exact_rows(dataset, kq_constraints(dataset), left=E, right=E)
    else:
        solve, A = solve_ov, exact_rows(dataset, ov_constraints(dataset), left=np.eye(dataset.V), right=E)
    solution, opinion = solve(dataset).optimal(), solve(dataset, method="cvxpy").optimal()
    assert (solution.status, solution.method, opinion.method) == ("optimal", "cvxpy", "cvxpy")
    assert not isinstance(solution, Exact)

    truth = rational_optimum(A)
    for found, floor in ((solution, FLOOR), (opinion, 1e-2)):
        direction, weight = true_distances(found.matrix, truth)
        assert direction <= found.direction_radius < floor
        assert weight <= found.weight_radius < floor * found.norm_squared**0.5
    assert 0 < solution.direction_radius < opinion.direction_radius
    assert (
        np.abs(solution.scores - opinion.scores).max() <= 1.01 * opinion.weight_radius * np.linalg.norm(E) ** 2 + 1e-9
    )
    assert solution.norm_squared == pytest.approx(float(dot(truth, truth)), rel=1e-14, abs=0)

    w = [Fraction(v) for v in solution.matrix.ravel().tolist()]
    lam = [Fraction(v) for v in solution.multipliers.tolist()]
    pulled, certificate = combine(A, lam), solution.certificate
    dual = 2 * sum(lam) - dot(pulled, pulled)
    assert min(lam) >= 0
    size = certificate.primal
    assert certificate.primal == pytest.approx(float(dot(w, w)), rel=1e-13, abs=0)
    scale = float(dot(*[[abs(v) for v in combine([[abs(x) for x in row] for row in A], lam)]] * 2))
    assert certificate.dual == pytest.approx(float(dual), abs=1e-13 * (size + scale))
    assert certificate.gap == pytest.approx(float(dot(w, w) - dual), abs=1e-13 * (size + scale))


def rows_and_solution(dataset: Dataset) -> tuple[Rows, Certified]:
    rows = kq_rows(dataset, orthonormal=False)
    return rows, certified(solve_quadratic(rows))


def test_a_dropped_row_comes_back() -> None:
    """From the multipliers of a part of the rows, the others are found to be violated and added."""
    rows, found = rows_and_solution(DATASETS["more"])
    largest = np.argmax(found.multipliers)
    multipliers = found.multipliers.copy()
    multipliers[largest] = 0
    after = polished(rows, replace(found, multipliers=multipliers, W=found.W + 1e-3))
    assert after.direction_radius < FLOOR
    assert after.multipliers[largest] > 0
    assert polished(rows, after) is after
