"""Gradient of one minibatch step given the weights before it: mean and variance over the draw of its sequences.

A batch has B independent sequences. A sequence is a class n, drawn by its frequency p_n, and T tokens drawn by P(.|n).
Its gradient x by Lemma 1, ascending, is f g^T for Y, and f * (I - f f^T) Y g in the row of its query for Z. So

    mean = sum_n p_n E[x|n],  variance = (sum_n p_n E[x^2|n] - mean^2)/B, entry by entry.

x depends on the counts of tokens alone. In long sequences f is proportional to P(.|n) exp(z), and x to n alone.

Momentum without dampening draws nothing more: v' = m v + g and w' = w + eta v' give
w' - w = m (w - w_before) + eta g, so that two steps give g.

Source: arXiv 2305.16380, Lemma 1 (eq. 3), and section 8 for batches and momentum.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.recorded.step import Tokens

MOST_COUNTS = 256
"""Most vectors of token counts of a class that are enumerated; more are sampled."""


class Draws(NamedTuple):
    """Sequences of a class: counts of its tokens, up to a factor each, their weights, and whether these are exact."""

    counts: Floats
    weights: Floats
    exact: bool = True


class Gradients(NamedTuple):
    """Gradients of sequences of one class, a row each: f, g, and ``pull`` of Z on the class's tokens."""

    f: Floats
    g: Floats
    pull: Floats


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and variance of each entry of a batch's gradient."""

    mean: Floats
    variance: Floats


def long_sequences(tokens: Tokens) -> list[Draws]:
    """The one sequence of each class in the limit of long ones."""
    return [Draws(P[np.newaxis], np.ones(1)) for P in tokens.probabilities]


def sequences(tokens: Tokens, length: int, samples: int, rng: np.random.Generator) -> list[Draws]:
    """Sequences of each class: all with their probabilities if these are few, else samples."""
    found = []
    for P in tokens.probabilities:
        if comb(length + len(P) - 1, len(P) - 1) <= MOST_COUNTS:
            counts = np.array(list(_compositions(length, len(P))), dtype=np.float64)
            logs = gammaln(length + 1) - gammaln(counts + 1).sum(axis=1) + xlogy(counts, P).sum(axis=1)
            found.append(Draws(counts, np.exp(logs)))
        else:
            counts = rng.multinomial(length, P / P.sum(), size=samples).astype(np.float64)
            found.append(Draws(counts, np.full(samples, 1 / samples), exact=False))
    return found


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in _compositions(total - first, parts - 1))


def gradients(tokens: Tokens, n: int, Y: Floats, Z: Floats, counts: Floats) -> Gradients:
    """Gradients of sequences of class ``n`` with these counts of its tokens, by Lemma 1."""
    support = tokens.support[n]
    z = Z[tokens.query[n], support]
    f = counts * np.exp(z - z.max())
    f /= np.linalg.norm(f, axis=1, keepdims=True)
    logits = f @ Y[support]
    g = -np.exp(logits - logits.max(axis=1, keepdims=True))
    g /= -g.sum(axis=1, keepdims=True)
    g[:, tokens.next[n]] += 1
    pull = g @ Y[support].T
    return Gradients(f, g, f * (pull - f * (f * pull).sum(axis=1, keepdims=True)))


def moments_of_Y(tokens: Tokens, Y: Floats, Z: Floats, draws: Iterable[Draws], batch: int) -> Moments:
    """Moments of Y's gradient of a batch, shape (M, M)."""
    mean, square = np.zeros_like(Y), np.zeros_like(Y)
    for n, one in enumerate(draws):
        found, weights = gradients(tokens, n, Y, Z, one.counts), tokens.frequencies[n] * one.weights
        mean[tokens.support[n]] += (weights * found.f.T) @ found.g
        square[tokens.support[n]] += (weights * found.f.T**2) @ found.g**2
    return Moments(mean, (square - mean**2) / batch)


def moments_of_Z(tokens: Tokens, Y: Floats, Z: Floats, draws: Iterable[Draws], batch: int) -> Moments:
    """Moments of Z's gradient of a batch, shape (queries, M)."""
    mean, square = np.zeros_like(Z), np.zeros_like(Z)
    for n, one in enumerate(draws):
        found, weights = gradients(tokens, n, Y, Z, one.counts).pull, tokens.frequencies[n] * one.weights
        mean[tokens.query[n], tokens.support[n]] += weights @ found
        square[tokens.query[n], tokens.support[n]] += weights @ found**2
    return Moments(mean, (square - mean**2) / batch)
