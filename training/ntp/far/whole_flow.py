"""Stage 2 before attention is one-hot: a flow close to gradient flow of the whole loss in place of steps.

A smooth curve W(s) through the states of descent, eta apart, has eta dW/ds = log(1 + D) W = D W - D^2 W / 2 + ..., with
D the forward difference over a step: D W = eta v, v the unit vector against the gradient. After p = `ORDER` terms the
flow

    dW/ds = v - D v / 2 + D^2 v / 3 - ...

leaves a step by eta D^p v / (p + 1) to leading order; summed over the steps that is eta / (p + 1) times the length of
the path of D^(p - 1) v. From then on errors grow by at most e^G, where G is the arc of v plus the integral along the
flow of minus the Hessian's smallest eigenvalue over the gradient's norm, which is 0 where the loss is convex. A step of
the explicit solver is as long as hundreds of steps of descent, as eta times the curvature is far below 2.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.training.ntp.far.flow import COARSER, Flow, FlowFailure, FlowPath, with_bounds
from marginaudit.training.ntp.steps.compiled import CompiledSteps, Evaluated
from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate

ORDER = 4
"""Number of terms of the logarithm: evaluations of the gradient for each value of the field."""

SERIES = np.array([(-1) ** k / (k + 1) for k in range(ORDER)])
"""Coefficients of v, D v, D^2 v, ... in the field."""

ROUNDINGS = float(np.abs(SERIES) @ 2.0 ** np.arange(ORDER))
"""Rounding error of the field, in errors of v."""

TOLERANCE = 1e-9
"""Absolute and relative tolerance of the solver; that of one step counts as rounding, as the distance of two solutions
may be small by chance where they are interpolated."""

LONGER = 5 / 4
"""Ratio of the steps at which the flow is asked whether attention is one-hot."""


class Seen(NamedTuple):
    """A state of the flow.

    Attributes
    ----------
    gradient : Evaluated
    differences : (ORDER, pairs) array
        v + What, D v, D^2 v, ...
    """

    gradient: Evaluated
    differences: Floats


class WholeField:
    """The field of the flow, on rho of W = s What + rho, in time s."""

    def __init__(self, kernel: CompiledSteps, iterate: Iterate) -> None:
        self._kernel, self._iterate = kernel, iterate
        self.eta, self.What = iterate.lr, iterate.reference

    def look(self, s: float, rest: Floats) -> Seen:
        """The gradient at a state, and how its direction changes in the next steps of descent."""
        found, direction = self._gradient(s, rest)
        table = np.empty((ORDER, len(rest)))
        table[0] = direction
        for k in range(1, ORDER):
            rest = rest + self.eta * table[k - 1]
            table[k] = self._gradient(s + k * self.eta, rest)[1]
        for k in range(1, ORDER):
            table[k:] -= table[k - 1 : -1].copy()
        return Seen(found, table)

    def speed(self, s: float, rest: Floats) -> Floats:
        """d rho / ds."""
        return SERIES @ self.look(s, rest).differences

    def _gradient(self, s: float, rest: Floats) -> tuple[Evaluated, Floats]:
        """The gradient, and minus its unit vector, minus What."""
        found, gradient = self._kernel.gradient_at(s / self.eta, self._iterate, rest)
        if not found.norm >= 0:
            raise FlowFailure(f"the gradient at t = {s / self.eta:.3e} is out of the compiled form's range")
        if not self.eta * found.curvature < 2 * found.norm:
            raise FlowFailure(f"steps of length {self.eta:.3g} may not follow the flow at t = {s / self.eta:.3e}")
        return found, -(gradient / found.norm + self.What + self._iterate.reference_low)


class Follower:
    """The flow from a state on, and its states at chosen times."""

    def __init__(self, field: WholeField, s: float, rest: Floats, looser: float) -> None:
        self._field = field
        tolerance = TOLERANCE * looser
        self._solver = scipy.integrate.DOP853(field.speed, s, rest, LONGER * s, rtol=tolerance, atol=tolerance)
        self._between: scipy.integrate.DenseOutput | None = None
        self._seen = field.look(s, rest)
        self._arc = self._distance = self._rounding = self._log_growth = 0.0
        self._count = 0
        self._kept: list[tuple[Floats, float, float, float, float, int]] = []

    @property
    def one_hot(self) -> bool:
        """Whether attention is one-hot to rounding."""
        return self._seen.gradient.one_hot

    def go_to(self, s: float, stop: float) -> None:
        """Follow the flow to the time s by solver steps, none of them beyond ``stop``."""
        solver = self._solver
        while solver.t < s:
            before, self._between = solver.t, None
            solver.t_bound, solver.status = stop, "running"
            if (problem := solver.step()) is not None:
                raise FlowFailure(f"DOP853 stopped at t = {solver.t / self._field.eta:.3e}: {problem}")
            last, self._seen = self._seen, self._field.look(solver.t, solver.y)
            self._add_bounds(solver.t - before, last, self._seen)

    def keep(self, s: float) -> None:
        """Keep the state at a time s of the last solver step."""
        rest = self._solver.y
        if s < self._solver.t:
            self._between = self._between or self._solver.dense_output()
            rest = self._between(s)
        rounding = self._rounding + TOLERANCE * (len(rest) ** 0.5 + float(np.linalg.norm(rest)))
        self._kept.append((rest, self._arc, self._distance, rounding, self._log_growth, self._count))

    def _add_bounds(self, duration: float, last: Seen, seen: Seen) -> None:
        turned, *_, bent = (float(norm) for norm in np.linalg.norm(seen.differences - last.differences, axis=1))
        relative = max(one.gradient.relative if not one.gradient.lost else np.inf for one in (last, seen))
        concavity = max(one.gradient.concavity / one.gradient.norm for one in (last, seen))
        growth = turned + duration * concavity
        self._arc += turned
        self._log_growth += growth
        self._distance = np.exp(growth) * (self._distance + self._field.eta / (ORDER + 1) * bent)
        self._rounding = np.exp(growth) * (self._rounding + duration * ROUNDINGS * EPS * (relative + 4))
        self._count += 1

    def path(self, first: int = 0) -> FlowPath:
        """The path at the times kept, without the ``first`` ones."""
        kept = zip(*self._kept[first:], strict=True)
        rest, arc, distance, rounding, log_growth, count = (np.array(each) for each in kept)
        along = rest @ self._field.What
        across = rest - along[:, np.newaxis] * self._field.What
        return FlowPath(across, along, arc, distance, rounding, log_growth, count)


def flow_to_one_hot(
    kernel: CompiledSteps,
    iterate: Iterate,
    wanted: Sequence[int],
    least: int,
    last: int,
    accurate: Callable[[Flow], bool] = lambda _: True,
) -> Flow:
    """Follow the flow to the first of its stops from ``least`` on with one-hot attention, at most to a last step.

    The states are those of the requested steps on the way and of the stops. A solver step of the first solution
    ends at each stop, one of the second at every other. ``accurate`` is asked of the states since the last stop, whose
    error bounds in the whole flow are no smaller.

    Raises
    ------
    FlowFailure
        Steps are too long for descent to follow the flow, a solver fails, or the flow is not ``accurate``.
    """
    field, eta, t = WholeField(kernel, iterate), iterate.lr, iterate.moves
    fine, coarse = (Follower(field, eta * t, iterate.rest, looser) for looser in (1.0, COARSER))
    steps: list[int] = []
    further, known = t, 0
    while t < last and not (fine.one_hot and t >= least):
        stop = min(last, int(np.ceil(LONGER * t)))
        if stop > further:
            further = int(np.ceil(LONGER * stop))
        for goal in (*(step for step in wanted if t < step < stop), stop):
            for follower, end in ((fine, stop), (coarse, further)):
                follower.go_to(eta * float(goal), eta * float(end))
                follower.keep(eta * float(goal))
            steps.append(goal)
        new = np.array(steps[known:])
        if not accurate(with_bounds(field.What, eta, new, fine.path(known), coarse.path(known), iterate.state_error)):
            raise FlowFailure(f"the flow from t = {iterate.moves} is not accurate at t = {stop}")
        t, known = stop, len(steps)
    return with_bounds(field.What, eta, np.array(steps), fine.path(), coarse.path(), iterate.state_error)
