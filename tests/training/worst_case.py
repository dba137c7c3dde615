"""The most that rounding may change what a program computes, to first order, by forward differentiation.

A program is written for arrays of runs, shape (runs, ...), and passes what it rounds through `Rounding`. Each run gives
one rounded number an imaginary part, and so the derivative of the result by it. The sum of their absolute values is the
worst that roundings can add up to, in units of the unit roundoff.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

STEP = 1e-30


class Rounding:
    """Rounds arrays of runs, each number by ``times`` unit roundoffs at most."""

    def __init__(self, runs: int) -> None:
        self.runs, self.used = runs, 0

    def __call__(self, x: Any, times: float = 1.0) -> Any:
        size, off = x[0].size, np.zeros((self.runs, x[0].size), dtype=complex)
        if self.runs > 1:
            off[self.used + np.arange(size), np.arange(size)] = STEP * 1j
        self.used += size
        return x * (1 + times * off.reshape(x.shape))

    def given(self, x: Any) -> Any:
        """Input data, each number rounded once; zeros and ones are exact."""
        every = np.broadcast_to(np.asarray(x, dtype=complex), (self.runs, *np.shape(x)))
        return every if np.isin(x, (0, 1)).all() else self(every)

    def dot(self, a: Any, b: Any) -> Any:
        """Inner products along the last axis; of k nonzero terms each is rounded k times."""
        terms = a * b
        return self(terms, max(np.count_nonzero(terms[0], axis=-1).max(), 1)).sum(axis=-1)

    def softmax(self, z: Any, exp: float) -> Any:
        """Softmax along the last axis; ``exp`` is the error of an exponential, in unit roundoffs."""
        e = self(np.exp(self(z - z.real.max(axis=-1, keepdims=True))), exp)
        return self(e / self(e, z.shape[-1]).sum(axis=-1, keepdims=True))


def most(program: Callable[[Rounding], Any]) -> Any:
    """The sum of the absolute derivatives of a program's result by all that it rounds."""
    counting = Rounding(1)
    program(counting)
    return np.abs(program(Rounding(counting.used)).imag / STEP).sum(axis=0)
