"""What the tests of the late phase share: problems made from graphs, and plain late steps."""

from collections.abc import Sequence
from math import exp, sqrt

import numba
import numpy as np
from numpy.typing import NDArray

from marginaudit.margins.ntp import solve_kq
from marginaudit.margins.weighted_margin import weighted_margin
from marginaudit.orders.ntp import Dataset, free_dataset
from marginaudit.training.ntp.model.classes import sample_classes
from marginaudit.training.ntp.model.edges import MergedEdges, merged_edges, sentence_edges
from marginaudit.training.ntp.model.reference import ExactReference, exact_reference
from tests.solutions import known

DEGENERATE = free_dataset(V=8, N=30, L=5, seed=2)


def of_dataset(data: Dataset) -> tuple[MergedEdges, ExactReference]:
    """The merged edges and W*."""
    classes = sample_classes(data)
    merged = merged_edges(sentence_edges(classes, data.V), len(classes.key))
    return merged, known(exact_reference(data, classes, merged, solve_kq(data)))


def of_graph(edges: set[tuple[int, int]], seed: int = 0) -> tuple[MergedEdges, ExactReference]:
    """The same for constraints x_a - x_j >= 1 on a graph, with random weights."""
    winner, loser = np.array(sorted(edges), dtype=np.int64).T
    nodes = max(winner.max(), loser.max()) + 1
    found = weighted_margin(np.ones(nodes, dtype=np.int64), winner, loser)
    weight = np.exp(np.random.default_rng(seed).normal(size=len(winner)))
    reference = ExactReference(found.x, found.norm_squared, found.slack, found.multiplier)
    return MergedEdges(winner, loser, weight / weight.sum(), np.arange(len(winner))), reference


def block(k: int, m: int, first: int) -> set[tuple[int, int]]:
    """All edges from k winners to m losers, numbered from ``first``."""
    return {(first + i, first + k + j) for i in range(k) for j in range(m)}


TWO_SIZES = block(1, 1, 0) | block(2, 2, 2) | block(2, 2, 6) | block(1, 1, 10) | {(0, 4), (6, 11), (0, 11)}
"""Blocks A, B, C, D of 2, 4, 4, 2 tokens; A > B, C > D and A > D are tight without multipliers, and of the second
problem x = 2/3, -1/3, 1/3, -2/3 the third is slack by 1/3."""

TWICE_DEGENERATE = {(2 * i, 2 * i + 1) for i in range(4)} | {(0, 3), (4, 7), (0, 7)}
"""Four pairs, 1 > 2, 3 > 4 and 1 > 4 without multipliers; of the second problem x = 1/2, -1/2, 1/2, -1/2 the third is
tight without a multiplier again."""


@numba.njit()
def _steps(
    t0: int,
    t1: int,
    eta: float,
    norm: float,
    high: NDArray[np.float64],
    low: NDArray[np.float64],
    what: NDArray[np.float64],
    what_low: NDArray[np.float64],
    winner: NDArray[np.int64],
    loser: NDArray[np.int64],
    weight: NDArray[np.float64],
    slack: NDArray[np.float64],
) -> None:
    pairs, edges = len(high), len(winner)
    v, margin = np.empty(pairs), np.empty(edges)
    for t in range(t0, t1):
        sigma = eta * t / norm
        v[:] = 0.0
        least = np.inf
        for e in range(edges):
            a, j = winner[e], loser[e]
            margin[e] = sigma * slack[e] + ((high[a] - high[j]) + (low[a] - low[j]))
            least = min(least, margin[e])
        for e in range(edges):
            flux = weight[e] * exp(least - margin[e])
            v[winner[e]] += flux
            v[loser[e]] -= flux
        length = 0.0
        for i in range(pairs):
            length += v[i] * v[i]
        length = sqrt(length)
        for i in range(pairs):
            addend = eta * ((v[i] / length - what[i]) - what_low[i])
            total = high[i] + addend
            virtual = total - high[i]
            low[i] += (high[i] - (total - virtual)) + (addend - virtual)
            high[i] = total


def late_steps(
    merged: MergedEdges,
    reference: ExactReference,
    eta: float,
    rows: Sequence[int],
    t0: int = 0,
    rest: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """rho at each row, by steps of the late phase's gradient (from W = 0 if not told otherwise)."""
    pairs = len(reference.weight)
    high, low = np.zeros(pairs) if rest is None else rest.copy(), np.zeros(pairs)
    found, t = [], t0
    slack = np.array([float(x) for x in reference.slack])
    for row in rows:
        _steps(
            t, row, eta, reference.norm, high, low, *reference.unit, merged.winner, merged.loser, merged.weight, slack
        )
        t = row
        found.append(high + low)
    return np.array(found)


def one_minus_cos(reference: ExactReference, s: float, rest: NDArray[np.float64]) -> float:
    """1 - cos(s What + rest, What) in exact arithmetic on the given floats, with What to 60 digits."""
    import flint

    with flint.ctx.workprec(400):
        norm = flint.arb(flint.fmpq(reference.norm_squared.numerator, reference.norm_squared.denominator)).sqrt()
        what = [flint.arb(flint.fmpq(w.numerator, w.denominator)) / norm for w in reference.weight]
        W = [flint.arb(float(s)) * w + flint.arb(float(r)) for w, r in zip(what, rest, strict=True)]
        cosine = (
            sum((a * b for a, b in zip(W, what, strict=True)), flint.arb(0))
            / sum((a * a for a in W), flint.arb(0)).sqrt()
        )
        return float(1 - cosine)
