"""Solutions of `HardMargin` in any norm with cvxpy, and rational bounds on the least norm from the solver's arrays."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from marginaudit.margins.errors import CertificateError, SolverFailure
from marginaudit.margins.least_norm import Vector, least_norm
from marginaudit.margins.linear.documents import problem_document, text, texts
from marginaudit.margins.linear.norms import above, below, evidence, exact
from marginaudit.margins.linear.problem import HardMargin
from marginaudit.margins.linear.verify import DUAL, Refused, confirmed
from marginaudit.margins.quadratic import SOLVER, WIDEST_RELATIVE_GAP, run_solver
from marginaudit.margins.rational import combined, dot, to_float
from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats


@dataclass(frozen=True, eq=False)
class Bounded:
    """A w that meets all rows, and proved bounds on the least norm.

    Attributes
    ----------
    w : float64 numbers, the nearest to the rational w of the certificate
    multipliers : by row, then by equality
    lower, upper : float64 bounds on the least norm; the rational w attains the upper one at most
    max_violation : the largest violation of a row or an equality by the float64 w, rounded up
    document : the certificate
    """

    w: Floats
    multipliers: Floats
    lower: float
    upper: float
    max_violation: float
    document: dict[str, Any]

    def gap(self, *, squared: bool) -> float:
        """Upper bound on the difference of the bounds, or of their squares."""
        lower, upper = exact([self.lower, self.upper])
        return above(upper**2 - lower**2 if squared else upper - lower)

    @property
    def direction_radius(self) -> float:
        """Bound on the distance of the directions of w and of the least in the Euclidean norm.

        As in `marginaudit.margins.certificate`: for x = 1 - lower^2/upper^2 it is sqrt(2 x / (1 + sqrt(1 - x))).
        """
        x = self.gap(squared=True) / self.upper**2 * (1 + 4 * UNIT_ROUNDOFF) if self.upper else 0.0
        rounding = 2 * UNIT_ROUNDOFF * (1 + len(self.w))
        return math.sqrt(2 * x / (1 + math.sqrt(max(0.0, 1 - x)))) * (1 + 8 * UNIT_ROUNDOFF) + rounding


def solve_numerically(problem: HardMargin) -> Bounded | Vector:
    """Solve with cvxpy and prove bounds; or the multipliers of infeasible rows, then equalities, exact.

    The solver's word counts for nothing: its w is moved to the nearest point that meets all rows, in rational
    arithmetic, and its multipliers, negative ones of rows set to 0, give the lower bound.

    Raises
    ------
    SolverFailure
        The solver has no solution, or the bounds are too far apart.
    """
    start, multipliers, status = attempted(problem)
    first = len(problem.equalities)
    matrix = [*problem.equalities, *problem.rows]
    w = exact(np.zeros(len(matrix[0])) if start is None else start)
    targets = [*problem.targets, *[fmpq(1)] * len(problem.rows)]
    products = (fmpq_mat([list(row) for row in matrix]) * fmpq_mat([[value] for value in w])).entries()
    y, change = least_norm(matrix, [c - p for c, p in zip(targets, products, strict=True)], first)
    if change is None:
        return (*y[first:], *y[:first])
    if start is None or multipliers is None:
        raise SolverFailure(f"{SOLVER} ended with status {status!r}: no solution and no multipliers")
    return _proved(problem, tuple(a + b for a, b in zip(w, change, strict=True)), multipliers, status)


def attempted(problem: HardMargin) -> tuple[Floats | None, Floats | None, str]:
    """Solution, multipliers of rows and equalities, and status, of a solve with rows scaled to length 1."""
    import cvxpy as cp  # a second to import: only where a problem is solved numerically

    A, E = (
        np.array([[to_float(v) for v in row] for row in of], dtype=float) for of in (problem.rows, problem.equalities)
    )
    b, ones = np.array([to_float(v) for v in problem.targets]), np.ones(len(A))
    w = cp.Variable(len((*problem.rows, *problem.equalities)[0]))
    lengths = [np.linalg.norm(of, axis=1) if len(of) else np.zeros(0) for of in (A, E)]
    sizes = [np.where((size > 0) & np.isfinite(size), size, 1.0) for size in lengths]
    target = 1 / max(1e-300, np.max(np.abs(np.concatenate([ones / sizes[0], b / sizes[1]])), initial=0.0))
    constraints = []
    if len(A):
        constraints.append((A / sizes[0][:, None]) @ w >= target * ones / sizes[0])
    if len(E):
        constraints.append((E / sizes[1][:, None]) @ w == target * b / sizes[1])
    status = run_solver(cp.Problem(cp.Minimize(_objective(cp, problem)(w)), constraints))
    values = [w.value, *(one.dual_value for one in constraints)]
    if any(value is None or not np.all(np.isfinite(value)) for value in values):
        return None, None, status
    duals = np.concatenate([np.atleast_1d(value) for value in values[1:]])
    duals[len(A) :] *= -1  # cvxpy's Lagrangian adds multipliers of equalities
    return np.asarray(w.value) / target, duals / np.concatenate(sizes), status


def _objective(cp: Any, problem: HardMargin) -> Callable[[Any], Any]:
    shape = problem.shape
    objectives: dict[str, Callable[[Any], Any]] = {
        "euclidean": lambda w: cp.sum_squares(w) / 2,
        "largest-entry": cp.norm_inf,
        "nuclear": lambda w: cp.normNuc(cp.reshape(w, shape, order="C")),
        "spectral": lambda w: cp.sigma_max(cp.reshape(w, shape, order="C")),
    }
    return objectives[problem.norm]


def _proved(problem: HardMargin, w: Vector, multipliers: Floats, status: str) -> Bounded:
    """The certificate of w and the multipliers, confirmed by the checker.

    Raises
    ------
    SolverFailure
        The bounds are too far apart.
    """
    rows = (*problem.rows, *problem.equalities)
    y = exact(np.concatenate([np.maximum(multipliers[: len(problem.rows)], 0.0), multipliers[len(problem.rows) :]]))
    total = dot(y, [*[fmpq(1)] * len(problem.rows), *problem.targets])
    of_w, upper = evidence(problem.norm, w, problem.shape)
    of_sum, size = evidence(DUAL[problem.norm], combined(y, rows), problem.shape)
    lower = below(total / exact([size])[0]) if size > 0 and total > 0 else 0.0
    if upper - lower > WIDEST_RELATIVE_GAP * upper:
        got = f"the least norm is from {lower:.6g} to {upper:.6g}, expected a relative gap of {WIDEST_RELATIVE_GAP:g}"
        raise SolverFailure(f"{SOLVER} ended with status {status!r}: {got}")
    document = {
        "problem": problem_document(problem),
        "status": "bounded",
        **dict(zip(("lower", "upper"), texts(exact([lower, upper])), strict=True)),
        "weights": texts(w),
        "multipliers": {str(n): text(value) for n, value in enumerate(y) if value != 0},
        "norm_of_weights": of_w,
        "norm_of_sum": of_sum,
    }
    try:
        confirmed(document, "certificate")
    except Refused as reason:
        raise CertificateError(f"the solver's certificate is refused: {reason}") from None
    rounded = np.array([to_float(value) for value in w])
    duals = np.array([to_float(value) for value in y])
    return Bounded(rounded, duals, lower, upper, _violation(problem, exact(rounded)), document)


def _violation(problem: HardMargin, w: Vector) -> float:
    """The largest violation of a row or an equality, rounded up."""
    short = [1 - dot(row, w) for row in problem.rows]
    off = [abs(dot(row, w) - value) for row, value in zip(problem.equalities, problem.targets, strict=True)]
    return above(max(fmpq(0), *short, *off))
