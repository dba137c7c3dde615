"""The hard-margin problem of any matrix, for papers whose rows are vectors of data."""

import numpy as np

from marginaudit.margins.certificate import Certified
from marginaudit.margins.errors import SolverFailure
from marginaudit.margins.polish import polished
from marginaudit.margins.quadratic import solve_quadratic
from marginaudit.margins.rows import Matrix, Rows


def hard_margin(A: Matrix) -> Certified:
    """min |w| s.t. A w >= 1, solved with cvxpy and polished, with its certificate; ``W`` has one column.

    >>> hard_margin(np.array([[1.0, 0.0], [0.0, 2.0]])).W.ravel().tolist()
    [1.0, 0.5]

    Raises
    ------
    SolverFailure
        No solution passes the certificate, as where there is no such w.
    """
    count, width = A.shape
    rows = Rows(
        winner=np.arange(count),
        loser=np.full(count, count),
        column=np.zeros(count, dtype=np.int64),
        size=count + 1,
        left=np.vstack([A, np.zeros((1, width))]),
        right=np.vstack([np.ones((1, 1)), np.zeros((count, 1))]),
    )
    found = solve_quadratic(rows)
    if isinstance(found, SolverFailure):
        raise found
    return polished(rows, found)
