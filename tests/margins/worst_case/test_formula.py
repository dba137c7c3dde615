"""Formulas in n that are guessed from exact worst cases."""

from fractions import Fraction

import pytest

from marginaudit.margins.worst_case.formula import guessed_formula
from tests.margins.worst_case.samples import outside, solved


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("gradient-descent", "3/(4 n + 2)"),
        ("gradient-descent-contraction", "(81/100)^n"),
        ("proximal-point", "1/(12 n)"),
        ("nesterov", "6/(n^2 + 5 n + 6)"),
        ("halpern", "1/(n^2 + 2 n + 1)"),
        ("nonconvex-gradient-descent", "4/(3 n)"),
        ("subgradient", "2"),
        ("krasnoselskii-mann", None),
    ],
)
def test_printed_bounds_are_guessed_from_exact_worst_cases(name: str, formula: str | None) -> None:
    values = {}
    for n in range(1, 7):
        found, _ = solved(name, n)
        assert found.upper is not None
        values[n] = found.upper
    assert guessed_formula(values) == formula


def test_bound_outside_the_assumption_is_guessed_without_a_printed_one() -> None:
    values = {n: outside("gradient-descent", n)[0].upper or Fraction(0) for n in range(1, 5)}
    assert guessed_formula(values) == "3/2 (81/100)^n"


def test_a_formula_needs_more_values_than_coefficients() -> None:
    values = {n: Fraction(1, n * n + 1) for n in range(1, 5)}
    assert guessed_formula(values) is None
    assert guessed_formula(values | {5: Fraction(1, 26), 6: Fraction(1, 37)}) == "1/(n^2 + 1)"
    assert guessed_formula(values | {5: Fraction(1, 26), 6: Fraction(1, 36)}) is None
    assert guessed_formula({1: Fraction(2), 2: Fraction(4)}) is None
