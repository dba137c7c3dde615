"""The rational solutions: known ones, and optimality by the conditions of Karush, Kuhn and Tucker."""

import random
from fractions import Fraction
from itertools import product

import pytest

from tests.oracle.problem import Problem, problem
from tests.oracle.random_audits import random_document
from tests.oracle.solutions import Solution, solve_kq, solve_ov


def test_example_1() -> None:
    p = problem({"sentences": [list(sentence) for sentence in ("SVOP", "VOP", "OPP", "PSV")]})
    assert solve_ov(p, p.gram).norm_squared == 3
    found = solve_kq(p, p.gram)
    assert found.norm_squared == Fraction(13, 6)
    assert found.weights["O", "O"] == Fraction(2, 3)
    assert found.weights["P", "P"] == Fraction(-1, 2)


def test_the_smallest_counterexample_to_proposition_2() -> None:
    """[a q] -> n(a) and [b c d q] -> n(b): a block {a | q'} and one {b | c, d} cut apart."""
    n = {x: x for x in "abcdq"}
    samples = [{"tokens": ["a", "q"], "next": "a"}, {"tokens": ["b", "c", "d", "q"], "next": "b"}]
    p = problem({"next_token": n, "samples": samples})
    weights = solve_kq(p, p.gram).weights
    assert weights["a", "q"] == Fraction(1, 2) != Fraction(3, 5)


def test_a_cycle_is_infeasible() -> None:
    n = {"a": "b", "b": "c", "c": "a"}
    samples = [{"tokens": ["a", "b", "c"], "next": y} for y in "bc"]
    p = problem({"next_token": n, "samples": samples})
    assert solve_kq(p, p.gram).norm_squared is None


def weighted(p: Problem, found: Solution, gram: list[list[Fraction]], left: bool) -> list[Fraction]:
    """All <M, W> by the definition, from the weights."""
    at = {x: i for i, x in enumerate(p.vocabulary)}

    def score(x: str, column: str) -> Fraction:
        terms = (
            w * (gram[at[x]][at[key]] if left else Fraction(x == key)) * gram[at[q]][at[column]]
            for (key, q), w in found.weights.items()
        )
        return sum(terms, Fraction(0))

    return [score(row.winner, row.column) - score(row.loser, row.column) for row in found.constraints]


@pytest.mark.parametrize("seed", range(16))
def test_margins_and_multipliers(seed: int) -> None:
    """Feasible, and W a combination of tight rows with multipliers >= 0: so it is the shortest."""
    p = problem(random_document(random.Random(seed)))
    if p.V > 4 or any(len(values) != 1 for values in p.values.values()):
        return
    for solve, left in ((solve_ov, False), (solve_kq, True)):
        found = solve(p, p.gram)
        if found.norm_squared is None:
            continue
        margins = weighted(p, found, p.gram, left)
        assert all(margin >= 1 for margin in margins)
        assert all(m >= 0 for m in found.multipliers)
        assert all(margin == 1 for margin, m in zip(margins, found.multipliers, strict=True) if m)
        assert [margin - 1 for margin in margins] == list(found.slacks)
        at = {x: i for i, x in enumerate(p.vocabulary)}
        square = sum(
            w * u * (p.gram[at[x]][at[z]] if left else Fraction(x == z)) * p.gram[at[q]][at[r]]
            for ((x, q), w), ((z, r), u) in product(found.weights.items(), repeat=2)
        )
        assert square == found.norm_squared
