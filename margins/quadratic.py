"""The quadratic program min ||W||^2/2 s.t. A w >= 1, solved with cvxpy and Clarabel."""

import warnings
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.margins.certificate import Certified, certify
from marginaudit.margins.errors import SolverFailure
from marginaudit.margins.rows import LONGEST, SHORTEST, Rows, in_few_coordinates, row_lengths
from marginaudit.orders.arrays import Floats

if TYPE_CHECKING:
    import cvxpy

SOLVER = "CLARABEL"

GAP_TOLERANCE = 1e-12
"""A relative gap g bounds the direction only to sqrt(g): Clarabel's default of 1e-8 would give 1e-4."""

FEASIBILITY_TOLERANCE = 1e-12
"""Violations up to this are repaired by scaling, which adds twice as much to the gap."""

WIDEST_RELATIVE_GAP = 1e-4
"""A wider gap bounds the direction no better than 1e-2 and counts as a failure of the solver."""


def solve_quadratic(rows: Rows) -> Certified | SolverFailure:
    """Solve, repair and certify; or return the exception to raise unless infeasibility is proved.

    The solver's status is ignored: a solution is one whose arrays pass :func:`certify`.
    """
    W, multipliers, status = attempted(rows)
    if W is None or multipliers is None:
        residuals = "no solution and no multipliers"
    elif (found := certify(rows, W, multipliers)) is None:
        least = float(np.min(rows.margins(W)[0]))
        residuals = f"least margin {least:.3g}, expected positive beyond rounding, and no proof of infeasibility"
    elif found.relative_gap > WIDEST_RELATIVE_GAP:
        residuals = f"relative duality gap up to {found.relative_gap:.3g}, expected at most {WIDEST_RELATIVE_GAP:g}"
    else:
        return found
    return SolverFailure(f"{SOLVER} ended with status {status!r}: {residuals}")


def attempted(rows: Rows) -> tuple[Floats | None, Floats | None, str]:
    """W, multipliers and status of a solve with rows scaled to length 1, in a minimal number of coordinates."""
    reduced, left, right = in_few_coordinates(rows)
    A = reduced.sparse()
    lengths = row_lengths(A)
    if lengths.min() < SHORTEST or lengths.max() > LONGEST:
        return None, None, f"not tried: rows of length {lengths.min():g} to {lengths.max():g}"
    used = np.unique(A.indices)
    A = scipy.sparse.csr_array(scipy.sparse.diags_array(1 / lengths) @ A[:, used])
    target = float(lengths.min())  # right-hand sides at most 1, the largest 1
    w, lam, status = solve_program(A, target / lengths)
    if w is None or lam is None:
        return None, None, status
    flat = np.zeros(np.prod(reduced.shape))
    flat[used] = w / target
    W = flat.reshape(reduced.shape)
    W = W if left is None else left @ W
    return W if right is None else W @ right.T, lam / (lengths * target), status


def solve_program(A: "scipy.sparse.csr_array[np.float64]", b: Floats) -> tuple[Floats | None, Floats | None, str]:
    """Solve min ||w||^2/2 s.t. A w >= b: raw solution, multipliers and status."""
    import cvxpy as cp  # a second to import: only where a quadratic program is solved

    w = cp.Variable(A.shape[1])
    rows = cp.Constant(A) @ w >= b
    status = run_solver(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [rows]))
    values = (w.value, rows.dual_value)
    if any(value is None or not np.all(np.isfinite(value)) for value in values):
        return None, None, status
    return np.asarray(values[0], dtype=np.float64), np.asarray(values[1], dtype=np.float64), status


def run_solver(problem: "cvxpy.Problem") -> str:
    """Solve a program to tight tolerances; return its status, with the reason of a failure."""
    import cvxpy as cp

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the arrays are checked instead
        try:
            problem.solve(
                solver=SOLVER,
                tol_gap_abs=GAP_TOLERANCE,
                tol_gap_rel=GAP_TOLERANCE,
                tol_feas=FEASIBILITY_TOLERANCE,
                accept_unknown=True,  # return the arrays of a stalled solve, too
            )
        except cp.error.SolverError as error:
            return f"{problem.status or 'solver_error'} ({str(error).splitlines()[0]})"
    return str(problem.status)
