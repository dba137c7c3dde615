"""The weights along normalised gradient descent, split as W = s What + rho."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Direction:
    """How W stands to its reference: see the columns of the same names of `StageRecord`."""

    norm: float
    one_minus_cos: float
    distance: float
    error: float
    distance_error: float


class Iterate:
    """W = s What + rho, with What the reference's unit vector, s = lr times the number of steps taken.

    A step W - lr v is s + lr and rho - lr (v + What): nothing of the size of W is stored, and as v tends
    to -What, rho stays of the size of log s. rho is a compensated (Neumaier) sum. Without a reference
    What = 0 and rho is W itself. The split is exact whatever array What is.

    Parameters
    ----------
    shape : of the weights
    lr : float
        Length of a step.
    reference : array of that shape, or None
        What. Its norm may be below 1, when the rest of the unit reference lies where W is always 0:
        ``outside`` is that rest's squared norm.
    """

    def __init__(self, shape: tuple[int, ...], lr: float, reference: Floats | None, outside: float = 0.0) -> None:
        self.reference = np.zeros(shape) if reference is None else reference
        self.has_reference = reference is not None
        self.outside = outside
        self.lr = lr
        self.moves = 0
        self._rho = np.zeros(shape)
        self._low = np.zeros(shape)
        self._last: Floats | None = None
        self._log_growth = 0.0
        self._local = 0.0

    @property
    def along(self) -> float:
        """s."""
        return self.lr * self.moves

    @property
    def rest(self) -> Floats:
        """rho."""
        return self._rho + self._low

    @property
    def weights(self) -> Floats:
        """W."""
        return self.along * self.reference + self.rest

    @property
    def state_error(self) -> float:
        """Bound on the distance of W from the exact trajectory; `direction` derives it."""
        if self._local == 0:
            return 0.0
        return float(np.exp(self._log_growth) * self._local) if self._log_growth < 700 else float("inf")

    def step(self, unit_gradient: Floats, *, rounding: float, curvature: float, concavity: float) -> None:
        """One step of length lr against a unit gradient.

        Parameters
        ----------
        unit_gradient : array of the weights' shape
        rounding : float
            Bound on its error.
        curvature, concavity : float
            Bounds on the largest eigenvalue of the loss's Hessian and on minus the smallest, over the
            gradient's norm.
        """
        addend = -self.lr * (unit_gradient + self.reference)
        total = self._rho + addend
        virtual = total - self._rho
        self._low += (self._rho - (total - virtual)) + (addend - virtual)
        self._rho = total
        self.moves += 1
        self._local += self.lr * (rounding + 4 * EPS)
        if self._last is not None:
            self._log_growth += float(np.linalg.norm(unit_gradient - self._last))
        self._log_growth += self.lr * concavity + np.log(max(1.0, self.lr * curvature - 1))
        self._last = unit_gradient

    def stall(self) -> None:
        """No step is taken because rounding hides the gradient; from here on there is no error bound."""
        self._local = float("inf")

    def direction(self) -> Direction:
        """Norm and direction of W, without cancellation, and what rounding may have done to them.

        With al = <rho, What>, u = rho - al What, c = s + al and R = hypot(c, |u|):
        1 - cos = |u|^2 / (R (R + c)), no difference of nearly equal numbers (1 - c/R where c < 0).

        Error. NGD is the map N(W) = W - lr v(W), v the unit gradient, with the derivative
        I - lr (P H P + h v^T) / |grad|, P the projection off v and h = P H v. To first order in lr,
        lr |h| / |grad| is the arc that v travels in the step, and the rest has norm at most
        max(1 + lr lambda_- / |grad|, lr lambda_max / |grad| - 1), lambda_- = max(0, -lambda_min). So local
        errors d_t (rounding of lr v_t: counted operations times eps, times the ratio of absolute to net
        sums) reach at most e^L sum d_t, where L adds up those arcs and the logarithms of those norms (the
        problems bound the eigenvalues). Over |W| this bounds the error of the unit vector. It is an
        estimate and no enclosure: first order in lr, and `KQ` takes some terms of H as semidefinite that
        are so only late in training; the tests compare it with 700-bit arithmetic. Where descent
        oscillates about a stationary point L grows without limit, and the bound is cut off at 2.
        """
        what, rest = self.reference, self.rest
        inside = float(np.sum(what**2))
        al = float(np.sum(rest * what)) / inside if inside > 0 else 0.0
        across = float(np.linalg.norm(rest - al * what))
        c = (self.along + al) * np.sqrt(inside)
        norm = float(np.hypot(c, across))
        if norm == 0 or not self.has_reference:
            nan = float("nan")
            return Direction(norm, nan, nan, nan, nan)
        turned = across**2 / (norm * (norm + c)) if c >= 0 else 1 - c / norm
        gap = self.outside / (1 + np.sqrt(inside)) + np.sqrt(inside) * turned
        distance = float(np.sqrt(2 * gap))
        off = self.state_error + 4 * EPS * float(np.linalg.norm(rest))
        distance_error = min(2.0, off / (norm - off) + 8 * EPS * distance) if off < norm else 2.0
        with np.errstate(over="ignore", divide="ignore"):
            relative = np.float64(distance_error) / distance if distance > 0 else np.inf
            error = float((1 + relative) ** 2 - 1) if distance_error < 2 else float("inf")
        return Direction(norm, float(gap), distance, error, distance_error)
