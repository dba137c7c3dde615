"""Lies on W_kq and its closed form, each refused with the one reason."""

import copy
from typing import Any

import pytest

from marginaudit.margins.ntp import certificate_document, solve_kq
from tests.margins.ntp.lies import (
    COMPLETE,
    CYCLIC,
    LOSERS,
    TRUE,
    WINNERS,
    Outcome,
    Refusal,
    cycle,
    multipliers,
    related_data,
)
from tests.margins.restated import related
from tests.strategies import Document


def changed(**parts: Any) -> Document:
    return copy.deepcopy(TRUE) | parts


CHAIN = related_data([("a", "b"), ("b", "z"), ("a", "z")])
"""a over b over z: 1, 0, -1, by the two constraints between neighbours."""

CHAIN_SOLUTION: Document = {
    "status": "optimal",
    "norm_squared": "2/1",
    "weights": {"z": {"a": "1/1", "z": "-1/1"}},
    "multipliers": {"z": [["a", "b", "1/1"], ["b", "z", "1/1"]]},
}


def test_zeros_may_be_stated_and_the_closed_form_left_out(outcome: Outcome, refused: Refusal) -> None:
    stated = copy.deepcopy(CHAIN_SOLUTION)
    stated["weights"]["z"]["b"] = "0/1"
    stated["multipliers"]["z"].append(["a", "z", "0/1"])
    (line,) = outcome(CHAIN, kq=stated)
    assert line == "kq: optimal, ||W*||^2 = 2, 3 constraints"
    refused("kq: ||W||^2 is 2, stated 3", CHAIN, kq=stated | {"norm_squared": "3/1"})


def solution_of(edges: list[tuple[str, str]]) -> Document:
    dataset = related({"z": edges})
    stated: Document = certificate_document(dataset, kq=solve_kq(dataset))["kq"]
    return stated


SMALL_S = [("a", "c"), *(("b", x) for x in "cdef")]
"""a beats c and z, b beats c, d, e, f and z: k = 2, m = 5, and S = {a} has 2 * 2 < 1 * 5."""


def test_a_made_up_constraint_with_a_multiplier(refused: Refusal, outcome: Outcome) -> None:
    """As if a beat d, too."""
    lie = solution_of([*SMALL_S, ("a", "d")]) | {"closed_form": {}}
    assert outcome(related_data([*SMALL_S, ("a", "d")]), kq=lie)
    refused("kq: under 'z', the multiplier of 'a' above 'd' is of no constraint", related_data(SMALL_S), kq=lie)


def test_a_solution_that_misses_one_constraint(refused: Refusal, outcome: Outcome) -> None:
    """Of b over c, d, e, f and a over c; with a over d as well, nothing but a - d = 2/3 + 1/4 is wrong."""
    lie = solution_of(SMALL_S) | {"closed_form": {}}
    assert outcome(related_data(SMALL_S), kq=lie)
    refused("kq: under 'z', 'a' beats 'd' by 11/12, not by 1", related_data([*SMALL_S, ("a", "d")]), kq=lie)


def test_a_negative_multiplier_that_balances(refused: Refusal, outcome: Outcome) -> None:
    """Round the cycle a-c-b-d multipliers can be moved without a change of A^T lam or of their sum."""
    moved = {("a", "c"): "2/5", ("a", "d"): "0/1", ("b", "c"): "0/1", ("b", "d"): "2/5"}
    assert outcome(COMPLETE, kq=changed(multipliers=multipliers(moved)))
    moved = {("a", "c"): "3/5", ("a", "d"): "-1/5", ("b", "c"): "-1/5", ("b", "d"): "3/5"}
    lie = changed(multipliers=multipliers(moved))
    refused("kq: under 'z', the multiplier of 'a' above 'd' is negative", COMPLETE, kq=lie)


def test_a_multiplier_stated_twice(refused: Refusal) -> None:
    lie = changed(multipliers={"z": [*TRUE["multipliers"]["z"], ["a", "c", "0/1"]]})
    refused("kq: under 'z', the multiplier of 'a' above 'c' is stated twice", COMPLETE, kq=lie)


def test_multipliers_of_another_query(refused: Refusal) -> None:
    lie = changed(multipliers={"a": TRUE["multipliers"]["z"]})
    refused("kq: under 'a', the multiplier of 'a' above 'c' is of no constraint", COMPLETE, kq=lie)


def test_weights_of_nothing(refused: Refusal) -> None:
    for query, x in (("a", "b"), ("z", "e"), ("nowhere", "a")):
        weights = {"z": TRUE["weights"]["z"]}
        weights = weights | {query: weights.get(query, {}) | {x: "0/1"}}
        reason = f"kq: under {query!r}, the weight of {x!r} is in no constraint"
        refused(reason, COMPLETE, kq=changed(weights=weights))


def test_denominators_above_the_number_of_tokens(refused: Refusal, outcome: Outcome) -> None:
    """True, as the multipliers round a cycle are not determined, but of a form that would make sums long."""
    moved = {("a", "c"): "2/15", ("a", "d"): "4/15", ("b", "c"): "4/15", ("b", "d"): "2/15"}
    lie = changed(multipliers=multipliers(moved))
    refused("kq: under 'z', the multiplier of 'a' above 'c' has a denominator above V", COMPLETE, kq=lie)
    more_tokens = [f"t{i}" for i in range(10)]
    n = COMPLETE["next_token"] | dict.fromkeys(more_tokens, "a")
    assert outcome(COMPLETE | {"vocabulary": [*COMPLETE["vocabulary"], *more_tokens], "next_token": n}, kq=lie)
    weights = {"z": TRUE["weights"]["z"] | {"a": "4/6"}}
    weights["z"]["a"] = "5/6"
    refused("kq: under 'z', the weight of 'a' has a denominator above V", COMPLETE, kq=changed(weights=weights))


def test_a_feasible_solution_that_is_not_the_shortest(refused: Refusal) -> None:
    """With the best lower bound, which it does not reach; then with its own norm, which no bound reaches."""
    longer = changed(weights={"z": dict.fromkeys(WINNERS, "1/1") | dict.fromkeys(LOSERS, "-1/1")}, closed_form={})
    refused("kq: ||W||^2 is 5, stated 6/5", COMPLETE, kq=longer)
    refused("kq: the dual objective is 6/5, stated 5", COMPLETE, kq=longer | {"norm_squared": "5/1"})


def form(**stated: Any) -> Document:
    return solution_of(SMALL_S) | {"closed_form": stated}


def test_the_closed_form_stated_to_hold_or_to_fail(refused: Refusal, outcome: Outcome) -> None:
    (line,) = outcome(related_data(SMALL_S), kq=form(z={"holds": False, "S": ["a"]}))
    assert line.endswith("; Proposition 2's closed form fails under ['z']")
    refused("kq: under 'z' the closed form fails", related_data(SMALL_S), kq=form(z={"holds": True, "S": []}))
    lie = changed(closed_form={"z": {"holds": False, "S": ["a"]}})
    refused("kq: under 'z' the closed form holds", COMPLETE, kq=lie)


def test_a_closed_form_that_some_tokens_have(refused: Refusal) -> None:
    """Of blocks with 1, 2 and 3 losers a winner, the middle one has the mean of all: 2/3 and -1/3."""
    edges = [("a", "z"), ("b", "p"), ("b", "q"), ("c", "r"), ("c", "s"), ("c", "t")]
    stated = solution_of(edges)
    assert (stated["weights"]["z"]["b"], stated["weights"]["z"]["a"]) == ("2/3", "1/2")
    lie = stated | {"closed_form": {"z": {"holds": True, "S": []}}}
    refused("kq: under 'z' the closed form fails", related_data(edges), kq=lie)


@pytest.mark.parametrize("S", [["a"], ["a", "b"]])
def test_a_set_against_a_closed_form_that_holds(refused: Refusal, S: list[str]) -> None:
    lie = changed(closed_form={"z": {"holds": True, "S": S}})
    refused("kq: under 'z' the closed form holds, yet a set S against it is stated", COMPLETE, kq=lie)


@pytest.mark.parametrize("S", [["a", "c"], ["c"], ["nobody"], ["z"]])
def test_a_set_of_other_tokens(refused: Refusal, S: list[str]) -> None:
    lie = form(z={"holds": False, "S": S})
    refused("kq: under 'z', S holds other tokens than optimal ones", related_data(SMALL_S), kq=lie)


@pytest.mark.parametrize(
    "S",
    [
        pytest.param([], id="nothing"),
        pytest.param(["a", "b"], id="equality"),
        pytest.param(["b"], id="too many beaten"),
        pytest.param(["b", "b", "b"], id="one token thrice"),
    ],
)
def test_a_set_that_violates_nothing(refused: Refusal, S: list[str]) -> None:
    lie = form(z={"holds": False, "S": S})
    refused("kq: under 'z', S does not violate |N(S)| k >= |S| m", related_data(SMALL_S), kq=lie)


def test_a_closed_form_where_there_is_none(refused: Refusal) -> None:
    """Of a query without relations, of no query, and under one with a confused token."""
    for query in ("a", "nobody"):
        lie = changed(closed_form={query: {"holds": True, "S": []}})
        refused(f"kq: under {query!r} the closed form does not apply", COMPLETE, kq=lie)
    for stated in ({"holds": True, "S": []}, {"holds": False, "S": ["a"]}):
        lie = CHAIN_SOLUTION | {"closed_form": {"z": stated}}
        refused("kq: under 'z' the closed form does not apply", CHAIN, kq=lie)


def test_cycles(refused: Refusal, outcome: Outcome) -> None:
    assert outcome(CYCLIC, kq=cycle("a", "b", "c")) == ["kq: infeasible, a cycle of 3 tokens under query 'z'"]
    assert outcome(CYCLIC, kq=cycle("c", "a", "b", "c", "a", "b"))
    refused("kq: the cycle is empty", CYCLIC, kq=cycle())
    refused("kq: under 'z', 'c' does not beat 'b'", CYCLIC, kq=cycle("c", "b", "a"))
    refused("kq: under 'z', 'b' does not beat 'a'", CYCLIC, kq=cycle("a", "b"))
    refused("kq: under 'z', 'd' does not beat 'a'", CYCLIC, kq=cycle("a", "b", "c", "d"))
    refused("kq: under 'a', 'a' does not beat 'b'", CYCLIC, kq=cycle("a", "b", "c", query="a"))
    refused("kq: under 'z', 'a' does not beat 'a'", CYCLIC, kq=cycle("a"))


def test_an_infeasible_problem_stated_optimal(refused: Refusal) -> None:
    """Weights and multipliers of all constraints but the one that closes the cycle."""
    data = related_data([("a", "b"), ("b", "z"), ("z", "a")])
    refused("kq: under 'z', 'z' beats 'a' by -2, not by 1", data, kq=CHAIN_SOLUTION)
