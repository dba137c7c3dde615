"""Embeddings that are not orthonormal: the dial's ends, and coherence by plain loops."""

import math

import numpy as np
import pytest

from marginaudit.orders.ntp.embed import KINDS, between, coherence


def test_random_embeddings() -> None:
    for kind, draw in KINDS.items():
        drawn = draw(400, 50, 3)
        assert drawn.shape == (400, 50)
        np.testing.assert_array_equal(drawn, draw(400, 50, 3))
        assert not np.array_equal(drawn, draw(400, 50, 4))
        squared = (drawn**2).sum(axis=1)
        assert squared.mean() == pytest.approx(1, abs=0.05)
        assert (np.ptp(squared) < 1e-12) == (kind == "unit")
        assert abs(drawn.mean()) < 0.01


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_dial(d: int) -> None:
    end = KINDS["gaussian"](3, d, 0)
    width = max(3, d)
    np.testing.assert_array_equal(between(end, 0.0), np.eye(3, width))
    np.testing.assert_array_equal(between(end, 1.0)[:, :d], end)
    np.testing.assert_array_equal(between(end, 1.0)[:, d:], 0)
    middle = between(end, 0.25)
    np.testing.assert_allclose(middle[:, :d], 0.25 * end + 0.75 * np.eye(3, width)[:, :d], rtol=1e-15)


def test_coherence() -> None:
    E = [[1.0, 2.0, 0.0], [-3.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1e-50, 1e-50], [1e50, 0.0, 1.0]]

    def cos(x: list[float], y: list[float]) -> float:
        return abs(sum(a * b for a, b in zip(x, y, strict=True))) / (math.hypot(*x) * math.hypot(*y))

    pairs = [(i, j) for i in range(5) for j in range(i) if 2 not in (i, j)]
    assert coherence(np.array(E)) == pytest.approx(max(cos(E[i], E[j]) for i, j in pairs), rel=1e-14, abs=0)
    assert coherence(np.eye(4)) == 0
    assert coherence(np.ones((1, 3))) == 0
