"""Stage 2 before attention is one-hot: gradient flow of the whole loss in place of steps.

The bound of `flow` on the difference holds with e^G in place of e^L, where G is the arc L plus the integral along the
flow of minus the Hessian's smallest eigenvalue over the gradient's norm, which is 0 where the loss is convex. A step of
the explicit solver is as long as hundreds of steps of descent, as eta times the curvature is far below 2.
"""

from collections.abc import Sequence

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.training.ntp.far.flow import COARSER, Flow, FlowFailure, FlowPath, with_bounds
from marginaudit.training.ntp.steps.compiled import CompiledSteps, Evaluated
from marginaudit.training.ntp.steps.iterate import Floats, Iterate

TOLERANCE = 1e-9
"""Absolute and relative tolerance of the solver."""

LONGER = 5 / 4
"""Ratio of the steps at which the flow is asked whether attention is one-hot."""


class WholeField:
    """The unit vector against the gradient, on rho of W = s What + rho, in time s."""

    def __init__(self, kernel: CompiledSteps, iterate: Iterate) -> None:
        self._kernel, self._iterate = kernel, iterate
        self.eta, self.What = iterate.lr, iterate.reference

    def look(self, s: float, rest: Floats) -> tuple[Evaluated, Floats]:
        """The gradient, and its unit vector minus -What."""
        found, gradient = self._kernel.gradient_at(s / self.eta, self._iterate, rest)
        if not found.norm >= 0:
            raise FlowFailure(f"the gradient at t = {s / self.eta:.3e} is out of the compiled form's range")
        if not self.eta * found.curvature < 2 * found.norm:
            raise FlowFailure(f"steps of length {self.eta:.3g} may not follow the flow at t = {s / self.eta:.3e}")
        return found, gradient / found.norm + self.What + self._iterate.reference_low

    def speed(self, s: float, rest: Floats) -> Floats:
        """d rho / ds."""
        return -self.look(s, rest)[1]


class Follower:
    """The flow from a state on, by a solver that ends a step at each goal."""

    def __init__(self, field: WholeField, s: float, rest: Floats, looser: float) -> None:
        self._field = field
        tolerance = TOLERANCE * looser
        self._solver = scipy.integrate.DOP853(field.speed, s, rest, LONGER * s, rtol=tolerance, atol=tolerance)
        found, self._direction = field.look(s, rest)
        self._concavity = found.concavity / found.norm
        self._arc = self._log_growth = 0.0
        self._count = 0
        self.one_hot = found.one_hot
        self.goals: list[tuple[Floats, float, float, int]] = []

    def go_to(self, s: float) -> None:
        """Follow the flow to the time s, and keep the state there."""
        solver = self._solver
        solver.t_bound, solver.status = s, "running"
        while solver.t < s:
            before = solver.t
            if (problem := solver.step()) is not None:
                raise FlowFailure(f"DOP853 stopped at t = {solver.t / self._field.eta:.3e}: {problem}")
            found, direction = self._field.look(solver.t, solver.y)
            turned = float(np.linalg.norm(direction - self._direction))
            concavity = found.concavity / found.norm
            self._arc += turned
            self._log_growth += turned + (solver.t - before) * max(concavity, self._concavity)
            self._direction, self._concavity, self.one_hot = direction, concavity, found.one_hot
            self._count += 1
        self.goals.append((solver.y.copy(), self._arc, self._log_growth, self._count))

    def path(self) -> FlowPath:
        """The path at all goals."""
        rest, arc, log_growth, count = zip(*self.goals, strict=True)
        states = np.array(rest)
        along = states @ self._field.What
        across = states - along[:, np.newaxis] * self._field.What
        return FlowPath(across, along, np.array(arc), np.array(log_growth), np.array(count, dtype=np.int64))


def flow_to_one_hot(kernel: CompiledSteps, iterate: Iterate, wanted: Sequence[int], least: int, last: int) -> Flow:
    """Follow the flow to the first of its stops from ``least`` on with one-hot attention, at most to a last step.

    The states are those of the requested steps on the way and of the stops.

    Raises
    ------
    FlowFailure
        Steps are too long for descent to follow the flow, or a solver fails.
    """
    field, eta, t = WholeField(kernel, iterate), iterate.lr, iterate.moves
    fine, coarse = (Follower(field, eta * t, iterate.rest, looser) for looser in (1.0, COARSER))
    goals: list[int] = []
    while t < last and not (fine.one_hot and t >= least):
        stop = min(last, int(np.ceil(LONGER * t)))
        for goal in [*(step for step in wanted if t < step < stop), stop]:
            s, before = eta * float(goal), eta * float(goals[-1] if goals else t)
            fine.go_to(s)
            coarse.go_to((before + s) / 2)
            coarse.go_to(s)
            goals.append(goal)
        t = stop
    steps = np.array(goals, dtype=np.int64)
    return with_bounds(field.What, eta, steps, fine.path(), coarse.path().at_every_second(), iterate.state_error)
