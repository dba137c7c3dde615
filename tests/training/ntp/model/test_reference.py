"""The exact W*_kq on pairs and merged edges against the solution by name, and what is not exact."""

from dataclasses import replace
from fractions import Fraction

import mpmath

from marginaudit.margins.ntp import MaxMargin, solve_kq
from marginaudit.training.ntp import sample_classes
from marginaudit.training.ntp.model.edges import merged_edges, sentence_edges
from marginaudit.training.ntp.model.reference import ExactReference, exact_reference
from tests.solutions import inexact
from tests.training.ntp.problems import REDUCED, WITH_SLACK

CLASSES = sample_classes(WITH_SLACK)
MERGED = merged_edges(sentence_edges(CLASSES, WITH_SLACK.V), len(CLASSES.key))
SOLUTION = solve_kq(WITH_SLACK).exact()


def of(solution: MaxMargin) -> ExactReference | None:
    return exact_reference(WITH_SLACK, CLASSES, MERGED, solution)


def test_the_reference_is_the_solution() -> None:
    found = of(SOLUTION)
    assert found is not None
    names = WITH_SLACK.vocabulary
    for weight, x, q in zip(found.weight, CLASSES.key, CLASSES.pair_query, strict=True):
        assert weight == SOLUTION.weights_exact.get(names[q], {}).get(names[x], 0)
    assert found.norm_squared == sum(w**2 for w in found.weight)
    again = [Fraction(0)] * len(found.weight)
    for a, j, slack, multiplier in zip(MERGED.winner, MERGED.loser, found.slack, found.multiplier, strict=True):
        assert found.weight[a] - found.weight[j] == 1 + slack
        assert slack >= 0 <= multiplier
        assert slack * multiplier == 0
        again[a] += multiplier
        again[j] -= multiplier
    assert tuple(again) == found.weight
    assert max(found.slack) > 0


def test_its_direction_and_norm_in_many_digits() -> None:
    found = of(SOLUTION)
    assert found is not None
    high, low = found.unit
    with mpmath.workdps(60):
        root = mpmath.sqrt(mpmath.mpf(found.norm_squared.numerator) / found.norm_squared.denominator)
        assert found.norm == float(root)
        for weight, a, b in zip(found.weight, high, low, strict=True):
            exact = mpmath.mpf(weight.numerator) / weight.denominator / root
            assert abs(exact - mpmath.mpf(float(a)) - mpmath.mpf(float(b))) <= 2.0**-105 * abs(exact)
        slack = [float(mpmath.mpf(s.numerator) / s.denominator / root) for s in found.slack]
    assert found.unit_slack.tolist() == slack


def test_a_solution_that_is_not_exact_or_is_0_has_none() -> None:
    assert of(inexact(SOLUTION)) is None
    assert of(replace(SOLUTION, weights_exact={})) is None


def test_infeasible_rows_have_none() -> None:
    data = REDUCED["cycle"]
    classes = sample_classes(data)
    merged = merged_edges(sentence_edges(classes, data.V), len(classes.key))
    assert exact_reference(data, classes, merged, solve_kq(data)) is None
