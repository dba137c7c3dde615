"""Gradient descent, W <- W - lr grad / ||grad|| or W <- W - lr grad, recorded on the way."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from marginaudit.training.ntp.records import Progress
from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate
from marginaudit.training.ntp.steps.spaces import Space

REPORTS = 200
"""How often a stage calls ``progress``, at most (and once at its end)."""

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class TokenGradient:
    """A gradient in token space, scaled so that nothing underflows: the true one is value * exp(log_scale).

    Attributes
    ----------
    value : token-space array
        Its largest entry is of order 1, or it is all 0.
    magnitude : token-space array
        The same sums over absolute values.
    log_scale : float
        -inf where the gradient is 0.
    relative : float
        Bound on the relative rounding error of the single terms.
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
    """A gradient in the space of the weights, a bound on the norm of its rounding error, and its Hessian's bounds."""

    value: Floats
    norm: float
    log_scale: float
    rounding: float
    curvature: float
    concavity: float

    @property
    def hidden(self) -> bool:
        """Zero, or at rounding level of the sum of its absolute terms."""
        return self.norm <= self.rounding

    @property
    def log_norm(self) -> float:
        """log ||grad||; -inf where `hidden`."""
        return -np.inf if self.hidden else float(np.log(self.norm)) + self.log_scale


class Problem(ABC):
    """A stage's loss as a function of its iterate."""

    space: Space

    @abstractmethod
    def token_gradient(self, iterate: Iterate) -> TokenGradient:
        """The gradient in token space."""

    @abstractmethod
    def measure(self, iterate: Iterate) -> Row:
        """The stage's own columns of one record."""

    def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        """Steps until ``goal`` are taken in all, or fewer where the gradient becomes `hidden`."""
        while iterate.moves < goal and self.step(iterate):
            report(iterate.moves)

    def step(self, iterate: Iterate) -> bool:
        """One step; False, and none is taken, where the gradient is `hidden`."""
        gradient = self.gradient(iterate)
        if gradient.hidden:
            if gradient.rounding > 0:
                iterate.stall()
            return False
        iterate.step(
            gradient.value / gradient.norm,
            log_norm=gradient.log_norm,
            rounding=gradient.rounding / gradient.norm,
            curvature=gradient.curvature / gradient.norm,
            concavity=gradient.concavity / gradient.norm,
        )
        return True

    def row(self, iterate: Iterate, t: int) -> Row:
        """The record of a state that steps reached."""
        direction = iterate.direction()
        gradient = self.gradient(iterate)
        rest = iterate.rest
        downhill = np.full_like(rest, np.nan) if gradient.hidden else -gradient.value / gradient.norm
        return {
            "step": t,
            "norm": direction.norm,
            "one_minus_cos": direction.one_minus_cos,
            "distance": direction.distance,
            "error": direction.error,
            "distance_error": direction.distance_error,
            "gradient_norm": float(np.exp(gradient.log_norm)),
            "log_gradient_norm": gradient.log_norm,
            "descent_reference": float(np.sum(downhill * iterate.reference) + np.sum(downhill * iterate.reference_low)),
            "descent_rest": float(np.sum(downhill * rest)),
            "method": "steps",
            **self.measure(iterate),
        }

    def row_at(self, iterate: Iterate, t: int, rest: Floats, method: str, error: float) -> Row:
        """The record of a state that no steps reached: W = s What + rest, s = lr t.

        Parameters
        ----------
        iterate : Iterate
            Any iterate of the same run.
        t : int
        rest : array of the iterate's shape
            rho.
        method : str
            What the column ``method`` says.
        error : float
            Bound on the relative error of ``one_minus_cos``; rounding of the record itself is added.
        """
        row = self.row(iterate.placed(t, rest), t)
        row["method"] = method
        row["error"] = error + row["error"] * (1 + error)
        # |sqrt(1 +- e) - 1| <= e
        off = error * row["distance"] + row["distance_error"] * (1 + error) if np.isfinite(error) else np.inf
        row["distance_error"] = min(2.0, float(off))
        return row

    def gradient(self, iterate: Iterate) -> Gradient:
        """The gradient in the space of the weights."""
        found = self.token_gradient(iterate)
        value = self.space.pull_back(found.value)
        # pull_back adds sums over the vocabulary to each entry of G
        relative = found.relative + (0.0 if value is found.value else 2 * EPS * (len(found.value) + 4))
        return Gradient(
            value,
            float(np.linalg.norm(value)),
            found.log_scale,
            relative * float(np.linalg.norm(self.space.magnitude(found.magnitude))),
            self.space.stretch * found.curvature,
            self.space.stretch * found.concavity,
        )


def descend(
    problem: Problem, iterate: Iterate, steps: int, at: Sequence[int], progress: Progress | None, done: int
) -> list[Row]:
    """``steps`` steps from the zero initialisation, a row per step in ``at`` (increasing).

    Where the gradient is zero, or at rounding level of the sum of its absolute terms (as where the
    terms of symmetric data cancel exactly), its direction is undefined and W stays where it is.

    Source: arXiv 2409.17335, Algorithm 1.
    """
    rows: list[Row] = []
    report = _reporter(progress, done, steps)
    for goal in dict.fromkeys((*at, steps)):
        if iterate.moves < goal:
            problem.advance(iterate, goal, report)
        if iterate.moves < goal:
            still = problem.row(iterate, goal)
            rows.extend({**still, "step": later} for later in at[len(rows) :])
            break
        if len(rows) < len(at):
            rows.append(problem.row(iterate, goal))
    report(steps)
    return rows


def _reporter(progress: Progress | None, done: int, steps: int) -> Callable[[int], None]:
    every = max(1, -(-steps // REPORTS))
    due = every

    def report(t: int) -> None:
        nonlocal due
        if progress is not None and (t >= due or t == steps):
            progress(done + t)
            due = t - t % every + every

    return report
