"""The largest part as an integer program, and a bound on it that is proved in integers.

n_xy: whether n(x) = y; o_qx: whether x wins under q; k_sx: whether sample s is kept, and x wins in it.

    maximise sum of count_s k_sx  subject to
    k_sx <= n_xy,  k_sx <= o_qx,  o_qx + sum over x' != x of k_sx' <= 1  for every token x of s,
    sum over y of n_xy <= 1,  sum over x of n_xy <= 1.

q and y are the query and the next token of s; samples of one distinct token have the first kind of constraint alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.orders.ntp.realize.collocation import NONE, best_matching
from marginaudit.orders.ntp.realize.samples import Samples
from marginaudit.orders.ntp.realize.winners import Mask
from marginaudit.orders.relations import Indices

SCALE = 2**24
"""Multipliers are rounded to multiples of its inverse, so that their bound is an integer over it."""

INTEGER = 1e-6
"""HiGHS's tolerance on integers."""


@dataclass(frozen=True, eq=False)
class Program:
    """The program of some samples: maximise weight @ v, A v <= b, 0 <= v <= 1; pairs first, then winners, then k.

    Attributes
    ----------
    A : (rows, variables)
        Of entries -1, 0 and 1.
    b : (rows,)
    weight : (variables,)
        Integers.
    pairs : (pairs,)
        x V + y of each n_xy.
    wins : (places,)
        The variable o_qx of each place; `NONE` for samples of one distinct token.
    """

    A: "scipy.sparse.csr_array"
    b: Indices
    weight: Indices
    pairs: Indices
    wins: Indices
    V: int

    @property
    def integers(self) -> Indices:
        """1 for variables that are to be integers; the others then are, too."""
        return np.equal(self.weight, 0).astype(np.int64)

    def source(self, values: NDArray[np.float64]) -> Indices:
        """The collocation, given backwards, on which values of the n_xy are largest."""
        size = np.rint(SCALE * values[: len(self.pairs)]).astype(np.int64)
        return best_matching(scipy.sparse.csr_array((size, divmod(self.pairs, self.V)), shape=(self.V, self.V)))[0]

    def winner(self, values: NDArray[np.float64]) -> Mask:
        """The places of winners, as values of the variables say."""
        found: Mask = (self.wins != NONE) & (values[self.wins] > 0.5)
        return found


def program(samples: Samples) -> Program:
    """The program of all samples."""
    V, places = samples.vocabulary_size, len(samples.token)
    owner = np.repeat(np.arange(len(samples)), samples.size)
    related, can = samples.size[owner] > 1, np.flatnonzero(samples.eligible)
    pairs, pair = np.unique(samples.token[can] * np.int64(V) + samples.next[owner[can]], return_inverse=True)
    scores, score = np.unique(samples.query[owner] * V + samples.token, return_inverse=True)
    wins = np.where(related, len(pairs) + score, NONE)
    k = np.full(places, NONE, dtype=np.int64)
    k[can] = len(pairs) + len(scores) + np.arange(len(can))
    variables = len(pairs) + len(scores) + len(can)

    rows: list[tuple[Indices, Indices, int]] = []
    bound: list[Indices] = []

    def add(number: int, right: int, *terms: tuple[Indices, Indices, int]) -> None:
        """Add ``number`` rows, each a sum of terms (row, variable, sign) that is at most ``right``."""
        above = sum(map(len, bound))
        rows.extend((above + row, variable, sign) for row, variable, sign in terms)
        bound.append(np.full(number, right))

    each = np.arange(len(can))
    add(len(can), 0, (each, k[can], 1), (each, pair, -1))
    both = can[related[can]]
    each = np.arange(len(both))
    add(len(both), 0, (each, k[both], 1), (each, wins[both], -1))
    others, beside = _others(samples, both, owner)
    add(places, 1, (others, k[beside], 1), (np.flatnonzero(related), wins[related], 1))
    for end in (pairs // V, pairs % V):
        add(V, 1, (end, np.arange(len(pairs)), 1))
    row, variable, sign = (
        np.concatenate(parts) for parts in zip(*[(r, v, np.full(len(r), s)) for r, v, s in rows], strict=True)
    )
    A = scipy.sparse.coo_array((sign, (row, variable)), shape=(sum(map(len, bound)), variables)).tocsr()
    weight = np.zeros(variables, dtype=np.int64)
    weight[k[can]] = samples.count[owner[can]]
    return Program(A, np.concatenate(bound), weight, pairs, wins, V)


def _others(samples: Samples, eligible: Indices, owner: Indices) -> tuple[Indices, Indices]:
    """Each pair of places of one sample, the second another one and eligible."""
    size = samples.size[owner[eligible]]
    beside = np.repeat(eligible, size)
    within = np.arange(len(beside)) - np.repeat(np.cumsum(size) - size, size)
    place = samples.start[owner[beside]] + within
    other = place != beside
    return place[other], beside[other]


def relaxed(found: Program) -> tuple[NDArray[np.float64], int]:
    """Values that solve the linear relaxation, and how many samples can be kept at most, proved by its multipliers."""
    solve: Any = scipy.optimize.linprog  # its stubs have no sparse matrix
    answer = solve(-found.weight, A_ub=found.A, b_ub=found.b, bounds=(0, 1))
    if answer.x is None:
        return np.zeros(len(found.weight)), int(found.weight.sum())
    multipliers = np.maximum(0, np.rint(-SCALE * answer.ineqlin.marginals)).astype(np.int64)
    return answer.x, proved_bound(found, multipliers)


def proved_bound(found: Program, multipliers: Indices) -> int:
    """Upper bound on the samples that can be kept, in integers, by lambda = multipliers / `SCALE` >= 0.

    Every v with A v <= b and 0 <= v <= 1 has weight @ v <= lambda @ b + the sum of max(0, weight - A^T lambda).
    """
    rest = SCALE * found.weight - found.A.T @ multipliers
    return int((multipliers @ found.b + np.maximum(rest, 0).sum()) // SCALE)


def solved(found: Program, nodes: int) -> tuple[NDArray[np.float64] | None, int]:
    """The best values that branch and bound finds in ``nodes`` nodes, None for none, and HiGHS's bound."""
    answer: Any = scipy.optimize.milp(
        -found.weight,
        constraints=scipy.optimize.LinearConstraint(found.A, ub=found.b),
        bounds=scipy.optimize.Bounds(0, 1),
        integrality=found.integers,
        options={"node_limit": nodes, "mip_rel_gap": 0},
    )
    bound = answer.mip_dual_bound
    most = int(found.weight.sum()) if bound is None or not np.isfinite(bound) else int(np.floor(-bound + INTEGER))
    return answer.x, most
