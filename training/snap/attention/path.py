"""Eq. 10 integrated: the logits z of every query, B_n = eta_Z int xi_n of every class, and the clock Gamma."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.approximation import Approximation
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.solver import (
    FROM_ZERO,
    SAFETY,
    TOLERANCE,
    Rate,
    solved,
)
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.overlap import overlap

LEAST, MOST = 1e-100, 1e50
"""Range of Gamma at the requested times; outside it the solver loses accuracy."""


@dataclass(frozen=True)
class AttentionPath:
    """Solution of eq. 10: z and B.

    Attributes
    ----------
    logits : Logits
        Index of z.
    z : Approximation, shape (times, pairs)
    B : Approximation, shape (times, classes)
    """

    logits: Logits
    z: Approximation
    B: Approximation


def follow(data: SequenceClasses, turns: ArrayLike) -> AttentionPath:
    """Integrate eq. 10 from z = 0 to given values ``turns`` of Gamma(t) = eta_Z int gamma; see `turned`.

    dz_m/dGamma = sum over the query's classes n of diag(f_n) sum over n' != n of beta_nn' (f_n f_n^T - I) f_n', and
    dB_n/dGamma = sum of beta_nn' f_n^T f_n'. F, E and beta are computed from the current z, as in Theorem 1 and
    eq. 13; theta and sigma are 0, their values at the mean counts t/K of the classes. Beta is that of the actual
    gradient: eq. 88 with its sign mended. On this clock the equation has no learning rate.

    The error bar of `solved` here includes the rounding of the turns and of E. Nearly dependent classes amplify the
    rounding of E, as does the difference in dz of a token with all attention: see `_roundings`.

    Parameters
    ----------
    turns : (times,) array
        Gamma, nonnegative and nondecreasing.

    Raises
    ------
    ValueError
        The classes' attention is linearly dependent, so E' is undefined.
    NotIntegrated
        A turn other than 0 is beyond `LEAST` or `MOST`, or see `solved`.

    >>> data = SequenceClasses.from_weights("two", 5000, [("m", "q", {"a": 1, "c": 1}), ("n", "q", {"b": 1, "c": 1})])
    >>> path = follow(data, [1.0, 100.0])
    >>> path.z.value.round(6).tolist(), path.B.value[:, 0].round(6).tolist()
    ([[0.117153, -0.234306, 0.117153], [0.576312, -1.152625, 0.576312]], [0.201297, 0.73773])
    """
    at = np.asarray(turns, dtype=np.float64)
    logits = Logits(data)
    overlap(logits.attended(np.zeros(len(logits.names))).T)
    asked = at[at > 0]
    if len(asked) and (asked[0] < LEAST or asked[-1] > MOST):
        raise NotIntegrated(f"Gamma from {asked[0]:.3g} to {asked[-1]:.3g} is not within {LEAST:g} to {MOST:g}")
    pairs = len(logits.names)
    turn, nudged = _turning(logits), _turning(logits, _roundings(data) / SAFETY)
    found = solved(turn, pairs + data.K, at, _first_sizes(turn, nudged, pairs, data.K, asked), nudged)
    return AttentionPath(logits, found[:, :pairs], found[:, pairs:])


def _first_sizes(turn: Rate, nudged: Rate, pairs: int, K: int, asked: Floats) -> Floats:
    """Scale of each state, z of the pairs and B of the classes, at the first time, for the tolerances of `solved`.

    If tokens (nearly) tie, the rate of their z is a small difference, with fewer correct digits than the solver's
    tolerance requires. Such a z is integrated to the rounding error accumulated up to the last time.
    """
    start = np.zeros(pairs + K)
    if not len(asked):
        return np.ones(len(start))
    pace = turn(0.0, start)
    first, rounding = np.abs(pace).max() * asked[0], np.abs(nudged(0.0, start) - pace)
    hidden = (rounding > TOLERANCE * np.abs(pace)) & (np.arange(len(start)) < pairs)
    return np.asarray(np.where(hidden, np.maximum(first, rounding * asked[-1] / (TOLERANCE * FROM_ZERO)), first))


def _roundings(data: SequenceClasses) -> float:
    """Relative rounding error of each entry of E, that of the solution for E' included, and of each term of dz.

    E has 2 n + 6 roundings for n tokens, as in `overlap_of`. Elimination solves for a matrix with 3 K further relative
    roundings, those of I + E. Scaling all entries by one factor scales each eigenvalue of E. For the one nearest -1
    this is the largest shift of any such change, and the inverse of its distance from -1 is the condition number. A
    term of dz has up to four factors f of n/2 + 3 roundings, sums over n tokens and K classes and five products:
    3 n + K + 17.
    """
    n = max(len(c.support) for c in data.classes)
    return (3 * n + 17 + 3 * data.K) * UNIT_ROUNDOFF


def _turning(logits: Logits, part: float = 0.0) -> Rate:
    """Derivatives of z and B in Gamma, with the entries of E and the terms of dz perturbed by a relative ``part``.

    A class moves its token l by f_l (f_l xi - u_l), where u is the sum of beta_nn' f_n' and xi = f^T u. With
    r = u_a/f_a for the token a of largest attention this equals f_l (f_l f^T (u - r f) - (u - r f)_l), as |f| = 1. This
    form has no cancellation if a has all attention, and leaves tied tokens exactly in place.
    """
    data, pairs = logits.data, len(logits.names)
    q_0, q_1 = -data.M / (data.M - 1.0) ** 2, data.M / (data.M - 1.0)
    unit, diagonal = np.eye(data.K), slice(None, None, data.K + 1)
    query, token = logits.pairs
    first, moving = np.arange(data.K) * len(data.contextual), query * len(data.contextual) + token

    def turn(_: float, state: Floats) -> Floats:
        f = logits.attended(state[:pairs])
        E = (1 + part) * (f @ f.T)
        E.flat[diagonal] = 0.0
        try:
            E_prime = np.linalg.solve(unit + E, E)
        except np.linalg.LinAlgError:
            E_prime = np.full_like(E, np.inf)
        if not np.isfinite(E_prime).all():
            raise NotIntegrated("on its way the classes' attention becomes linearly dependent")
        beta = (q_1 - q_0) * E_prime - q_0 * (1 - np.add.reduce(E_prime, axis=1))
        beta.flat[diagonal] = 0.0
        xi = np.add.reduce(beta * E, axis=1)
        top = first + f.argmax(axis=1)  # in the flattened array
        share = f / f.take(top)[:, np.newaxis]
        pulled = beta @ f
        beyond = pulled - share * pulled.take(top)[:, np.newaxis]
        by_class = f * (f * np.add.reduce(f * beyond, axis=1, keepdims=True) - beyond)
        if part:
            sizes = np.abs(beta) @ f
            sizes += share * sizes.take(top)[:, np.newaxis]
            sizes.flat[top] = 0.0
            by_class += part * f * (f * np.add.reduce(f * sizes, axis=1, keepdims=True) + sizes)
        moved = logits.of_query @ by_class
        return np.concatenate([moved.take(moving), xi])

    return turn


def turned(t: ArrayLike, K: int, M: int, eta_Y: float, eta_Z: float) -> Approximation:
    """Gamma(t) = eta_Z int_0^t gamma = (eta_Z/eta_Y) K (M-1)^2 h^2(t/K)/2, as h' = eta_Y/(M-1+exp(M h)).

    gamma is that of Lemma 9, with h(t/K); eq. 85 has h(ceil(t/K)).

    Source: arXiv 2305.16380, eq. 128.

    Parameters
    ----------
    t : array of any shape
        Batch-1 steps, nonnegative.
    K, M : int
        Classes, tokens in the vocabulary.

    Raises
    ------
    ValueError
        See `continuous`.

    >>> [f"{x:.10g}" for x in turned([0, 100, 1e18], K=2, M=1000, eta_Y=0.5, eta_Z=0.05).value]
    ['0', '9.274770874', '220.1582549']
    """
    rows = continuous(np.asarray(t, dtype=np.float64) / K, M, eta_Y).h * (M - 1.0)
    return rows * rows * (eta_Z / eta_Y * K / 2)
