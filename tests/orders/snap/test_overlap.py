"""E, its eigenvalues and E' against rational numbers and many digits, and the error bars against what they cover."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit.orders.snap import CASES, SequenceClasses, overlap_of
from marginaudit.orders.snap.overlap import eigenpairs
from tests.orders.snap import restated


def exact(data: SequenceClasses) -> list[dict[str, Fraction]]:
    """P as the float64 numbers that it holds."""
    return [{t: Fraction(p) for t, p in c.probabilities.items() if p} for c in data.classes]


def random_classes(seed: int, *, K: int, tokens: int) -> SequenceClasses:
    rng = np.random.default_rng(seed)
    weights = rng.uniform(size=(K, tokens)) ** 4 * (rng.uniform(size=(K, tokens)) < 0.5)
    weights[:, 0] = 0.5
    classes = [(f"n{n}", "q", {f"a{i}": float(w) for i, w in enumerate(row) if w}) for n, row in enumerate(weights)]
    return SequenceClasses.from_weights("random", 5000, classes)


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-11, abs=0)


RANDOM = [random_classes(seed, K=K, tokens=n) for seed, (K, n) in enumerate([(2, 3), (3, 30), (5, 8), (6, 200)])]
KNOWN = [make() for make in CASES.values()]


@pytest.mark.parametrize("data", [*RANDOM, *KNOWN], ids=lambda data: f"{data.name}-{data.K}")
def test_the_error_bars_cover_what_they_say(data: SequenceClasses) -> None:
    overlap, K = data.overlap, data.K
    with mpmath.workdps(50):
        E = restated.overlaps(exact(data))
        for i in range(K):
            for j in range(K):
                assert abs(E[i, j] - overlap.E[i, j]) <= overlap.relative_error * E[i, j]
        assert mpmath.mnorm(E - mpmath.matrix(overlap.E.tolist()), "f") <= overlap.norm_error
        for eigenvalue, found in zip(restated.eigenvalues(exact(data)), overlap.eigenvalues, strict=True):
            assert abs(eigenvalue - found) <= overlap.eigenvalue_error
        sizes = [abs(e) for e in restated.eigenvalues(exact(data))]
        assert abs(max(sizes) - overlap.largest) <= overlap.eigenvalue_error
    most = max(len(c.support) for c in data.classes)
    assert 2 * most + 4 <= overlap.relative_error * 2**53 <= 2 * most + 7
    assert overlap.norm_error >= overlap.relative_error * np.linalg.norm(overlap.E)
    vectors, size, u = np.linalg.norm(eigenpairs(overlap.E)[1]), np.linalg.norm(overlap.E), 2**-53
    of_G = (K + 1) * u * (vectors**2 + K**0.5) * (overlap.largest + size)
    of_R = (K + 2) * u * vectors * (overlap.largest + size)
    assert overlap.eigenvalue_error >= overlap.norm_error + of_G + of_R
    assert overlap.eigenvalue_error < 1e-12


@pytest.mark.parametrize("u", [2.0**-53, 2.0**-10])
@pytest.mark.parametrize("data", RANDOM, ids=lambda data: str(data.K))
def test_the_error_bars_term_by_term(data: SequenceClasses, u: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """See `overlap_of` and `eigenpairs`; with a coarse roundoff every term shows."""
    monkeypatch.setattr("marginaudit.orders.arrays.UNIT_ROUNDOFF", u)

    def gamma(k: int) -> float:
        return k * u / (1 - k * u)

    def norm(A: Any) -> float:
        return float(np.sqrt(np.sum(A**2)))

    overlap, K, n = overlap_of(data.P), data.K, max(len(c.support) for c in data.classes)
    E, values, covered = overlap.E, overlap.eigenvalues, 1 + 2.0**-20
    V = eigenpairs(E)[1]
    size, most = norm(E), max(abs(values))
    assert overlap.relative_error == near(gamma(2 * n + 6))
    assert overlap.norm_error == near(gamma(2 * n + 6) * size * covered)
    G = norm(V.T @ V - np.eye(K)) + gamma(K + 1) * (norm(V) ** 2 + K**0.5)
    R = norm(E @ V - V * values) + gamma(K + 2) * norm(V) * (size + most)
    assert overlap.eigenvalue_error == near((G * (most + size) + (1 + G) * R) * covered + overlap.norm_error)


def test_what_underflow_may_take() -> None:
    """The smallest normal number a product, of which a class has three and the matrix has two rows."""
    data = SequenceClasses.from_weights("d", None, [(n, "q", {n + i: 1.0 for i in "abc"}) for n in "mn"])
    assert data.overlap.norm_error == near(2 * 3 * 2.0**-1022 * (1 + 2.0**-20))


@pytest.mark.parametrize("damage", ["eigenvalues", "skewed", "stretched"])
@pytest.mark.parametrize("size", [1e-3, 1e-6])
def test_the_bar_holds_whatever_the_eigensolver_does(monkeypatch: pytest.MonkeyPatch, damage: str, size: float) -> None:
    data = random_classes(7, K=5, tokens=8)
    rng, solve = np.random.default_rng(1), np.linalg.eigh

    def damaged(E: Any) -> Any:
        values, vectors = solve(E)
        if damage == "eigenvalues":
            return values + size * np.linspace(0.5, 1, len(values)), vectors
        if damage == "stretched":
            return values * (1 + size), vectors * (1 + size)
        vectors = vectors + size * rng.normal(size=vectors.shape)
        return np.diag(vectors.T @ E @ vectors), vectors

    monkeypatch.setattr(np.linalg, "eigh", damaged)
    overlap = overlap_of(data.P)
    off = np.abs(overlap.eigenvalues - solve(data.overlap.E)[0]).max()
    assert off <= overlap.eigenvalue_error <= 100 * size


@pytest.mark.parametrize(("second", "independent"), [(2, False), (2.001, True)])
def test_equal_classes_have_no_inverse_and_nearly_equal_ones_have(second: float, independent: bool) -> None:
    data = SequenceClasses.from_weights("d", None, [("m", "q", {"a": 1, "b": 2}), ("n", "q", {"a": 1, "b": second})])
    assert data.overlap.independent is independent
    off = replace(data.overlap, eigenvalue_error=1 + float(data.overlap.eigenvalues[0]))
    assert not off.independent
