"""The compiled steps beside those in NumPy."""

import numpy as np
from numpy.typing import NDArray

from marginaudit.training.ntp.steps.descent import Descent
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.reduced import ReducedKQ


def both(
    problem: ReducedKQ, iterate: Iterate, moves: int, goal: int, rest: NDArray[np.float64] | None = None
) -> tuple[Iterate, Iterate]:
    """The states after the compiled and after the NumPy steps, from one state on."""
    fast, slow = (iterate.placed(moves, iterate.rest if rest is None else rest) for _ in range(2))
    descent = Descent(problem)
    descent.advance(fast, goal, lambda t: None)
    while slow.moves < goal and descent.step(slow):
        pass
    return fast, slow


def assert_same(fast: Iterate, slow: Iterate, tolerance: float = 1e-13) -> None:
    assert fast.moves == slow.moves
    scale = 1 + np.abs(slow.rest).max()
    np.testing.assert_allclose(fast.rest, slow.rest, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(fast.last, slow.last, rtol=0, atol=20 * tolerance)
