"""Both stages of Algorithm 1 on embeddings that are not orthonormal, enclosed in ball arithmetic.

The error bound of float64 steps grows with every step of such a run; balls of enough digits enclose the distance of the
last weights from W*. Steps follow eqs. 5 and 6 without reduction.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import flint
import numpy as np

from marginaudit.margins.ntp import MaxMargin, Optimal
from marginaudit.orders.balls import rounded
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.certified.enclosure import MOST_BITS, NotEnclosable
from marginaudit.training.ntp.start import step_sizes

Row: TypeAlias = list[flint.arb]

LARGEST = 2_000
"""Limit on the tokens of distinct samples, times V; up to it a step takes milliseconds."""

ACCURATE = 1e-6
"""Relative tolerance of 1 - cos."""

LEAST = 1e-12
"""Below this 1 - cos, the tolerance is absolute."""


class Distance(NamedTuple):
    """1 - cos(W, W*) at the last step, and a bound on its error."""

    one_minus_cos: float
    radius: float


class _IndexedSample(NamedTuple):
    tokens: list[int]
    counts: list[int]
    query: int
    next: int
    frequency: flint.fmpq


def last_distances(
    dataset: Dataset,
    ov: MaxMargin,
    kq: MaxMargin,
    *,
    steps1: int,
    steps2: int,
    lr1: float | None = None,
    lr2: float | None = None,
    bits: int = 256,
) -> tuple[Distance, Distance]:
    """1 - cos(W_ov, W*_ov) and 1 - cos(W_kq, W*_kq) after the given steps of each stage, in exact arithmetic.

    Precision is doubled until the balls of both are small; the radii contain the references' ``direction_radius``.

    Raises
    ------
    NotEnclosable
        A problem has no solution, a stage no step, the dataset is large, a gradient may be 0, or the largest
        precision is too little.
    CollocationError
        n is not a function on the whole vocabulary.

    Source: arXiv 2409.17335, Algorithm 1, eqs. 5 and 6.
    """
    if not (isinstance(ov, Optimal) and isinstance(kq, Optimal) and ov.norm_squared and kq.norm_squared):
        raise NotEnclosable("W*_ov or W*_kq is missing or 0")
    if not (steps1 and steps2):
        raise NotEnclosable("a stage has no step")
    samples, n = _samples(dataset), dataset.collocation.require_function()
    answers = [dataset.index[n[x]] for x in dataset.vocabulary]
    if sum(len(sample.tokens) for sample in samples) * dataset.V > LARGEST:
        raise NotEnclosable("the dataset is large")
    eta0, eta = step_sizes(dataset.V, lr1, lr2)
    while bits <= MOST_BITS:
        with flint.ctx.workprec(bits):
            E = flint.arb_mat(dataset.embeddings.tolist())
            W_ov = _descended(partial(_stage1_gradient, answers, E), dataset.V, E.ncols(), steps1, eta0)
            if W_ov is not None:
                B = (W_ov * E.transpose()).tolist()
                W_kq = _descended(partial(_stage2_gradient, samples, E, B), E.ncols(), E.ncols(), steps2, eta)
                found = None if W_kq is None else (_distance(W_ov, ov), _distance(W_kq, kq))
                if found is not None and all(one.radius < ACCURATE * max(one.one_minus_cos, LEAST) for one in found):
                    return found
        bits *= 2
    raise NotEnclosable(f"{MOST_BITS} bits are too few")


def _samples(dataset: Dataset) -> list[_IndexedSample]:
    total = sum(dataset.counts)
    found = []
    for sample, count in zip(dataset.samples, dataset.counts, strict=True):
        bag = sample.bag
        tokens = [dataset.index[x] for x in bag]
        query, following = dataset.index[sample.query], dataset.index[sample.next]
        found.append(_IndexedSample(tokens, list(bag.values()), query, following, flint.fmpq(count, total)))
    return found


def _descended(
    gradient: Callable[[flint.arb_mat], flint.arb_mat], rows: int, columns: int, steps: int, size: float
) -> flint.arb_mat | None:
    """Weights after normalised steps from 0; None if the balls are too wide to divide by the gradient's norm."""
    W = flint.arb_mat(rows, columns)
    for _ in range(steps):
        slope = gradient(W)
        norm = _norm(slope.entries())
        if not norm > 0:  # also false for a ball that contains 0
            return None
        W = W - slope * (flint.arb(size) / norm)
    return W


def _stage1_gradient(answers: list[int], E: flint.arb_mat, W: flint.arb_mat) -> flint.arb_mat:
    """Eq. 5: sum over x of (P(x) - e_{n(x)}) x^T."""
    logits = (E * W.transpose()).tolist()
    return flint.arb_mat([_residual(row, y) for row, y in zip(logits, answers, strict=True)]).transpose() * E


def _stage2_gradient(samples: list[_IndexedSample], E: flint.arb_mat, B: list[Row], W: flint.arb_mat) -> flint.arb_mat:
    """Eq. 6 as a sum over distinct tokens; B[v][x] is the logit of v with all attention on x."""
    V = E.nrows()
    scores = (E * W * E.transpose()).tolist()
    G = [[flint.arb(0)] * V for _ in range(V)]
    for sample in samples:
        own = [scores[x][sample.query] for x in sample.tokens]
        phi = _softmax(own, sample.counts)
        logits = [_dot(phi, [B[v][x] for x in sample.tokens]) for v in range(V)]
        residual = _residual(logits, sample.next)
        pull = [_dot(residual, [B[v][x] for v in range(V)]) for x in sample.tokens]
        for x, weight, value in zip(sample.tokens, phi, pull, strict=True):
            above_mean = _dot(phi, [value - other for other in pull])
            G[x][sample.query] += sample.frequency * weight * above_mean
    return E.transpose() * flint.arb_mat(G) * E


def _residual(logits: Row, answer: int) -> Row:
    """Softmax minus the one-hot answer; the answer's entry is minus the sum of the others, free of cancellation."""
    found = _softmax(logits, [1] * len(logits))
    found[answer] = -sum((p for v, p in enumerate(found) if v != answer), flint.arb(0))
    return found


def _softmax(values: Row, counts: list[int]) -> Row:
    top = max((value.mid() for value in values), key=float)
    weights = [count * (value - top).exp() for value, count in zip(values, counts, strict=True)]
    total = sum(weights, flint.arb(0))
    return [weight / total for weight in weights]


def _dot(left: Row, right: Row) -> flint.arb:
    return sum((a * b for a, b in zip(left, right, strict=True)), flint.arb(0))


def _norm(entries: Row) -> flint.arb:
    return sum((value * value for value in entries), flint.arb(0)).sqrt()


def _distance(W: flint.arb_mat, solution: Optimal) -> Distance:
    """Half the squared distance of the unit vectors, including the radius of the solution's."""
    entries, reference = W.entries(), [flint.arb(value) for value in np.ravel(solution.matrix).tolist()]
    own, other = _norm(entries), _norm(reference)
    squared = sum(((a / own - b / other) ** 2 for a, b in zip(entries, reference, strict=True)), flint.arb(0))
    off = flint.arb(solution.direction_radius)
    away = squared.abs_upper().sqrt() * off + off**2 / 2  # error from W*'s unit vector
    found = squared / 2 + flint.arb(0, away.abs_upper())
    if not found.is_finite():
        return Distance(float("nan"), float("inf"))
    return Distance(*rounded(found))
