"""Each threshold of the quadratic program and of Farkas multipliers at equality, and guards with their one input."""

from dataclasses import replace
from types import ModuleType

import flint
import numpy as np
import pytest
from cvxpy.problems.problem import Problem
from flint import fmpz_mat
from scipy.sparse._csr import csr_array

from marginaudit.margins import CertificateError, Farkas, SolverFailure, farkas, quadratic
from marginaudit.margins.certificate import Certified
from marginaudit.margins.farkas import _exact_multipliers, _null_vector, find_farkas, residual_bound, rounding_level
from marginaudit.margins.quadratic import Attempt, solve_quadratic
from marginaudit.margins.rows import Matrix, Rows, row_lengths
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
    monkeypatch.setattr(farkas, "_exact_multipliers", lambda rows: None)
    rows = LINE if module is farkas else APART
    assert row_lengths(rows.sparse()).tolist() == [3, 5]
    for shortest, longest, answered in ((3, 5, True), (3.1, 5, False), (3, 4.9, False), (5.1, 6, False), (1, 2, False)):
        monkeypatch.setattr(module, "SHORTEST", shortest)
        monkeypatch.setattr(module, "LONGEST", longest)
        answer = find_farkas(rows, tuple("abc")) if module is farkas else solve_quadratic(rows)
        assert isinstance(answer, Farkas | Certified) == answered


def test_the_solver_sees_right_hand_sides_of_at_most_1(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Matrix, Matrix]] = []

    def look(A: csr_array, b: Matrix) -> tuple[None, None, str]:
        seen.append((row_lengths(A), b))
        return None, None, ""

    monkeypatch.setattr(quadratic, "_solve", look)
    assert isinstance(solve_quadratic(APART), SolverFailure)
    ((lengths, b),) = seen
    assert lengths == pytest.approx([1, 1], rel=1e-15, abs=0)
    assert b == pytest.approx([1, 3 / 5], rel=1e-15, abs=0)


@pytest.mark.parametrize("broken_array", ["solution", "multipliers"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_solver_that_leaves_a_number_that_is_none_has_no_answer(
    broken_array: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cvxpy as cp

    def solve(problem: Problem, **options: bool | float | str) -> None:
        w, row = np.array([1.0, 0.0, -1.0]), np.array([1.0, 1.0])
        (w if broken_array == "solution" else row)[0] = value
        problem.variables()[0].save_value(w)
        problem.constraints[0].dual_variables[0].save_value(row)

    monkeypatch.setattr(cp.Problem, "solve", solve)
    assert quadratic._solve(CHAIN.sparse(), np.ones(2))[:2] == (None, None)


@pytest.mark.parametrize("lost", ["solution", "multipliers"])
def test_half_an_answer_is_none(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solved, tried = quadratic._solve, quadratic._attempt

    def half(A: csr_array, b: Matrix) -> tuple[Matrix | None, Matrix | None, str]:
        w, lam, status = solved(A, b)
        return (None, lam, status) if lost == "solution" else (w, None, status)

    def half_attempt(rows: Rows) -> Attempt:
        attempt = tried(rows)
        return replace(attempt, W=None) if lost == "solution" else replace(attempt, multipliers=None)

    for name, change in (("_attempt", half_attempt), ("_solve", half)):
        with monkeypatch.context() as patch:
            patch.setattr(quadratic, name, change)
            assert isinstance(solve_quadratic(CHAIN), SolverFailure)


# Farkas multipliers


def test_multipliers_with_a_residual_as_large_as_rounding_prove_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farkas, "_exact_multipliers", lambda rows: None)
    proof = known(find_farkas(LINE, tuple("abc")))
    assert proof.residual > 0
    for level, proved in ((proof.residual, True), (np.nextafter(proof.residual, 0), False)):
        monkeypatch.setattr(farkas, "rounding_level", lambda part, level=level: level)
        assert (find_farkas(LINE, tuple("abc")) is not None) == proved


def test_systems_as_large_as_is_allowed_are_solved_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    for largest, solved in ((2, True), (1, False)):
        monkeypatch.setattr(farkas, "LARGEST_EXACT_SYSTEM", largest)
        assert (_exact_multipliers(LINE) is not None) == solved
    proof = known(find_farkas(LINE, tuple("abc")))
    assert proof.residual > 0
    assert [float(y) for y in proof.multipliers] == pytest.approx([5 / 8, 3 / 8], rel=1e-12, abs=0)


def test_a_row_that_the_dependence_does_not_need_makes_no_exact_proof() -> None:
    """y = (5, 3, 0)/8 is the only dependence, and a multiplier of 0 is none."""
    factor = np.array([[1.0, 0.0], [4.0, 0.0], [9.0, 0.0], [0.0, 1.0]])
    rows = Rows(np.array([1, 1, 3]), np.array([0, 2, 0]), np.array([0, 0, 0]), 4, factor, np.ones((4, 1)))
    assert _exact_multipliers(rows.taken(np.array([True, True, False]))) is not None
    assert _exact_multipliers(rows) is None
    assert len(known(find_farkas(rows, tuple("abcd"))).rows) == 2


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
        _exact_multipliers(rows)


def test_a_null_vector_with_a_zero_is_not_taken() -> None:
    """Two dependent pairs of rows: the multipliers of all four are positive, some null vectors' are not."""
    right = 0.25 * np.eye(4)
    A = Rows(np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2]), np.array([0, 0, 1, 1]), 4, None, right).sparse()
    z, lengths = np.full(4, 0.25), np.full(4, 0.25 * 2**0.5)
    vector = np.linalg.svd((A.toarray() / lengths[:, None]).T)[2][-1]
    assert not np.all(np.abs(vector) > 0)
    assert _null_vector(A, lengths, z).tolist() == (z / lengths).tolist()


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_row_that_overflows_has_no_multipliers(order: list[int]) -> None:
    factor = np.array([[1e308], [-1e308], [1.0]])
    rows = Rows(np.array([0, 2])[order], np.array([1, 1])[order], np.array([2, 2]), 3, factor, np.ones((3, 1)))
    assert np.isinf(row_lengths(rows.sparse())[order]).tolist() == [True, False]
    assert find_farkas(rows, tuple("abc")) is None


def test_what_the_linear_program_leaves_is_taken_away() -> None:
    """Its multipliers are right to about 1e-9; those of one dependence are found again to rounding."""
    lengths = np.array([3.0, 5.0])
    y = _null_vector(LINE.sparse(), lengths, np.array([0.5 + 1e-9, 0.5 - 1e-9]))
    assert y / y.sum() == pytest.approx([5 / 8, 3 / 8], rel=1e-14, abs=0)
    assert residual_bound(LINE, y) <= rounding_level(LINE)
    assert residual_bound(LINE, np.array([0.5 + 1e-9, 0.5 - 1e-9]) / lengths) > rounding_level(LINE)


@pytest.mark.parametrize(("left_over", "named"), [(0.9e-9, 2), (1.1e-9, 3)])
def test_what_a_linear_program_may_mean_as_0(left_over: float, named: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a row that no dependence needs."""
    factor = np.array([[1.0, 0.0], [4.0, 0.0], [9.0, 0.0], [0.0, 1.0]])
    rows = Rows(np.array([1, 1, 3]), np.array([0, 2, 0]), np.array([0, 0, 0]), 4, factor, np.ones((4, 1)))
    monkeypatch.setattr(farkas, "_scaled_multipliers", lambda A, lengths: np.array([0.5, 0.5, left_over]))
    proof = known(find_farkas(rows, tuple("abcd")))
    assert len(proof.rows) == named
    assert (proof.residual == 0) == (named == 2)
