"""Corollary 1 counted: batch-1 steps until every class's residual is at most epsilon."""

from collections.abc import Callable
from math import ceil, floor, log, log10, sqrt

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import ArrayLike, NDArray

from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, by_formula, series
from marginaudit.claims.snap.appendix_d4_sampled_classes.quantiles import DELTAS
from marginaudit.claims.snap.conditions import least_rate
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.snap.counts.mean_counts import radius_of

RESIDUALS = 10.0 ** np.arange(1, 8)
"""1/epsilon, over six decades."""

LARGE_M = 10**9
"""M of the sweep along eta_Y: large enough for many decades of eta_Y in range R."""


EVIDENCE = 10.0 ** np.arange(9)
"""ln(1/delta)."""

SMALL_LEVELS = (0.5, 0.1, 0.01, 1e-6, 1e-30)
"""Values of delta for counting steps."""

STRICTEST = DELTAS[1]
"""delta of the sweeps."""


def steps_of_a_class(
    M: NDArray[np.float64], eta: NDArray[np.float64], inverse: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and most steps S on one class until its residual is epsilon: M - 1 + exp(M h) = sqrt(M (M-1))/epsilon.

    By Lemma 6 the continuous h has it at s = (exp(x) - 1 + (M-1) x)/(M eta_Y), and h* no later. It leads by a lag of
    at most exp(eta_Y)/2 (ln((M - 1 + exp(x))/M) + eta_Y): see `marginaudit.training.snap.limit.recursion.h_star`.
    """
    x = np.log(np.sqrt(M * (M - 1)) * inverse - (M - 1))
    s = (np.expm1(x) + (M - 1) * x) / (M * eta)
    lag = np.exp(eta) / 2 * (np.log((M - 1 + np.exp(x)) / M) + eta)
    return np.maximum(1, np.floor((s - lag) * (1 - 1e-12))), np.ceil(s * (1 + 1e-12))


def first_steps(K: int, delta: float) -> int:
    """The least N >= 10 K^2 with N-bar >= 10 Delta, where Corollary 1 starts to apply.

    N-bar >= 10 Delta requires N/K + 1 > 10 sqrt(N ln(1/delta)) and follows from N/K >= 10 sqrt(N ln(1/delta)) + 10.
    """
    half = MUCH_GREATER / 2 * K * sqrt(log(1 / delta))
    least = max(MUCH_GREATER * K**2, floor((half + sqrt(max(half**2 - K, 0.0))) ** 2 * (1 - 1e-12)))
    surely = max(least, ceil((half + sqrt(half**2 + MUCH_GREATER * K)) ** 2 * (1 + 1e-12)))
    N = np.arange(least, surely + 1)
    return int(N[np.argmax(covered(N, K, delta))])


def covered(N: NDArray[np.int64], K: int, delta: float) -> NDArray[np.bool_]:
    """Whether N-bar >= 10 Delta."""
    return np.asarray(MUCH_GREATER * radius_of(N, delta) <= -(-N // K))


def largest_residual(run: ClassRun) -> float:
    """Least 1/epsilon, a power of ten, at which Corollary 1 covers the N with small residuals: 1/epsilon = N/K."""
    return float(10.0 ** max(1, ceil(log10(first_steps(run.K, STRICTEST) / run.K))))


def epochs(S: NDArray[np.float64], K: int, delta: float = STRICTEST) -> NDArray[np.float64]:
    """The least N after which each class has S steps with probability 1 - delta by the union bound."""
    low, high = S - 1, 4 * K * (S + 100)
    before = np.full_like(low, np.nan)
    while not np.array_equal(low + high, before, equal_nan=True):
        before = low + high
        middle = np.floor(before / 2)
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
    inverse = largest_residual(run) * RESIDUALS / RESIDUALS[0]
    return _swept(run.K, run.M, run.eta_Y, inverse, inverse, "1/epsilon")


def along_M(run: ClassRun) -> Series:
    """N until all residuals are one epsilon, along M from the start of range R."""
    least = max(1000.0, (MUCH_GREATER / run.eta_Y) ** (1 / 0.99))
    M = np.ceil(least * 10.0 ** np.linspace(0, 6, 25))
    return _swept(run.K, M, run.eta_Y, largest_residual(run), M, "M")


def along_rate(run: ClassRun) -> Series:
    """N until all residuals are one epsilon, along whole 1/eta_Y in range R at M = 10^9."""
    inverse = np.unique(np.floor(np.geomspace(2, 1 / least_rate(LARGE_M), 25)))
    return _swept(run.K, LARGE_M, 1 / inverse, largest_residual(run), inverse, "1/eta_Y")


def rate(run: ClassRun, M: ArrayLike, eta: ArrayLike, inverse: ArrayLike) -> NDArray[np.float64]:
    """K/(eps eta_Y) ln(M/eps)."""
    M, eta, inverse = (np.asarray(x, dtype=float) for x in (M, eta, inverse))
    return np.asarray(run.K * inverse / eta * np.log(M * inverse))


def undrawn(run: ClassRun) -> Series:
    """Last N with an undrawn class, its residual near 1, at a probability above delta; along ln(1/delta).

    A class is undrawn with probability (1-1/K)^N.
    """
    return by_formula(np.floor(EVIDENCE / -np.log1p(-1 / run.K)), step=EVIDENCE, clock="ln(1/delta)")


def first_covered(run: ClassRun, delta: float) -> float:
    """``least_for`` this delta alone: the first N covered by Corollary 1."""
    return first_steps(run.K, delta)


def least_for_any(run: ClassRun, delta: float) -> float:
    """``least_for`` every delta: 8 K ln(K/delta)."""
    return 8 * run.K * log(run.K / delta)


@once_a_run
def steps_enough(run: ClassRun, least_for: Callable[[ClassRun, float], float]) -> tuple[Series, NDArray[np.float64]]:
    """N until all residuals are epsilon by the union bound, and its proved upper bound.

    The upper bound is the larger of 2 K S, S of a class, and ``least_for`` a delta.
    """
    K = run.K
    M, eta, inverse = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(run.M, run.eta_Y, RESIDUALS))
    S = steps_of_a_class(M, eta, inverse)
    value, radius, bound, label = [], [], [], []
    for delta in SMALL_LEVELS:
        least, most = (epochs(one, K, delta) for one in S)
        value += ((least + most) / 2).tolist()
        radius += ((most - least) / 2).tolist()
        of_a_class = 2 * np.ceil((inverse + np.log(M * inverse)) / eta)
        bound += np.maximum(K * of_a_class, least_for(run, delta)).tolist()
        label += [f"delta = {delta:g}, epsilon = {1 / x:g}" for x in inverse]
    return series(value, radius=radius, label=tuple(label)), np.array(bound)
