"""Compiled gradient of a batch, and optimizers.

The order of summation is fixed, so equal samples give bit-identical results on any processor.
"""

import numpy as np

from marginaudit.orders.arrays import Floats, Integers
from marginaudit.orders.jit import compiled
from marginaudit.training.snap.sgd.arithmetic import (
    add_product,
    added,
    exponentiate,
    largest,
    padded,
    transposed,
)
from marginaudit.training.snap.sgd.samples import Classes, ClassSamples

FIRST_MOMENT, SECOND_MOMENT, EPSILON = 0.9, 0.999, 1e-8
"""Settings of Adam, arXiv 1412.6980."""


@compiled
def members(number: Integers, start: int, stop: int, n: int) -> Integers:
    """Indices of the samples of class n among samples ``start`` to ``stop``."""
    found = np.empty(stop - start, dtype=np.int64)
    size = 0
    for s in range(start, stop):
        if number[s] == n:
            found[size] = s
            size += 1
    return found[:size]


@compiled
def rows(matrix: Floats, chosen: Integers) -> Floats:
    """Chosen rows of a matrix, zero-padded in both dimensions."""
    found = np.zeros((padded(len(chosen)), padded(matrix.shape[1])))
    for i in range(len(chosen)):
        source, target = matrix[chosen[i]], found[i]
        for j in range(len(source)):
            target[j] = source[j]
    return found


@compiled
def attend(counts: Integers, chosen: Integers, tokens: Integers, Z: Floats) -> tuple[Floats, Floats, Floats]:
    """Attention b of samples to the tokens of their class, f = b/|X^T b|, and the norms |X^T b|.

    b and f have the shape (tokens, samples), to vectorize over samples.

    Parameters
    ----------
    counts : (all samples, most tokens of a class) array
    chosen : (samples,) array
    tokens : (tokens,) array
    Z : (contextual,) array
        Row of the samples' query.
    """
    size, many = len(tokens), len(chosen)
    count, weights, f = np.empty((size, many)), np.empty((size, many)), np.empty((size, many))
    for s in range(many):
        row = counts[chosen[s]]
        for i in range(size):
            count[i, s] = row[i]
    top, total, norm = np.full(many, -np.inf), np.zeros(many), np.zeros(many)
    for i in range(size):
        score = Z[tokens[i]]
        for s in range(many):
            top[s] = max(top[s], score) if count[i, s] > 0 else top[s]
    for i in range(size):
        score = Z[tokens[i]]
        for s in range(many):
            weights[i, s] = score - top[s] if count[i, s] > 0 else 0.0
    exponentiate(weights.ravel())
    for i in range(size):
        for s in range(many):
            weights[i, s] *= count[i, s]
            total[s] += weights[i, s]
    for i in range(size):
        for s in range(many):
            weights[i, s] /= total[s]
            norm[s] += weights[i, s] * weights[i, s]
    for s in range(many):
        norm[s] = np.sqrt(norm[s])
    for i in range(size):
        for s in range(many):
            f[i, s] = weights[i, s] / norm[s]
    return weights, f, norm


@compiled
def losses(logits: Floats, M: int, label: int, share: float) -> float:
    """Sum of the samples' cross-entropies; the first M columns of ``logits`` become its derivative times ``share``.

    The other columns are padding.
    """
    asked_for = np.empty(len(logits))
    for s in range(len(logits)):
        row = logits[s, :M]
        top = largest(row)
        for j in range(len(row)):
            row[j] -= top
        asked_for[s] = row[label]
    exponentiate(logits.ravel())
    loss = 0.0
    for s in range(len(logits)):
        row = logits[s, :M]
        total = added(row)
        loss += np.log(total) - asked_for[s]
        over = share / total
        for j in range(len(row)):
            row[j] *= over
        row[label] -= share
    return loss


@compiled
def gradients(
    classes: Classes, samples: ClassSamples, start: int, stop: int, Y: Floats, Z: Floats, of_Y: Floats, of_Z: Floats
) -> float:
    """Mean loss of samples ``start`` to ``stop``; writes its gradients to ``of_Y`` and ``of_Z``.

    With u = X^T b, f = u/|u|, alpha = softmax(Y^T f) and g = alpha - e_n, the gradient of one sample's loss is f g^T
    for Y, and for Z's row of its query diag(b) (I - 1 b^T) (I - f f^T) Y g / |u|, in terms of tokens instead of
    positions. The samples of a class share their tokens, and form matrices.

    Source: arXiv 2305.16380, eq. 3 (Lemma 1), descending.
    """
    of_Y.fill(0.0)
    of_Z.fill(0.0)
    loss = 0.0
    for n in range(len(classes.label)):
        chosen = members(samples.number, start, stop, n)
        if not len(chosen):
            continue
        tokens = classes.token[classes.first[n] : classes.first[n + 1]]
        asked, size = classes.query[n], len(tokens)
        attention, f, norm = attend(samples.counts, chosen, tokens, Z[asked])
        own = rows(Y, tokens)
        g = np.zeros((len(chosen), own.shape[1]))
        add_product(transposed(f), own, g)
        loss += losses(g, Y.shape[1], classes.label[n], 1 / (stop - start))
        by_sample = np.zeros((len(chosen), len(own)))
        add_product(g, transposed(own), by_sample)
        pulled = transposed(by_sample)
        pushed = np.zeros((size, own.shape[1]))
        add_product(f, g, pushed)
        for i in range(size):
            row, more = of_Y[tokens[i]], pushed[i]
            for j in range(len(row)):
                row[j] += more[j]
        along, mean = np.zeros(len(chosen)), np.zeros(len(chosen))
        for i in range(size):
            for s in range(len(chosen)):
                along[s] += f[i, s] * pulled[i, s]
        for i in range(size):
            for s in range(len(chosen)):
                pulled[i, s] = (pulled[i, s] - along[s] * f[i, s]) / norm[s]
            for s in range(len(chosen)):
                mean[s] += attention[i, s] * pulled[i, s]
        for i in range(size):
            slope = of_Z[asked, tokens[i]]
            for s in range(len(chosen)):
                slope += attention[i, s] * (pulled[i, s] - mean[s])
            of_Z[asked, tokens[i]] = slope
    return loss / (stop - start)


@compiled
def descend(weights: Floats, gradient: Floats, velocity: Floats, lr: float, momentum: float) -> None:
    """Step of gradient descent with momentum."""
    w, g, v = weights.ravel(), gradient.ravel(), velocity.ravel()
    for i in range(len(w)):
        v[i] = momentum * v[i] + g[i]
        w[i] -= lr * v[i]


@compiled
def adapt(weights: Floats, gradient: Floats, first: Floats, second: Floats, lr: float, update: int) -> None:
    """Step number ``update`` of Adam, counted from 1."""
    w, g, m, v = weights.ravel(), gradient.ravel(), first.ravel(), second.ravel()
    once, twice = 1 - FIRST_MOMENT**update, 1 - SECOND_MOMENT**update
    for i in range(len(w)):
        m[i] = FIRST_MOMENT * m[i] + (1 - FIRST_MOMENT) * g[i]
        v[i] = SECOND_MOMENT * v[i] + (1 - SECOND_MOMENT) * g[i] * g[i]
        w[i] -= lr * (m[i] / once) / (np.sqrt(v[i] / twice) + EPSILON)


@compiled
def follow(
    classes: Classes,
    samples: ClassSamples,
    batch: int,
    Y: Floats,
    Z: Floats,
    lr_y: float,
    lr_z: float,
    momentum: float,
    loss: Floats,
    path: Floats,
) -> None:
    """Train Y and Z in place for all updates, with momentum, or with Adam if ``momentum`` is negative.

    Parameters
    ----------
    loss : (updates,) array
        Receives the mean loss before each update.
    path : (updates + 1, queries, tokens) array
        Receives Z before the first update and after each.
    """
    of_Y, of_Z = np.empty_like(Y), np.empty_like(Z)
    moments_Y, moments_Z = np.zeros((2, *Y.shape)), np.zeros((2, *Z.shape))
    path[0] = Z
    for t in range(len(loss)):
        loss[t] = gradients(classes, samples, t * batch, (t + 1) * batch, Y, Z, of_Y, of_Z)
        if momentum < 0:
            adapt(Y, of_Y, moments_Y[0], moments_Y[1], lr_y, t + 1)
            adapt(Z, of_Z, moments_Z[0], moments_Z[1], lr_z, t + 1)
        else:
            descend(Y, of_Y, moments_Y[0], lr_y, momentum)
            descend(Z, of_Z, moments_Z[0], lr_z, momentum)
        path[t + 1] = Z
