"""Corollary 1 counted: batch-1 steps until every class's residual is at most epsilon."""

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import ArrayLike, NDArray

from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.reports.series import Series, by_formula, series
from marginaudit.reports.snap.conditions import least_rate
from marginaudit.reports.snap.quantiles import DELTAS
from marginaudit.reports.snap.run import ClassRun

RESIDUALS = 10.0 ** np.arange(1, 8)
"""1/epsilon, over six decades."""

LARGE_M = 10**9
"""The M at which steps are swept along eta_Y: range R leaves many decades of eta_Y there."""

HALVINGS = 64
"""Bisections, enough to find a whole number in float64."""

EVIDENCE = 10.0 ** np.arange(9)
"""ln(1/delta)."""

SMALL_LEVELS = (0.5, 0.1, 0.01, 1e-6, 1e-30)
"""The delta at which steps are counted."""

STEADY_RESIDUAL = 100.0
"""1/epsilon where steps are swept along M or the step size."""


def steps_of_a_class(
    M: NDArray[np.float64], eta: NDArray[np.float64], inverse: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and most steps S on one class until its residual is epsilon: M - 1 + exp(M h) = sqrt(M (M-1))/epsilon.

    By Lemma 6 the continuous h is there at s = (exp(x) - 1 + (M-1) x)/(M eta_Y), and h* no later. It leads by a lag of
    at most exp(eta_Y)/2 (ln((M - 1 + exp(x))/M) + eta_Y): see `marginaudit.training.snap.limit.recursion.h_star`.
    """
    x = np.log(np.sqrt(M * (M - 1)) * inverse - (M - 1))
    s = (np.expm1(x) + (M - 1) * x) / (M * eta)
    lag = np.exp(eta) / 2 * (np.log((M - 1 + np.exp(x)) / M) + eta)
    return np.maximum(1, np.floor((s - lag) * (1 - 1e-12))), np.ceil(s * (1 + 1e-12))


def epochs(S: NDArray[np.float64], K: int, delta: float = DELTAS[1]) -> NDArray[np.float64]:
    """The least N after which each class has S steps with probability 1 - delta by the union bound."""
    low, high = S - 1, 4 * K * (S + 100)
    for _ in range(HALVINGS):
        middle = np.floor((low + high) / 2)
        fewer = scipy.special.betainc(middle - S + 1, S, 1 - 1 / K)  # P(Binomial(N, 1/K) < S)
        done = K * fewer <= delta
        low, high = np.where(done, low, middle), np.where(done, middle, high)
    return np.asarray(high)


def _swept(K: int, M: ArrayLike, eta: ArrayLike, inverse: ArrayLike, position: ArrayLike, clock: str) -> Series:
    M, eta, inverse = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (M, eta, inverse)))
    least, most = (epochs(S, K) for S in steps_of_a_class(M, eta, inverse))
    return series((least + most) / 2, radius=(most - least) / 2, step=np.asarray(position), clock=clock)


def along_residual(run: ClassRun) -> Series:
    """N until all residuals are epsilon, along 1/epsilon."""
    return _swept(run.K, run.M, run.eta_Y, RESIDUALS, RESIDUALS, "1/epsilon")


def along_M(run: ClassRun) -> Series:
    """N until all residuals are 0.01, along M from where range R begins."""
    least = max(1000.0, (MUCH_GREATER / run.eta_Y) ** (1 / 0.99))
    M = np.ceil(least * 10.0 ** np.linspace(0, 6, 25))
    return _swept(run.K, M, run.eta_Y, STEADY_RESIDUAL, M, "M")


def along_rate(run: ClassRun) -> Series:
    """N until all residuals are 0.01, along whole 1/eta_Y in range R at M = 10^9."""
    inverse = np.unique(np.floor(np.geomspace(2, 1 / least_rate(LARGE_M), 25)))
    return _swept(run.K, LARGE_M, 1 / inverse, STEADY_RESIDUAL, inverse, "1/eta_Y")


def rate(run: ClassRun, M: ArrayLike, eta: ArrayLike, inverse: ArrayLike) -> NDArray[np.float64]:
    """K/(eps eta_Y) ln(M/eps)."""
    M, eta, inverse = (np.asarray(x, dtype=float) for x in (M, eta, inverse))
    return np.asarray(run.K * inverse / eta * np.log(M * inverse))


def undrawn(run: ClassRun) -> Series:
    """The last N after which some class is undrawn, its residual near 1, with a chance above delta; along ln(1/delta).

    A class is with a chance of (1-1/K)^N.
    """
    return by_formula(np.floor(EVIDENCE / -np.log1p(-1 / run.K)), step=EVIDENCE, clock="ln(1/delta)")


def steps_enough(run: ClassRun) -> tuple[Series, NDArray[np.float64]]:
    """N until all residuals are epsilon by the union bound, and the most that is proved of it."""
    K = run.K
    M, eta, inverse = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(run.M, run.eta_Y, RESIDUALS))
    S = steps_of_a_class(M, eta, inverse)
    value, radius, bound, label = [], [], [], []
    for delta in SMALL_LEVELS:
        least, most = (epochs(one, K, delta) for one in S)
        value += ((least + most) / 2).tolist()
        radius += ((most - least) / 2).tolist()
        of_a_class = 2 * np.ceil((inverse + np.log(M * inverse)) / eta)
        bound += (K * np.maximum(of_a_class, 8 * np.log(K / delta))).tolist()
        label += [f"delta = {delta:g}, epsilon = {1 / x:g}" for x in inverse]
    return series(value, radius=radius, label=tuple(label)), np.array(bound)
