"""The interpolation inequalities, from the class's name, against those of PEPit."""

from fractions import Fraction
from typing import Any

import pytest
from PEPit import PEP
from PEPit import functions as functions_of_pepit
from PEPit import operators as operators_of_pepit

from marginaudit.margins.worst_case.from_pepit import CLASSES, Names, Unsupported, from_pepit
from marginaudit.margins.worst_case.scalar import RationalFloat
from marginaudit.margins.worst_case.verify import ONE, Linear, product, read_problem

VALUES = {
    "L": RationalFloat("7/3"),
    "mu": RationalFloat("2/5"),
    "M": RationalFloat("3/2"),
    "D": RationalFloat("5/4"),
    "beta": RationalFloat("1/3"),
}


def declared(pep: PEP, name: str) -> Any:
    """A function of a class, with a stationary point and two more evaluations."""
    kind = getattr(functions_of_pepit, name, None) or getattr(operators_of_pepit, name)
    function = pep.declare_function(kind, **{key: VALUES[key] for key in CLASSES[name][1]})
    function.stationary_point()
    for _ in range(2):
        function.oracle(pep.set_initial_point())
    pep.set_performance_metric(function.list_of_points[1][0] ** 2)
    return function


def normal_form(terms: dict[Any, Fraction]) -> frozenset[Any]:
    return frozenset((term, c) for term, c in terms.items() if c)


@pytest.mark.parametrize("name", CLASSES)
def test_inequalities_are_those_of_pepit(name: str) -> None:
    pep = PEP()
    function = declared(pep, name)
    problem = read_problem(from_pepit(pep), "")
    known = problem.functions[0]
    ours = {(known.relation(place), normal_form(known.left_side(place, product, ONE))) for place in known.places()}
    function.set_class_constraints()
    names = Names([function])
    names.points = dict(zip(map(id, _leaves(function)), problem.points, strict=True))
    theirs = {
        (
            "==" if constraint.equality_or_inequality == "equality" else "<=",
            normal_form(_terms(names, constraint.expression)),
        )
        for constraint in function.list_of_class_constraints
    }
    assert ours == theirs


def _leaves(function: Any) -> list[Any]:
    found: list[Any] = []
    for x, g, _f in function.list_of_points:
        found += [point for point in (*x.decomposition_dict, *g.decomposition_dict) if point not in found]
    return found


def _terms(names: Names, expression: Any) -> Linear:
    document = names.expression(expression)
    constant = {(): Fraction(document.get("constant", 0))}
    values = {(key,): Fraction(c) for key, c in document.get("values", {}).items()}
    products: dict[Any, Fraction] = {}
    for a, b, c in document.get("products", []):
        products[a, b] = products.get((a, b), Fraction(0)) + Fraction(c)
    return Linear(constant | values | products)


def test_inexact_floats_are_refused() -> None:
    pep = PEP()
    function = pep.declare_function(functions_of_pepit.SmoothConvexFunction, L=0.1)
    function.stationary_point()
    pep.set_performance_metric(pep.set_initial_point() ** 2)
    with pytest.raises(
        ValueError, match=r"got the float 0\.1, expected an exact rational such as RationalFloat\('1/10'\)"
    ):
        from_pepit(pep)


def test_unknown_classes_and_matrix_constraints_are_refused() -> None:
    pep = PEP()
    pep.declare_function(functions_of_pepit.RsiEbFunction, mu=1, L=2).stationary_point()
    with pytest.raises(Unsupported, match="class RsiEbFunction"):
        from_pepit(pep)
    pep = PEP()
    pep.add_psd_matrix([[pep.set_initial_point() ** 2]])
    with pytest.raises(Unsupported, match="matrix constraints"):
        from_pepit(pep)


def test_floats_may_stand_for_the_rationals_that_they_are() -> None:
    pep = PEP()
    function = pep.declare_function(functions_of_pepit.SmoothConvexFunction, L=1)
    x = pep.set_initial_point()
    function.oracle(x - 0.1 * function.gradient(x))
    pep.set_performance_metric(x**2)
    document = from_pepit(pep, floats=True)
    steps = document["functions"][0]["evaluations"][1]["x"].values()
    assert sorted(map(Fraction, steps)) == [-Fraction(0.1), Fraction(1)]
