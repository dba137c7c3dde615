"""Effect of stage 1's rounding on stage 2: a second run of both, with stage 1 perturbed by its rounding.

The bound on the error of W_ov (`Iterate.state_error`) multiplies the worst growth of each step. For long steps on
embeddings that are not orthonormal it is useless: 1e275 where the relative error of W_kq was 1e-9. The distance of two
runs perturbed by rounding is an estimate, not a bound.
"""

from collections.abc import Callable

import numpy as np

from marginaudit.training.ntp.steps.iterate import Floats, Iterate
from marginaudit.training.ntp.steps.loss import Loss
from marginaudit.training.ntp.steps.stepper import Stepper

SAFETY = 4.0
"""Safety factor of the error bar over the distance of the two runs."""

TOGETHER = 1000
"""Largest number of steps of one run before those of the other."""

CLOSE = 1e-3
"""Relative error of W_ov up to which errors grow like the distance of two runs."""


def unlike(weights: Floats, others: Floats) -> bool:
    """Whether two runs of stage 1 are too far apart to estimate its error, as if every step amplifies errors."""
    return bool(SAFETY * np.linalg.norm(weights - others) > CLOSE * np.linalg.norm(weights))


def perturbed(values: Floats, by: float) -> Floats:
    """The values with random errors of at most ``by``."""
    return values + np.random.default_rng(1).uniform(-by, by, values.shape)


class Perturbed(Stepper):
    """Steps with random errors as large as their rounding bounds."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss)
        self._random = np.random.default_rng(0)

    def step(self, iterate: Iterate) -> bool:
        """Take one step; return False without a step if the gradient is `hidden`."""
        before = iterate.local_error
        if not super().step(iterate):
            return False
        direction = self._random.normal(size=iterate.low.shape)
        iterate.low += (iterate.local_error - before) / np.linalg.norm(direction) * direction
        return True


class Lockstep(Stepper):
    """Steps of two iterates, each by its own stepper, in lockstep."""

    def __init__(self, loss: Loss, stepper: Stepper, other: Iterate) -> None:
        super().__init__(loss)
        self._stepper, self._other = stepper, other

    def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        """Take steps of both, some at a time, for steady progress."""
        while iterate.moves < goal:
            some = min(goal, iterate.moves + TOGETHER)
            super().advance(iterate, some, report)
            self._stepper.advance(self._other, iterate.moves, lambda _: None)
            if iterate.moves < some:
                return


class Shadowed(Lockstep):
    """Steps of an iterate, in lockstep with its shadow on the loss perturbed by stage 1's rounding.

    Parameters
    ----------
    other : Loss
        With the W_ov of `Perturbed` steps.
    shadow : Iterate
        Start of the shadow.
    lost : bool
        Whether the error of W_ov is unknown, as after steps that stopped at rounding level.
    """

    def __init__(self, loss: Loss, other: Loss, shadow: Iterate, *, lost: bool) -> None:
        super().__init__(loss, Stepper(other), shadow)
        self._lost = lost

    def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        """Take steps of both; their distance becomes the iterate's inherited error."""
        shadow = self._other
        self._lost = self._lost or self._undirected(iterate)
        super().advance(iterate, goal, report)
        apart = float(np.linalg.norm(iterate.weights - shadow.weights))
        known = shadow.moves == iterate.moves and not self._lost
        iterate.inherited_error = SAFETY * apart if known else float("inf")

    def _undirected(self, iterate: Iterate) -> bool:
        """Whether the error of W_ov leaves the gradient's direction (or its being zero) undecided."""
        own, other = self.loss.gradient(iterate), self._stepper.loss.gradient(self._other)
        if own.hidden or not iterate.normalised:
            return own.hidden and not other.hidden
        with np.errstate(over="ignore", invalid="ignore"):
            apart = float(np.linalg.norm(own.value - other.value * np.exp(other.log_scale - own.log_scale)))
        return not SAFETY * apart < own.norm
