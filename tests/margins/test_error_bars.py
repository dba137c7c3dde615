"""The stated bounds where one term of them dominates, against rationals or against the term written out by hand."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.margins.certificate import certify, enclose, repaired
from marginaudit.margins.farkas import residual_bound, rounding_level
from marginaudit.margins.ntp.proposition2 import compare
from marginaudit.margins.rows import Rows, in_few_coordinates, row_lengths
from marginaudit.orders.arrays import gamma
from tests.margins.restated import combine, dot, related
from tests.solutions import certified, known

U = 2.0**-53

A = [[1, 0, -1, 0], [1, 0, 0, -1], [0, 1, 0, -1]]
ROWS = Rows(np.array([0, 0, 1]), np.array([2, 3, 3]), np.array([0, 0, 0]), 4, None, None)
BEST = np.array([0.5, 0.5, -0.5, -0.5])
"""The optimum, of squared length 1, with multipliers 1/2, 0, 1/2."""


def column(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores whose first column is given."""
    scores = np.zeros((4, 4))
    scores[:, 0] = values
    return scores


def exactly(W: NDArray[np.float64], lam: NDArray[np.float64]) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    """(P - D)/||W||^2, its square-root formula for the direction, and the bound on ||W - W*||; W as it stands."""
    w, y = [Fraction(float(v)) for v in W], [Fraction(float(v)) for v in lam]
    pulled = combine(A, y)
    least = min(Fraction(1), *(dot(row, w) for row in A))
    difference = dot(w, w) / least**2 - (2 * sum(y) - dot(pulled, pulled))
    with mpmath.workdps(60):
        gap, squared, v = (mpmath.mpf(value.numerator) / value.denominator for value in (difference, dot(w, w), least))
        x = min(mpmath.mpf(1), gap / squared)
        direction = mpmath.sqrt(2 * x / (1 + mpmath.sqrt(1 - x)))
        return x, direction, mpmath.sqrt(gap) + (1 / v - 1) * mpmath.sqrt(squared)


HALF = np.array([0.5, 0, 0.5])
PROBLEMS = {
    "multipliers too small": (BEST, 0.75 * HALF),
    "multipliers on another row": (BEST, np.array([0.5, 0.25, 0.5])),
    "weights too long": (1.5 * BEST, HALF),
    "slack under a multiplier": (1.5 * BEST, 1.5 * HALF),
    "margins too small": (0.75 * BEST, 0.75 * HALF),
    "margins too small alone": (0.75 * BEST, HALF),
    "one margin too small": (np.array([0.5, 0.25, -0.5, -0.5]), HALF),
    "all of it": (np.array([0.75, 0.5, -0.5, -0.375]), np.array([0.25, 0.125, 0.625])),
    "no multiplier": (BEST, 0 * HALF),
    "multipliers far too large": (BEST, 8 * HALF),
    "small": (BEST * (1 + 2.0**-10), HALF * (1 - 2.0**-11)),
}


@pytest.mark.parametrize(("W", "lam"), PROBLEMS.values(), ids=PROBLEMS)
def test_the_distance_to_the_optimum_is_what_weak_duality_gives(
    W: NDArray[np.float64], lam: NDArray[np.float64]
) -> None:
    found = certified(enclose(ROWS, column(W), lam))
    x, direction, weight = exactly(W, lam)
    for bound, exact in ((found.relative_gap, x), (found.direction_radius, direction), (found.weight_radius, weight)):
        assert exact <= bound <= exact * (1 + 1e-9) + (2e-7 if x == 0 else 0)
    with mpmath.workdps(60):
        x = mpmath.mpf(found.relative_gap)
        assert found.direction_radius >= mpmath.sqrt(2 * x / (1 + mpmath.sqrt(1 - x)))
    certificate, w, y = found.certificate, [Fraction(v) for v in W.tolist()], [Fraction(v) for v in lam.tolist()]
    pulled = combine(A, y)
    dual = 2 * sum(y) - dot(pulled, pulled)
    assert certificate.primal == dot(w, w)
    assert certificate.dual == dual
    assert certificate.gap == dot(w, w) - dual
    assert certificate.max_violation == max(0, *(1 - dot(row, w) for row in A))
    assert np.array_equal(found.W, column(W))
    assert np.array_equal(found.multipliers, lam)


def test_the_bound_of_the_gap_written_out() -> None:
    """Among 40 tokens the sums of 1600 entries may lose 1611 roundings each; all other numbers here are exact."""
    rows = replace(ROWS, size=40)
    W, lam = np.zeros((40, 40)), np.array([0.25, 0.125, 0.625])
    W[:4, 0] = [0.75, 0.5, -0.5, -0.375]
    found = certified(enclose(rows, W, lam))
    sums = gamma(1600 + 3 + 8)
    pulled, sizes = np.array([0.375, 0.625, -0.25, -0.75]), np.array([0.375, 0.625, 0.25, 0.75])
    margin = np.array([1.25, 1.125, 0.875])
    with mpmath.workdps(60):
        u, s = mpmath.mpf(U), 1 + mpmath.mpf(sums)
        off = [mpmath.mpf(x) for x in np.abs(W[:4, 0] - pulled).tolist()]
        terms = [x + 2 * u * y for x, y in zip(off, sizes.tolist(), strict=True)]
        distance = mpmath.sqrt(sum(x**2 for x in terms)) * s
        slack = sum(y * (m - 1) for y, m in zip(lam.tolist(), margin.tolist(), strict=True))
        rounded = sum(y * 2 * u * m for y, m in zip(lam.tolist(), margin.tolist(), strict=True))
        summed = (s - 1) * sum(y * (abs(m - 1) + 2 * u * m) for y, m in zip(lam.tolist(), margin.tolist(), strict=True))
        v = 0.875 * (1 - 2 * u)
        primal = mpmath.mpf(float(np.sum(W**2)))
        gap = (distance**2 + 2 * (slack + rounded + summed) + (1 / v - 1) * (1 / v + 1) * s * primal) * s
        relative = gap / (primal * (2 - s)) * s
        direction = (1 + 16 * u) * mpmath.sqrt(2 * relative / (1 + mpmath.sqrt(1 - relative)))
        weight = (1 + 16 * u) * (mpmath.sqrt(gap) + (1 / v - 1) * mpmath.sqrt(primal))
        for bound, expected in (
            (found.relative_gap, relative),
            (found.direction_radius, direction),
            (found.weight_radius, weight),
        ):
            assert abs(bound / expected - 1) < 12 * u


def test_the_bound_of_the_gap_is_its_largest_within_the_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside all signs of errors that are far above rounding; the least margin is of a row without a multiplier."""
    W, lam = np.array([0.75, 0.5, -0.5, -0.375]), np.array([0.25, 0.625, 0])
    of_margins, of_sums = 2.0**-10 * np.array([1.0, 3, 2]), 2.0**-10 * np.array([2.0, 0, 1, 5])
    margin, pulled = ROWS.margins(column(W))[0], ROWS.adjoint(lam)[0][:, 0]
    monkeypatch.setattr(Rows, "margins", lambda *_: (margin, of_margins))
    monkeypatch.setattr(Rows, "adjoint", lambda *_: (column(pulled), column(of_sums)))
    largest = max(
        np.sum((W - pulled - signs[:4] * of_sums) ** 2)
        + 2 * lam @ (margin + signs[4:] * of_margins - 1)
        + (1 / (margin + signs[4:] * of_margins).min() ** 2 - 1) * W @ W
        for signs in map(np.array, product((-1, 1), repeat=7))
    )
    found = certified(enclose(ROWS, column(W), lam))
    assert found.relative_gap == pytest.approx(largest / (W @ W), rel=1e-12, abs=0)


def test_a_margin_that_is_not_positive_beyond_rounding_proves_nothing() -> None:
    flat = np.array([-0.5, 0.5, -0.5, -0.5])
    assert enclose(ROWS, column(flat), HALF) is None
    assert repaired(ROWS, column(flat)) is None
    assert certify(ROWS, column(flat), HALF) is None
    assert enclose(ROWS, column(-BEST), HALF) is None
    embedded = replace(ROWS, left=np.eye(4), right=np.eye(4))
    least = np.array([1.0, 1.0, 1.0 - 2.0**-53, -1.0])
    assert repaired(ROWS, column(least)) is not None
    assert repaired(embedded, column(least)) is None  # 2^-53 with an error of 16 roundings of 2


def test_repaired_weights_have_the_least_margin_1() -> None:
    scaled = known(repaired(ROWS, column(0.25 * BEST)))
    assert np.allclose(scaled, column(BEST), rtol=1e-15, atol=0)
    assert (scaled >= column(BEST)).all() == (BEST >= 0).all()
    assert np.min(ROWS.margins(scaled)[0]) >= 1


def test_negative_multipliers_are_left_out() -> None:
    found = certified(certify(ROWS, column(BEST), np.array([0.5, -3.0, 0.5])))
    assert found.multipliers.tolist() == [0.5, 0, 0.5]
    assert found.relative_gap < 1e-14


def test_gamma_is_the_bound_of_a_sum() -> None:
    assert gamma(3) == pytest.approx(3 * U / (1 - 3 * U), rel=1e-15, abs=0)
    assert gamma(2**51) == pytest.approx(0.25 / 0.75)


LEFT = np.array([[3.0, 0.0], [0.0, -1.0], [1.0, 1.0]])
TRIANGLE = Rows(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([2, 2, 2]), 3, LEFT, LEFT)
W2 = np.array([[1.0, -2.0], [0.5, 4.0]])


@pytest.mark.parametrize(
    ("rows", "W", "roundings"),
    [
        pytest.param(TRIANGLE, W2, 12, id="both"),
        pytest.param(replace(TRIANGLE, left=None), np.vstack([W2, [[-1.0, 2.0]]]), 6, id="right"),
        pytest.param(replace(TRIANGLE, left=None, right=None), np.diag([1.0, 2.0, 3.0]), 0, id="none"),
    ],
)
def test_the_rounding_of_margins_written_out(rows: Rows, W: NDArray[np.float64], roundings: int) -> None:
    """A product with a factor of d columns: d + 4 roundings; a difference of two, twice more."""
    left = np.eye(3) if rows.left is None else rows.left
    right = np.eye(3) if rows.right is None else rows.right
    scores, sizes = left @ W @ right.T, np.abs(left) @ np.abs(W) @ np.abs(right.T)
    margin, error = rows.margins(W)
    expected = scores[rows.winner, 2] - scores[rows.loser, 2]
    assert margin.tolist() == expected.tolist()
    size = sizes[rows.winner, 2] + sizes[rows.loser, 2]
    assert error == pytest.approx(roundings * U * size + 2 * U * np.abs(margin), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("rows", "roundings"),
    [
        pytest.param(TRIANGLE, 2 + 2 * 7, id="both"),
        pytest.param(replace(TRIANGLE, left=None), 2 + 7, id="right"),
        pytest.param(replace(TRIANGLE, left=None, right=None), 2, id="none"),
    ],
)
def test_the_rounding_of_combined_rows_written_out(rows: Rows, roundings: int) -> None:
    """Two rows meet in a token; a factor adds V + 4 roundings."""
    lam = np.array([2.0, 5.0, 0.25])
    C, sizes = np.zeros((2, 3, 3))
    C[:, 2] = [7, -2 + 0.25, -5.25]
    sizes[:, 2] = [7, 2.25, 5.25]
    left = known(known(np.eye(3) if rows.left is None else rows.left))
    right = np.eye(3) if rows.right is None else rows.right
    pulled, error = rows.adjoint(lam)
    assert np.array_equal(pulled, left.T @ C @ right)
    assert error == pytest.approx(roundings * U * (np.abs(left).T @ sizes @ np.abs(right)), rel=1e-12, abs=0)


def test_the_residual_of_farkas_multipliers_written_out() -> None:
    line = np.array([[1.0], [2.0], [5.0]])
    rows = Rows(np.array([1, 1]), np.array([0, 2]), np.array([2, 2]), 3, line, line)
    # (1, -3) * 5 under multipliers 3 and 2: -15 / 5, and two roundings in a token's sum, seven a factor
    bound = residual_bound(rows, np.array([3.0, 2.0]))
    sizes = (2 * 5 + 1 * 3 + 5 * 2) * 5
    assert bound == pytest.approx((15 + 16 * U * sizes) / 5, rel=1e-13, abs=0)
    assert bound >= 3
    none = residual_bound(rows, np.array([3.0, 1.0]))
    assert none == pytest.approx(16 * U * (2 * 4 + 1 * 3 + 5 * 1) * 5 / 4, rel=1e-13, abs=0)
    # rows of lengths (2 + 1) 5 and (2 + 5) 5, with 4 V + 2 rows + 16 roundings
    assert rounding_level(rows) == pytest.approx(30 * U * 35, rel=1e-13, abs=0)
    assert rounding_level(replace(rows, left=None)) == pytest.approx(30 * U * 10, rel=1e-13, abs=0)


def test_the_norm_of_a_residual_may_lose_a_rounding_an_entry() -> None:
    """One row among 40 tokens: 1, -1 and 1598 zeros, and one rounding in each cell."""
    rows = Rows(np.array([0]), np.array([1]), np.array([0]), 40, None, None)
    assert residual_bound(rows, np.ones(1)) == pytest.approx(2**0.5 * (1 + 1602 * U), rel=1e-15, abs=0)


@pytest.mark.parametrize("scale", [1e-200, 1e-60, 1.0, 1e60, 1e200])
def test_lengths_of_rows_also_where_squares_leave_the_range(scale: float) -> None:
    rows = Rows(
        np.array([1, 1]), np.array([0, 2]), np.array([0, 2]), 3, None, scale * np.array([[3.0, 4], [1, 0], [0, 0]])
    )
    assert row_lengths(rows.sparse()) == pytest.approx([scale * 50**0.5, 0], rel=1e-15, abs=0)


def test_a_row_that_overflows_is_infinitely_long() -> None:
    rows = Rows(np.array([0]), np.array([1]), np.array([0]), 2, np.array([[1e308], [-1e308]]), np.array([[1.0], [1.0]]))
    assert row_lengths(rows.sparse()).tolist() == [np.inf]


def test_the_closed_form_is_refuted_beyond_the_radius_only() -> None:
    """One winner, one loser and the query: 2/3 and -1/3."""
    dataset = related({"z": [("a", "b")]})
    scores, radius = np.zeros((2, 3, 3))
    scores[:, 2] = [2 / 3, -1 / 3, -1 / 3]
    assert compare(dataset, dataset.orders, scores, radius)["z"].holds
    scores[1, 2] += 2.0**-10
    radius[:, 2] = 2.0**-9
    assert compare(dataset, dataset.orders, scores, radius)["z"].holds
    radius[:, 2] = 2.0**-11
    form = compare(dataset, dataset.orders, scores, radius)["z"]
    assert (form.holds, form.witness) == (False, ("b",))


def test_rows_in_several_columns_meet_only_in_their_own() -> None:
    """Token 0 wins under queries 1 and 2: one row in each cell, so one rounding; under one query it would be two."""
    apart = Rows(np.array([0, 0]), np.array([1, 2]), np.array([1, 2]), 3, None, None)
    assert apart.adjoint(np.ones(2))[1].max() == gamma(1)
    together = replace(apart, column=np.array([1, 1]))
    assert together.adjoint(np.ones(2))[1].max() == 2 * gamma(2)
    # cells (1, 2) and (2, 0) are two, though 1 * 3 + 2 = 2 * 3 - 1 = 5
    diagonal = Rows(np.array([1, 2]), np.array([0, 0]), np.array([1, 2]), 3, None, None)
    assert diagonal.adjoint(np.ones(2))[1][1, 1] == gamma(1)


@pytest.mark.parametrize(("dimension", "coordinates"), [(2, 2), (3, 3), (4, 3), (7, 3)])
def test_coordinates_are_at_most_as_many_as_tokens(dimension: int, coordinates: int) -> None:
    E = np.random.default_rng(dimension).normal(size=(3, dimension))
    rows = replace(TRIANGLE, left=E, right=E)
    few, left, right = in_few_coordinates(rows)
    assert known(few.left).shape == known(few.right).shape == (3, coordinates)
    assert left is right
    if dimension <= 3:
        assert few.left is E
        assert left is None
        return
    assert known(left).T @ known(left) == pytest.approx(np.eye(3), abs=1e-14)
    assert known(few.left) @ known(left).T == pytest.approx(E, abs=1e-14)
    one_side, none, basis = in_few_coordinates(replace(rows, left=None))
    assert (one_side.left, none) == (None, None)
    assert known(basis).shape == (dimension, 3)
