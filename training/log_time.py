"""Equations in log time s = log t, for flows that take until t = 1e18 or longer to slow down."""

from collections.abc import Callable

import numpy as np

from marginaudit.orders.arrays import Floats

TOLERANCES = (1e-12, 1e-10)
"""Relative tolerances of the two solutions; their distance is an error bar."""


MOST_RATES, MORE_A_NUMBER = 50_000, 1000
"""Most evaluations of the rate for one solution: a constant, and an addition for each number of a state."""


class NotIntegrated(ArithmeticError):  # noqa: N818  (not the caller's error)
    """A solver failed before the requested time, or its error is too large."""


def integrated(
    rate: Callable[[float, Floats], Floats],
    s: Floats,
    start: Floats,
    *,
    jacobian: Callable[[float, Floats], Floats] | None = None,
    scale: float = 1.0,
) -> tuple[Floats, Floats]:
    """Solve dy/ds = rate(s, y) from y(s[0]) = start; states at all s, and an error bar of the solver for each.

    The bar is the distance to a second solution with 100 times the tolerance, and that tolerance.

    Parameters
    ----------
    s : increasing array
    jacobian : from s and y to the matrix of the rate's derivatives by y; by default finite differences
    scale : float
        Size of a state below which its tolerance is absolute.

    Raises
    ------
    NotIntegrated
        The solver failed, or a state is beyond float64.

    >>> y, error = integrated(lambda s, y: -y, np.array([0.0, 1.0]), np.array([1.0]))
    >>> bool(abs(y[1, 0] - np.exp(-1)) < error[1] < 1e-9)
    True
    """
    from scipy.integrate import solve_ivp  # slow import

    evaluated, most = 0, MOST_RATES + MORE_A_NUMBER * len(start)

    def counted(time: float, y: Floats) -> Floats:
        nonlocal evaluated
        evaluated += 1
        if evaluated > len(TOLERANCES) * most:
            raise NotIntegrated(f"the flow ended early: {most} evaluations led to log t = {time:.6g}")
        return rate(time, y)

    with np.errstate(over="ignore", invalid="ignore"):
        found = [
            solve_ivp(
                counted, (s[0], s[-1]), start, method="LSODA", t_eval=s, rtol=rtol, atol=rtol * scale, jac=jacobian
            )
            for rtol in TOLERANCES
        ]
    if not all(one.success and np.isfinite(one.y).all() for one in found):
        raise NotIntegrated(f"the flow ended early: {found[0].message}")
    fine, rough = (one.y.T for one in found)
    error = np.linalg.norm(fine - rough, axis=1) + TOLERANCES[1] * (scale + np.linalg.norm(fine, axis=1))
    return fine, error
