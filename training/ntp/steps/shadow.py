"""Effect of stage 1's rounding on stage 2: both run once more, stage 1 off by as much as rounding may be.

The bound on the error of W_ov (`Iterate.state_error`) multiplies what each step may do to an error, at worst. Of long
steps on embeddings that are not orthonormal it is far too large to be of use: 1e275, where W_kq was then off
by 1e-9 of it. The distance of two runs that are apart by what rounding allows is an estimate and no bound.
"""

from collections.abc import Callable

import numpy as np

from marginaudit.training.ntp.steps.descent import Descent
from marginaudit.training.ntp.steps.iterate import Floats, Iterate
from marginaudit.training.ntp.steps.loss import Loss

SAFETY = 4.0
"""Safety factor of the error bar over the distance of both runs."""

TOGETHER = 1000
"""Most steps of one run before those of the other."""

CLOSE = 1e-3
"""Relative error of W_ov up to which errors grow like the distance of two runs; farther apart, runs tell nothing."""


def unlike(weights: Floats, others: Floats) -> bool:
    """Whether two runs of stage 1 are too far apart to tell its error, as after steps that make every error grow."""
    return bool(SAFETY * np.linalg.norm(weights - others) > CLOSE * np.linalg.norm(weights))


def perturbed(values: Floats, by: float) -> Floats:
    """The values, each off by at most ``by``."""
    return values + np.random.default_rng(1).uniform(-by, by, values.shape)


class Perturbed(Descent):
    """Steps that are each off by as much as their rounding may be, in a random direction."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss)
        self._random = np.random.default_rng(0)

    def step(self, iterate: Iterate) -> bool:
        """One step; False, and none is taken, where the gradient is `hidden`."""
        before = iterate.local_error
        if not super().step(iterate):
            return False
        direction = self._random.normal(size=iterate.low.shape)
        iterate.low += (iterate.local_error - before) / np.linalg.norm(direction) * direction
        return True


class Beside(Descent):
    """Steps on a loss, and beside them as many of another iterate by another descent."""

    def __init__(self, loss: Loss, descent: Descent, other: Iterate) -> None:
        super().__init__(loss)
        self._descent, self._other = descent, other

    def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        """Steps of both, some at a time, so that progress is reported all along."""
        while iterate.moves < goal:
            some = min(goal, iterate.moves + TOGETHER)
            super().advance(iterate, some, report)
            self._descent.advance(self._other, iterate.moves, lambda _: None)
            if iterate.moves < some:
                return


class Shadowed(Beside):
    """Steps on a loss, and a shadow's on the loss perturbed by stage 1's rounding.

    Parameters
    ----------
    loss : Loss
    other : Loss
        With the W_ov of `Perturbed` steps.
    shadow : Iterate
        Where the shadow begins.
    lost : bool
        Whether nothing is known of the error of W_ov, as after steps that stopped at the level of rounding.
    """

    def __init__(self, loss: Loss, other: Loss, shadow: Iterate, *, lost: bool) -> None:
        super().__init__(loss, Descent(other), shadow)
        self._lost = lost

    def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        """Steps of both; their distance then counts as an error that the iterate inherits."""
        shadow = self._other
        self._lost = self._lost or self._undirected(iterate)
        super().advance(iterate, goal, report)
        apart = float(np.linalg.norm(iterate.weights - shadow.weights))
        known = shadow.moves == iterate.moves and not self._lost
        iterate.inherited_error = SAFETY * apart if known else float("inf")

    def _undirected(self, iterate: Iterate) -> bool:
        """Whether W_ov's error says where a normalised step goes, or that there is none where there may be one."""
        own, other = self.loss.gradient(iterate), self._descent.loss.gradient(self._other)
        if own.hidden or not iterate.normalised:
            return own.hidden and not other.hidden
        with np.errstate(over="ignore", invalid="ignore"):
            apart = float(np.linalg.norm(own.value - other.value * np.exp(other.log_scale - own.log_scale)))
        return not SAFETY * apart < own.norm
