"""Each threshold of the quadratic program and of Farkas multipliers at equality, and guards with their one input."""

from dataclasses import replace
from types import ModuleType

import flint
import numpy as np
import pytest
from flint import fmpz_mat

from marginaudit.margins import CertificateError, Farkas, farkas, quadratic
from marginaudit.margins.certificate import Certified
from marginaudit.margins.farkas import exact_multipliers, find_farkas, null_vector, residual_bound, rounding_level
from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.margins.quadratic import solve_quadratic
from marginaudit.margins.rows import Rows, row_lengths
from marginaudit.orders.ntp import CASES, broken
from marginaudit.orders.ntp.formats import LARGEST_ENTRY
from tests.solutions import certified, known

CHAIN = Rows(np.array([0, 1]), np.array([1, 2]), np.array([0, 0]), 3, None, None)


LINE = Rows(np.array([1, 1]), np.array([0, 2]), np.array([2, 2]), 3, np.array([[1.0], [4.0], [9.0]]), np.ones((3, 1)))
"""Token 1 over 0 and over 2 of three on a line: rows 3 and -5, which multipliers 5/8 and 3/8 annihilate."""

APART = replace(LINE, column=np.array([0, 1]), right=np.eye(3))
"""The same in two columns: w = (1/3, -1/5)."""


# The quadratic program


def test_a_gap_as_wide_as_is_allowed_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = certified(solve_quadratic(CHAIN)).relative_gap
    assert gap > 0
    for widest, answered in ((gap, True), (np.nextafter(gap, 0), False)):
        monkeypatch.setattr(quadratic, "WIDEST_RELATIVE_GAP", widest)
        assert isinstance(solve_quadratic(CHAIN), Certified) == answered


@pytest.mark.parametrize("module", [quadratic, farkas])
def test_the_shortest_and_the_longest_row_are_within_the_range(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of lengths 3 and 5, in one column and so dependent, or each in its own."""
    monkeypatch.setattr(farkas, "exact_multipliers", lambda rows: None)
    rows = LINE if module is farkas else APART
    assert row_lengths(rows.sparse()).tolist() == [3, 5]
    for shortest, longest, answered in ((3, 5, True), (3.1, 5, False), (3, 4.9, False), (5.1, 6, False), (1, 2, False)):
        monkeypatch.setattr(module, "SHORTEST", shortest)
        monkeypatch.setattr(module, "LONGEST", longest)
        answer = find_farkas(rows, tuple("abc")) if module is farkas else solve_quadratic(rows)
        assert isinstance(answer, Farkas | Certified) == answered


def test_embeddings_have_one_solution_whatever_their_size() -> None:
    """In as many dimensions as tokens, and in more."""
    skew = broken(CASES["example-1"](), "orthonormal")
    for E in (skew.embeddings, np.random.default_rng(0).normal(size=(4, 100))):
        E = E / np.abs(E).max()
        for solve, factors in ((solve_ov, 1), (solve_kq, 2)):
            expected = solve(replace(skew, embedding=E)).optimal()
            for size in (2.0**-160, 2.0**166):  # powers of two, so that nothing is rounded
                found = solve(replace(skew, embedding=size * E)).optimal()
                assert (found.scores == expected.scores).all()
                assert (found.matrix * size**factors == expected.matrix).all()
                assert found.direction_radius == expected.direction_radius
            largest = solve(replace(skew, embedding=LARGEST_ENTRY * E)).optimal()
            np.testing.assert_allclose(largest.scores, expected.scores, rtol=1e-12, atol=1e-12)


# Farkas multipliers


def test_multipliers_with_a_residual_as_large_as_rounding_prove_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farkas, "exact_multipliers", lambda rows: None)
    proof = known(find_farkas(LINE, tuple("abc")))
    assert proof.residual > 0
    for level, proved in ((proof.residual, True), (np.nextafter(proof.residual, 0), False)):
        monkeypatch.setattr(farkas, "rounding_level", lambda part, level=level: level)
        assert (find_farkas(LINE, tuple("abc")) is not None) == proved


def test_systems_as_large_as_is_allowed_are_solved_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    for largest, solved in ((2, True), (1, False)):
        monkeypatch.setattr(farkas, "LARGEST_EXACT_SYSTEM", largest)
        assert (exact_multipliers(LINE) is not None) == solved
    proof = known(find_farkas(LINE, tuple("abc")))
    assert proof.residual > 0
    assert [float(y) for y in proof.multipliers] == pytest.approx([5 / 8, 3 / 8], rel=1e-12, abs=0)


@pytest.mark.parametrize("coordinates", [1, 2])
def test_rational_multipliers_that_do_not_annihilate_the_rows_are_refused(
    coordinates: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Multipliers 1, 1 of rows 3 and -5; a second coordinate that they do annihilate hides nothing."""

    class Lying:
        def __init__(self, columns: list[list[int]]) -> None:
            assert columns[0] == [3, -5]

        def nullspace(self) -> tuple[flint.fmpz_mat, int]:
            return fmpz_mat([[1], [1]]), 1

    rows = replace(LINE, left=np.array([[1.0, 0.0], [4.0, 0.0], [9.0, 0.0]])[:, :coordinates])
    monkeypatch.setattr(flint, "fmpz_mat", Lying)
    with pytest.raises(CertificateError, match="do not annihilate"):
        exact_multipliers(rows)


def test_what_the_linear_program_leaves_is_taken_away() -> None:
    """Its multipliers are right to about 1e-9; those of one dependence are found again to rounding."""
    lengths = np.array([3.0, 5.0])
    y = null_vector(LINE.sparse(), lengths, np.array([0.5 + 1e-9, 0.5 - 1e-9]))
    assert y / y.sum() == pytest.approx([5 / 8, 3 / 8], rel=1e-14, abs=0)
    assert residual_bound(LINE, y) <= rounding_level(LINE)
    assert residual_bound(LINE, np.array([0.5 + 1e-9, 0.5 - 1e-9]) / lengths) > rounding_level(LINE)


def test_a_multiplier_of_0_is_no_certificate() -> None:
    """Two rows contradict each other; the third has nothing to do with it."""
    first, second, third = np.array([0, 1, 0]), np.array([1, 0, 2]), np.zeros(3, dtype=np.int64)
    rows = Rows(winner=first, loser=second, column=third, size=3, left=None, right=None)
    assert exact_multipliers(rows) is None
    assert exact_multipliers(rows.taken(np.array([True, True, False]))) is not None
