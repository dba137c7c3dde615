"""The gradient of one sample after another, and the optimizers, compiled.

Sums are added in one fixed order, whatever the processor: the same samples give the same bits.
"""

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.training.jit import compiled
from marginaudit.training.snap.sgd.samples import Classes, Samples

LANES = 8
"""Separate sums, which the processor has under way at the same time."""

FIRST_MOMENT, SECOND_MOMENT, EPSILON = 0.9, 0.999, 1e-8
"""Of Adam, arXiv 1412.6980."""


@compiled
def inner(left: Floats, right: Floats) -> float:
    """The inner product of two vectors."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = len(left) // LANES * LANES
    for j in range(0, whole, LANES):
        s0 += left[j] * right[j]
        s1 += left[j + 1] * right[j + 1]
        s2 += left[j + 2] * right[j + 2]
        s3 += left[j + 3] * right[j + 3]
        s4 += left[j + 4] * right[j + 4]
        s5 += left[j + 5] * right[j + 5]
        s6 += left[j + 6] * right[j + 6]
        s7 += left[j + 7] * right[j + 7]
    for j in range(whole, len(left)):
        s0 += left[j] * right[j]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@compiled
def gradients(
    classes: Classes, samples: Samples, start: int, stop: int, Y: Floats, Z: Floats, of_Y: Floats, of_Z: Floats
) -> float:
    """Mean loss of samples ``start`` to ``stop``; its gradients are written to ``of_Y`` and ``of_Z``.

    With u = X^T b, f = u/|u|, alpha = softmax(Y^T f) and g = alpha - e_n, the gradient of one sample's loss is f g^T
    for Y, and for Z's row of its query diag(b) (I - 1 b^T) (I - f f^T) Y g / |u|, in terms of tokens instead of
    positions.

    Source: arXiv 2305.16380, eq. 3 (Lemma 1), descending.
    """
    label, query, first, token, _ = classes
    number, counts = samples
    of_Y[:] = 0.0
    of_Z[:] = 0.0
    g = np.empty(Y.shape[1])
    f, attention, pulled = np.empty(counts.shape[1]), np.empty(counts.shape[1]), np.empty(counts.shape[1])
    loss = 0.0
    for s in range(start, stop):
        n = number[s]
        tokens, asked = token[first[n] : first[n + 1]], query[n]
        size = len(tokens)
        top = -np.inf
        for i in range(size):
            if counts[s, i] > 0:
                top = max(top, Z[asked, tokens[i]])
        total = 0.0
        for i in range(size):
            attention[i] = counts[s, i] * np.exp(Z[asked, tokens[i]] - top) if counts[s, i] > 0 else 0.0
            total += attention[i]
        square = 0.0
        for i in range(size):
            attention[i] /= total
            square += attention[i] * attention[i]
        norm = np.sqrt(square)
        g[:] = 0.0
        for i in range(size):
            f[i] = attention[i] / norm
            row, weight = Y[tokens[i]], f[i]
            for j in range(len(g)):
                g[j] += weight * row[j]
        top = -np.inf
        for j in range(len(g)):
            top = g[j] if g[j] > top else top
        asked_for = g[label[n]] - top
        total = 0.0
        for j in range(len(g)):
            g[j] = np.exp(g[j] - top)
            total += g[j]
        loss += np.log(total) - asked_for
        over = 1 / total
        for j in range(len(g)):
            g[j] *= over
        g[label[n]] -= 1.0
        along = 0.0
        for i in range(size):
            row, into, weight = Y[tokens[i]], of_Y[tokens[i]], f[i]
            pulled[i] = inner(row, g)
            along += weight * pulled[i]
            for j in range(len(g)):
                into[j] += weight * g[j]
        mean = 0.0
        for i in range(size):
            pulled[i] = (pulled[i] - along * f[i]) / norm
            mean += attention[i] * pulled[i]
        for i in range(size):
            of_Z[asked, tokens[i]] += attention[i] * (pulled[i] - mean)
    of_Y /= stop - start
    of_Z /= stop - start
    return loss / (stop - start)


@compiled
def descend(weights: Floats, gradient: Floats, velocity: Floats, lr: float, momentum: float) -> None:
    """One step of gradient descent with momentum."""
    w, g, v = weights.ravel(), gradient.ravel(), velocity.ravel()
    for i in range(len(w)):
        v[i] = momentum * v[i] + g[i]
        w[i] -= lr * v[i]


@compiled
def adapt(weights: Floats, gradient: Floats, first: Floats, second: Floats, lr: float, update: int) -> None:
    """One step of Adam, the ``update``-th, counted from 1."""
    w, g, m, v = weights.ravel(), gradient.ravel(), first.ravel(), second.ravel()
    once, twice = 1 - FIRST_MOMENT**update, 1 - SECOND_MOMENT**update
    for i in range(len(w)):
        m[i] = FIRST_MOMENT * m[i] + (1 - FIRST_MOMENT) * g[i]
        v[i] = SECOND_MOMENT * v[i] + (1 - SECOND_MOMENT) * g[i] * g[i]
        w[i] -= lr * (m[i] / once) / (np.sqrt(v[i] / twice) + EPSILON)


@compiled
def follow(
    classes: Classes,
    samples: Samples,
    batch: int,
    Y: Floats,
    Z: Floats,
    lr_y: float,
    lr_z: float,
    momentum: float,
    loss: Floats,
    path: Floats,
) -> None:
    """All updates on Y and Z in place; by momentum, or by Adam where ``momentum`` is negative.

    Parameters
    ----------
    loss : (updates,) array
        Receives the mean loss before each.
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
