"""Algorithm 1 as a stranger writes it: a loop over samples, backpropagation by hand; and with mistakes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset
from marginaudit.record import Recorder

Array = NDArray[Any]


@dataclass(frozen=True)
class Mistake:
    normalised: bool = True
    real_lr2: float | None = None
    uniform: bool = False
    transposed: bool = False
    weights: tuple[float, ...] | None = None
    ov_moves: bool = False
    ov_plainly: bool = False
    together: bool = False
    momentum: float = 0.0
    scale: float = 1.0
    optimizer: str = "descent"
    decay: float = 0.0
    epsilon: float = 0.0
    start: float = 0.0


def softmax(z: Array) -> Array:
    e = np.exp(z - z.max())
    found: Array = e / e.sum()
    return found


def stage1_gradient(data: Dataset, W: Array) -> Array:
    E = data.embeddings.astype(W.dtype)
    n = data.collocation.function
    G = np.zeros_like(W)
    for x, token in enumerate(data.vocabulary):
        P = softmax(W @ E[x])
        P[data.index[n[token]]] -= 1
        G += np.outer(P, E[x])
    return G


def stage2_gradient(data: Dataset, W_ov: Array, W: Array, mistake: Mistake) -> tuple[Array, Array]:
    """In W_kq and in W_ov."""
    E = data.embeddings.astype(W.dtype)
    G, G_ov = np.zeros_like(W), np.zeros_like(W_ov)
    total = sum(data.counts)
    for n, (sample, count) in enumerate(zip(data.samples, data.counts, strict=True)):
        X = E[[data.index[x] for x in sample.tokens]]
        q = X[-1]
        phi = softmax(X @ (W @ q) * W.dtype.type(mistake.scale))
        context = X.T @ phi
        P = softmax(W_ov @ context)
        P[data.index[sample.next]] -= 1
        weight = mistake.weights[n] if mistake.weights else 1 / data.N if mistake.uniform else count / total
        P *= W.dtype.type(weight)
        back = X @ (W_ov.T @ P)
        G += np.outer(X.T @ (phi * (back - phi @ back)), q) * W.dtype.type(mistake.scale)
        G_ov += np.outer(P, context)
    return G, G_ov


@np.errstate(invalid="ignore")  # OpenBLAS may set the flag in float32 for what it reads beside its arrays
def run(
    data: Dataset,
    dtype: Any = np.float64,
    steps: tuple[int, int] = (30, 20),
    lr: tuple[float, float] = (0.1, 0.05),
    mistake: Mistake = Mistake(),
    every: int = 1,
) -> Recorder:
    """The recorded run, which stands still where a gradient is 0; a mistake is of stage 2."""
    lr1, lr2 = (dtype(x) for x in lr)
    V, d = data.embeddings.shape
    recorder = Recorder(*lr)
    W_ov, W = np.zeros((V, d), dtype), np.full((d, d), mistake.start, dtype)
    recorder.stage1(0, W_ov)
    for t in range(1, steps[0] + 1):
        G = stage1_gradient(data, W_ov)
        W_ov -= lr1 * G / (np.linalg.norm(G) or dtype(1))
        if t % every == 0 or t == steps[0]:
            recorder.stage1(t, W_ov)
    v, m, s = (np.zeros((d, d), dtype) for _ in range(3))
    size = dtype(lr2 if mistake.real_lr2 is None else mistake.real_lr2)
    recorder.stage2(0, W)
    for t in range(1, steps[1] + 1):
        G, G_ov = stage2_gradient(data, W_ov, W.T if mistake.transposed else W, mistake)
        G = G.T if mistake.transposed else G
        if mistake.optimizer == "sign":
            G = np.sign(G)
        elif mistake.optimizer == "adam":
            m, s = dtype(0.9) * m + dtype(0.1) * G, dtype(0.999) * s + dtype(0.001) * G**2
            G = m / dtype(1 - 0.9**t) / (np.sqrt(s / dtype(1 - 0.999**t)) + dtype(1e-8))
        elif mistake.together:
            norm = np.hypot(np.linalg.norm(G), np.linalg.norm(G_ov))
            G, W_ov = G / norm, W_ov - size * G_ov / norm
        elif mistake.normalised:
            G = G / (np.linalg.norm(G) + dtype(mistake.epsilon) or dtype(1))
        v = dtype(mistake.momentum) * v + G
        W -= size * (v + dtype(mistake.decay) * W)
        if mistake.ov_moves:
            W_ov -= lr1 * G_ov / (1 if mistake.ov_plainly else np.linalg.norm(G_ov))
        if t % every == 0 or t == steps[1]:
            recorder.stage2(t, W)
    return recorder
