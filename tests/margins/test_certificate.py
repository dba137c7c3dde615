"""Certificates of numerical solutions, recomputed in rationals from the raw arrays, and lies that they catch."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from marginaudit.margins import SolverFailure, quadratic
from marginaudit.margins.certificate import certify
from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.margins.rows import Rows
from marginaudit.orders.ntp import CASES, Dataset, broken, free_dataset
from tests.margins.restated import brute_force, combine, distance_bounds, dot, exact_rows, kq_constraints, related
from tests.solutions import certified, known

SOLVE = quadratic.solve_program


def general(seed: int, dimension: int) -> Dataset:
    rng = np.random.default_rng(seed)
    dataset = free_dataset(V=5, N=14, L=4, seed=seed)
    return replace(dataset, embedding=rng.normal(size=(5, dimension)))


NUMERICAL = [
    pytest.param(broken(CASES["example-1"](), "no_confused_tokens"), id="confused"),
    pytest.param(broken(CASES["example-1"](), "orthonormal"), id="skewed"),
    *(pytest.param(general(seed, d), id=f"general-{d}") for seed, d in enumerate([4, 5, 5, 8])),
]


@pytest.mark.parametrize("dataset", NUMERICAL)
def test_recomputed_in_rationals(dataset: Dataset) -> None:
    solution = solve_kq(dataset, method="cvxpy").optimal()
    assert solution.method == "cvxpy"
    E = dataset.embeddings
    A = exact_rows(dataset, kq_constraints(dataset), left=E, right=E)
    w = [Fraction(v) for v in solution.matrix.ravel().tolist()]
    lam = [Fraction(v) for v in solution.multipliers.tolist()]
    pulled, certificate = combine(A, lam), solution.certificate
    dual = 2 * sum(lam) - dot(pulled, pulled)
    assert min(lam) >= 0
    assert certificate.primal == solution.norm_squared == pytest.approx(float(dot(w, w)), rel=1e-13, abs=0)
    assert certificate.dual == pytest.approx(float(dual), rel=1e-12, abs=0)
    assert certificate.gap == pytest.approx(float(dot(w, w) - dual), abs=1e-13 * certificate.primal)
    violation = max(float(1 - min(dot(row, w) for row in A)), 0.0)
    assert certificate.max_violation == pytest.approx(violation, abs=1e-13)
    assert certificate.max_violation < 1e-12
    direction, weight = distance_bounds(A, solution.matrix, solution.multipliers)
    assert direction <= solution.direction_radius < 1e-4
    assert weight <= solution.weight_radius < 1e-3 * np.sqrt(certificate.primal)
    assert np.allclose(solution.scores, E @ solution.matrix @ E.T, rtol=0, atol=1e-11)


def rows_of(edges: list[tuple[int, int]], size: int) -> Rows:
    winner, loser = np.array(edges, dtype=np.int64).T
    return Rows(winner, loser, np.zeros(len(edges), dtype=np.int64), size, None, None)


GRAPHS = [
    pytest.param([(0, 2), (0, 3), (1, 3)], id="weakly-active"),  # the row (0, 3) is tight with multiplier 0
    pytest.param([(0, 1), (1, 2), (0, 2), (0, 3), (2, 3)], id="chain"),
    pytest.param([(0, 3), (1, 3), (2, 4), (2, 5), (1, 4)], id="two-blocks"),
]


@pytest.mark.parametrize("edges", GRAPHS)
def test_radius_covers_the_distance_to_the_exact_solution(edges: list[tuple[int, int]]) -> None:
    size = max(max(edge) for edge in edges) + 1
    exact = known(brute_force(edges))
    truth = np.zeros((size, size))
    truth[list(exact), 0] = [float(v) for v in exact.values()]
    rows = rows_of(edges, size)
    found = certified(quadratic.solve_quadratic(rows))
    rng = np.random.default_rng(0)
    # the solver's answer, and worse and worse ones
    for scale in (0, 1e-8, 1e-5, 1e-3, 0.1):
        W = found.W + scale * rng.normal(size=found.W.shape) * (found.W != 0)
        lam = found.multipliers * (1 + scale * rng.normal(size=len(edges)))
        judged = certified(certify(rows, W, lam))
        gone = np.linalg.norm(judged.W / np.linalg.norm(judged.W) - truth / np.linalg.norm(truth))
        assert gone <= judged.direction_radius
        assert np.linalg.norm(judged.W - truth) <= judged.weight_radius
        assert judged.certificate.max_violation < 1e-15
        assert judged.direction_radius < 20 * scale**0.5 + 1e-5
        assert np.linalg.norm(judged.W) ** 2 == pytest.approx(judged.certificate.primal)


def test_lies_are_caught() -> None:
    rows = rows_of([(0, 2), (0, 3), (1, 3)], 4)
    good = certified(quadratic.solve_quadratic(rows))
    assert good.relative_gap < 1e-10
    for lam in (
        good.multipliers * 1.01,
        good.multipliers + np.array([0, 0.1, 0]),
        -good.multipliers,
        0 * good.multipliers,
    ):
        judged = certified(certify(rows, good.W, lam))
        assert judged.relative_gap > 1e-5
        assert judged.multipliers.min() >= 0
    scaled = certified(certify(rows, 0.5 * good.W, good.multipliers))  # repaired: a scale is no lie about the direction
    assert scaled.certificate.max_violation < 1e-15
    assert scaled.relative_gap < 1e-10
    flat = good.W.copy()
    flat[0] = flat[2]
    assert certify(rows, flat, good.multipliers) is None
    assert certify(rows, -good.W, good.multipliers) is None


def patched(monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any]) -> None:
    monkeypatch.setattr(quadratic, "solve_program", lambda A, b: change(*SOLVE(A, b)))


def test_status_words_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = broken(CASES["example-1"](), "orthonormal")
    expected = solve_kq(dataset).optimal()
    patched(monkeypatch, lambda w, lam, status: (w, lam, "infeasible"))
    assert solve_kq(dataset).optimal().norm_squared == expected.norm_squared
    patched(monkeypatch, lambda w, lam, status: (-w, lam, "optimal"))
    with pytest.raises(SolverFailure, match="CLARABEL ended with status 'optimal': least margin -"):
        solve_kq(dataset)
    rows = rows_of([(0, 2), (0, 3), (1, 3)], 4)
    patched(monkeypatch, lambda w, lam, status: (w * np.array([1.0, -3.0, 1.0, 1.0])[: len(w)], lam, "optimal"))
    least = rows.margins(known(quadratic.attempted(rows).W))[0]
    assert least.min() < 0 < least.max()
    assert f"least margin {least.min():.3g}, expected positive" in str(quadratic.solve_quadratic(rows))
    patched(monkeypatch, lambda w, lam, status: (w, 0.9 * lam, "optimal"))
    with pytest.raises(SolverFailure, match=r"relative duality gap up to 0\.01"):
        solve_ov(dataset)
    patched(monkeypatch, lambda w, lam, status: (None, None, "solver_error"))
    for solve in (solve_kq, solve_ov):
        with pytest.raises(SolverFailure, match="no solution and no multipliers"):
            solve(dataset)
    with pytest.raises(SolverFailure):
        solve_kq(broken(CASES["example-1"](), "no_confused_tokens"))


def test_confused_acyclic_orders_against_brute_force() -> None:
    dataset = related(
        {"z": [("a", "b"), ("b", "c"), ("a", "d")], "y": [("a", "c"), ("b", "c"), ("d", "c"), ("d", "e")]}
    )
    solution = solve_kq(dataset, method="cvxpy").optimal()
    assert solution.method == "cvxpy"
    for query in "zy":
        exact = known(brute_force([(w, x) for q, w, x in kq_constraints(dataset) if q == query]))
        for token, value in exact.items():
            found = solution.scores[dataset.index[token], dataset.index[query]]
            assert found == pytest.approx(float(value), abs=solution.weight_radius)
    assert solution.weight_radius < 1e-5
