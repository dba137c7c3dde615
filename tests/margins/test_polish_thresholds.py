"""Each threshold of polishing at equality, and each guard with the one input that it is there for."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray
from scipy.sparse._csr import csr_array

from marginaudit.margins import polish
from marginaudit.margins.ntp.constraints import kq_rows
from marginaudit.margins.polish import polished
from marginaudit.margins.quadratic import solve_quadratic
from marginaudit.margins.rows import Rows, in_few_coordinates
from marginaudit.orders.ntp import CASES, broken
from tests.solutions import certified, known

SKEW = kq_rows(broken(CASES["example-1"](), "orthonormal"), orthonormal=False)


CORNER = Rows(
    np.array([1, 2]), np.array([0, 0]), np.array([1, 1]), 3, np.array([[0.0, 0], [1, 0], [-1, 1]]), np.ones((3, 1))
)
"""Rows (1, 0) and (-1, 1)."""


@pytest.mark.parametrize("sides", [0, 1, 2])
def test_problems_as_large_as_is_allowed_are_polished(sides: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of matrices on each side that has a factor."""
    rows = replace(SKEW, left=SKEW.left if sides == 2 else None, right=SKEW.right if sides else None)
    found = certified(solve_quadratic(rows))
    (height, width), V = rows.shape, rows.size
    A = in_few_coordinates(rows)[0].sparse()
    candidates: list[NDArray[np.bool_]] = []
    chosen = polish.independent_rows

    def look(A: csr_array, some: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        candidates.append(some)
        return chosen(A, some)

    monkeypatch.setattr(polish, "independent_rows", look)
    assert polished(rows, found) is not found
    basis = len(known(chosen(A, candidates[-1])))
    sizes = {
        "LARGEST_PRODUCT": (V + height) * (V + width) * (V + height * (sides == 2) + width * (sides > 0)),
        "LARGEST_ELIMINATION": int(max(some.sum() for some in candidates)) ** 2 * A.shape[1],
        "LARGEST_BASIS": basis,
    }
    for name, size in sizes.items():
        for largest, tried in ((size, True), (size - 1, False)):
            with monkeypatch.context() as patch:
                patch.setattr(polish, name, largest)
                assert (polished(rows, found) is not found) == tried


@pytest.mark.parametrize(("share", "proved"), [(0.95, True), (1.05, False)])
def test_how_sharp_a_proof_is_to_be(share: float, proved: bool) -> None:
    """(3 + d, 2) in place of (3, 2): ||w||^2 = 5 + 2 d and a margin of 1 - d, so (P - D) / P = 4 d / 5 to first order.

    The gap is (5 + 2 d)(1 + 2 d) - (2 (5 + d) - 5 - 2 d) = 12 d, and P = 5.
    """
    with ctx.workprec(polish.BITS):
        d = (arb(share) * arb(2) ** -60) ** 2 * 5 / 12
        found = polish.Balls.of(CORNER).proved([3 + d, arb(2)], np.zeros((2, 1)))
    assert (found is not None) == proved


@pytest.mark.parametrize("lam", [(3.25, 2.0), (3.0, 2.25), (2.75, 2.125), (3.0, 2.0)])
def test_what_multipliers_prove_written_out(lam: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows (1, 0) and (-1, 1): w = (lam_1 - lam_2, lam_2), which float64 holds; the optimum is (1, 2)."""
    monkeypatch.setattr(polish, "SHARP", 1.0)
    with ctx.workprec(polish.BITS):
        found = certified(polish.Balls.of(CORNER).proved([arb(value) for value in lam], np.zeros((2, 1))))
    w = np.array([lam[0] - lam[1], lam[1]])
    least, squared = min(w[0], w[1] - w[0]), w @ w
    gap = squared / least**2 - (2 * sum(lam) - squared)
    x = gap / (squared / least**2)
    direction = (2 * x / (1 + (1 - x) ** 0.5)) ** 0.5
    weight = gap**0.5 + abs(1 / least - 1) * squared**0.5
    assert found.direction_radius == pytest.approx(direction, rel=1e-14, abs=1e-16)
    assert found.weight_radius == pytest.approx(weight, rel=1e-14, abs=1e-16)
    best = np.array([1.0, 2.0])
    assert np.linalg.norm(w / squared**0.5 - best / 5**0.5) <= found.direction_radius + 1e-16
    assert np.linalg.norm(w - best) <= found.weight_radius + 1e-16
    assert found.W.ravel().tolist() == w.tolist()


def test_the_rounding_of_the_weights_is_added_to_what_multipliers_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    """(3 + d, 2) proves (1 + d, 2), which float64 rounds to (1, 2), by chance the optimum."""
    monkeypatch.setattr(polish, "SHARP", 1.0)
    with ctx.workprec(polish.BITS):
        found = certified(polish.Balls.of(CORNER).proved([3 + arb(2) ** -54, arb(2)], np.zeros((2, 1))))
    assert found.W.ravel().tolist() == [1, 2]
    with mpmath.workdps(60):
        d = mpmath.mpf(2) ** -54
        squared, least = (1 + d) ** 2 + 4, 1 - d
        gap = squared / least**2 - (2 * (5 + d) - squared)
        x = gap / (squared / least**2)
        proved = mpmath.sqrt(2 * x / (1 + mpmath.sqrt(1 - x)))
        turned = mpmath.norm(
            [1 / mpmath.sqrt(5) - (1 + d) / mpmath.sqrt(squared), 2 / mpmath.sqrt(5) - 2 / mpmath.sqrt(squared)]
        )
        weight = mpmath.sqrt(gap) + (1 / least - 1) * mpmath.sqrt(squared) + d
        assert turned > 1e-10 * proved
        assert abs(found.direction_radius / (proved + turned) - 1) < 1e-15
        assert abs(found.weight_radius / weight - 1) < 1e-15


def test_weights_whose_margins_float64_does_not_see_are_not_proved() -> None:
    """One row (1, -1), the difference of two of length 2^52: w = (1/2, -1/2) has scores that are rounded to 1/2."""
    size = 2.0**52
    rows = Rows(
        np.array([0]), np.array([1]), np.array([0]), 2, np.array([[size + 1, size], [size, size + 1]]), np.ones((2, 1))
    )
    with ctx.workprec(polish.BITS):
        assert polish.Balls.of(rows).proved([arb(0.5)], np.zeros((2, 1))) is None
