"""Spaces of the weights, and the action of weights on pairs of tokens.

Orthonormal embeddings: descent in W is descent in the token-space arrays B = W_ov E^T and S = E W_kq E^T,
norms included, for any rotation E. Other embeddings: the weights themselves, with gradients G E
and E^T G E for the token-space gradient G.
"""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from marginaudit.training.ntp.model.classes import Indices
from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate
from marginaudit.training.ntp.steps.underflow import TINY, longest


class WeightSpace(ABC):
    """A space of weights; token-space arrays are (labels, tokens) for ov and (pairs,) for kq."""

    shape: tuple[int, ...]
    reference_shape: tuple[int, int]
    stretch: float
    """Largest ratio of a Hessian in the weights to that in token space."""

    seen: NDArray[np.bool_]
    """(tokens,) mask of the tokens with a nonzero embedding, on which the weights act."""

    underflow: float = 0.0
    """Bound on the underflow in a gradient with token-space entries of order 1.

    0 for orthonormal tokens: the largest entry belongs to the gradient itself and hides underflow.
    """

    @abstractmethod
    def scores(self, weights: Floats) -> Floats:
        """The token-space array of the weights."""

    @abstractmethod
    def pull_back(self, gradient: Floats) -> Floats:
        """The gradient in the weights, from that in token space."""

    @abstractmethod
    def magnitude(self, absolute: Floats) -> Floats:
        """``pull_back`` with absolute values of entries and factors, to bound rounding."""

    @abstractmethod
    def rounding(self, iterate: Iterate) -> float:
        """Bound on the rounding error of differences of ``scores`` of s What and rho, relative to their size."""

    def enter(self, reference: Floats) -> tuple[Floats, float]:
        """The part of a unit reference that lies in this space, and the squared norm of the rest."""
        return reference, 0.0


class TokenOV(WeightSpace):
    """B = W_ov E^T, orthonormal E."""

    def __init__(self, V: int) -> None:
        self.shape = self.reference_shape = (V, V)
        self.seen = np.ones(V, dtype=bool)
        self.stretch = 1.0

    def scores(self, weights: Floats) -> Floats:
        """B itself."""
        return weights

    def pull_back(self, gradient: Floats) -> Floats:
        """The gradient itself."""
        return gradient

    def magnitude(self, absolute: Floats) -> Floats:
        """The absolute values themselves."""
        return absolute

    def rounding(self, iterate: Iterate) -> float:
        """Differences of rho."""
        return 4 * EPS * float(np.abs(iterate.rest).max(initial=0.0))


class TokenKQ(TokenOV):
    """S = E W_kq E^T on the pairs that occur, orthonormal E; all others stay 0."""

    def __init__(self, V: int, key: Indices, query: Indices) -> None:
        super().__init__(V)
        self.shape = (len(key),)
        self.recorded_key, self.recorded_query = key, query

    def recorded(self, weights: Floats) -> Floats:
        """Scores of the pairs in `recorded_key` and `recorded_query`: the pairs that occur."""
        return weights

    def enter(self, reference: Floats) -> tuple[Floats, float]:
        """The entries on the pairs, and the squared norm of the others."""
        others = reference.copy()
        others[self.recorded_key, self.recorded_query] = 0.0
        return reference[self.recorded_key, self.recorded_query], float(np.sum(others**2))


class EmbeddedOV(WeightSpace):
    """W_ov, any E."""

    def __init__(self, E: Floats) -> None:
        self._E = E
        self.shape = self.reference_shape = E.shape[0], E.shape[1]
        self.seen = np.asarray(E.any(axis=1))
        self.stretch = float(np.linalg.norm(E, 2)) ** 2
        self._longest = longest(E)
        self.underflow = _underflow(self.magnitude(np.ones((len(E), len(E)))))

    def scores(self, weights: Floats) -> Floats:
        """W E^T."""
        return weights @ self._E.T

    def pull_back(self, gradient: Floats) -> Floats:
        """G E."""
        return gradient @ self._E

    def magnitude(self, absolute: Floats) -> Floats:
        """|G| |E|."""
        return absolute @ np.abs(self._E)

    def rounding(self, iterate: Iterate) -> float:
        """Inner products over the dimension, of s What and of rho."""
        size = (iterate.along + float(np.linalg.norm(iterate.rest))) * self._longest
        return float(2 * (self._E.shape[1] + 4) * EPS * size)


class EmbeddedKQ(WeightSpace):
    """W_kq, any E."""

    def __init__(self, E: Floats, key: Indices, query: Indices) -> None:
        self._E, self._key, self._query = E, key, query
        self.shape = self.reference_shape = E.shape[1], E.shape[1]
        self.seen = np.asarray(E.any(axis=1))
        self.stretch = float(np.linalg.norm(E, 2)) ** 4
        self._longest = longest(E)
        self.underflow = _underflow(self.magnitude(np.ones(len(key))))
        every = np.arange(len(E))
        self.recorded_key, self.recorded_query = np.repeat(every, len(E)), np.tile(every, len(E))

    def scores(self, weights: Floats) -> Floats:
        """E W E^T on the pairs."""
        return np.asarray((self._E @ weights @ self._E.T)[self._key, self._query])

    def pull_back(self, gradient: Floats) -> Floats:
        """E^T G E."""
        return self._E.T @ self._scatter(gradient) @ self._E

    def magnitude(self, absolute: Floats) -> Floats:
        """|E|^T |G| |E|."""
        return np.abs(self._E).T @ self._scatter(absolute) @ np.abs(self._E)

    def rounding(self, iterate: Iterate) -> float:
        """Inner products over both dimensions, of s What and of rho."""
        size = (iterate.along + float(np.linalg.norm(iterate.rest))) * self._longest**2
        return float(2 * (2 * self._E.shape[1] + 4) * EPS * size)

    def recorded(self, weights: Floats) -> Floats:
        """x^T W q of all pairs (x, q), q varying fastest."""
        return np.ravel(self._E @ weights @ self._E.T)

    def _scatter(self, values: Floats) -> Floats:
        dense = np.zeros((len(self._E), len(self._E)))
        dense[self._key, self._query] = values
        return dense


def _underflow(sizes: Floats) -> float:
    """Bound on underflow from the `magnitude` of ones; 0 if all are 0."""
    return TINY * max(1.0, float(sizes.sum())) if sizes.any() else 0.0
