"""Each threshold of the margins at equality, and each guard with the one input that it is there for."""

from dataclasses import replace
from fractions import Fraction
from types import ModuleType

import flint
import mpmath
import numpy as np
import pytest
from cvxpy.problems.problem import Problem
from flint import arb, ctx, fmpz_mat
from numpy.typing import NDArray
from scipy.sparse._csr import csr_array

from marginaudit.margins import CertificateError, Farkas, SolverFailure, exact, farkas, polish, quadratic, tight
from marginaudit.margins.certificate import Certified
from marginaudit.margins.exact import solve_exactly
from marginaudit.margins.farkas import _exact_multipliers, _null_vector, find_farkas, residual_bound, rounding_level
from marginaudit.margins.ntp import kq, solve_kq
from marginaudit.margins.ntp.constraints import kq_rows
from marginaudit.margins.polish import _Balls, polished
from marginaudit.margins.quadratic import Attempt, solve_quadratic
from marginaudit.margins.rows import Matrix, Rows, in_few_coordinates, row_lengths
from marginaudit.margins.tight import solve_near
from marginaudit.orders import Relations
from marginaudit.orders.ntp import CASES, broken, free_dataset
from tests.margins.restated import related
from tests.solutions import certified, known

CHAIN = Rows(np.array([0, 1]), np.array([1, 2]), np.array([0, 0]), 3, None, None)
SKEW = kq_rows(broken(CASES["example-1"](), "orthonormal"), orthonormal=False)


LINE = Rows(np.array([1, 1]), np.array([0, 2]), np.array([2, 2]), 3, np.array([[1.0], [4.0], [9.0]]), np.ones((3, 1)))
"""Token 1 over 0 and over 2 of three on a line: rows 3 and -5, which multipliers 5/8 and 3/8 annihilate."""

APART = replace(LINE, column=np.array([0, 1]), right=np.eye(3))
"""The same in two columns: w = (1/3, -1/5)."""


CORNER = Rows(
    np.array([1, 2]), np.array([0, 0]), np.array([1, 1]), 3, np.array([[0.0, 0], [1, 0], [-1, 1]]), np.ones((3, 1))
)
"""Rows (1, 0) and (-1, 1)."""


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


# Polishing


@pytest.mark.parametrize("sides", [0, 1, 2])
def test_problems_as_large_as_is_allowed_are_polished(sides: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of matrices on each side that has a factor."""
    rows = replace(SKEW, left=SKEW.left if sides == 2 else None, right=SKEW.right if sides else None)
    found = certified(solve_quadratic(rows))
    (height, width), V = rows.shape, rows.size
    A = in_few_coordinates(rows)[0].sparse()
    candidates: list[NDArray[np.bool_]] = []
    chosen = polish._basis

    def look(A: csr_array, some: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        candidates.append(some)
        return chosen(A, some)

    monkeypatch.setattr(polish, "_basis", look)
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


def test_nothing_is_polished_twice() -> None:
    once = polished(SKEW, certified(solve_quadratic(SKEW)))
    assert polished(SKEW, once) is once


@pytest.mark.parametrize("seed", range(3))
def test_the_first_choice_of_rows_is_right_and_a_wrong_one_is_mended(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the solver's answer, and from positive multipliers on all rows."""
    embedding = np.random.default_rng(seed).normal(size=(5, 6))
    rows = kq_rows(replace(free_dataset(V=5, N=14, L=4, seed=seed), embedding=embedding), orthonormal=False)
    found = certified(solve_quadratic(rows))
    wrong = certified(replace(found, multipliers=found.multipliers + found.multipliers.max()))
    after = polished(rows, wrong)
    assert after.direction_radius < 2e-16
    monkeypatch.setattr(polish, "STEPS", 1)
    assert polished(rows, found).W.tolist() == after.W.tolist()
    assert polished(rows, wrong) is wrong


@pytest.mark.parametrize(("share", "proved"), [(0.95, True), (1.05, False)])
def test_how_sharp_a_proof_is_to_be(share: float, proved: bool) -> None:
    """(3 + d, 2) in place of (3, 2): ||w||^2 = 5 + 2 d and a margin of 1 - d, so (P - D) / P = 4 d / 5 to first order.

    The gap is (5 + 2 d)(1 + 2 d) - (2 (5 + d) - 5 - 2 d) = 12 d, and P = 5.
    """
    with ctx.workprec(polish.BITS):
        d = (arb(share) * arb(2) ** -60) ** 2 * 5 / 12
        found = polish._Balls.of(CORNER).proved([3 + d, arb(2)], np.zeros((2, 1)))
    assert (found is not None) == proved


def test_no_rows_have_no_basis() -> None:
    A = CHAIN.sparse()
    assert polish._basis(A, np.array([False, False])) is None
    assert sorted(known(polish._basis(A, np.array([True, True]))).tolist()) == [0, 1]


def test_a_row_in_the_span_of_others_up_to_rounding_is_in_no_basis() -> None:
    for off, size in ((0.9e-12, 1), (1.1e-12, 2)):
        factor = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, off]])
        rows = Rows(np.array([1, 2]), np.array([0, 0]), np.array([0, 0]), 3, factor, np.ones((3, 1)))
        assert len(known(polish._basis(rows.sparse(), np.array([True, True])))) == size


@pytest.mark.parametrize("outcome", [None, "nan"])
def test_a_singular_system_changes_nothing(outcome: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = certified(solve_quadratic(SKEW))

    def correction(balls: _Balls, basis: list[int], margins: list[flint.arb]) -> list[flint.arb] | None:
        return None if outcome is None else [arb("nan")] * len(basis)

    monkeypatch.setattr(polish._Balls, "correction", correction)
    assert polished(SKEW, found) is found


def test_what_is_not_feasible_is_not_proved() -> None:
    """w = (1, 0) has margin 1 in one row and -1 in the other: ||w||^2 / (-1)^2 is the dual value all the same."""
    with ctx.workprec(polish.BITS):
        balls = polish._Balls.of(CORNER)
        lam = [arb(1), arb(0)]
        assert [float(margin) for margin in balls.margins(lam)] == [1, -1]
        assert balls.proved(lam, np.zeros((2, 1))) is None
        assert balls.proved([arb(3), arb(2)], np.zeros((2, 1))) is not None


@pytest.mark.parametrize("lam", [(3.25, 2.0), (3.0, 2.25), (2.75, 2.125), (3.0, 2.0)])
def test_what_multipliers_prove_written_out(lam: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows (1, 0) and (-1, 1): w = (lam_1 - lam_2, lam_2), which float64 holds; the optimum is (1, 2)."""
    monkeypatch.setattr(polish, "SHARP", 1.0)
    with ctx.workprec(polish.BITS):
        found = certified(polish._Balls.of(CORNER).proved([arb(value) for value in lam], np.zeros((2, 1))))
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
        found = certified(polish._Balls.of(CORNER).proved([3 + arb(2) ** -54, arb(2)], np.zeros((2, 1))))
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


def test_the_bound_of_a_ball_is_above_all_of_it() -> None:
    assert 1.25 <= polish._above(arb(1, 0.25)) < 1.26
    assert polish._above(arb(1)) == np.nextafter(1, 2)


# Exact solutions


def test_a_cut_with_no_edge_across_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two queries are cut; of the first all tokens are said to be reached, as by a flow that is none."""
    edges = [(0, 3), (1, 3), (1, 4), (1, 5), (1, 6)]
    relations = Relations(*np.array([(q, w, x, 0) for q in (0, 1) for w, x in edges]).T)
    right, calls = exact._reached, []

    def wrong(
        tail: NDArray[np.int64], head: NDArray[np.int64], flow: NDArray[np.int64], starts: NDArray[np.int64], size: int
    ) -> NDArray[np.bool_]:
        reached = right(tail, head, flow, starts, size)
        calls.append(reached.copy())
        reached[: size // 2] = True
        return reached

    assert len(set(solve_exactly(relations, 7).block.tolist())) == 4
    monkeypatch.setattr(exact, "_reached", wrong)
    with pytest.raises(CertificateError, match="not a maximum flow"):
        solve_exactly(relations, 7)
    ((first, second),) = (np.split(reached, 2) for reached in calls)
    assert first.tolist() == second.tolist()
    assert not first.all()


@pytest.mark.parametrize("digits", range(3, 9))
def test_rows_count_as_tight_at_each_slack_that_is_tried(digits: int) -> None:
    """Two winners of m and m + 1 losers, one row between the blocks: its slack is 1/((m + 1)(m + 2)), here 1.5e-digits.

    A tight row is off by 0.5e-digits, so of all slacks tried 1e-digits alone tells the two rows apart.
    """
    m = int((10**digits / 1.5) ** 0.5) - 1
    winner = np.array([0] * m + [1] * (m + 1) + [1])
    loser = np.array([*range(2, 2 * m + 3), 2])
    scores = np.empty((2 * m + 3, 1))
    scores[:, 0] = [m / (m + 1), (m + 1) / (m + 2), *[-1 / (m + 1)] * m, *[-1 / (m + 2)] * (m + 1)]
    slack = scores[1, 0] - scores[2, 0] - 1
    assert 1.2 * 10**-digits < slack < 1.9 * 10**-digits
    scores[3, 0] -= 0.5 * 10**-digits
    zeros = np.zeros(len(winner), dtype=np.int64)
    relations = Relations(zeros, winner, loser, zeros)
    (found,) = solve_near(relations, len(scores), scores).values()
    assert found.norm_squared == Fraction(m, m + 1) + Fraction(m + 1, m + 2)
    for off in (0.9, 1.1):  # a row further off than the largest slack is not tight
        scores[3, 0] = -1 / (m + 1) - off * 10**-3
        assert bool(solve_near(relations, len(scores), scores)) == (digits == 3 and off < 1)


def test_a_wrong_flow_near_a_right_guess_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = related({"z": [("a", "b"), ("b", "c")]})
    scores, right = solve_kq(dataset).optimal().scores, tight._flow
    assert solve_near(dataset.relations, dataset.V, scores)
    monkeypatch.setattr(tight, "_flow", lambda *arguments: known(right(*arguments)) + 1)
    with pytest.raises(CertificateError):
        solve_near(dataset.relations, dataset.V, scores)


def test_a_joined_solution_without_a_margin_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = broken(CASES["free-20"](), "no_confused_tokens")
    monkeypatch.setattr(kq, "solve_near", lambda relations, size, scores: {})
    monkeypatch.setattr(kq, "certify", lambda rows, W, multipliers: None)
    with pytest.raises(CertificateError, match="margin that is not positive"):
        solve_kq(dataset)


def test_the_second_opinion_takes_nothing_from_the_exact_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(relations: Relations, size: int, scores: NDArray[np.float64]) -> None:
        raise AssertionError

    monkeypatch.setattr(kq, "solve_near", refuse)
    tangled = [("a", "b"), ("b", "c")]
    dataset = related({"z": tangled, "y": [("a", "b"), ("b", "a")]})
    assert solve_kq(dataset, method="cvxpy").closed_form["z"] is not None
    with pytest.raises(AssertionError):
        solve_kq(dataset)
