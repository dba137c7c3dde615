"""Infeasible problems: cycles and Farkas multipliers, checked in rationals, and lies that are refused."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import ArrayLike

from marginaudit.margins import CertificateError, Farkas, NotExact
from marginaudit.margins.ntp import Cycle, Infeasible, MaxMargin, solve_kq
from marginaudit.margins.ntp.solution import Method
from marginaudit.orders.ntp import CASES, Dataset, Sample, broken
from tests.margins.restated import NamedRow, combine, exact_rows, kq_constraints


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


@pytest.mark.parametrize("bend", [1e-2, 1e-4, 1e-6])
def test_a_line_bent_beyond_rounding_is_not_called_infeasible(bend: float) -> None:
    dataset = on_a_line([[1.0, 0.0], [2.0, bend], [3.0, 0.0]])
    solution = solve_kq(dataset).optimal()
    assert solution.status == "optimal"
    # W*: both rows tight, w = (0, 1/bend) against the query (3, 0)
    assert solution.norm_squared == pytest.approx(1 / (3 * bend) ** 2, rel=1e-6, abs=0)
