"""The exact optimum under rows and equalities, against an enumeration of active rows."""

from itertools import combinations

import numpy as np
import pytest
import scipy.optimize
from flint import fmpq, fmpq_mat

from marginaudit.margins import NotExact, exact_hard_margin
from marginaudit.margins.rational import Matrix, Vector, combined, dot, solved


def random_rows(random: np.random.Generator, count: int, size: int) -> list[Vector]:
    return [tuple(map(fmpq, row)) for row in random.integers(-3, 4, (count, size)).tolist()]


def least_on(rows: Matrix, targets: list[fmpq]) -> Vector | None:
    """The least w with x.w = c for all rows; None where they are dependent."""
    A = fmpq_mat([list(row) for row in rows])
    gram = A * A.transpose()
    if gram.det() == 0:
        return None
    y = gram.solve(fmpq_mat([[value] for value in targets])).entries()
    return combined(y, rows)


def enumerated(rows: Matrix, equalities: Matrix, values: list[fmpq]) -> fmpq | None:
    """|w*|^2: the least over all sets of active rows whose least point meets all rows. None if infeasible."""
    found = []
    for size in range(len(rows) + 1):
        for active in combinations(rows, size):
            w = least_on([*equalities, *active], [*values, *[fmpq(1)] * size])
            if w is not None and all(dot(row, w) >= 1 for row in rows):
                found.append(dot(w, w))
    return min(found, default=None)


def test_the_optimum_under_equalities_is_that_of_an_enumeration() -> None:
    random, outcomes = np.random.default_rng(0), []
    for _ in range(80):
        rows, equalities = random_rows(random, 5, 4), random_rows(random, 2, 4)
        values = list(map(fmpq, random.integers(-2, 3, 2).tolist()))
        if least_on(equalities, values) is None:
            continue
        expected = enumerated(rows, equalities, values)
        outcomes.append(expected is None)
        if expected is None:
            with pytest.raises(NotExact, match="sum to 0 >= 1"):
                exact_hard_margin(rows, equalities, values)
            continue
        found = exact_hard_margin(rows, equalities, values)
        assert found.norm2 == expected
        assert [dot(e, found.w) for e in equalities] == values
        assert min(found.alpha) >= 0
        assert combined((*found.alpha, *found.beta), [*rows, *equalities]) == found.w
        assert sum(found.alpha) + dot(found.beta, values) == found.norm2
        assert {n for n, alpha in enumerate(found.alpha) if alpha > 0} == set(found.support) - set(found.zero)
        for k, v in found.zero.items():
            assert dot(v, rows[k]) >= 1
            assert not any([dot(v, found.w), *(dot(v, e) for e in equalities)])
            assert all(dot(v, rows[n]) >= 0 for n in found.support)
    assert {True, False} == {*outcomes}


def test_infeasible_rows_have_multipliers_with_those_of_equalities() -> None:
    """`linprog` decides the feasibility of each system a second time."""
    random, outcomes = np.random.default_rng(1), []
    for _ in range(80):
        rows, equalities = random_rows(random, 3, 4), random_rows(random, 2, 4)
        values = list(map(fmpq, random.integers(-2, 3, 2).tolist()))
        found = solved(rows, equalities, values)
        A, E = (np.array([[float(v) for v in row] for row in of]) for of in (rows, equalities))
        b = np.array([float(value) for value in values])
        tried = scipy.optimize.linprog(np.zeros(4), -A, -np.ones(3), E, b, bounds=(None, None))
        outcomes.append(isinstance(found, tuple))
        assert isinstance(found, tuple) == (tried.status == 2)
        if isinstance(found, tuple):
            assert min(found[: len(rows)]) >= 0
            assert not any(combined(found, [*rows, *equalities]))
            assert sum(found[: len(rows)]) + dot(found[len(rows) :], values) == 1
    assert {True, False} == {*outcomes}


ONE, TWO = ((fmpq(1), fmpq(0)), (fmpq(0), fmpq(1)))


def test_equalities_may_be_dependent_or_contradict_each_other_or_stand_alone() -> None:
    half = fmpq(1, 2)
    found = exact_hard_margin([ONE], [TWO, (fmpq(0), fmpq(2))], [half, fmpq(1)])
    assert list(found.w) == [1, half]
    assert dot(found.beta, (half, fmpq(1))) == half**2
    assert list(exact_hard_margin([], [TWO], [-half]).w) == [0, -half]
    assert list(exact_hard_margin([], [TWO]).w) == [0, 0]
    with pytest.raises(NotExact, match=r"as they sum to 0 >= 1: -1 times up, 1 times level"):
        exact_hard_margin([ONE], [TWO, TWO], [fmpq(1), fmpq(2)], ["right", "up", "level"])
    with pytest.raises(NotExact, match=r"1 times right, -1 times level"):
        exact_hard_margin([ONE], [ONE], labels=["right", "level"])


def test_duals_of_labelled_rows_are_named() -> None:
    found = exact_hard_margin([ONE], [TWO], [fmpq(-3)], ["a over c in context 1", "b is -3"])
    assert found.named == {"a over c in context 1": 1, "b is -3": -3}
    assert exact_hard_margin([ONE], [TWO], [fmpq(-3)]).named == {"0": 1, "1": -3}


def test_duals_are_unbounded_where_an_equality_repeats_a_row() -> None:
    """The row's own multiplier is then positive in some dual solution, so that it has no witness of zero."""
    found = exact_hard_margin([ONE], [ONE], [fmpq(1)])
    assert list(found.w) == [1, 0]
    assert not found.zero
    assert found.alpha[0] > 0
    assert found.alpha[0] + found.beta[0] == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_support_vectors_share_their_duals_by_equalities_of_either_sign(sign: int) -> None:
    found = exact_hard_margin([ONE, (fmpq(1), fmpq(1))], [(fmpq(0), fmpq(sign))])
    assert list(found.w) == [1, 0]
    assert not found.zero
    assert min(found.alpha) > 0
    assert found.beta[0] == -sign * found.alpha[1]
