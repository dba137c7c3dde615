"""The largest part as an integer program, with an upper bound proved in integers.

n_xy: n(x) = y; o_qx: x wins under q; o_qxy: both; k_Sxy: n(x) = y and x is the only winner among the tokens of S, where
S is a class of samples of equal query q and set of tokens.

    maximise sum of count_Sxy k_Sxy  subject to
    k_Sxy <= o_qxy,  o_qxy <= n_xy,  sum over y of o_qxy <= o_qx,
    o_qx + sum over x' != x and y of k_Sx'y <= 1  for every token x of S,
    sum over y of n_xy <= 1,  sum over x of n_xy <= 1.

count_Sxy is the number of samples of S with next token y and eligible x, which are kept or dropped together. If S has
one token, the only constraint is k_Sxy <= n_xy. The o_qxy are redundant for integers but tighten the linear relaxation.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.orders.ntp.realize.matching import NONE, best_matching
from marginaudit.orders.ntp.realize.reduced_samples import ReducedSamples, alike
from marginaudit.orders.ntp.realize.winners import Mask
from marginaudit.orders.relations import Indices

SCALE = 2**24
"""Common denominator of rounded multipliers and of their bound."""

INTEGER = 1e-6
"""HiGHS's tolerance of integrality."""


@dataclass(frozen=True, eq=False)
class IntegerProgram:
    """The program of some samples: maximise weight @ v, A v <= b, 0 <= v <= 1; n_xy first, then o_qx, o_qxy and k_Sxy.

    Attributes
    ----------
    A : (rows, variables)
        Entries are -1, 0 and 1.
    b : (rows,)
    weight : (variables,)
        Integers.
    pairs : (pairs,)
        x V + y of each n_xy.
    wins : (places,)
        The variable o_qx of each place of the samples; `NONE` for samples of one distinct token.
    """

    A: "scipy.sparse.csr_array"
    b: Indices
    weight: Indices
    pairs: Indices
    wins: Indices
    V: int

    @property
    def integers(self) -> Indices:
        """1 for variables required to be integers; the others then are integers, too."""
        return np.equal(self.weight, 0).astype(np.int64)

    def source(self, values: NDArray[np.float64]) -> Indices:
        """The inverse collocation with the largest values of the n_xy."""
        size = np.rint(SCALE * values[: len(self.pairs)]).astype(np.int64)
        return best_matching(scipy.sparse.csr_array((size, divmod(self.pairs, self.V)), shape=(self.V, self.V)))[0]

    def winner(self, values: NDArray[np.float64]) -> Mask:
        """Places of winners by the values of the o_qx."""
        found: Mask = (self.wins != NONE) & (values[self.wins] > 0.5)
        return found


@dataclass(frozen=True, eq=False)
class Answers:
    """The k_Sxy of some samples.

    Attributes
    ----------
    S : (samples,)
        Number of each sample's S.
    place : (k,)
        A place of x in a sample of S with the next token y.
    count : (k,)
        count_Sxy.
    """

    S: Indices
    place: Indices
    count: Indices


def answers(samples: ReducedSamples) -> Answers:
    """The variables k_Sxy of the samples."""
    V, owner, S = samples.vocabulary_size, _owner(samples), alike(samples)
    can = np.flatnonzero(samples.eligible)
    code = (S[owner[can]] * V + samples.next[owner[can]]) * V + samples.token[can]
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    count = np.zeros(len(first), dtype=np.int64)
    np.add.at(count, number, samples.count[owner[can]])
    return Answers(S, can[first], count)


def _owner(samples: ReducedSamples) -> Indices:
    """The sample of each place."""
    return np.repeat(np.arange(len(samples)), samples.size)


def program(samples: ReducedSamples, found: Answers) -> IntegerProgram:
    """The integer program of all samples."""
    V, owner, at = samples.vocabulary_size, _owner(samples), found.place
    related, following = samples.size[owner] > 1, samples.next[owner]
    both, alone = np.flatnonzero(related[at]), np.flatnonzero(~related[at])
    pairs, pair = np.unique(samples.token[at] * np.int64(V) + following[at], return_inverse=True)
    scores, score = np.unique(samples.query[owner] * V + samples.token, return_inverse=True)
    turns, first_turn, turn = np.unique(
        score[at[both]] * V + following[at[both]], return_index=True, return_inverse=True
    )
    # the tokens of each S, S by S
    tokens, first, row = np.unique(found.S[owner] * V + samples.token, return_index=True, return_inverse=True)
    several = np.flatnonzero(related[first])
    n, o, o_and_n = 0, len(pairs), len(pairs) + len(scores)
    k = o_and_n + len(turns)

    rows: list[tuple[Indices, Indices, int]] = []
    bound: list[Indices] = []

    def add(number: int, right: int, *terms: tuple[Indices, Indices, int]) -> None:
        """Add ``number`` rows: sums of terms (row, variable, sign) <= ``right``."""
        above = sum(map(len, bound))
        rows.extend((above + row, variable, sign) for row, variable, sign in terms)
        bound.append(np.full(number, right))

    each = np.arange(len(both))
    add(len(both), 0, (each, k + both, 1), (each, o_and_n + turn, -1))
    each = np.arange(len(alone))
    add(len(alone), 0, (each, k + alone, 1), (each, n + pair[alone], -1))
    each = np.arange(len(turns))
    add(len(turns), 0, (each, o_and_n + each, 1), (each, n + pair[both[first_turn]], -1))
    won, each_won = np.unique(turns // V, return_inverse=True)
    add(len(won), 0, (each_won, o_and_n + each, 1), (np.arange(len(won)), o + won, -1))
    others, beside = _others(row[at[both]], tokens // V)
    add(len(tokens), 1, (others, k + both[beside], 1), (several, o + score[first[several]], 1))
    for end in (pairs // V, pairs % V):
        add(V, 1, (end, np.arange(len(pairs)), 1))
    row, variable, sign = (
        np.concatenate(parts) for parts in zip(*[(r, v, np.full(len(r), s)) for r, v, s in rows], strict=True)
    )
    shape = (sum(map(len, bound)), k + len(at))
    A = scipy.sparse.coo_array((sign, (row, variable)), shape=shape).tocsr()
    weight = np.concatenate([np.zeros(k, dtype=np.int64), found.count])
    return IntegerProgram(A, np.concatenate(bound), weight, pairs, np.where(related, o + score, NONE), V)


def _others(row: Indices, S: Indices) -> tuple[Indices, Indices]:
    """For each given row, the other rows of its S, with the given row's number; ``S`` is sorted, one per row."""
    size = np.bincount(S)[S[row]]
    beside = np.repeat(np.arange(len(row)), size)
    within = np.arange(len(beside)) - np.repeat(np.cumsum(size) - size, size)
    other = np.searchsorted(S, S[row])[beside] + within
    apart = other != row[beside]
    return other[apart], beside[apart]


def relaxed(found: IntegerProgram) -> tuple[NDArray[np.float64], int]:
    """Solve the linear relaxation: values, and the upper bound on kept samples proved by its multipliers."""
    solve: Any = scipy.optimize.linprog  # no sparse matrices in its stubs
    answer = solve(-found.weight, A_ub=found.A, b_ub=found.b, bounds=(0, 1))
    if answer.x is None:
        return np.zeros(len(found.weight)), int(found.weight.sum())
    multipliers = np.maximum(0, np.rint(-SCALE * answer.ineqlin.marginals)).astype(np.int64)
    return answer.x, proved_bound(found, multipliers)


def proved_bound(found: IntegerProgram, multipliers: Indices) -> int:
    """Upper bound on the number of kept samples, in integers, from lambda = multipliers / `SCALE` >= 0.

    Every v with A v <= b and 0 <= v <= 1 has weight @ v <= lambda @ b + the sum of max(0, weight - A^T lambda).
    """
    rest = SCALE * found.weight - found.A.T @ multipliers
    return int((multipliers @ found.b + np.maximum(rest, 0).sum()) // SCALE)


def solved(found: IntegerProgram, nodes: int) -> tuple[NDArray[np.float64] | None, int]:
    """The best values found by branch and bound in ``nodes`` nodes, or None, and HiGHS's bound."""
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
