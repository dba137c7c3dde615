"""Deviations theta and sigma of the classes' rows from the row at the mean count (Corollary 1); Y by Theorem 5."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import Floats
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.limit.continuous import continuous, whole_steps
from marginaudit.training.snap.limit.level import Level
from marginaudit.training.snap.limit.overlap import Overlap
from marginaudit.training.snap.limit.recursion import h_star


@dataclass(frozen=True)
class Fluctuation:
    """Rows w_n = (1 + theta_n) (M-1) h(N-bar) zeta_n of SGD with the modified gradient, at counts N_n.

    Attributes
    ----------
    mean : Level
        H(N-bar), or h*(N-bar), N-bar = ceil(N/K), of shape (..).
    rows : Level
        Level of each row, of shape (.., classes).
    theta : Approximation, shape (.., classes)
        Ratio of the rows to those of the mean, minus 1 (eq. 68).
    sigma : Approximation, shape (.., classes)
        Ratio of the rows' share 1/(M-1+exp(M h)) to that of the mean, minus 1 (eq. 71). One per class.
    """

    mean: Level
    rows: Level
    theta: Approximation
    sigma: Approximation


EVERY = slice(None)


class FluctuationLaw(Protocol):
    """Function from counts, M and eta_Y to theta and sigma, of every class or of some."""

    def __call__(self, counts: ArrayLike, M: int, eta_Y: float, of: slice = EVERY) -> Fluctuation:
        """Fluctuation of the classes ``of``; the mean is that of all."""


def fluctuation(counts: ArrayLike, M: int, eta_Y: float, of: slice = EVERY) -> Fluctuation:
    """Theta and sigma of SGD with the modified gradient: rows at h*(N_n), the mean at h(N-bar).

    Parameters
    ----------
    counts : (.., classes) array of int
        N_n, with at least one step in total.
    M : int
        Tokens in the vocabulary.
    of : slice
        Classes with rows in the result.

    Raises
    ------
    ValueError
        Counts without a step, or see `h_star`.

    >>> found = fluctuation([[60, 40]], M=1000, eta_Y=0.5)
    >>> found.theta.value.round(6).tolist(), found.sigma.value.round(6).tolist()
    ([[0.031609, -0.031802]], [[-0.250658, 0.329657]])
    """
    return _of_rows(h_star(np.asarray(counts)[..., of], M, eta_Y).level, continuous(_mean_steps(counts), M, eta_Y))


def continuous_fluctuation(counts: ArrayLike, M: int, eta_Y: float, of: slice = EVERY) -> Fluctuation:
    """`fluctuation` as printed in eqs. 66 to 71, with the rows at h(N_n)."""
    return _of_rows(continuous(np.asarray(counts)[..., of], M, eta_Y), continuous(_mean_steps(counts), M, eta_Y))


def stepped_fluctuation(counts: ArrayLike, M: int, eta_Y: float, of: slice = EVERY) -> Fluctuation:
    """`fluctuation` with h*(N-bar) in place of h(N-bar) as the mean."""
    return _of_rows(h_star(np.asarray(counts)[..., of], M, eta_Y).level, h_star(_mean_steps(counts), M, eta_Y).level)


def _mean_steps(counts: ArrayLike) -> Floats:
    steps = np.asarray(counts, dtype=np.int64).sum(axis=-1)
    if not (steps > 0).all():
        raise ValueError("counts: got no step, expected at least 1")
    return whole_steps(steps, np.shape(counts)[-1])


def _of_rows(rows: Level, mean: Level) -> Fluctuation:
    theta = rows.logit / mean.logit[..., np.newaxis] - 1.0
    sigma = rows.share / mean.share[..., np.newaxis] - 1.0
    return Fluctuation(mean, rows, theta, sigma)


def rows(at: Fluctuation) -> Floats:
    """(I+Theta) W-bar(N): rows (1+theta_n) (M-1) h(N-bar) zeta_n, shape (.., classes, classes + 1).

    Column j < K belongs to next token j, the last one to every other token.

    >>> rows(fluctuation([2, 1], M=4, eta_Y=0.5)).round(6).tolist()
    [[0.697669, -0.232556, -0.232556], [-0.125, 0.375, -0.125]]
    """
    K = at.theta.value.shape[-1]
    h = (1 + at.theta.value) * at.mean.h.value[..., np.newaxis]
    zeta = np.where(np.eye(K, K + 1, dtype=bool), at.mean.M - 1.0, -1.0)
    return np.asarray(h[..., np.newaxis] * zeta)


def decoder(overlap: Overlap, at: Fluctuation) -> Floats:
    """Y = F (I-E') (I+Theta) W-bar(N) (eq. 70), shape (.., tokens, classes + 1); see `rows` for the columns.

    With the `fluctuation` of the counts, Y is the state of SGD from zero with the modified gradient of Lemma 3.
    """
    return np.asarray(overlap.dual @ rows(at))
