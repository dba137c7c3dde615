"""A stage's loss, its gradient free of underflow, and the records of states."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate
from marginaudit.training.ntp.steps.spaces import WeightSpace
from marginaudit.training.ntp.steps.underflow import norm

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class TokenGradient:
    """A gradient in token space, scaled against underflow: value * exp(log_scale).

    Attributes
    ----------
    value : token-space array
        With a largest entry of order 1, or all 0.
    magnitude : token-space array
        Sums of the absolute values of the same terms.
    log_scale : float
        -inf where the gradient is 0.
    relative : float
        Bound on the relative rounding error of single terms; infinite if unknown.
    curvature, concavity : float
        Bounds on the largest eigenvalue of the Hessian and on minus the smallest, over exp(log_scale).
    """

    value: Floats
    magnitude: Floats
    log_scale: float
    relative: float
    curvature: float
    concavity: float


@dataclass(frozen=True)
class Gradient:
    """A gradient in the space of the weights, a bound on the norm of its rounding error, and bounds on the Hessian."""

    value: Floats
    norm: float
    log_scale: float
    rounding: float
    curvature: float
    concavity: float

    @property
    def hidden(self) -> bool:
        """Whether the gradient is zero, or at rounding level of the sum of its absolute terms (if known)."""
        return self.norm == 0 or self.norm <= self.rounding < np.inf

    @property
    def log_norm(self) -> float:
        """log ||grad||; -inf where `hidden`."""
        return -np.inf if self.hidden else float(np.log(self.norm)) + self.log_scale


class Loss(ABC):
    """A stage's loss as a function of its iterate."""

    space: WeightSpace
    together = 1
    """Number of states for one call of `evaluated`, for speed."""

    @abstractmethod
    def token_gradient(self, iterate: Iterate) -> TokenGradient:
        """The gradient in token space."""

    @abstractmethod
    def measure(self, iterate: Iterate) -> Row:
        """The stage's own columns of one record."""

    def gradient(self, iterate: Iterate) -> Gradient:
        """The gradient in the space of the weights."""
        return self._pulled_back(self.token_gradient(iterate))

    def evaluated(self, states: Sequence[Iterate]) -> list[tuple[Gradient, Row]]:
        """Gradient and measurements of each state."""
        return [(self.gradient(state), self.measure(state)) for state in states]

    def _pulled_back(self, found: TokenGradient) -> Gradient:
        value = self.space.pull_back(found.value)
        # rounding of pull_back, which sums over the vocabulary
        relative = found.relative + (0.0 if value is found.value else 2 * EPS * (len(found.value) + 4))
        underflow = self.space.underflow if found.log_scale > -np.inf else 0.0
        return Gradient(
            value,
            norm(value),
            found.log_scale,
            relative * norm(self.space.magnitude(found.magnitude)) + underflow,
            self.space.stretch * found.curvature,
            self.space.stretch * found.concavity,
        )


def rows(loss: Loss, states: Sequence[tuple[int, Iterate]]) -> list[Row]:
    """Records of states reached by steps, each with its t."""
    evaluated = loss.evaluated([iterate for _, iterate in states])
    return [_row(iterate, t, *found) for (t, iterate), found in zip(states, evaluated, strict=True)]


def row(loss: Loss, iterate: Iterate, t: int) -> Row:
    """Record of a state reached by steps."""
    return rows(loss, [(t, iterate)])[0]


def _row(iterate: Iterate, t: int, gradient: Gradient, own: Row) -> Row:
    rest = iterate.rest
    downhill = np.full_like(rest, np.nan) if gradient.hidden else -gradient.value / gradient.norm
    return {
        "step": t,
        **vars(iterate.direction()),
        "gradient_norm": float(np.exp(gradient.log_norm)),
        "log_gradient_norm": gradient.log_norm,
        "descent_reference": float(np.sum(downhill * iterate.reference) + np.sum(downhill * iterate.reference_low)),
        "descent_rest": float(np.sum(downhill * rest)),
        "method": "steps",
        **own,
    }


def rows_at(loss: Loss, iterate: Iterate, states: Sequence[tuple[int, Floats, float, float]], method: str) -> list[Row]:
    """Records of states not reached by steps: W = s What + rho, s = lr t.

    Parameters
    ----------
    iterate : Iterate
        Any iterate of the same run.
    states : sequence
        For each: t; rho, an array of the iterate's shape; and bounds on the relative error of ``one_minus_cos`` and on
        that of W/||W||, to which the rounding of the record is added.
    method : str
        Entry of the column ``method``.
    """
    found = []
    for first in range(0, len(states), loss.together):
        some = states[first : first + loss.together]
        placed = rows(loss, [(t, iterate.placed(t, rest)) for t, rest, *_ in some])
        for record, (_, _, error, distance_error) in zip(placed, some, strict=True):
            record["method"] = method
            record["error"] = error + record["error"] * (1 + error)
            record["distance_error"] = min(2.0, distance_error + record["distance_error"])
        found += placed
    return found
