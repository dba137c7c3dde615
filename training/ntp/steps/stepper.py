"""Gradient descent, W <- W - lr grad / ||grad|| or W <- W - lr grad, and its records."""

from collections.abc import Callable, Sequence

from marginaudit.training.ntp.records import Progress
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.loss import Loss, Row, row, rows
from marginaudit.training.ntp.steps.reduced import ReducedKQ

REPORTS = 200
"""Most calls of ``progress`` in a stage (and one at its end)."""


class Stepper:
    """Takes steps on a loss, compiled for a `ReducedKQ`."""

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        """Take steps up to number ``goal``, or until the gradient becomes `hidden`.

        Steps out of the compiled form's range are taken in NumPy.
        """
        kernel = self.loss.compiled if isinstance(self.loss, ReducedKQ) else None
        while iterate.moves < goal:
            if kernel is not None:
                kernel.take(iterate, goal, report)
            if iterate.moves < goal:
                if not self.step(iterate):
                    return
                report(iterate.moves)

    def step(self, iterate: Iterate) -> bool:
        """Take one step in NumPy; return False without a step if the gradient is `hidden`."""
        gradient = self.loss.gradient(iterate)
        if gradient.hidden:
            if gradient.rounding > 0:
                iterate.local_error = float("inf")  # from here on there is no bound
            return False
        iterate.step(
            gradient.value / gradient.norm,
            log_norm=gradient.log_norm,
            rounding=gradient.rounding / gradient.norm,
            curvature=gradient.curvature / gradient.norm,
            concavity=gradient.concavity / gradient.norm,
        )
        return True


def descend(
    stepper: Stepper, iterate: Iterate, steps: int, at: Sequence[int], progress: Progress | None, done: int
) -> list[Row]:
    """``steps`` steps from the zero initialisation, a row per step in ``at`` (increasing).

    If the gradient is zero, or at rounding level of the sum of its absolute terms (as when the terms of symmetric data
    cancel exactly), its direction is undefined and W does not move.

    Source: arXiv 2409.17335, Algorithm 1.
    """
    found: list[Row] = []
    reached: list[tuple[int, Iterate]] = []
    loss, report = stepper.loss, _reporter(progress, done, steps)
    for goal in dict.fromkeys((*at, steps)):
        if iterate.moves < goal:
            stepper.advance(iterate, goal, report)
        if iterate.moves < goal:
            break
        if len(found) + len(reached) < len(at):
            reached.append((goal, iterate if loss.together == 1 else iterate.copied()))
        if len(reached) == loss.together:
            found += rows(loss, reached)
            reached = []
    found += rows(loss, reached) if reached else []
    if len(found) < len(at):
        still = row(loss, iterate, at[len(found)])
        found.extend({**still, "step": later} for later in at[len(found) :])
    report(steps)
    return found


def _reporter(progress: Progress | None, done: int, steps: int) -> Callable[[int], None]:
    every = max(1, -(-steps // REPORTS))
    due = every

    def report(t: int) -> None:
        nonlocal due
        if progress is not None and (t >= due or t == steps):
            progress(done + t)
            due = t - t % every + every

    return report
