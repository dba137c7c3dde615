"""Mean and variance of a batch's gradient against all its sequences, with derivatives by complex steps, and samples."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.recorded.batch import Moments, long_sequences, moments_of_Y, moments_of_Z, sequences
from marginaudit.training.snap.recorded.step import Tokens
from tests.training.snap.recorded.program import THREE

TOKENS = Tokens(THREE)
RNG = np.random.default_rng(0)
Y: Floats = RNG.normal(size=(THREE.M, THREE.M))
Z: Floats = RNG.normal(size=(len(THREE.queries), THREE.M))
STEP = 1e-30


def log_likelihood(n: int, sequence: tuple[str, ...], Y: NDArray[np.complex128], Z: NDArray[np.complex128]) -> complex:
    """Of the next token of class n, with one-hot positions."""
    one = THREE.classes[n]
    X = np.eye(THREE.M)[[THREE.index[token] for token in sequence]]
    b = np.exp(X @ Z[list(THREE.queries).index(one.query)])
    u = X.T @ (b / b.sum())
    logits = Y.T @ (u / np.sqrt(u @ u))
    return complex(logits[THREE.index[one.next]] - np.log(np.exp(logits).sum()))


def derivatives(n: int, sequence: tuple[str, ...]) -> tuple[Floats, Floats]:
    of_Y, of_Z = np.zeros_like(Y), np.zeros_like(Z)
    for weights, found in ((0, of_Y), (1, of_Z)):
        for place in np.ndindex(found.shape):
            moved = [Y.astype(complex), Z.astype(complex)]
            moved[weights][place] += 1j * STEP
            found[place] = log_likelihood(n, sequence, *moved).imag / STEP
    return of_Y, of_Z


def all_sequences(length: int) -> list[tuple[float, Floats, Floats]]:
    """Probability and both gradients of every class and ordered sequence."""
    found = []
    for n, one in enumerate(THREE.classes):
        by_counts: dict[tuple[str, ...], tuple[Floats, Floats]] = {}
        for sequence in product(one.support, repeat=length):
            counts = tuple(sorted(sequence))
            if counts not in by_counts:
                by_counts[counts] = derivatives(n, sequence)
            chance = THREE.frequencies[n] * np.prod([one.probabilities[token] for token in sequence])
            found.append((float(chance), *by_counts[counts]))
    return found


def test_moments_are_those_of_all_batches_of_two() -> None:
    """A batch of two is two sequences, each of any class."""
    every = all_sequences(3)
    draws = sequences(TOKENS, 3, 1, RNG)
    assert all(one.exact for one in draws)
    for which, moments in ((1, moments_of_Y), (2, moments_of_Z)):
        p, x = np.array([one[0] for one in every]), np.array([one[which] for one in every])
        mean = np.tensordot(p, x, 1)
        pairs = np.zeros_like(mean)
        for chance, first in zip(p, x, strict=True):
            pairs += chance * np.tensordot(p, ((first + x) / 2 - mean) ** 2, 1)
        found = moments(TOKENS, Y, Z, draws, 2)
        np.testing.assert_allclose(found.mean, mean, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(found.variance, pairs, rtol=1e-9, atol=1e-13)


def simulated(length: int, samples: int) -> tuple[Moments, Moments]:
    """By tokens drawn one by one, of single sequences."""
    rng = np.random.default_rng(1)
    x: list[list[Floats]] = [[], []]
    for _ in range(samples):
        n = rng.choice(THREE.K, p=THREE.frequencies)
        P = TOKENS.probabilities[n]
        drawn = rng.choice(len(P), size=length, p=P)
        counts = np.bincount(drawn, minlength=len(P))
        f = counts * np.exp(Z[TOKENS.query[n], TOKENS.support[n]])
        full = np.zeros(THREE.M)
        full[TOKENS.support[n]] = f / np.linalg.norm(f)
        alpha = np.exp(Y.T @ full)
        g = np.eye(THREE.M)[TOKENS.next[n]] - alpha / alpha.sum()
        of_Z = np.zeros_like(Z)
        of_Z[TOKENS.query[n]] = full * ((np.eye(THREE.M) - np.outer(full, full)) @ Y @ g)
        x[0].append(np.outer(full, g))
        x[1].append(of_Z)
    by_Y, by_Z = (Moments(np.mean(one, axis=0), np.var(one, axis=0)) for one in x)
    return by_Y, by_Z


def test_sampled_moments_are_those_of_a_simulation() -> None:
    """Where a class has too many counts of its tokens to take all."""
    draws = sequences(TOKENS, 40, 5000, RNG)
    assert [one.exact for one in draws] == [False, True, False]
    expected = simulated(40, 20_000)
    for one, moments in zip(expected, (moments_of_Y, moments_of_Z), strict=True):
        found = moments(TOKENS, Y, Z, draws, 1)
        off = np.sqrt(one.variance / 20_000 + found.variance / 5000) + 1e-12
        assert (np.abs(found.mean - one.mean) < 5 * off).all()
        np.testing.assert_allclose(found.variance, one.variance, rtol=0.15, atol=1e-6)


def test_long_sequences_are_the_limit() -> None:
    near = sequences(TOKENS, 10**8, 20, RNG)
    for moments in (moments_of_Y, moments_of_Z):
        limit, found = (moments(TOKENS, Y, Z, draws, 1) for draws in (long_sequences(TOKENS), near))
        np.testing.assert_allclose(found.mean, limit.mean, atol=1e-3)
        np.testing.assert_allclose(found.variance, limit.variance, atol=1e-3)
        assert np.abs(found.variance).max() > 0.01
