"""How far from orthonormal an embedding is, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from marginaudit.orders.ntp import Dataset, assumptions, check_assumption, gram_deviation


def embedded(rows: object) -> Dataset:
    embedding = np.array(rows, dtype=np.float64)
    return Dataset("embedded", tuple(f"x{i}" for i in range(len(embedding))), (), (), embedding=embedding)


def largest_entry(dataset: Dataset) -> Fraction:
    assert dataset.embedding is not None
    rows = [[Fraction(value) for value in row] for row in dataset.embedding.tolist()]
    gram = [[sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) for v in rows] for u in rows]
    return max(abs(entry - (i == j)) for i, row in enumerate(gram) for j, entry in enumerate(row))


def rotation(size: int, seed: int) -> np.ndarray:
    return np.asarray(np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0])


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([[1 + 2.0**-27, 0], [0, 1]], id="finer than is exact"),
        pytest.param([[1 + 4.5e-13, 0], [0, 1 + 4.5e-13]], id="scaled"),
        pytest.param([[3 * 2.0**25, 1 + 2.0**-26], [1, 0]], id="multiples with large products"),
        pytest.param([[1 + 2.0**-26, 1]], id="multiples with products above 2"),
        pytest.param([[1, 1, 2.0**-26]], id="multiples with products that round to 2"),
        pytest.param([[1, 2.0**-600], [2.0**-600, 1]], id="products that underflow"),
    ],
)
def test_rounded_products_are_bounded_from_above(rows: object) -> None:
    exact, bound = largest_entry(embedded(rows)), gram_deviation(embedded(rows))
    assert exact < bound <= float(exact) * (1 + 4e-15) + 1e-15


def test_the_bound_term_by_term(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a coarse unit roundoff u, of which a sum of d products has d: d u/(1 - 2 d u) of |E||E|^T, and 16 more."""
    u, E = 2.0**-10, rotation(5, 0)
    monkeypatch.setattr(assumptions, "UNIT_ROUNDOFF", u)
    rounded = np.abs(E @ E.T - np.eye(5)) + 5 * u / (1 - 10 * u) * (np.abs(E) @ np.abs(E).T)
    assert gram_deviation(embedded(E)) == pytest.approx(rounded.max() * (1 + 16 * u), rel=1e-14, abs=0)


@pytest.mark.parametrize("third", [1.0, 1e200, 1.7e308])
def test_products_that_overflow_are_infinitely_far(third: float) -> None:
    data = embedded([[1e200, -1e200, third], [1e200, 1e200, third], [0, 1, 0]])
    assert gram_deviation(data) == np.inf
    assert not check_assumption(data, "orthonormal").holds
