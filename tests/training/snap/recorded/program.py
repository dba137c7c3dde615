"""A textbook training on sequence classes, with one-hot positions and matrices, and the mistakes one makes in it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.recorded_weights import Recorded
from tests.training.ntp.recorded.program import orthogonal, rounded

THREE = SequenceClasses.from_weights(
    "three",
    12,
    [
        ("n0", "q", {"a": 5, "b": 2, "the": 3}),
        ("n1", "q", {"c": 4, "the": 2}),
        ("n2", "r", {"d": 1, "the": 1, "a": 1}),
    ],
)


@dataclass(frozen=True)
class Program:
    """One update per ``batch`` sequences of ``length`` tokens."""

    lr_y: float = 0.5
    lr_z: float = 0.05
    dtype: type[np.float32] | type[np.float64] = np.float64
    steps: int = 60
    length: int = 20
    seed: int = 0
    batch: int = 1
    normalised: bool = True
    through_norm: bool = True
    transposed: bool = False
    momentum_y: float = 0.0
    momentum_z: float = 0.0
    scale: float = 1.0
    smoothed: float = 0.0
    start_y: tuple[tuple[int, int, float], ...] = ()
    start_z: tuple[tuple[int, int, float], ...] = ()
    reversed_probabilities: bool = False
    power: float = 1.0
    decay: float = 0.0
    skipped: int = 0
    twice: int = 0
    warmup: int = 0
    optimizer: str = "sgd"
    half: str = ""
    attends: str = ""
    rates: tuple[float, ...] | None = None

    def run(self, data: SequenceClasses) -> tuple[Recorded, Recorded]:
        """Y and Z at every step."""
        rng, M, names, queries = np.random.default_rng(self.seed), data.M, list(data.tokens), list(data.queries)
        Y: Any = np.zeros((M, M), self.dtype)
        Z: Any = np.zeros((len(queries), M), self.dtype)
        for weights, entries in ((Y, self.start_y), (Z, self.start_z)):
            for row, column, value in entries:
                weights[row, column] = value
        v_Y, v_Z, path = np.zeros_like(Y), np.zeros_like(Z), [(Y, Z)]
        optimizers = Optimizer(self.optimizer), Optimizer(self.optimizer)
        times = [(t, keep) for t in range(1, self.steps + 1) for keep in ([False, True] if t == self.twice else [True])]
        for t, keep in times:
            up_Y, up_Z = np.zeros_like(Y), np.zeros_like(Z)
            for _ in range(self.batch):
                one = data.classes[rng.choice(data.K, p=self.rates)]
                P = np.array([one.probabilities[token] for token in one.support])
                P = P[::-1] if self.reversed_probabilities else P**self.power
                drawn = [names.index(one.support[i]) for i in rng.choice(len(P), size=self.length, p=P / P.sum())]
                drawn += [names.index(getattr(one, self.attends))] if self.attends else []
                X, q = np.eye(M, dtype=self.dtype)[drawn], queries.index(one.query)
                b = softmax(self.dtype(self.scale) * (X @ Z[q]))
                u = X.T @ b
                norm = np.sqrt(np.add.accumulate(u * u)[-1]) if self.normalised else self.dtype(1)  # one by one
                f = u / norm
                asked = np.eye(M, dtype=self.dtype)[names.index(one.next)]
                asked = self.dtype(1 - self.smoothed) * asked + self.dtype(self.smoothed / M)
                g = asked - softmax(Y.T @ f)
                up_Y += np.outer(f, g)
                of_u = Y @ g
                if self.normalised and self.through_norm:
                    of_u = of_u - f * (f @ of_u)
                of_b = X @ (of_u / norm)
                np.add.at(up_Z[q], drawn, b * (of_b - b @ of_b) * self.dtype(self.scale))  # one by one
            up_Y, up_Z = (rounded(up, self.half) for up in (up_Y, up_Z))
            v_Y = (self.momentum_y * v_Y + up_Y / self.batch).astype(self.dtype)
            v_Z = (self.momentum_z * v_Z + up_Z / self.batch).astype(self.dtype)
            share = self.dtype(min(1.0, t / self.warmup) if self.warmup else 1.0)
            lr_y, lr_z = share * self.dtype(self.lr_y), share * self.dtype(self.lr_z)
            by_Y, by_Z = (one(v).astype(self.dtype) for one, v in zip(optimizers, (v_Y, v_Z), strict=True))
            if t != self.skipped:
                decay = self.dtype(self.decay)
                Y, Z = Y + lr_y * (by_Y - decay * Y), Z + lr_z * (by_Z - decay * Z)
            if keep:
                path.append((Y, Z))
        step = np.arange(self.steps + 1)
        decoder = np.array([Y.T if self.transposed else Y for Y, _ in path])
        return Recorded(step, decoder), Recorded(step, np.array([Z for _, Z in path]))


class Optimizer:
    """The step of size 1 along an ascent direction, by an optimizer with its usual constants."""

    def __init__(self, name: str) -> None:
        self.name, self.t = name, 0
        self.m: Any = 0.0
        self.v: Any = 0.0

    def __call__(self, up: NDArray[Any]) -> NDArray[Any]:
        self.t += 1
        if self.name == "sgd":
            return up
        if self.name == "sign":
            return np.asarray(np.sign(up))
        if self.name == "muon":
            self.m = 0.95 * self.m + up
            return orthogonal(np.asarray(up + 0.95 * self.m))
        if self.name in ("adam", "adamw"):
            self.m, self.v = 0.9 * self.m + 0.1 * up, 0.999 * self.v + 0.001 * up**2
            return np.asarray(self.m / (1 - 0.9**self.t) / (np.sqrt(self.v / (1 - 0.999**self.t)) + 1e-8))
        self.v = self.v + up**2 if self.name == "adagrad" else 0.99 * self.v + 0.01 * up**2
        return np.asarray(up / (np.sqrt(self.v) + (1e-10 if self.name == "adagrad" else 1e-8)))


def softmax(x: NDArray[Any]) -> NDArray[Any]:
    e = np.exp(x - x.max())
    return np.asarray(e / e.sum())
