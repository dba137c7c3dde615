"""Gradient descent on sum_n l(x_n.w), step by step, and its flow in s = log t.

The flow. With w = w^ s + rho and m_n = x_n.w^ >= 1, t exp(-x_n.w) = exp((1 - m_n) s - x_n.rho), which no s overflows:

    d rho/ds = eta sum_n exp((1 - m_n) s - x_n.rho) g(x_n.w) x_n - w^,    g = 1 or 1/(1 + exp(-u)) (logistic).

`distance_bound` bounds its distance from the steps.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.training import integrated

Floats = NDArray[np.float64]

LOSSES = ("logistic", "exponential", "polynomial", "normalized")
"""l = log(1 + e^-u); e^-u; 1/(1+u), 1 - u below 0; e^-u with normalised steps of size 1/sqrt(t+1)."""


@cache
def _compiled() -> Callable[..., Floats]:
    from numba import njit

    @njit(error_model="numpy", cache=True)
    def steps(X: Floats, w: Floats, eta: float, loss: int, marks: NDArray[np.int64]) -> Floats:
        found = np.empty((len(marks), X.shape[1]))
        t = 0
        for at in range(len(marks)):
            while t < marks[at]:
                u = X @ w
                if loss == 0:
                    pull = 1 / (1 + np.exp(u))
                elif loss == 1:
                    pull = np.exp(-u)
                elif loss == 2:
                    pull = 1 / (1 + np.maximum(u, 0.0)) ** 2
                else:
                    pull = np.exp(u.min() - u)
                force = pull @ X
                w = w + force * (eta if loss != 3 else 1 / np.sqrt((t + 1) * (force @ force)))
                t += 1
            found[at] = w
        return found

    return steps


def steps(X: Floats, w0: Floats, eta: float, loss: str, marks: NDArray[np.int64]) -> Floats:
    """w(t) at the marks, whole numbers that rise; shape (marks, d)."""
    return _compiled()(np.ascontiguousarray(X), w0, eta, LOSSES.index(loss), marks)


def rounding(t: Floats, w: Floats) -> Floats:
    """Of w(t): an ulp of |w| in each coordinate a step, which later steps do not enlarge as they are nonexpansive.

    Normalised steps are not: there it is an estimate, which tests compare with 40 digits.
    """
    longest_yet = np.maximum.accumulate(np.linalg.norm(w, axis=1))
    return np.asarray(np.finfo(float).eps * (t + 100) * longest_yet * np.sqrt(w.shape[1]))


def _solved(
    X: Floats, pull: Callable[..., tuple[Floats, Floats]], towards: Any, decay: float, s: Floats, start: Floats
) -> tuple[Floats, Floats]:
    """Integrate dy/ds = sum_n pull_n x_n - towards - decay y from the first s on: y and the error of the solver.

    ``pull`` answers each point's pull, and its derivative by the margin, from s and the margins.
    """

    def field(s: float, y: Floats) -> Floats:
        return np.asarray(pull(s, X @ y)[0] @ X - towards - decay * y)

    def jacobian(s: float, y: Floats) -> Floats:
        return np.asarray((X.T * pull(s, X @ y)[1]) @ X - decay * np.eye(len(y)))

    return integrated(field, s, start, jacobian=jacobian, scale=1 / longest(X))


def flow(
    X: Floats, what: Floats, slack: Floats, eta: float, loss: str, s: Floats, rho: Floats
) -> tuple[Floats, Floats]:
    """rho along s from the first s on, and its solver's error; ``slack`` is m_n - 1, exactly 0 on support vectors."""

    def pull(s: float, u: Floats) -> tuple[Floats, Floats]:
        tail = np.logaddexp(0.0, -(1 + slack) * s - u) if loss == "logistic" else np.zeros(len(X))
        size = eta * np.exp(np.minimum(-slack * s - u - tail, 700.0))
        return size, -size * np.exp(-tail)

    return _solved(X, pull, what, 0.0, s, rho)


def longest(X: Floats) -> float:
    """R = max |x_n|, also where squares underflow."""
    largest = float(np.abs(X).max()) or 1.0
    return largest * float(np.linalg.norm(X / largest, axis=1).max())


def distance_bound(X: Floats, norm2: float, eta: float, loss: str, L: float) -> float:
    """Bound on the distance of steps and flow from the loss where they part: docs/proofs-separable.md, section 9."""
    R = longest(X)
    bent = 1 - eta * R**2 * L / 2
    if loss == "logistic":
        bent *= max(1 - L / 2, 0.0) ** 2
    return eta * L * R**3 / 2 * (eta * L + norm2 / bent) if bent > 0 else np.inf


def polynomial_flow(X: Floats, eta: float, s: Floats, q: Floats) -> tuple[Floats, Floats]:
    """q = w/t^(1/3) along s for the polynomial tail: dq/ds = eta sum_n x_n/(t^(-1/3) + x_n.q)^2 - q/3."""

    def pull(s: float, u: Floats) -> tuple[Floats, Floats]:
        base = np.exp(-s / 3) + np.maximum(u, 0.0)
        return eta * base**-2.0, np.where(u > 0, -2 * eta * base**-3.0, 0.0)

    return _solved(X, pull, 0.0, 1 / 3, s, q)


def newton(value: Callable[[Floats], float], slopes: Callable[[Floats], tuple[Floats, Floats]], v: Floats) -> Floats:
    """Minimiser of a convex function, from its gradient and Hessian, by Newton's method with backtracking."""
    for _ in range(500):
        gradient, hessian = slopes(v)
        move = np.asarray(-np.linalg.solve(hessian, gradient), dtype=np.float64)
        with np.errstate(over="ignore"):
            while value(v + move) > value(v) + gradient @ move / 4 + 1e-14 * abs(value(v)):
                move = move / 2
        v = v + move
        if np.abs(move).max() <= 1e-15 * np.abs(v).max():
            break
    return v


def log_loss(u: Floats, loss: str) -> Floats:
    """log l(u), where l(u) itself may be below all floats."""
    if loss == "exponential":
        return -u
    return np.where(u > 40, -u, np.log(np.logaddexp(0.0, -np.minimum(u, 40.0))))  # log(1 + e^-u) = e^-u in float64
