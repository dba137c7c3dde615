"""Worst cases of methods with irrational steps: proved for all data in enclosures of them."""

import copy
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb
from PEPit import PEP
from PEPit.functions import ConvexQGFunction, SmoothConvexFunction

from marginaudit import WorstCase
from marginaudit.claims import Evidence, Verdict
from marginaudit.margins.worst_case.from_pepit import from_pepit
from marginaudit.margins.worst_case.scalar import EnclosedFloat, RationalFloat, enclosure, exactly
from marginaudit.margins.worst_case.solve import WorstCase as Solved
from marginaudit.margins.worst_case.solve import worst_case
from marginaudit.margins.worst_case.verify import FORMAT, Interval, Refused, Unreadable, between, ends, verify_document
from tests.margins.worst_case.samples import first_order

HALF = RationalFloat("1/2")


def optimized_gradient(p: Any) -> PEP:
    """f(y_n) - f* of the optimized gradient method (Kim, Fessler 2016)."""
    pep = PEP()
    f = pep.declare_function(SmoothConvexFunction, L=p.L)
    solution = f.stationary_point()
    x = y = first_order.start_near(pep, solution)
    theta: list[Any] = [RationalFloat(1)]
    for t in range(p.n):
        theta.append((1 + ((8 if t == p.n - 1 else 4) * theta[-1] ** 2 + 1) ** HALF) / 2)
        x, last = y - 1 / p.L * f.gradient(y), x
        y = x + (theta[t] - 1) / theta[t + 1] * (x - last) + theta[t] / theta[t + 1] * (x - y)
    pep.set_performance_metric(f(y) - f(solution))
    return pep


def theory(n: int) -> arb:
    """1/(2 theta_n^2), for L = 1."""
    theta = arb(1)
    for t in range(n):
        theta = (1 + ((8 if t == n - 1 else 4) * theta**2 + 1).sqrt()) / 2
    return 1 / (2 * theta**2)


def ogm(n: int) -> SimpleNamespace:
    return SimpleNamespace(n=n, L=Fraction(1))


def irrational_subgradient(n: int) -> SimpleNamespace:
    return SimpleNamespace(n=n, M=Fraction(1), R2=Fraction(1), gamma=1 / arb(n + 1).sqrt())


@pytest.mark.parametrize("n", [2, 3, 5])
def test_optimized_gradient_method_has_its_printed_bound_up_to_the_gap(n: int) -> None:
    room = arb("1.00001")
    above = WorstCase(optimized_gradient, lambda p: theory(p.n) * room).judge(ogm(n))
    below = WorstCase(optimized_gradient, lambda p: theory(p.n) / room).judge(ogm(n))
    assert (above.verdict, above.evidence) == (Verdict.HOLDS, Evidence.CERTIFIED)
    assert (below.verdict, below.evidence) == (Verdict.VIOLATED, Evidence.CERTIFIED)
    attained = WorstCase(optimized_gradient, lambda p: theory(p.n)).judge(ogm(n))
    assert attained.verdict is Verdict.INCONCLUSIVE  # no end of an enclosure is the irrational bound itself
    assert ", for all data in the enclosures: 0.0" in attained.detail


@pytest.mark.parametrize("n", [1, 4])
def test_rational_bounds_on_irrational_steps_are_certified(n: int) -> None:
    p, bound = irrational_subgradient(n), Fraction(round(2**20 / (n + 1) ** 0.5), 2**20)
    larger = WorstCase(first_order.subgradient_problem, lambda _: bound + Fraction(1, 10**5)).judge(p)
    smaller = WorstCase(first_order.subgradient_problem, lambda _: bound - Fraction(1, 10**5)).judge(p)
    assert (larger.verdict, larger.evidence) == (Verdict.HOLDS, Evidence.CERTIFIED)
    assert (smaller.verdict, smaller.evidence) == (Verdict.VIOLATED, Evidence.CERTIFIED)


def solved() -> Solved:
    return worst_case(from_pepit(first_order.subgradient_problem(exactly(irrational_subgradient(1)))))


def enclosures(document: Any) -> list[list[str]]:
    """The enclosures in a document."""
    if isinstance(document, dict):
        return [found for value in document.values() for found in enclosures(value)]
    if not isinstance(document, list):
        return []
    if len(document) == 2 and all(isinstance(c, str) and "/" in c for c in document):
        return [document]
    return [found for value in document for found in enclosures(value)]


def test_certificate_with_enclosures_is_checked_without_pepit_and_lies_are_refused() -> None:
    certificate = solved().certificate()
    lines = verify_document(certificate)
    assert all("for all data in the enclosures" in line for line in lines[:2])
    (enclosed,) = enclosures(certificate["problem"])
    root = arb(1) / arb(2).sqrt()
    assert all(abs(Fraction(end)) - Fraction(str(root.mid().fmpq())) < Fraction(1, 2**50) for end in enclosed)
    for part, place in (("proof", "the matrix of products"), ("worst_case", "function 0")):
        wide = copy.deepcopy(certificate)
        del wide[{"proof": "worst_case", "worst_case": "proof"}[part]]
        (again,) = enclosures(wide["problem"])
        again[:] = ["-3/4", "-1/2"]  # the step is anything between: neither end was proved for that
        with pytest.raises(Refused, match=place):
            verify_document(wide)
    again[:] = ["-1/2", "-3/4"]
    with pytest.raises(Unreadable, match="an enclosure with its lower end first"):
        verify_document(wide)


def test_an_enclosed_gradient_may_be_a_minimum() -> None:
    """Growth from a minimum is demanded only where the gradient is 0, which an enclosure leaves open."""
    pep = PEP()
    f = pep.declare_function(ConvexQGFunction, L=1)
    solution = f.stationary_point()
    x = first_order.start_near(pep, solution)
    _, value = f.oracle(x)
    pep.set_performance_metric(value - f(solution))
    certificate = worst_case(from_pepit(pep)).certificate()
    assert "worst_case" in certificate
    certificate["problem"]["functions"][0]["evaluations"][1]["g"] = {gradient_name(certificate): ["1/2", "3/2"]}
    del certificate["proof"]
    with pytest.raises(Refused, match="function 0 may have further minima"):
        verify_document(certificate)


def gradient_name(certificate: dict[str, Any]) -> str:
    (name,) = certificate["problem"]["functions"][0]["evaluations"][1]["g"]
    return str(name)


def test_intervals_contain_every_result() -> None:
    a, b = Interval(Fraction(-1), Fraction(2)), Interval(Fraction(3), Fraction(5))
    found = [tuple(map(int, ends(value))) for value in (a * b, a + b, a - b, 1 - a, Fraction(-2) * b)]
    assert found == [(-5, 10), (2, 7), (-6, -1), (-1, 2), (-10, -6)]
    assert between(Fraction(1), Fraction(1)) == 1
    assert 0 * a == 0


def test_floats_carry_enclosures_through_a_method() -> None:
    root = RationalFloat(2) ** HALF
    low, high = enclosure((((3 - root) / 2 + 1) * root - -root).ball)
    exact = 1.5 * 2**0.5 + 2**0.5 - 1 + 2**0.5 - 0.5 * 2**0.5 + 0.5 * 2**0.5
    assert low < high
    assert float(low) == pytest.approx(exact, rel=1e-12, abs=0)
    assert isinstance(RationalFloat(2) / root, EnclosedFloat)
    assert RationalFloat(4) ** HALF == RationalFloat(2)


def test_parameters_of_a_class_are_rational() -> None:
    pep = PEP()
    pep.declare_function(SmoothConvexFunction, L=RationalFloat(2) ** HALF).stationary_point()
    pep.set_performance_metric(pep.set_initial_point() ** 2)
    with pytest.raises(ValueError, match="expected an exact rational"):
        from_pepit(pep)


def with_metric(metric: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A certificate for a performance of one point x, without functions."""
    problem = {"points": ["x"], "values": [], "functions": [], "constraints": [], "metrics": [metric]}
    return {"format": FORMAT, "problem": problem, **more}


@pytest.mark.parametrize(("low", "accepted"), [("1/8", True), ("-1/8", False)])
def test_both_ends_of_an_enclosure_count(low: str, accepted: bool) -> None:
    """-c |x|^2 <= 0 for c >= 1/8 alone; c >= 1/9 has the end 1/8 alone."""
    negative = str(-Fraction(low)) if accepted else "1/8"
    proof = {"bound": "0/1", "metrics": ["1/1"], "constraints": [], "functions": []}
    attained = {"value": "1/9", "squared_lengths": ["1/1"], "points": {"x": ["1/1"]}, "values": {}}
    certificates = [
        with_metric({"products": [["x", "x", ["-2/1", negative]]]}, proof=proof),
        with_metric({"constant": [low, "2/1"]}, worst_case=attained),
    ]
    for certificate, place in zip(certificates, ("matrix of products", "metric 0 is below"), strict=True):
        if accepted:
            assert verify_document(certificate)
        else:
            with pytest.raises(Refused, match=place):
                verify_document(certificate)
