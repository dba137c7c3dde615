"""Lies that agree with themselves: each breaks one check of the stand-alone checker and no other.

The certificates are worked out by hand, or are true ones of a problem with one constraint more or less. A lie that
stays confirmed, or is refused for another reason, means that the check it was made for is gone.
"""

import copy
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from marginaudit.margins.ntp import certificate_document, solve_kq
from marginaudit.margins.ntp.verify import FORMAT, Refused, verify
from marginaudit.orders.ntp import dataset_to_document
from tests.margins.restated import related
from tests.strategies import Document

Outcome: TypeAlias = Callable[..., list[str]]
Refusal: TypeAlias = Callable[..., None]


@pytest.fixture
def outcome(tmp_path: Path) -> Outcome:
    """What the checker makes of a dataset and what is stated of it."""

    def check(dataset: Document, **stated: Any) -> list[str]:
        data, certificate = tmp_path / "data.json", tmp_path / "certificate.json"
        data.write_text(json.dumps(dataset))
        certificate.write_text(json.dumps({"format": FORMAT} | stated))
        return verify(data, certificate)

    return check


@pytest.fixture
def refused(outcome: Outcome) -> Refusal:
    """The one reason for which a lie is refused."""

    def check(reason: str, dataset: Document, **stated: Any) -> None:
        with pytest.raises(Refused, match=f"^{re.escape(reason)}"):
            outcome(dataset, **stated)

    return check


def related_data(edges: list[tuple[str, str]], **more: Any) -> Document:
    """The relations of one query z; every winner beats z, too, as each sample ends with it."""
    return dataset_to_document(related({"z": edges})) | more


COMPLETE = related_data([("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")])
"""a and b beat c, d and z: k = 2, m = 3, so 3/5 and -2/5, and 1/5 on each of the six constraints."""

WINNERS, LOSERS = ("a", "b"), ("c", "d", "z")

TRUE: Document = {
    "status": "optimal",
    "norm_squared": "6/5",
    "weights": {"z": dict.fromkeys(WINNERS, "3/5") | dict.fromkeys(LOSERS, "-2/5")},
    "multipliers": {"z": [[i, j, "1/5"] for i in WINNERS for j in LOSERS]},
    "closed_form": {"z": {"holds": True, "S": []}},
}


def changed(**parts: Any) -> Document:
    return copy.deepcopy(TRUE) | parts


def multipliers(values: dict[tuple[str, str], str]) -> Document:
    """{(winner, loser): value} instead of 1/5."""
    return {"z": [[i, j, values.get((i, j), "1/5")] for i in WINNERS for j in LOSERS]}


def test_the_truth_is_confirmed(outcome: Outcome) -> None:
    (line,) = outcome(COMPLETE, kq=TRUE)
    assert line == "kq: optimal, ||W*||^2 = 6/5, 6 constraints"


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


def test_a_constraint_reversed(refused: Refusal) -> None:
    """The only constraint, a over z, with everything of z over a."""
    data = related_data([("a", "z")])
    lie = {
        "status": "optimal",
        "norm_squared": "1/2",
        "weights": {"z": {"a": "-1/2", "z": "1/2"}},
        "multipliers": {"z": [["z", "a", "1/2"]]},
    }
    refused("kq: under 'z', 'a' beats 'z' by -1, not by 1", data, kq=lie)


def test_a_solution_that_misses_one_constraint(refused: Refusal, outcome: Outcome) -> None:
    """Of b over c, d, e, f and a over c; with a over d as well, nothing but a - d = 2/3 + 1/4 is wrong."""
    lie = solution_of(SMALL_S) | {"closed_form": {}}
    assert outcome(related_data(SMALL_S), kq=lie)
    refused("kq: under 'z', 'a' beats 'd' by 11/12, not by 1", related_data([*SMALL_S, ("a", "d")]), kq=lie)


def test_nothing_at_all(refused: Refusal) -> None:
    zero = {"status": "optimal", "norm_squared": "0/1", "weights": {}, "multipliers": {}}
    refused("kq: under 'z', 'a' beats 'c' by 0, not by 1", COMPLETE, kq=zero)


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


def test_a_solution_moved_as_a_whole(refused: Refusal) -> None:
    """All differences stay; only ||W|| tells."""
    moved = changed(weights={"z": dict.fromkeys(WINNERS, "1/1") | dict.fromkeys(LOSERS, "0/1")}, closed_form={})
    refused("kq: ||W||^2 is 2, stated 6/5", COMPLETE, kq=moved)


@pytest.mark.parametrize(
    ("values", "dual"),
    [
        pytest.param({("a", "c"): "2/5"}, "28/25", id="not stationary"),
        pytest.param(dict.fromkeys([(i, j) for i in WINNERS for j in LOSERS], "2/5"), "0", id="twice as large"),
        pytest.param(dict.fromkeys([(i, j) for i in WINNERS for j in LOSERS], "0/1"), "0", id="none"),
    ],
)
def test_multipliers_that_prove_less(refused: Refusal, values: dict[tuple[str, str], str], dual: str) -> None:
    lie = changed(multipliers=multipliers(values))
    refused(f"kq: the dual objective is {dual}, stated 6/5", COMPLETE, kq=lie)


def test_another_norm(refused: Refusal) -> None:
    refused("kq: ||W||^2 is 6/5, stated 7/5", COMPLETE, kq=changed(norm_squared="7/5"))


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


def cycle(*tokens: str, query: str = "z") -> Document:
    return {"status": "infeasible", "query": query, "cycle": list(tokens)}


CYCLIC = related_data([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])


def test_cycles(refused: Refusal, outcome: Outcome) -> None:
    assert outcome(CYCLIC, kq=cycle("a", "b", "c")) == ["kq: infeasible, a cycle of 3 tokens under query 'z'"]
    assert outcome(CYCLIC, kq=cycle("c", "a", "b", "c", "a", "b"))
    refused("kq: the cycle is empty", CYCLIC, kq=cycle())
    refused("kq: under 'z', 'c' does not beat 'b'", CYCLIC, kq=cycle("c", "b", "a"))
    refused("kq: under 'z', 'b' does not beat 'a'", CYCLIC, kq=cycle("a", "b"))
    refused("kq: under 'z', 'd' does not beat 'a'", CYCLIC, kq=cycle("a", "b", "c", "d"))
    refused("kq: under 'a', 'a' does not beat 'b'", CYCLIC, kq=cycle("a", "b", "c", query="a"))
    refused("kq: under 'z', 'a' does not beat 'a'", CYCLIC, kq=cycle("a"))


def test_a_solvable_problem_stated_infeasible(refused: Refusal) -> None:
    refused("kq: under 'z', 'c' does not beat 'a'", COMPLETE, kq=cycle("a", "c"))


def test_an_infeasible_problem_stated_optimal(refused: Refusal) -> None:
    """Weights and multipliers of all constraints but the one that closes the cycle."""
    data = related_data([("a", "b"), ("b", "z"), ("z", "a")])
    refused("kq: under 'z', 'z' beats 'a' by -2, not by 1", data, kq=CHAIN_SOLUTION)


def tokens_of(V: int, **more: Any) -> Document:
    """V tokens, each followed by the next, without a relation."""
    names = [f"t{i}" for i in range(V)]
    return {"sentences": [[x, names[(i + 1) % V]] for i, x in enumerate(names)]} | more


def stated_ov(norm_squared: str, at_next_token: str, elsewhere: str, multiplier: str) -> dict[str, str]:
    return {
        "status": "optimal",
        "norm_squared": norm_squared,
        "at_next_token": at_next_token,
        "elsewhere": elsewhere,
        "multiplier": multiplier,
    }


@pytest.mark.parametrize("V", [1, 2, 3, 7])
def test_ov(outcome: Outcome, refused: Refusal, V: int) -> None:
    truth = (f"{V - 1}/1", f"{V - 1}/{V}" if V > 1 else "0/1", f"-1/{V}" if V > 1 else "0/1", f"1/{V}")
    assert outcome(tokens_of(V), ov=stated_ov(*truth)) == [f"ov: optimal, ||W*||^2 = {V - 1}"]
    zero = stated_ov("0/1", "0/1", "0/1", "0/1")
    if V == 1:
        assert outcome(tokens_of(V), ov=zero)
        return
    refused("ov: a constraint is violated", tokens_of(V), ov=zero)
    longer = ("1/1", "0/1")
    refused(f"ov: ||W||^2 is {V}, stated {V - 1}", tokens_of(V), ov=stated_ov(truth[0], *longer, truth[3]))
    lie = stated_ov(f"{V}/1", *longer, truth[3])
    refused(f"ov: the dual objective is {V - 1}, stated {V}", tokens_of(V), ov=lie)
    refused("ov: the dual objective is 0, stated", tokens_of(V), ov=stated_ov(*truth[:3], "0/1"))
    for place in (1, 2, 3):
        values = [*truth[:place], f"1/{V + 1}", *truth[place + 1 :]]
        refused("ov: a denominator is above the number of tokens", tokens_of(V), ov=stated_ov(*values))


def test_ov_with_a_violated_constraint_and_all_else_in_agreement(refused: Refusal) -> None:
    """V = 9: margins of 2/3, with the multiplier at which the dual objective is as small as that norm."""
    found = []
    V = 9
    numbers = sorted({Fraction(p, q) for q in range(1, V + 1) for p in range(-q, q + 1)})
    duals = {V * (V - 1) * (2 * mu - V * mu**2): mu for mu in numbers if mu > 0}
    for elsewhere in numbers:
        for next_token in numbers:
            norm_squared = V * (next_token**2 + (V - 1) * elsewhere**2)
            if 0 < next_token - elsewhere < 1 and norm_squared in duals:
                found.append((norm_squared, next_token, elsewhere, duals[norm_squared]))
    assert found
    for values in found:
        texts = [f"{value.numerator}/{value.denominator}" for value in values]
        refused("ov: a constraint is violated", tokens_of(V), ov=stated_ov(*texts))


def test_ov_with_a_negative_multiplier(refused: Refusal) -> None:
    """One token has no constraint, and no multiplier changes the dual objective."""
    lie = stated_ov("0/1", "0/1", "0/1", "-1/1")
    refused("ov: a multiplier is negative", tokens_of(1), ov=lie)


EMPTY = {"status": "optimal", "norm_squared": "0/1", "weights": {}, "multipliers": {}}


def test_problems_without_a_constraint(outcome: Outcome, refused: Refusal) -> None:
    assert outcome(tokens_of(3), kq=EMPTY) == ["kq: optimal, ||W*||^2 = 0, 0 constraints"]
    refused("kq: ||W||^2 is 0, stated 1", tokens_of(3), kq=EMPTY | {"norm_squared": "1/1"})


def test_an_n_that_is_no_function(refused: Refusal) -> None:
    two = tokens_of(3)
    two["sentences"].append(["t0", "t2"])
    refused("two next tokens of 't0'", two, kq=EMPTY)
    for more in ({"vocabulary": ["t0", "t1", "t2", "t3"]}, {"samples": [{"tokens": ["t0", "t3", "t0"], "next": "t1"}]}):
        refused("n is not a function on the whole vocabulary", tokens_of(3, **more), kq=EMPTY)


def scaled(V: int, factor: float, turned: float = 0.0) -> list[list[float]]:
    return [[factor * (i == j) + turned * (j == (i + 1) % V) for j in range(V)] for i in range(V)]


OV3 = stated_ov("2/1", "2/3", "-1/3", "1/3")


@pytest.mark.parametrize(
    "embedding",
    [
        pytest.param(scaled(3, 1 + 4.9e-13), id="longer"),
        pytest.param(scaled(3, 1 - 4.9e-13), id="shorter"),
        pytest.param(scaled(3, 1.0, turned=9.9e-13), id="skew"),
        pytest.param(scaled(3, 1.0, turned=-9.9e-13), id="obtuse"),
        pytest.param([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, -1]], id="rotated"),
        pytest.param([[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5 - 2.0**-42]], id="half"),
    ],
)
def test_what_passes_for_orthonormal_is_said(outcome: Outcome, embedding: list[list[float]]) -> None:
    line, note = outcome(tokens_of(3, embedding=embedding), ov=OV3)
    assert line == "ov: optimal, ||W*||^2 = 2"
    rows = [[Fraction(v) for v in row] for row in embedding]
    gram = [[sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) - (u is v) for v in rows] for u in rows]
    largest = float(max(abs(entry) for row in gram for entry in row))
    assert note == f"for orthonormal tokens; the embedding's Gram matrix is within about {largest:.3g} of I"


def test_exactly_orthonormal_tokens_need_no_note(outcome: Outcome) -> None:
    for embedding in (scaled(3, 1), scaled(3, -1.0), [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1]]):
        assert len(outcome(tokens_of(3, embedding=embedding), ov=OV3)) == 1


@pytest.mark.parametrize(
    "embedding",
    [
        pytest.param(scaled(3, 1 + 5.1e-13), id="longer"),
        pytest.param(scaled(3, 1 - 5.1e-13), id="shorter"),
        pytest.param(scaled(3, 1.0, turned=1.01e-12), id="skew"),
        pytest.param(scaled(3, 1.0, turned=-1.01e-12), id="obtuse"),
        pytest.param([[1, 0, 0], [0, 1, 0], [0, 0, 0]], id="nothing"),
        pytest.param([[1, 0, 0], [0, 1, 0], [0, 1, 0]], id="twice"),
        pytest.param([[1], [1], [1]], id="all alike"),
        pytest.param([[1.7976931348623157e308, 0, 0], [0, 5e-324, 0], [0, 0, 1]], id="far"),
    ],
)
def test_tokens_that_are_not_orthonormal(
    refused: Refusal,
    outcome: Outcome,
    embedding: list[list[float]],
) -> None:
    refused("the embedding is not orthonormal", tokens_of(3, embedding=embedding), ov=OV3)
    refused("the embedding is not orthonormal", tokens_of(3, embedding=embedding), ov=OV3, kq=EMPTY)
    assert outcome(tokens_of(3, embedding=embedding), kq=EMPTY)


def test_what_supposes_nothing_of_the_embedding(outcome: Outcome, refused: Refusal) -> None:
    """One token, no relation, and a cycle; a relation or a second token supposes it."""
    one = stated_ov("0/1", "0/1", "0/1", "1/1")
    assert outcome(tokens_of(1, embedding=[[3]]), ov=one, kq=EMPTY)
    two = stated_ov("1/1", "1/2", "-1/2", "1/2")
    refused("the embedding is not orthonormal", tokens_of(2, embedding=[[3, 0], [0, 1]]), ov=two)
    V = len(CYCLIC["vocabulary"])
    assert outcome(CYCLIC | {"embedding": scaled(V, 3)}, kq=cycle("a", "b", "c"))
    refused("the embedding is not orthonormal", COMPLETE | {"embedding": scaled(5, 3)}, kq=TRUE)
    assert outcome(COMPLETE | {"embedding": scaled(5, 1)}, kq=TRUE)
