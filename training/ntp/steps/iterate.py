"""The weights along gradient descent, split as W = s What + rho."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.training.ntp.steps.underflow import TINY
from marginaudit.training.ntp.steps.underflow import norm as size_of

Floats: TypeAlias = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class DirectionRecord:
    """Norm of W and distance from its reference, as in the columns of `StageRecord` of these names."""

    norm: float
    one_minus_cos: float
    distance: float
    error: float
    distance_error: float


class Iterate:
    """W = s What + rho, with What the reference's unit vector and s = lr times the number of normalised steps.

    A step W - lr v along the unit gradient v is s + lr and rho - lr (v + What): no stored array grows with W, and as v
    tends to -What, rho stays of the size of log s. Plain gradient descent keeps s = 0, without a split. rho is a
    compensated (Neumaier) sum of two arrays. Without a reference What = 0 and rho is W. The split is exact for any
    array What; for irrational entries a second array holds the rounding of the first, so that rho has no systematic
    drift.

    Parameters
    ----------
    shape : shape of the weights
    lr : float
        Length of a normalised step; factor of the gradient in a plain one.
    reference : array of that shape, or None
        What. Its norm may be below 1, if the rest of the unit reference lies where W is always 0; ``outside`` is the
        squared norm of that rest.
    reference_low : array of that shape, or None
        What minus its rounding ``reference``.

    Attributes
    ----------
    moves : int
        Steps taken.
    high, low : arrays
        rho, as an unevaluated sum.
    last : array
        The unit gradient of the last step.
    local_error, log_growth : float
        Sums of the steps' local errors, and of the logarithms of their error growth factors.
    inherited_error : float
        Error of W from the previous stage, found by `Shadowed`.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        lr: float,
        reference: Floats | None,
        outside: float = 0.0,
        *,
        reference_low: Floats | None = None,
        normalised: bool = True,
    ) -> None:
        self.reference = np.zeros(shape) if reference is None else reference
        self.reference_low = np.zeros(shape) if reference_low is None else reference_low
        self.has_reference = reference is not None
        self.outside = outside
        self.lr = lr
        self.normalised = normalised
        self.moves = 0
        self.high = np.zeros(shape)
        self.low = np.zeros(shape)
        self.last = np.zeros(shape)
        self.local_error = 0.0
        self.log_growth = 0.0
        self.inherited_error = 0.0

    def copied(self) -> "Iterate":
        """A copy, independent of later steps."""
        copied = copy(self)
        copied.high, copied.low = self.high.copy(), self.low.copy()
        return copied

    def placed(self, moves: int, rest: Floats) -> "Iterate":
        """An iterate at W = s What + rest after the given moves, without error."""
        placed = Iterate(
            self.high.shape,
            self.lr,
            self.reference if self.has_reference else None,
            self.outside,
            reference_low=self.reference_low,
            normalised=self.normalised,
        )
        placed.moves = moves
        placed.high = rest.copy()
        return placed

    def move_to(self, moves: int, rest: Floats, error: float, unit_gradient: Floats) -> None:
        """Go to W = s What + rest after the given moves, with a bound on its error, for further steps."""
        self.moves = moves
        self.high, self.low, self.last = rest.copy(), np.zeros_like(rest), unit_gradient
        self.local_error = self.log_growth = 0.0
        self.inherited_error = error

    @property
    def along_step(self) -> float:
        """The length that a step adds to s."""
        return self.lr if self.normalised else 0.0

    @property
    def along(self) -> float:
        """s."""
        return self.along_step * self.moves

    @property
    def rest(self) -> Floats:
        """rho."""
        return self.high + self.low

    @property
    def weights(self) -> Floats:
        """W."""
        return self.along * self.reference + self.rest

    @property
    def state_error(self) -> float:
        """Bound on the distance of W from the exact trajectory; `direction` derives it."""
        if self.local_error == 0:
            return self.inherited_error
        if self.log_growth + np.log(self.local_error) > 700:
            return float("inf")
        return float(np.exp(self.log_growth + np.log(self.local_error))) + self.inherited_error

    def step(
        self, unit_gradient: Floats, *, log_norm: float, rounding: float, curvature: float, concavity: float
    ) -> None:
        """One step along a unit gradient, of length lr, or lr ||grad|| in plain descent.

        Parameters
        ----------
        unit_gradient : array of the weights' shape
        log_norm : float
            log ||grad||.
        rounding : float
            Bound on the error of the unit gradient.
        curvature, concavity : float
            Bounds on the largest eigenvalue of the loss's Hessian and on minus the smallest, over the
            gradient's norm.
        """
        length = self.lr if self.normalised else self.lr * float(np.exp(log_norm))
        if self.normalised:
            addend = -length * ((unit_gradient + self.reference) + self.reference_low)
        else:
            addend = -length * unit_gradient
        total = self.high + addend
        virtual = total - self.high
        self.low += (self.high - (total - virtual)) + (addend - virtual)
        self.high = total
        self.local_error += length * (rounding + 4 * EPS) + TINY
        if self.normalised and self.moves:
            self.log_growth += float(np.linalg.norm(unit_gradient - self.last))
        self.log_growth += float(np.log(max(1.0 + length * concavity, length * curvature - 1)))
        self.moves += 1
        self.last = unit_gradient

    def direction(self) -> DirectionRecord:
        """Norm and direction of W, without cancellation, with bounds on their rounding.

        With al = <rho, What>, u = rho - al What, c = s + al and R = hypot(c, |u|):
        1 - cos = |u|^2 / (R (R + c)), free of cancellation (1 - c/R where c < 0).

        Error. NGD is the map N(W) = W - lr v(W), v the unit gradient, with the derivative
        I - lr (P H P + h v^T) / |grad|, P the projection off v and h = P H v. To first order in lr,
        lr |h| / |grad| is the arc that v travels in the step, and the rest has norm at most
        max(1 + lr lambda_- / |grad|, lr lambda_max / |grad| - 1), lambda_- = max(0, -lambda_min). So local
        errors d_t (rounding of lr v_t: counted operations times eps, times the ratio of absolute to net
        sums) reach at most e^L sum d_t, where L adds up those arcs and the logarithms of those norms (the
        losses bound the eigenvalues). Over |W| this bounds the error of the unit vector. It is an
        estimate, not an enclosure: first order in lr, and `KQ` takes some terms of H as semidefinite that
        are so only late in training; the tests compare it with 700-bit arithmetic. Where descent
        oscillates about a stationary point L grows without limit, and the bound is cut off at 2.
        """
        what, rest = self.reference, self.rest
        inside = float(np.sum(what**2))
        al = float(np.sum(rest * what)) / inside if inside > 0 else 0.0
        across = size_of(rest - al * what)
        c = (self.along + al) * np.sqrt(inside)
        norm = float(np.hypot(c, across))
        off = self.state_error + 4 * EPS * size_of(rest)
        if norm == 0 or not self.has_reference:
            nan = float("nan")
            return DirectionRecord(norm, nan, nan, *((np.inf, 2.0) if off > norm else (nan, nan)))
        turned = across / norm * (across / (norm + c)) if c >= 0 else 1 - c / norm
        gap = self.outside / (1 + np.sqrt(inside)) + np.sqrt(inside) * turned
        distance = float(np.sqrt(2 * gap))
        return DirectionRecord(norm, float(gap), distance, *direction_error(off, norm, distance))


def direction_error(off: float, norm: float, distance: float) -> tuple[float, float]:
    """Error bounds of 1 - cos (relative) and of the distance of unit vectors, for an error ``off`` of W."""
    distance_error = min(2.0, off / (norm - off) + 8 * EPS * distance) if off < norm else 2.0
    with np.errstate(over="ignore", divide="ignore"):
        relative = np.float64(distance_error) / distance if distance > 0 else np.inf
        error = float((1 + relative) ** 2 - 1) if distance_error < 2 else float("inf")
    return error, distance_error


class States(NamedTuple):
    """Several states of one run: s, shape (states, 1), and rho as an unevaluated sum."""

    along: Floats
    high: Floats
    low: Floats

    @classmethod
    def of(cls, iterates: Sequence[Iterate]) -> "States":
        """States of several iterates, in order."""
        return cls(
            np.array([[iterate.along] for iterate in iterates]),
            np.array([iterate.high for iterate in iterates]),
            np.array([iterate.low for iterate in iterates]),
        )
