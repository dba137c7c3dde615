"""Infeasible problems: cycles and Farkas multipliers, checked in rationals, and lies that are refused."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import ArrayLike

from marginaudit.margins import CertificateError, Farkas, NotExact, SolverFailure
from marginaudit.margins.farkas import _exact_multipliers, find_farkas, residual_bound, rounding_level
from marginaudit.margins.method import Method
from marginaudit.margins.ntp import Cycle, Infeasible, MaxMargin, solve_kq, solve_ov
from marginaudit.margins.ntp.constraints import kq_rows
from marginaudit.orders.ntp import CASES, Dataset, Sample, broken
from tests.margins.restated import NamedRow, combine, exact_rows, kq_constraints, related


def infeasible(solution: MaxMargin) -> Infeasible:
    assert isinstance(solution, Infeasible)
    return solution


def farkas(solution: MaxMargin) -> Farkas:
    proof = infeasible(solution).infeasibility
    assert isinstance(proof, Farkas)
    return proof


def on_a_line(values: ArrayLike) -> Dataset:
    """b beats a and c under query c, with the given embeddings of a, b, c."""
    samples = (Sample(("b", "a", "c"), "c"),)
    n = {"a": "b", "b": "c", "c": "a"}
    return Dataset("line", ("a", "b", "c"), samples, (1,), next_token=n, embedding=np.array(values, dtype=float))


@pytest.mark.parametrize("method", ["auto", "exact", "cvxpy"])
@pytest.mark.parametrize("name", ["one-hot", "general"])
def test_a_cycle(method: Method, name: str) -> None:
    dataset = broken(CASES["free-20"](), "well_defined_orders")
    if name == "general":
        rng = np.random.default_rng(0)
        dataset = replace(dataset, embedding=rng.normal(size=(dataset.V, 30)))
    solution = infeasible(solve_kq(dataset, method=method))
    assert (solution.status, solution.method) == ("infeasible", "exact")
    proof = solution.infeasibility
    assert isinstance(proof, Cycle)
    rows = set(kq_constraints(dataset))
    steps = zip(proof.tokens, (*proof.tokens[1:], proof.tokens[0]), strict=True)
    assert all((proof.query, *step) in rows for step in steps)
    assert proof.as_document() == {"kind": "cycle", "query": proof.query, "tokens": list(proof.tokens)}
    with pytest.raises(ValueError, match="infeasible"):
        solution.optimal()
    with pytest.raises(NotExact):
        solution.exact()
    assert not solution.closed_form[proof.query].holds
    assert solution.closed_form[proof.query].witness == proof.tokens


@pytest.mark.parametrize(("query", "tokens"), [("O", ("O", "S")), ("O", ()), ("nowhere", ("O",)), ("O", ("O",))])
def test_a_fake_cycle_is_refused(query: str, tokens: tuple[str, ...]) -> None:
    with pytest.raises(CertificateError):
        Cycle(query, tokens).verify(CASES["example-1"]())


def check_farkas(A: list[list[Fraction]], constraints: list[NamedRow], proof: Farkas) -> None:
    """y >= 0, sum(y) = 1, and ||A^T y|| in rationals at most the residual."""
    y = [Fraction(0)] * len(constraints)
    for row, value in zip(proof.rows, proof.multipliers, strict=True):
        y[constraints.index(row)] = value
    assert min(proof.multipliers) > 0
    assert sum(y) == 1
    squared = sum((v**2 for v in combine(A, y)), Fraction(0))
    assert squared <= Fraction(proof.residual) ** 2
    assert proof.norm_at_least == (math.inf if proof.residual == 0 else pytest.approx(1 / proof.residual))


@pytest.mark.parametrize("values", [[[1], [2], [3]], [[0.1, 0.7], [0.2, 1.4], [0.3, 2.1]], [[1, 0], [1, 0], [0, 1]]])
def test_no_cycle_and_still_infeasible(values: list[list[float] | list[int]]) -> None:
    dataset = on_a_line(values)
    solution = infeasible(solve_kq(dataset))
    assert solution.status == "infeasible"
    A = exact_rows(dataset, kq_constraints(dataset), left=dataset.embeddings, right=dataset.embeddings)
    check_farkas(A, kq_constraints(dataset), farkas(solution))
    assert solution.closed_form == {"c": solution.closed_form["c"]}
    assert not solution.closed_form["c"].holds
    document = farkas(solution).as_document()
    assert document["kind"] == "farkas"
    assert sum(map(Fraction, document["multipliers"])) == 1


def test_the_multipliers_are_exact_where_the_numbers_are() -> None:
    proof = farkas(solve_kq(on_a_line([[1], [2], [3]])))
    assert proof == Farkas((("c", "b", "a"), ("c", "b", "c")), (Fraction(1, 2), Fraction(1, 2)), 0.0)
    proof = farkas(solve_kq(on_a_line([[1], [2], [5]])))
    assert proof.multipliers == (Fraction(3, 4), Fraction(1, 4))


def test_a_line_turned_is_infeasible_up_to_rounding() -> None:
    line = np.array([[1.0], [2.0], [5.0]]) @ np.array([[math.cos(1), math.sin(1)]])
    dataset = on_a_line(line * [1, 1 + 1e-16] + [[0, 0], [0, 0], [0, 2e-16]])
    proof = farkas(solve_kq(dataset))
    A = exact_rows(dataset, kq_constraints(dataset), left=dataset.embeddings, right=dataset.embeddings)
    check_farkas(A, kq_constraints(dataset), proof)
    assert proof.residual < 1e-13


@pytest.mark.parametrize("bend", [1e-2, 1e-4, 1e-6])
def test_a_line_bent_beyond_rounding_is_not_called_infeasible(bend: float) -> None:
    dataset = on_a_line([[1.0, 0.0], [2.0, bend], [3.0, 0.0]])
    solution = solve_kq(dataset).optimal()
    assert solution.status == "optimal"
    # W*: both rows tight, w = (0, 1/bend) against the query (3, 0)
    assert solution.norm_squared == pytest.approx(1 / (3 * bend) ** 2, rel=1e-6, abs=0)


def test_an_almost_straight_line_gets_no_wrong_answer() -> None:
    for bend in (1e-9, 1e-12, 1e-14):
        dataset = on_a_line([[1.0, 0.0], [2.0, bend], [3.0, 0.0]])
        try:
            solution = solve_kq(dataset)
        except SolverFailure:
            continue
        if isinstance(solution, Infeasible):
            assert farkas(solution).residual >= bend
        else:
            assert solution.optimal().norm_squared == pytest.approx(1 / (3 * bend) ** 2, rel=1e-3, abs=0)


def test_ov_with_fewer_dimensions_than_it_needs() -> None:
    dataset = on_a_line([[1], [2], [-3]])
    solution = solve_ov(dataset)
    assert solution.status == "infeasible"
    n = dataset.collocation.function
    constraints = [(x, n[x], v) for x in "abc" for v in "abc" if v != n[x]]
    A = exact_rows(dataset, constraints, left=np.eye(3), right=dataset.embeddings)
    check_farkas(A, constraints, farkas(solution))
    feasible = replace(dataset, embedding=np.array([[1.0, 0], [0, 1], [-1, -1]]))
    assert solve_ov(feasible).status == "optimal"


def test_a_token_at_the_origin() -> None:
    dataset = on_a_line([[1, 0], [0, 1], [0, 0]])
    for solution in (solve_kq(dataset), solve_ov(dataset)):  # a row of zeros: 0 >= 1
        assert len(farkas(solution).rows) == 1
        assert farkas(solution).residual == 0


def test_a_wrong_multiplier_is_beyond_rounding() -> None:
    rows = kq_rows(on_a_line([[1], [2], [5]]), orthonormal=False)
    assert residual_bound(rows, np.array([0.75, 0.25])) <= rounding_level(rows)
    assert residual_bound(rows, np.array([0.75, 0.25 + 1e-12])) > rounding_level(rows)
    assert residual_bound(rows, np.array([0.5, 0.5])) > 1


@pytest.mark.parametrize("bend", [1e-13, 1e-11, 1e-9])
def test_multipliers_that_leave_more_than_rounding_prove_nothing(bend: float) -> None:
    dataset = on_a_line([[1.0, 0.0], [2.0, bend], [3.0, 0.0]])
    assert find_farkas(kq_rows(dataset, orthonormal=False), dataset.vocabulary) is None


def test_a_dependence_of_mixed_signs_proves_nothing() -> None:
    line = on_a_line([[1], [2], [5]])
    index = np.array([0, 0], dtype=np.int64)
    same_way = replace(kq_rows(line, orthonormal=False), winner=np.array([1, 2]), loser=index, column=index)
    assert _exact_multipliers(same_way) is None
    assert find_farkas(same_way, line.vocabulary) is None


def test_related_cycles_are_named_by_the_first_query() -> None:
    dataset = related({"q": [("a", "b"), ("b", "a")], "z": [("a", "b"), ("b", "a")]})
    proof = infeasible(solve_kq(dataset)).infeasibility
    assert isinstance(proof, Cycle)
    assert proof.query == "q"
