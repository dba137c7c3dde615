"""Rates of attention at one state by eq. 10, with error bars."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.training.approximation import UNDERFLOW, Approximation
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.limit.backpropagated import Backpropagated, backpropagated
from marginaudit.training.snap.limit.fluctuation import Fluctuation
from marginaudit.training.snap.limit.level import Level
from marginaudit.training.snap.limit.overlap import Overlap, overlap


@dataclass(frozen=True)
class Rates:
    """Rates of eq. 10 per unit of eta_Z.

    Attributes
    ----------
    logits : Logits
    at : Fluctuation
        State of the decoder, shape (); see `mean_counts`.
    overlap : Overlap
        Overlap of the features at the state.
    f : Approximation, shape (classes, contextual)
    """

    logits: Logits
    at: Fluctuation
    overlap: Overlap
    f: Approximation

    @cached_property
    def gradient(self) -> Backpropagated:
        """gamma, beta and xi at the state."""
        return backpropagated(self.overlap, self.at)

    @cached_property
    def z_dot(self) -> Approximation:
        """z-dot_m = gamma sum over its classes of diag(f_n) sum over n' != n of beta_nn' (f_n f_n^T - I) f_n'.

        Source: arXiv 2305.16380, eq. 10; for beta see `backpropagated`. Shape (pairs,).
        """
        f, gradient = self.f, self.gradient
        beta = gradient.beta * (1.0 - np.eye(self.overlap.K)) * gradient.gamma
        by_token = Approximation(f.value.T, f.error.T)
        pulled = (beta[:, np.newaxis, :] * by_token[np.newaxis, :, :]).sum()
        along = f * (f * gradient.xi[:, np.newaxis] - pulled)
        by_class = Approximation(along.value.T, along.error.T)[np.newaxis]
        return (by_class * self.logits.of_query[:, np.newaxis, :]).sum()[self.logits.pairs]


def off_by(z: Approximation) -> float:
    """Relative error bound of each entry of f, including the rounding of the softmax and its norm."""
    rounding = 64 * UNIT_ROUNDOFF * (1 + np.abs(z.value).max(initial=0.0))
    return float(np.expm1(2 * float(z.error.max(initial=0.0))) + rounding)


def features(logits: Logits, z: Approximation) -> tuple[Approximation, Overlap]:
    """f_n, shape (classes, contextual), and their overlaps, with error bars from that of z.

    An error of z up to d changes each f by a factor between exp(-2 d) and exp(2 d), and each entry of E by its square.
    """
    moved = off_by(z)
    f = logits.attended(z.value)
    off = moved * f + UNDERFLOW * (logits.data.P > 0)
    return Approximation(f, off), replace(overlap(f.T), entry_error=3 * moved)


def mean_counts(level: Level, K: int) -> Fluctuation:
    """Fluctuation at t/K draws of every class: theta and sigma are 0, of shape (classes,) for a level of any shape."""
    none = Approximation(np.zeros(K), np.zeros(K))
    return Fluctuation(level, level, none, none)


def rates(logits: Logits, z: Approximation, at: Fluctuation) -> Rates:
    """Rates at a state; what depends on the gradient is computed when asked for.

    Parameters
    ----------
    z : Approximation, shape (pairs,)
    at : Fluctuation
        State of the decoder, shape (); see `mean_counts`.

    Raises
    ------
    ValueError
        The features are linearly dependent.
    """
    f, own = features(logits, z)
    return Rates(logits, at, own, f)
