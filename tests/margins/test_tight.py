"""Confused but acyclic orders: exact solutions against brute force and rational Lawson-Hanson, and bad guesses."""

import random
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any, cast

import numpy as np
import pytest

from marginaudit.margins import CertificateError, NotExact
from marginaudit.margins.exact import joined, solve_exactly
from marginaudit.margins.ntp import Exact, certificate_document, kq, solve_kq
from marginaudit.margins.tight import solve_near
from marginaudit.orders import Relations
from marginaudit.orders.ntp import CASES, broken, free_dataset
from tests.margins.restated import (
    brute_force,
    check_exact_solution,
    edges_of,
    kq_constraints,
    related,
)
from tests.solutions import known


def random_edges(rng: random.Random, tokens: int, count: int) -> list[tuple[str, str]]:
    """Edges of a random acyclic graph among so many tokens."""
    names = rng.sample([f"x{i:03}" for i in range(tokens)], tokens)
    pairs = [(names[i], names[j]) for i in range(tokens) for j in range(i + 1, tokens)]
    return rng.sample(pairs, min(count, len(pairs)))


def nonzero(weights: dict[str, Fraction]) -> dict[str, Fraction]:
    return {x: v for x, v in weights.items() if v}


@pytest.mark.parametrize("tokens", [3, 4, 5])
def test_small_orders_as_brute_force_solves_them(tokens: int) -> None:
    rng, confused = random.Random(tokens), 0
    for _ in range(30):
        dataset = related({"z": random_edges(rng, tokens, rng.randint(2, 5))})
        solution = solve_kq(dataset).exact()
        assert solution.method == "exact"
        check_exact_solution(dataset, solution, kq_constraints(dataset))
        assert solution.weights_exact["z"] == nonzero(known(brute_force(edges_of(dataset)["z"])))
        confused += bool(dataset.orders["z"].confused)
    assert confused > 5


DEGENERATE = {
    "weakly active": [("a", "c"), ("a", "d"), ("b", "d"), ("d", "e")],
    "shortcuts": [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("a", "d"), ("b", "d")],
    "two paths": [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")],
    "paths of two lengths": [("a", "b"), ("b", "d"), ("a", "e"), ("e", "c"), ("c", "d")],
    "apart": [("a", "b"), ("b", "c"), ("d", "e"), ("e", "f")],
    "blocks of other denominators": [("a", "b"), ("a", "c"), ("c", "d"), ("e", "f"), ("g", "f"), ("h", "g")],
    "a zero weight": [("a", "b"), ("b", "c")],
}


@pytest.mark.parametrize(("tokens", "count"), [(12, 18), (30, 60), (40, 300)])
def test_the_quadratic_program_is_within_its_radius(tokens: int, count: int) -> None:
    rng = random.Random(0)
    dataset = related({q: random_edges(rng, tokens, count) for q in ("z", "y", "x000")})
    if dataset.orders["x000"].cycle():  # the query loses to every other winner, and may beat one
        dataset = related({q: random_edges(rng, tokens, count) for q in ("z", "y")})
    exact, numerical = solve_kq(dataset).exact(), solve_kq(dataset, method="cvxpy").optimal()
    assert (exact.method, numerical.method) == ("exact", "cvxpy")
    check_exact_solution(dataset, exact, kq_constraints(dataset))
    assert 0 < numerical.weight_radius < 1e-3 * numerical.norm_squared**0.5
    assert np.linalg.norm(exact.matrix - numerical.matrix) <= numerical.weight_radius
    directions = [W / np.linalg.norm(W) for W in (exact.matrix, numerical.matrix)]
    assert np.linalg.norm(directions[0] - directions[1]) <= numerical.direction_radius
    assert not isinstance(numerical, Exact)
    assert numerical.closed_form == exact.closed_form


@pytest.mark.parametrize("name", ["example-1", "free-20"])
@pytest.mark.parametrize("rotated", [False, True])
def test_one_confused_query_among_clear_ones(name: str, rotated: bool) -> None:
    dataset = broken(CASES[name](), "no_confused_tokens")
    before = solve_kq(dataset).exact()
    if rotated:
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(dataset.V, dataset.V)))[0]
        dataset = replace(dataset, embedding=rotation)
    solution = solve_kq(dataset, method="exact").exact()
    assert solution.method == "exact"
    check_exact_solution(dataset, solution, kq_constraints(dataset))
    assert solution.weights_exact == before.weights_exact
    document = certificate_document(dataset, kq=solution)
    assert Fraction(document["kq"]["norm_squared"]) == solution.norm_squared_exact
    confused = {query for query, order in dataset.orders.items() if order.confused}
    assert confused
    assert not confused & document["kq"]["closed_form"].keys()


def test_a_guess_is_repaired_or_refused_but_never_wrong() -> None:
    rng = np.random.default_rng(0)
    dataset = related({"z": random_edges(random.Random(3), 9, 14)})
    truth, column = solve_kq(dataset).exact(), dataset.index["z"]
    scores, outcomes = solve_kq(dataset, method="cvxpy").optimal().scores, []
    for size in (1e-9, 1e-5, 1e-2, 0.1, 0.3, 1, 10):
        for _ in range(20):
            found = solve_near(dataset.relations, dataset.V, scores + size * rng.normal(size=scores.shape))
            if column in found:
                exact = found[column]
                exact.verify()
                assert exact.norm_squared == truth.norm_squared_exact
            outcomes.append((size, column in found))
    assert all(found for size, found in outcomes if size < 1e-8)
    assert not any(found for size, found in outcomes if size > 0.5)


def test_an_unconfirmed_query_leaves_a_certified_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = broken(CASES["free-20"](), "no_confused_tokens")
    exact = solve_kq(dataset).optimal()
    monkeypatch.setattr(kq, "solve_near", lambda relations, size, scores: {})
    solution = solve_kq(dataset).optimal()
    assert solution.method == "cvxpy"
    assert not isinstance(solution, Exact)
    assert np.linalg.norm(solution.matrix - exact.matrix) <= solution.weight_radius < 1e-4
    assert solution.closed_form == exact.closed_form
    with pytest.raises(NotExact, match=r"near the numerical one under query x") as caught:
        solve_kq(dataset, method="exact")
    assert "\n" not in str(caught.value)
    with pytest.raises(NotExact):
        certificate_document(dataset, kq=solution)


def test_joining_keeps_each_query_s_solution() -> None:
    dataset = free_dataset(V=9, N=36, L=3, seed=1, optimal=(1, 4), non_optimal=(2, 5))
    relations, whole = dataset.relations, solve_exactly(dataset.relations, 9)
    odd = relations.query % 2 == 1
    names = ("query", "winner", "loser", "sample")
    parts = [solve_exactly(Relations(*(getattr(relations, name)[rows] for name in names)), 9) for rows in (odd, ~odd)]
    for order in (parts, parts[::-1]):
        again = joined(order)
        for name in ("query", "token", "numerator", "denominator", "block", "winner", "loser"):
            assert np.array_equal(getattr(again, name), getattr(whole, name))
        assert again.norm_squared == whole.norm_squared
    with pytest.raises(CertificateError):
        joined([parts[0], replace(parts[1], flow=parts[1].flow + 1)])


def test_a_block_has_the_name_of_its_first_pair() -> None:
    dataset = related({"z": DEGENERATE["blocks of other denominators"]})
    (found,) = solve_near(dataset.relations, dataset.V, solve_kq(dataset, method="cvxpy").optimal().scores).values()
    names = found.block.tolist()
    assert len(set(names)) > 1
    assert all(names.index(name) == name for name in names)
    assert len(
        {(name, denominator) for name, denominator in zip(names, found.denominator.tolist(), strict=True)}
    ) == len(set(names))


def test_blocks_a_hair_apart_stay_two() -> None:
    """Of 40 and 41 tokens, of which one wins: the row between the blocks has a slack of 1/1640."""
    rows = [(0, x) for x in range(1, 40)] + [(40, x) for x in range(41, 81)] + [(40, 1)]
    winner, loser = np.array(rows).T
    scores = np.repeat([-1 / 40, -1 / 41], [40, 41])[:, np.newaxis]
    scores[[0, 40], 0] += 1
    found = solve_near(Relations(np.zeros_like(winner), winner, loser, np.arange(len(rows))), 81, scores)[0]
    assert found.denominator.tolist() == [40] * 40 + [41] * 41


def test_the_query_that_is_not_solved_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = random_edges(Random(3), 9, 14)
    data, module = related({"y": edges, "z": edges}), cast(Any, kq)
    solved = module.solve_near

    def without_z(*of: Any) -> Any:
        return {query: found for query, found in solved(*of).items() if query != data.index["z"]}

    monkeypatch.setattr(kq, "solve_near", without_z)
    with pytest.raises(NotExact, match=r"under query z$"):
        solve_kq(data, method="exact")
