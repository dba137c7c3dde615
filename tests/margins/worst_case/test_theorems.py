"""The theorems of examples/first_order: proved bound, worst function and printed bound are the same rational."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
from PEPit import PEP
from PEPit.functions import ConvexIndicatorFunction, SmoothConvexFunction
from PEPit.primitive_steps import linear_optimization_step

from marginaudit.margins.worst_case.from_pepit import from_pepit
from marginaudit.margins.worst_case.scalar import RationalFloat, exactly, meant
from marginaudit.margins.worst_case.solve import worst_case
from marginaudit.margins.worst_case.verify import verify_document
from tests.margins.worst_case.samples import BY_NAME, THEOREMS, outside, refuted, solved

SHORT = [(theorem.name, n) for theorem in THEOREMS for n in (1, 2, 3)]
LONG = [(theorem.name, n) for theorem in THEOREMS for n in (4, 5)] + [("douglas-rachford", 9)]


def check_tight(name: str, n: int) -> None:
    found, bound = solved(name, n)
    assert BY_NAME[name].assumption(SimpleNamespace(**BY_NAME[name].instance(n)))
    assert found.tight
    assert found.upper == bound
    assert f"tight: the worst case is {bound}" in verify_document(found.certificate(), found.problem)


@pytest.mark.parametrize(("name", "n"), SHORT)
def test_bound_is_proved_and_attained(name: str, n: int) -> None:
    check_tight(name, n)


@pytest.mark.parametrize(("name", "n"), LONG)
def test_bound_of_more_steps_is_proved_and_attained(name: str, n: int) -> None:
    check_tight(name, n)


@pytest.mark.parametrize(("name", "n"), SHORT)
def test_control_is_refuted(name: str, n: int) -> None:
    found, bound, values = refuted(name, n)
    assert BY_NAME[name].assumption(SimpleNamespace(**values))
    assert found.lower is not None
    assert found.lower > bound


@pytest.mark.parametrize(("name", "n"), [(name, n) for name, n in SHORT if BY_NAME[name].outside is not None])
def test_bound_fails_outside_the_assumption(name: str, n: int) -> None:
    found, bound, values = outside(name, n)
    assert not BY_NAME[name].assumption(SimpleNamespace(**values))
    assert found.lower is not None
    assert found.lower > bound


def test_exact_worst_case_is_found_without_an_expected_value() -> None:
    found, _, values = outside("gradient-descent", 3)
    assert found.tight
    assert found.upper == values["L"] / 2 * (1 - values["gamma"] * values["L"]) ** 6


def test_irrational_worst_case_lies_between_two_proved_ends() -> None:
    found, _, _ = outside("subgradient", 3)
    assert found.upper is not None
    assert found.lower is not None
    assert found.lower < found.upper < found.lower * (1 + Fraction(2, 10**6))


@pytest.mark.parametrize("name", ["gradient-descent", "nesterov", "halpern", "krasnoselskii-mann"])
def test_large_problems_are_solved_with_few_rows(name: str) -> None:
    found, bound = solved(name, 12)
    assert found.upper == found.lower == bound
    assert found.proof is not None
    assert sum(map(len, found.proof.functions)) <= 100


def test_peer_solves_a_problem_with_rational_parameters() -> None:
    theorem = BY_NAME["gradient-descent"]
    pep = theorem.problem(exactly(SimpleNamespace(**theorem.instance(2))))
    assert pep.solve(verbose=0, wrapper="cvxpy", solver="CLARABEL") == pytest.approx(0.3, rel=1e-6, abs=0)


def test_frank_wolfe_is_proved_on_a_face_of_the_cone() -> None:
    """A shift of all gradients changes no row: no multipliers have a positive definite S."""
    pep = PEP()
    f, h = pep.declare_function(SmoothConvexFunction, L=1), pep.declare_function(ConvexIndicatorFunction, D=1)
    solution, x = (f + h).stationary_point(), pep.set_initial_point()
    h.value(x)
    for step in range(2):
        y, _, _ = linear_optimization_step(f.gradient(x), h)
        weight = RationalFloat(Fraction(2, step + 2))
        x = (1 - weight) * x + weight * y
    pep.set_performance_metric((f + h)(x) - (f + h)(solution))
    found = worst_case(from_pepit(pep))
    assert float(found.upper or 0) == pytest.approx(0.312617, rel=1e-5, abs=0)


def test_powers_of_rationals_are_rational_or_floats() -> None:
    two = RationalFloat(2)
    assert (two**-2, two ** RationalFloat(3)) == (Fraction(1, 4), Fraction(8))
    assert meant(two ** RationalFloat("1/2")) is None
    assert two**0.5 == pytest.approx(2**0.5)
