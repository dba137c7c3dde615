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
    betas: tuple[float, float] = (0.9, 0.999)
    small: float = 1e-8
    alpha: float = 0.99
    decay: float = 0.0
    coupled: float = 0.0
    epsilon: float = 0.0
    start: float = 0.0
    batch: int = 0
    keys: str = ""
    schedule: str = ""
    skipped: int = 0
    twice: int = 0
    norm: str = ""
    clipped: float = 0.0
    half: str = ""


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


def attended(data: Dataset, n: int, keys: str) -> list[str]:
    """Tokens that a sample attends to, with a wrong mask."""
    tokens, first = list(data.samples[n].tokens), data.vocabulary[0]
    return {
        "": tokens,
        "no query": tokens[:-1] or tokens,
        "padded": tokens + [first] * (data.L_max - len(tokens)),
        "distinct": [*dict.fromkeys(tokens)],
        "next": [*tokens, data.samples[n].next],
    }[keys]


def stage2_gradient(
    data: Dataset, W_ov: Array, W: Array, mistake: Mistake, chosen: Array | None = None
) -> tuple[Array, Array]:
    """In W_kq and in W_ov; of the samples in a batch that was ``chosen``."""
    E = data.embeddings.astype(W.dtype)
    G, G_ov = np.zeros_like(W), np.zeros_like(W_ov)

    def times(A: Array, B: Array) -> Array:
        """Matrix product, in bfloat16 under autocast."""
        if mistake.half != "autocast":
            return np.asarray(A @ B)
        return rounded(rounded(A, "bfloat16") @ rounded(B, "bfloat16"), "bfloat16")

    counts = data.counts if chosen is None else np.bincount(chosen, minlength=data.N).tolist()
    total = sum(counts)
    for n, (sample, count) in enumerate(zip(data.samples, counts, strict=True)):
        X = E[[data.index[x] for x in attended(data, n, mistake.keys)]]
        q = E[data.index[sample.query]]
        phi = softmax(times(X, times(W, q)) * W.dtype.type(mistake.scale))
        context = times(X.T, phi)
        P = softmax(times(W_ov, context))
        P[data.index[sample.next]] -= 1
        weight = mistake.weights[n] if mistake.weights else 1 / data.N if mistake.uniform else count / total
        P *= W.dtype.type(weight)
        back = times(X, times(W_ov.T, P))
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
    rng, frequencies = np.random.default_rng(0), np.array(data.frequencies)
    size = dtype(lr2 if mistake.real_lr2 is None else mistake.real_lr2)
    recorder.stage2(0, W)
    declared = size
    times = [(t, last) for t in range(1, steps[1] + 1) for last in ((False, True) if t == mistake.twice else (True,))]
    for t, last in times:
        if t == mistake.skipped:
            recorder.stage2(t, W)
            continue
        size = declared * dtype(scheduled(mistake.schedule, t))
        chosen = rng.choice(data.N, mistake.batch, p=frequencies) if mistake.batch else None
        G, G_ov = stage2_gradient(data, W_ov, W.T if mistake.transposed else W, mistake, chosen)
        G = rounded(G.T if mistake.transposed else G, mistake.half) + dtype(mistake.coupled) * W
        if mistake.optimizer == "sign":
            G = np.sign(G)
        elif mistake.optimizer in ("adam", "adamw"):
            b1, b2 = mistake.betas
            m, s = dtype(b1) * m + dtype(1 - b1) * G, dtype(b2) * s + dtype(1 - b2) * G**2
            G = m / dtype(1 - b1**t) / (np.sqrt(s / dtype(1 - b2**t)) + dtype(mistake.small))
        elif mistake.optimizer == "adagrad":
            s = s + G**2
            G = G / (np.sqrt(s) + dtype(1e-10))
        elif mistake.optimizer == "rmsprop":
            s = dtype(mistake.alpha) * s + dtype(1 - mistake.alpha) * G**2
            G = G / (np.sqrt(s) + dtype(1e-8))
        elif mistake.optimizer == "muon":
            m = dtype(0.95) * m + G
            G = orthogonal(G + dtype(0.95) * m)
        elif mistake.norm:
            G = G / {"largest": np.abs(G).max(), "spectral": np.linalg.norm(G, 2), "sum": np.abs(G).sum()}[mistake.norm]
        elif mistake.clipped:
            G = G * min(1, mistake.clipped / np.linalg.norm(G))
        elif mistake.together:
            norm = np.hypot(np.linalg.norm(G), np.linalg.norm(G_ov))
            G, W_ov = G / norm, W_ov - size * G_ov / norm
        elif mistake.normalised:
            G = G / (np.linalg.norm(G) + dtype(mistake.epsilon) or dtype(1))
        v = dtype(mistake.momentum) * v + G
        W -= size * (v + dtype(mistake.decay or (0.01 if mistake.optimizer == "adamw" else 0)) * W)
        if mistake.ov_moves:
            W_ov -= lr1 * G_ov / (1 if mistake.ov_plainly else np.linalg.norm(G_ov))
        if (t % every == 0 or t == steps[1]) and last:
            recorder.stage2(t, W)
    return recorder


def scheduled(schedule: str, t: int) -> float:
    """The share of the step size at a step."""
    shares = {
        "": 1.0,
        "warmup": min(1.0, t / 10),
        "cosine": (1 + np.cos(np.pi * t / 50)) / 2,
        "root": t**-0.5,
        "cosine to 0": (1 + np.cos(np.pi * min(t / 20, 1))) / 2,
        "linear to 0": max(0, 1 - t / 20),
        "warm-up from 0": min(1, (t - 1) / 10),
        "restarts": (1 + np.cos(np.pi * (t % 5) / 5)) / 2,
        "rough": 1 + 0.3 * np.sin(7 * t),
    }
    return float(shares[schedule])


def rounded(G: Array, half: str) -> Array:
    """A gradient in half precision."""
    if half == "float16":
        return np.asarray(G.astype(np.float16).astype(G.dtype))
    if half == "bfloat16":
        digits, exponent = np.frexp(G)
        return np.asarray(np.ldexp(np.rint(digits * 256) / 256, exponent).astype(G.dtype))
    return G


def orthogonal(G: Array) -> Array:
    """Five Newton-Schulz iterations of Muon."""
    X = G / (np.linalg.norm(G) or 1)
    for _ in range(5):
        A = X @ X.T
        X = 3.4445 * X + (-4.7750 * A + 2.0315 * A @ A) @ X
    return np.asarray(X.astype(G.dtype))
