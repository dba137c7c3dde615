"""A model of attention trained by eleven optimizers in NumPy, recorded for `marginaudit audit --trajectory`.

Usage: python your_own_training.py [FOLDER]

Stage 2 (W_kq, arXiv 2409.17335, eq. 1) on the data of its section 7 from W_kq = 0 for 2,000 steps, each run into
FOLDER/NAME.npz; W_ov is that of Algorithm 1 after 900 steps. Each optimizer is a generator of W_kq after 0, 1, 2, ..
steps, with the default constants of PyTorch, Muon without weight decay. `which_direction.py` compares the directions.
"""

import sys
import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import CASES, Dataset
from marginaudit.record import Recorder
from marginaudit.training.ntp import train

STEPS = 2000

Weights = NDArray[np.float64]
Gradient = Callable[[Weights], Weights]


def gradient_of(data: Dataset) -> Gradient:
    """Gradient of eq. 1 in W_kq [key, query], for one-hot tokens and W_ov after 900 steps of stage 1."""
    longest = max(len(sample.tokens) for sample in data.samples)
    tokens, shown = np.zeros((data.N, longest), dtype=int), np.zeros((data.N, longest), dtype=bool)
    for i, sample in enumerate(data.samples):
        tokens[i, : len(sample.tokens)] = [data.index[x] for x in sample.tokens]
        shown[i, : len(sample.tokens)] = True
    query = np.array([data.index[sample.query] for sample in data.samples])
    answers = np.eye(data.V)[[data.index[sample.next] for sample in data.samples]]
    logits_of = np.asarray(train(data, steps1=900, steps2=0).W_ov).T[tokens]  # where all attention is on one token
    place = tokens * data.V + query[:, None]  # in W_kq of x^T W_kq q

    def gradient(W_kq: Weights) -> Weights:
        attention = softmax(np.where(shown, W_kq.ravel()[place], -np.inf))
        errors = softmax(np.einsum("nl,nlv->nv", attention, logits_of)) - answers
        slopes = np.einsum("nv,nlv->nl", data.frequencies[:, None] * errors, logits_of)
        # `slopes` minus their mean would cancel near one-hot attention
        differences = slopes[:, :, None] - slopes[:, None, :]
        scores = attention * np.einsum("nlk,nk->nl", differences, attention)
        total: Weights = np.bincount(place.ravel(), scores.ravel(), minlength=data.V**2).astype(float)
        return total.reshape(data.V, data.V)

    return gradient


def softmax(logits: Weights) -> Weights:
    """Shares along the last axis."""
    shares: Weights = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(shares / shares.sum(-1, keepdims=True))


def normalised(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """Algorithm 1."""
    while True:
        yield W
        G = gradient(W)
        W = W - lr * G / np.linalg.norm(G)


def plain(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """Gradient descent."""
    while True:
        yield W
        W = W - gradient(W)


def momentum(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """Heavy ball."""
    velocity = np.zeros_like(W)
    while True:
        yield W
        velocity = 0.9 * velocity + gradient(W)
        W = W - velocity


def sam(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """Sharpness-aware minimisation, by gradient descent: the gradient at distance 0.05, uphill."""
    while True:
        yield W
        G = gradient(W)
        W = W - gradient(W + 0.05 * G / np.linalg.norm(G))


def adam(gradient: Gradient, W: Weights, lr: float, decay: float = 0.0) -> Iterator[Weights]:
    """Adam; AdamW with decay."""
    mean, square = np.zeros_like(W), np.zeros_like(W)
    for t in count(1):
        yield W
        G = gradient(W)
        mean, square = 0.9 * mean + 0.1 * G, 0.999 * square + 0.001 * G**2
        W = (1 - lr * decay) * W - lr * mean / (1 - 0.9**t) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)


def adamw(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """AdamW."""
    return adam(gradient, W, lr, decay=0.01)


def adagrad(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """Adagrad."""
    square = np.zeros_like(W)
    while True:
        yield W
        G = gradient(W)
        square = square + G**2
        W = W - lr * G / (np.sqrt(square) + 1e-10)


def rmsprop(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """RMSprop."""
    square = np.zeros_like(W)
    while True:
        yield W
        G = gradient(W)
        square = 0.99 * square + 0.01 * G**2
        W = W - lr * G / (np.sqrt(square) + 1e-8)


def sign(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """Sign descent."""
    while True:
        yield W
        W = W - lr * np.sign(gradient(W))


def muon(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """Muon: Nesterov momentum, with singular values near 1 by five steps of Newton and Schulz."""
    velocity = np.zeros_like(W)
    while True:
        yield W
        G = gradient(W)
        velocity = 0.95 * velocity + 0.05 * G
        X = 0.95 * velocity + 0.05 * G
        X = X / np.linalg.norm(X)
        for _ in range(5):
            A = X @ X.T
            X = 3.4445 * X + (-4.775 * A + 2.0315 * A @ A) @ X
        W = W - lr * X


def factored(gradient: Gradient, W: Weights, lr: float) -> Iterator[Weights]:
    """Algorithm 1 on W_K and W_Q, W_kq = W_K^T W_Q, from a small random start, as at 0 they would stay."""
    K, Q = 0.01 * np.random.default_rng(0).standard_normal((2, *W.shape))
    while True:
        yield K.T @ Q
        G = gradient(K.T @ Q)
        of_K, of_Q = Q @ G.T, K @ G
        norm = np.hypot(np.linalg.norm(of_K), np.linalg.norm(of_Q))
        K, Q = K - lr * of_K / norm, Q - lr * of_Q / norm


OPTIMIZERS = (normalised, plain, momentum, sam, adam, adamw, adagrad, rmsprop, sign, muon, factored)


def trained(data: Dataset) -> Iterator[tuple[str, Iterator[Weights]]]:
    """Name of each optimizer, and W_kq after 0 .. 2,000 steps."""
    gradient, lr = gradient_of(data), 0.05 / data.V**0.5  # the paper's step size
    for optimizer in OPTIMIZERS:
        yield optimizer.__name__, islice(optimizer(gradient, np.zeros((data.V, data.V)), lr), STEPS + 1)


def main() -> None:
    """Train and record."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
    folder.mkdir(parents=True, exist_ok=True)
    begun, data = time.perf_counter(), CASES["section-7"]()
    for name, run in trained(data):
        recorder = Recorder(lr2=0.05 / data.V**0.5)
        for t, W_kq in enumerate(run):
            recorder.stage2(t, W_kq)
        recorder.save(folder / f"{name}.npz")
    print(f"{len(OPTIMIZERS)} runs of {STEPS} steps in {time.perf_counter() - begun:.0f} s, in {folder}/")


if __name__ == "__main__":
    main()
