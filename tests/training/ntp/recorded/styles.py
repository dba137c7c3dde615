"""Algorithm 1 written in the ways that strangers write it: faithful runs that differ in rounding alone.

Nothing of the product computes here. A program differs in how it adds over repeated samples, in how it forms P - e_y,
in the products that lead to scores and logits, and in the precision.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset, free_dataset
from marginaudit.training.ntp.recorded.trajectory import Trajectory
from marginaudit.training.recorded_weights import Recorded

Array = NDArray[Any]

SUMS = ("merged", "in turn", "shuffled", "in batches")
"""Weights pi on distinct samples; or each repeated sample by itself: copies in turn, shuffled, in batches of 64."""

FORMS = ("softmax", "log softmax", "logsumexp", "closed")
"""P - e_y: softmax less 1; exp of log softmax less 1; exp(z - logsumexp z) less 1; minus the sum of the others."""

LAYOUTS = ("padded", "one-hot", "scores")
"""Embeddings of padded positions; products with one-hot positions; E W E^T and W_ov E^T once, then looked up."""

EMBEDDINGS = ("one-hot", "rotated", "random")


@dataclass(frozen=True)
class Style:
    """One way of writing the program."""

    sums: str = "merged"
    form: str = "softmax"
    layout: str = "padded"
    dtype: Any = np.float64
    seed: int = 0


def random_dataset(seed: int, V: int, embedding: str, most: int) -> Dataset:
    """Free samples with counts up to ``most``, spread over the orders of magnitude."""
    rng = np.random.default_rng(seed)
    data = free_dataset(V=V, N=int(rng.integers(V, 2 * V)), L=int(rng.integers(3, 7)), seed=seed)
    counts = tuple(int(most**share) for share in rng.uniform(size=data.N))
    found = None
    if embedding == "rotated":
        found = np.linalg.qr(rng.normal(size=(V, V)))[0]
    elif embedding == "random":
        found = rng.normal(size=(V, V + int(rng.integers(0, 3))))
        found /= np.linalg.norm(found, axis=1, keepdims=True)
    return replace(data, name=f"free-{seed}", counts=counts, embedding=found)


def surplus(z: Array, answer: Array, form: str) -> Array:
    """P - e_y of each row of logits."""
    row, largest = np.arange(len(z)), z.max(axis=1, keepdims=True)
    if form == "log softmax":
        P = np.exp(z - largest - np.log(np.exp(z - largest).sum(axis=1, keepdims=True)))
    elif form == "logsumexp":
        P = np.exp(z - (largest + np.log(np.exp(z - largest).sum(axis=1, keepdims=True))))
    else:
        P = np.exp(z - largest)
        P /= P.sum(axis=1, keepdims=True)
    if form == "closed":
        P[row, answer] = 0
        P[row, answer] = -P.sum(axis=1)
    else:
        P[row, answer] -= 1
    return np.asarray(P)


class Program:
    """Both stages on one dataset, in one style."""

    def __init__(self, data: Dataset, style: Style) -> None:
        self.style, self.V, n = style, data.V, data.collocation.require_function()
        self.E = data.embeddings.astype(style.dtype)
        self.plain = data.embedding is None
        self.following = np.array([data.index[n[x]] for x in data.vocabulary])
        longest = max(len(sample.tokens) for sample in data.samples)
        self.token = np.zeros((data.N, longest), dtype=int)
        self.missing = np.ones((data.N, longest), dtype=bool)
        for i, sample in enumerate(data.samples):
            self.token[i, : len(sample.tokens)] = [data.index[x] for x in sample.tokens]
            self.missing[i, : len(sample.tokens)] = False
        self.query = np.array([data.index[sample.query] for sample in data.samples])
        self.answer = np.array([data.index[sample.next] for sample in data.samples])
        self.total = sum(data.counts)
        self.weight = np.array([count / self.total for count in data.counts]).astype(style.dtype)
        self.repeated = np.repeat(np.arange(data.N), data.counts) if style.sums != "merged" else np.arange(data.N)
        if style.sums in ("shuffled", "in batches"):
            self.repeated = np.random.default_rng(style.seed).permutation(self.repeated)

    def gradient1(self, W_ov: Array) -> Array:
        """Eq. 5."""
        z = W_ov.T if self.plain and self.style.layout != "padded" else self.E @ W_ov.T
        return np.asarray(surplus(np.array(z), self.following, self.style.form).T @ self.E)

    def gradient2(self, W_ov: Array, W: Array) -> Array:
        """Eq. 6."""
        E, token, kind = self.E, self.token, self.style.dtype
        X, q = E[token], E[self.query]
        if self.style.layout == "one-hot":
            one_hot = np.eye(self.V, dtype=kind)[token]
            X = one_hot @ E
        if self.style.layout == "scores":
            s = (E @ W @ E.T)[token, self.query[:, None]]
        else:
            s = np.einsum("nld,nd->nl", X, q @ W.T)
        s = np.where(self.missing, -np.inf, s).astype(kind)
        phi = np.exp(s - s.max(axis=1, keepdims=True))
        phi /= phi.sum(axis=1, keepdims=True)
        if self.style.layout == "scores":
            B = W_ov @ E.T
            z = np.einsum("nl,nlv->nv", phi, B.T[token])
            r = surplus(z, self.answer, self.style.form)
            back = np.take_along_axis(r @ B, token, axis=1)
        else:
            z = np.einsum("nl,nld->nd", phi, X) @ W_ov.T
            r = surplus(z, self.answer, self.style.form)
            back = np.einsum("nld,nd->nl", X, r @ W_ov)
        w = phi * (back - (phi * back).sum(axis=1, keepdims=True))
        if self.style.layout == "one-hot":
            each = (np.swapaxes(one_hot, 1, 2) @ w[:, :, None])[:, :, 0] @ E
            each = each[:, :, None] * q[:, None]
        else:
            each = np.einsum("nl,nld->nd", w, X)[:, :, None] * q[:, None]
        return self.summed(each)

    def summed(self, each: Array) -> Array:
        """The mean of the samples' gradients."""
        if self.style.sums == "merged":
            return np.asarray(np.einsum("n,nij->ij", self.weight, each))
        total = np.zeros_like(each[0])
        chunk = 64 if self.style.sums == "in batches" else 20_000
        for begin in range(0, self.total, chunk):
            some = each[self.repeated[begin : begin + chunk]]
            if self.style.sums == "in batches":
                total += some.sum(axis=0)
            else:
                total = np.add.accumulate(np.concatenate([total[None], some]))[-1]
        return np.asarray(total / self.style.dtype(self.total))

    def run(self, steps: tuple[int, int], lr: tuple[float, float]) -> tuple[Array, Array]:
        """Every W_ov and W_kq."""
        kind, d = self.style.dtype, self.E.shape[1]
        first, second = [np.zeros((self.V, d), kind)], [np.zeros((d, d), kind)]
        for _ in range(steps[0]):
            G = self.gradient1(first[-1])
            first.append(first[-1] - kind(lr[0]) * (G / (np.linalg.norm(G) or kind(1))))
        for _ in range(steps[1]):
            G = self.gradient2(first[-1], second[-1])
            second.append(second[-1] - kind(lr[1]) * (G / (np.linalg.norm(G) or kind(1))))
        return np.array(first), np.array(second)


def trajectory(first: Array | None, second: Array, lr: tuple[float, float]) -> Trajectory:
    """What was recorded, without a file."""
    both = [None if W is None else Recorded(np.arange(len(W)), W) for W in (first, second)]
    return Trajectory(both[0], both[1], *lr)


def faithful(seed: int) -> tuple[Dataset, Style, Trajectory]:
    """A random faithful run: of stage 2 alone in two of five, with long steps in one of four."""
    rng = np.random.default_rng(seed)
    V, embedding = int(rng.integers(3, 13)), EMBEDDINGS[rng.integers(3)]
    data = random_dataset(seed, V, embedding, int(10 ** rng.integers(0, 6)))
    form, layout, dtype = FORMS[rng.integers(4)], LAYOUTS[rng.integers(3)], (np.float32, np.float64)[rng.integers(2)]
    style = Style(SUMS[rng.integers(4)], form, layout, dtype, seed)
    alone, lr = rng.random() < 0.4, (0.2 / V**0.5, 0.05 / V**0.5)
    if rng.random() < 0.25:
        lr = (float(10 ** rng.uniform(-1, 2)), float(10 ** rng.uniform(-2, 1)))
    T = 900 if alone or rng.random() < 0.3 else int(rng.integers(1, 200))
    first, second = Program(data, style).run((T, int(rng.integers(3, 30))), lr)
    return data, style, trajectory(None if alone else first, second, lr)
