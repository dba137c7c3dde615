"""Training on large batches of sampled sequences, a class's sequences at once, by momentum or Adam."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.recorded_weights import Recorded


@dataclass(frozen=True)
class Batches:
    """Settings of a run; a negative ``lr_z`` is that of a program that takes Z's gradient with the wrong sign."""

    batch: int = 256
    length: int = 100
    steps: int = 100
    lr_y: float = 1.0
    lr_z: float = 0.1
    momentum: float = 0.0
    adam: bool = False
    seed: int = 0

    def run(self, data: SequenceClasses) -> tuple[Recorded, Recorded]:
        """Y and Z from 0 on, at every step."""
        rng, M, queries = np.random.default_rng(self.seed), data.M, list(data.queries)
        weights: list[Floats] = [np.zeros((M, M)), np.zeros((len(queries), M))]
        first, second = ([np.zeros_like(one) for one in weights] for _ in range(2))
        path: list[list[NDArray[np.float64]]] = [[one.copy()] for one in weights]
        for t in range(1, self.steps + 1):
            up = self._gradients(data, weights, rng)
            for i, lr in enumerate((self.lr_y, self.lr_z)):
                if self.adam:
                    first[i] = 0.9 * first[i] + 0.1 * up[i]
                    second[i] = 0.999 * second[i] + 0.001 * up[i] ** 2
                    mean, square = first[i] / (1 - 0.9**t), second[i] / (1 - 0.999**t)
                    weights[i] = weights[i] + lr * mean / (np.sqrt(square) + 1e-8)
                else:
                    first[i] = self.momentum * first[i] + up[i]
                    weights[i] = weights[i] + lr * first[i]
                path[i].append(weights[i])
        step = np.arange(self.steps + 1)
        return Recorded(step, np.array(path[0])), Recorded(step, np.array(path[1]))

    def _gradients(self, data: SequenceClasses, weights: list[Floats], rng: np.random.Generator) -> list[Floats]:
        Y, Z = weights
        up = [np.zeros_like(Y), np.zeros_like(Z)]
        of_classes = rng.multinomial(self.batch, data.frequencies)
        for one, sequences in zip(data.classes, of_classes, strict=True):
            rows, q = [data.index[token] for token in one.support], list(data.queries).index(one.query)
            P = np.array([one.probabilities[token] for token in one.support])
            u = rng.multinomial(self.length, P / P.sum(), size=sequences) * np.exp(Z[q, rows])
            f = u / np.sqrt((u**2).sum(axis=1, keepdims=True))
            e = np.exp(f @ Y[rows])
            g = np.eye(data.M)[data.index[one.next]] - e / e.sum(axis=1, keepdims=True)
            up[0][rows] += f.T @ g / self.batch
            w = g @ Y[rows].T
            up[1][q, rows] += (f * (w - f * (f * w).sum(axis=1, keepdims=True))).sum(axis=0) / self.batch
        return up
