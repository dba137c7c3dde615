"""`WorstCase`: verdicts over a whole class of functions, by proofs and worst functions in rationals."""

from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb
from PEPit import PEP
from PEPit.functions import SmoothConvexFunction

from marginaudit import WorstCase
from marginaudit.claims import Evidence, Verdict
from marginaudit.margins.worst_case.verify import verify_document


@dataclass(frozen=True)
class Descent:
    """Gradient descent's parameters."""

    L: Fraction
    gamma: Fraction
    n: int


def problem(of: Any) -> PEP:
    pep = PEP()
    f = pep.declare_function(SmoothConvexFunction, L=of.L)
    solution, x = f.stationary_point(), pep.set_initial_point()
    pep.set_initial_condition((x - solution) ** 2 <= 1)
    for _ in range(of.n):
        x = x - of.gamma * f.gradient(x)
    pep.set_performance_metric(f(x) - f(solution))
    return pep


def printed(of: Any) -> Fraction:
    return Fraction(of.L / (4 * of.n * of.L * of.gamma + 2))


INSIDE = Descent(Fraction(3), Fraction(1, 3), 2)
OUTSIDE = Descent(Fraction(3), Fraction(19, 30), 2)


def test_bound_of_the_source_holds_exactly_and_is_tight() -> None:
    found = WorstCase(problem, printed).judge(INSIDE)
    assert (found.verdict, found.evidence) == (Verdict.HOLDS, Evidence.EXACT)
    assert (found.measured, found.bound, found.slack) == (0.3, 0.3, 1.0)
    assert found.detail == "Tight: the worst case of smooth convex (L = 3) is 3/10, attained on R^1; bound 3/10."


def test_bound_outside_its_assumption_is_violated_by_a_function() -> None:
    found = WorstCase(problem, printed).judge(OUTSIDE)
    assert (found.verdict, found.evidence) == (Verdict.VIOLATED, Evidence.EXACT)
    assert found.measured == pytest.approx(float(Fraction(3, 2) * Fraction(81, 100) ** 2))
    assert found.witness is not None
    assert found.witness["value"] == "19683/20000"


def test_room_is_that_of_the_worst_case() -> None:
    found = WorstCase(problem, lambda of: 2 * printed(of)).judge(SimpleNamespace(**vars(INSIDE)))
    assert (found.verdict, found.slack) == (Verdict.HOLDS, 2.0)
    sharper = WorstCase(problem, lambda of: printed(of) - Fraction(1, 10**12)).judge(INSIDE)
    assert (sharper.verdict, sharper.evidence) == (Verdict.VIOLATED, Evidence.EXACT)


@pytest.mark.parametrize(
    ("bound", "verdict"),
    [
        (arb("0.31", 0.001), Verdict.HOLDS),
        (arb("0.29", 0.001), Verdict.VIOLATED),
        (arb("0.3", 0.001), Verdict.INCONCLUSIVE),
    ],
)
def test_a_ball_is_decided_where_the_worst_case_lies_outside_it(bound: arb, verdict: Verdict) -> None:
    found = WorstCase(problem, lambda _: bound).judge(INSIDE)
    assert (found.verdict, found.evidence) == (verdict, Evidence.CERTIFIED)


def test_a_problem_without_functions_is_one_of_points_alone() -> None:
    def length(_: Any) -> PEP:
        pep = PEP()
        x = pep.set_initial_point()
        pep.set_initial_condition(x**2 <= 1)
        pep.set_performance_metric(x**2)
        return pep

    found = WorstCase(length, lambda _: Fraction(1)).judge(INSIDE)
    assert found.detail == "Tight: the worst case of points alone is 1, attained on R^1; bound 1."


def test_nothing_is_said_without_a_worst_case() -> None:
    def unbounded(_: Any) -> PEP:
        pep = PEP()
        f = pep.declare_function(SmoothConvexFunction, L=1)
        pep.set_performance_metric(f(pep.set_initial_point()) - f(f.stationary_point()))
        return pep

    found = WorstCase(unbounded, lambda _: 1).judge(INSIDE)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.measured is None


def test_an_inexact_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="expected an exact rational"):
        WorstCase(problem, lambda _: 0.3).judge(INSIDE)


def test_certificate_is_that_of_the_verdict() -> None:
    certificate = WorstCase(problem, printed).certificate(INSIDE)
    assert "tight: the worst case is 3/10" in verify_document(certificate)


def test_exact_worst_case_is_the_best_constant() -> None:
    assert WorstCase(problem, lambda of: 2 * printed(of)).exact(INSIDE) == printed(INSIDE)
    assert WorstCase(problem, lambda of: 2 * printed(of)).exact(OUTSIDE) == Fraction(19683, 20000)
