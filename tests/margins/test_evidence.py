"""What a solution is called, and where an answer of the solver is no longer one."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from scipy.sparse._csr import csr_array

from marginaudit.margins import CertificateError, NotExact, SolverFailure, exact, quadratic
from marginaudit.margins.certificate import Certified
from marginaudit.margins.farkas import Farkas
from marginaudit.margins.method import Method
from marginaudit.margins.ntp import ClosedForm, Cycle, MaxMargin, kq, ov, solve_kq, solve_ov
from marginaudit.margins.ntp.solution import infeasible
from marginaudit.margins.quadratic import WIDEST_RELATIVE_GAP, solve_quadratic
from marginaudit.margins.rows import LONGEST, SHORTEST, Matrix, Rows
from marginaudit.orders.ntp import CASES, Dataset, broken
from tests.margins.restated import kq_constraints, ov_constraints
from tests.solutions import certified, known

EXAMPLE = CASES["free-20"]()
ROTATION = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 25)).T)[0].T
CONFUSED = broken(replace(EXAMPLE, embedding=ROTATION), "no_confused_tokens")
SKEW = broken(CASES["example-1"](), "orthonormal")


@pytest.mark.parametrize("method", ["auto", "cvxpy"])
@pytest.mark.parametrize(
    "data", [replace(EXAMPLE, embedding=ROTATION), CONFUSED, SKEW], ids=["turned", "confused", "skew"]
)
def test_the_matrix_itself_meets_every_constraint(data: Dataset, method: Method) -> None:
    """(x_w - x_l)^T W q >= 1 from the embeddings, with the margins 1 that an optimum has somewhere."""
    E, index = data.embeddings, data.index
    solution = solve_kq(data, method=method).optimal()
    W = solution.matrix
    margins = [(E[index[w]] - E[index[x]]) @ W @ E[index[q]] for q, w, x in kq_constraints(data)]
    assert min(margins) == pytest.approx(1, abs=1e-9)
    assert solution.norm_squared == pytest.approx(np.sum(W**2), rel=1e-9, abs=0)
    assert solution.scores == pytest.approx(E @ W @ E.T, abs=1e-9)
    solution = solve_ov(data, method=method).optimal()
    W = solution.matrix
    margins = [(W @ E[index[x]])[index[n]] - (W @ E[index[x]])[index[v]] for x, n, v in ov_constraints(data)]
    assert min(margins) == pytest.approx(1, abs=1e-9)
    assert solution.norm_squared == pytest.approx(np.sum(W**2), rel=1e-9, abs=0)
    assert solution.scores == pytest.approx(W @ E.T, abs=1e-9)


def test_multipliers_that_leave_a_residual_are_no_exact_proof() -> None:
    rows = (("c", "b", "a"), ("c", "b", "c"))
    assert infeasible(Farkas(rows, (), 0.0), {}).method == "exact"
    assert infeasible(Farkas(rows, (), 5e-324), {}).method == "cvxpy"


def test_a_numerical_answer_is_called_numerical() -> None:
    for answer in (
        solve_kq(SKEW),
        solve_ov(SKEW),
        solve_kq(EXAMPLE, method="cvxpy"),
        solve_ov(EXAMPLE, method="cvxpy"),
    ):
        solution = answer.optimal()
        assert solution.method == "cvxpy"
        assert solution.direction_radius > 0
        assert solution.weight_radius > 0
        with pytest.raises(NotExact, match="no exact solution"):
            solution.exact()


def test_polishing_is_for_the_automatic_method_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(rows: Rows, found: Certified) -> None:
        raise AssertionError

    for module in (kq, ov):
        monkeypatch.setattr(module, "polished", refuse)
    for solve in (solve_kq, solve_ov):
        assert solve(SKEW, method="cvxpy").optimal().direction_radius > 1e-12
        with pytest.raises(AssertionError):
            solve(SKEW)


@pytest.mark.parametrize(("gap", "accepted"), [(0.99, True), (1.01, False)])
def test_the_widest_gap_that_is_an_answer(monkeypatch: pytest.MonkeyPatch, gap: float, accepted: bool) -> None:
    """Multipliers (1 - e) lam of an optimum leave a relative gap of e^2."""
    solved = quadratic._solve
    e = (gap * WIDEST_RELATIVE_GAP) ** 0.5

    def worse(A: csr_array, b: Matrix) -> tuple[Matrix | None, Matrix, str]:
        w, lam, status = solved(A, b)
        return w, (1 - e) * known(lam), status

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
def test_rows_beyond_the_range_are_not_tried(lengths: tuple[float, float], tried: bool) -> None:
    right = np.diag([*lengths, 1.0])
    rows = Rows(np.array([0, 1]), np.array([2, 2]), np.array([0, 1]), 3, None, right / 2**0.5)
    with np.errstate(invalid="ignore"):
        found = solve_quadratic(rows)
    assert isinstance(found, SolverFailure) != tried
    assert ("not tried: rows of length" in str(found)) != tried


def test_the_solver_s_solution_is_as_near_as_its_tolerances_say() -> None:
    """Rows of lengths 1 and 1/100, which are scaled alike before they are solved: w = (1, -1)/2 over the length."""
    right = np.diag([1.0, 0.01, 1.0]) / 2**0.5
    rows = Rows(np.array([0, 1]), np.array([2, 2]), np.array([0, 1]), 3, None, right)
    found = certified(solve_quadratic(rows))
    assert found.W[:, 0] == pytest.approx([0.5**0.5, 0, -(0.5**0.5)], abs=1e-3)
    assert found.W[:, 1] == pytest.approx([0, 50 * 2**0.5, -50 * 2**0.5], rel=1e-8, abs=0)
    assert found.multipliers == pytest.approx([1, 1e4], rel=1e-3, abs=0)
    assert found.relative_gap < 1e-10


@pytest.mark.parametrize(
    ("module", "name", "solve"), [(ov, "_verify", solve_ov), (exact.ExactScores, "verify", solve_kq)]
)
def test_no_exact_answer_goes_unchecked(
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType | type[exact.ExactScores],
    name: str,
    solve: Callable[..., MaxMargin],
) -> None:
    def refuse(*arguments: object) -> None:
        raise CertificateError("checked")

    monkeypatch.setattr(module, name, refuse)
    with pytest.raises(CertificateError, match="checked"):
        solve(EXAMPLE)


def test_a_cycle_found_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise CertificateError("checked")

    monkeypatch.setattr(Cycle, "verify", refuse)
    with pytest.raises(CertificateError, match="checked"):
        solve_kq(broken(EXAMPLE, "well_defined_orders"))


def test_scores_of_a_skew_embedding_are_known_within_both_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """||x|| ||q|| times the radius of W, and the rounding of two products of d terms, in which scores are computed."""
    seen: list[Matrix] = []

    def look(dataset: Dataset, queries: object, scores: Matrix, radius: Matrix) -> dict[str, ClosedForm]:
        seen.append(radius)
        return {}

    monkeypatch.setattr(kq, "compare", look)
    data = replace(SKEW, embedding=SKEW.embeddings * 3 + 0.125)
    solution = solve_kq(data).optimal()
    lengths = np.linalg.norm(data.embeddings, axis=1)
    rounding = 16 * 2.0**-53 * np.linalg.norm(solution.matrix)
    expected = np.outer(lengths, lengths) * (solution.weight_radius + rounding)
    assert seen[0] == pytest.approx(expected, rel=1e-9, abs=0)
    assert solution.weight_radius < rounding
