"""What a solution is called, and where an answer of the solver is no longer one."""

from dataclasses import replace

import numpy as np
import pytest

from marginaudit.margins import CertificateError, SolverFailure, exact, quadratic
from marginaudit.margins.farkas import Farkas
from marginaudit.margins.ntp import Cycle, kq, ov, solve_kq, solve_ov
from marginaudit.margins.ntp.solution import infeasible
from marginaudit.margins.quadratic import WIDEST_RELATIVE_GAP, solve_quadratic
from marginaudit.margins.rows import LONGEST, SHORTEST, Rows
from marginaudit.orders.ntp import CASES, broken
from tests.margins.restated import kq_constraints, ov_constraints

EXAMPLE = CASES["free-20"]()
ROTATION = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 25)).T)[0].T
CONFUSED = broken(replace(EXAMPLE, embedding=ROTATION), "no_confused_tokens")
SKEW = broken(CASES["example-1"](), "orthonormal")


@pytest.mark.parametrize("method", ["auto", "cvxpy"])
@pytest.mark.parametrize(
    "data", [replace(EXAMPLE, embedding=ROTATION), CONFUSED, SKEW], ids=["turned", "confused", "skew"]
)
def test_the_matrix_itself_meets_every_constraint(data, method):
    """(x_w - x_l)^T W q >= 1 from the embeddings, with the margins 1 that an optimum has somewhere."""
    E, index = data.embeddings, data.index
    solution = solve_kq(data, method=method)
    W = solution.matrix
    margins = [(E[index[w]] - E[index[x]]) @ W @ E[index[q]] for q, w, x in kq_constraints(data)]
    assert min(margins) == pytest.approx(1, abs=1e-9)
    assert solution.norm_squared == pytest.approx(np.sum(W**2), rel=1e-9, abs=0)
    assert solution.scores == pytest.approx(E @ W @ E.T, abs=1e-9)
    solution = solve_ov(data, method=method)
    W = solution.matrix
    margins = [(W @ E[index[x]])[index[n]] - (W @ E[index[x]])[index[v]] for x, n, v in ov_constraints(data)]
    assert min(margins) == pytest.approx(1, abs=1e-9)
    assert solution.norm_squared == pytest.approx(np.sum(W**2), rel=1e-9, abs=0)
    assert solution.scores == pytest.approx(W @ E.T, abs=1e-9)


def test_multipliers_that_leave_a_residual_are_no_exact_proof():
    rows = (("c", "b", "a"), ("c", "b", "c"))
    assert infeasible(Farkas(rows, (), 0.0), None).method == "exact"
    assert infeasible(Farkas(rows, (), 5e-324), None).method == "cvxpy"


def test_a_numerical_answer_is_called_numerical():
    for solution in (
        solve_kq(SKEW),
        solve_ov(SKEW),
        solve_kq(EXAMPLE, method="cvxpy"),
        solve_ov(EXAMPLE, method="cvxpy"),
    ):
        assert (solution.method, solution.weights_exact, solution.norm_squared_exact) == ("cvxpy", None, None)
        assert solution.direction_radius > 0
        assert solution.weight_radius > 0
        with pytest.raises(ValueError, match="no exact values"):
            solution.multipliers.fraction(0)


def test_polishing_is_for_the_automatic_method_alone(monkeypatch):
    def refuse(rows, found):
        raise AssertionError

    for module in (kq, ov):
        monkeypatch.setattr(module, "polished", refuse)
    for solve in (solve_kq, solve_ov):
        assert solve(SKEW, method="cvxpy").direction_radius > 1e-12
        with pytest.raises(AssertionError):
            solve(SKEW)


@pytest.mark.parametrize(("gap", "accepted"), [(0.99, True), (1.01, False)])
def test_the_widest_gap_that_is_an_answer(monkeypatch, gap, accepted):
    """Multipliers (1 - e) lam of an optimum leave a relative gap of e^2."""
    solved = quadratic._solve
    e = (gap * WIDEST_RELATIVE_GAP) ** 0.5

    def worse(A, b):
        w, lam, status = solved(A, b)
        return w, (1 - e) * lam, status

    rows = Rows(np.array([0, 1]), np.array([1, 2]), np.array([0, 0]), 3, None, None)
    monkeypatch.setattr(quadratic, "_solve", worse)
    found = solve_quadratic(rows)
    assert isinstance(found, SolverFailure) != accepted
    assert WIDEST_RELATIVE_GAP == 1e-4
    assert ("expected at most 0.0001" in str(found)) != accepted


@pytest.mark.parametrize(
    ("lengths", "tried"),
    [
        ((1.0, 0.99 * SHORTEST), False),
        ((1.0, 0.0), False),
        ((1.01 * LONGEST, 1.0), False),
        ((np.inf, 1.0), False),
        ((1.0, 1e-7), True),
    ],
)
def test_rows_beyond_the_range_are_not_tried(lengths, tried):
    right = np.diag([*lengths, 1.0])
    rows = Rows(np.array([0, 1]), np.array([2, 2]), np.array([0, 1]), 3, None, right / 2**0.5)
    with np.errstate(invalid="ignore"):
        found = solve_quadratic(rows)
    assert isinstance(found, SolverFailure) != tried
    assert ("not tried: rows of length" in str(found)) != tried


def test_the_solver_s_solution_is_as_near_as_its_tolerances_say():
    """Rows of lengths 1 and 1/100, which are scaled alike before they are solved: w = (1, -1)/2 over the length."""
    right = np.diag([1.0, 0.01, 1.0]) / 2**0.5
    rows = Rows(np.array([0, 1]), np.array([2, 2]), np.array([0, 1]), 3, None, right)
    found = solve_quadratic(rows)
    assert found.W[:, 0] == pytest.approx([0.5**0.5, 0, -(0.5**0.5)], abs=1e-3)
    assert found.W[:, 1] == pytest.approx([0, 50 * 2**0.5, -50 * 2**0.5], rel=1e-8, abs=0)
    assert found.multipliers == pytest.approx([1, 1e4], rel=1e-3, abs=0)
    assert found.relative_gap < 1e-10


@pytest.mark.parametrize(
    ("module", "name", "solve"), [(ov, "_verify", solve_ov), (exact.ExactScores, "verify", solve_kq)]
)
def test_no_exact_answer_goes_unchecked(monkeypatch, module, name, solve):
    def refuse(*arguments):
        raise CertificateError("checked")

    monkeypatch.setattr(module, name, refuse)
    with pytest.raises(CertificateError, match="checked"):
        solve(EXAMPLE)


def test_a_cycle_found_is_checked(monkeypatch):
    def refuse(*arguments):
        raise CertificateError("checked")

    monkeypatch.setattr(Cycle, "verify", refuse)
    with pytest.raises(CertificateError, match="checked"):
        solve_kq(broken(EXAMPLE, "well_defined_orders"))


def test_scores_of_a_skew_embedding_are_known_within_both_errors(monkeypatch):
    """||x|| ||q|| times the radius of W, and the rounding of two products of d terms, in which scores are computed."""
    seen = []
    monkeypatch.setattr(kq, "compare", lambda dataset, queries, scores, radius: seen.append(radius) or {})
    data = replace(SKEW, embedding=SKEW.embedding * 3 + 0.125)
    solution = solve_kq(data)
    lengths = np.linalg.norm(data.embedding, axis=1)
    rounding = 16 * 2.0**-53 * np.linalg.norm(solution.matrix)
    expected = np.outer(lengths, lengths) * (solution.weight_radius + rounding)
    assert seen[0] == pytest.approx(expected, rel=1e-9, abs=0)
    assert solution.weight_radius < rounding
