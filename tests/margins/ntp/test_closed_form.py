"""Proposition 2 query by query: the verdicts against all subsets, and against exact solutions."""

import random
from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.margins import CertificateError
from marginaudit.margins.exact import solve_exactly
from marginaudit.margins.ntp import kq, solve_kq
from marginaudit.margins.ntp.proposition2 import compare, compare_exactly, decide
from marginaudit.margins.ntp.solution import ClosedForm
from marginaudit.orders.ntp import CASES, Dataset, free_dataset
from tests.margins.restated import brute_force, edges_of, refuting_set, related
from tests.solutions import known


def assert_witness_refutes(edges: list[tuple[str, str]], witness: Collection[str]) -> None:
    winners, losers = {a for a, _ in edges}, {b for _, b in edges}
    met = {b for a, b in edges if a in witness}
    assert witness
    assert set(witness) <= winners
    assert len(met) * len(winners) < len(witness) * len(losers)


@given(st.integers(0, 10**6))
def test_verdict_as_every_subset_gives_it(seed: int) -> None:
    dataset = free_dataset(V=9, N=30, L=3, seed=seed, optimal=(1, 4), non_optimal=(2, 5))
    for method in ("auto", "cvxpy") if seed % 10 == 0 else ("auto",):
        judged = solve_kq(dataset, method=method).closed_form
        assert list(judged) == list(dataset.orders)
        for query, edges in edges_of(dataset).items():
            assert judged[query].holds == (refuting_set(edges) is None)
            if not judged[query].holds:
                witness = known(judged[query].witness)
                assert_witness_refutes(edges, witness)
                assert list(witness) == sorted(witness, key=dataset.index.__getitem__)
            else:
                assert judged[query].witness is None


def test_the_witness_has_no_token_to_spare() -> None:
    rng, several = random.Random(0), 0
    for _ in range(150):
        dataset = related({"z": [(w, x) for w in "abcdef" for x in rng.sample("pqrstuvwxy", rng.randint(1, 4))]})
        edges, form = edges_of(dataset)["z"], solve_kq(dataset).closed_form["z"]
        if form.holds:
            continue
        witness = set(known(form.witness))
        assert_witness_refutes(edges, witness)
        if len(witness) > 1:
            several += 1
            for spared in witness:
                with pytest.raises(AssertionError):
                    assert_witness_refutes(edges, witness - {spared})
    assert several > 10


def random_order(rng: random.Random) -> list[tuple[str, str]]:
    """Edges of a random acyclic relation among a .. d, under query z."""
    names = rng.sample("abcd", 4)
    pairs = [(names[i], names[j]) for i in range(4) for j in range(i + 1, 4)]
    return rng.sample(pairs, rng.randint(2, 4))


def test_confused_tokens_are_judged_as_the_exact_solution_says() -> None:
    rng = random.Random(0)
    verdicts = []
    for _ in range(25):
        dataset = related({"z": random_order(rng)})
        order, solution = dataset.orders["z"], solve_kq(dataset)
        exact = known(brute_force(edges_of(dataset)["z"]))
        k, m = len(order.optimal), len(order.non_optimal)
        wrong = tuple(
            x
            for x in dataset.vocabulary
            if (x in order.optimal and exact[x] * (k + m) != m) or (x in order.non_optimal and exact[x] * (k + m) != -k)
        )
        form = solution.closed_form["z"]
        assert form.holds == (not wrong)
        if order.confused:
            assert form.witness == (wrong or None)
        verdicts.append((bool(order.confused), form.holds))
    assert (True, False) in verdicts
    assert (False, True) in verdicts


def test_a_cycle_is_its_query_s_witness_and_the_others_are_judged() -> None:
    cyclic = [("a", "b"), ("b", "c"), ("c", "a")]
    path = [("a", "p"), ("b", "p"), ("c", "r"), ("c", "s"), ("c", "t"), ("c", "u")]
    chain = [("a", "b"), ("b", "c")]
    whole = related({"q": cyclic, "w": chain, "z": path, "y": [("a", "b")]})
    solution = solve_kq(whole)
    assert solution.status == "infeasible"
    forms = solution.closed_form
    assert not forms["q"].holds
    assert set(known(forms["q"].witness)) == {"a", "b", "c"}
    assert forms["y"].holds
    apart = solve_kq(related({"w": chain, "z": path, "y": [("a", "b")]}, isolated="q")).closed_form
    assert {q: forms[q] for q in "wyz"} == apart
    assert not forms["z"].holds


@pytest.mark.parametrize(
    ("column", "witness"),
    [
        ({"a": "2/3", "c": "-1/3", "z": "-1/3"}, None),
        ({"a": "2/3", "b": "5/7", "c": "-1/3", "z": "-1/3"}, None),
        ({"a": "2/3", "c": "-1/3"}, ("z",)),
        ({"c": "-1/3", "z": "-1/3"}, ("a",)),
        ({"a": "-2/3", "c": "1/3", "z": "-1/3"}, ("a", "c")),
        ({"a": "1/3", "c": "-1/3", "z": "-2/3"}, ("a", "z")),
    ],
)
def test_weights_against_the_formula(column: dict[str, str], witness: tuple[str, ...] | None) -> None:
    """a over b over c, and both over z: k = 1, m = 2; the formula is silent on b."""
    dataset = related({"z": [("a", "b"), ("b", "c")]})
    weights = {"z": {x: Fraction(value) for x, value in column.items()}}
    scores = np.zeros((dataset.V, dataset.V))
    for x, value in weights["z"].items():
        scores[dataset.index[x], dataset.index["z"]] = value
    found = (
        compare_exactly(dataset, ["z"], weights),
        compare(dataset, dataset.orders, scores, np.full_like(scores, 1e-9)),
    )
    for form in (forms["z"] for forms in found):
        assert (form.holds, form.witness) == (witness is None, witness)


def test_scores_are_known_within_the_weights_radius_times_both_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    radii: list[Any] = []

    def seen(dataset: Dataset, queries: Any, scores: Any, radius: Any) -> dict[str, ClosedForm]:
        radii.append(radius)
        return compare(dataset, queries, scores, radius)

    monkeypatch.setattr(kq, "compare", seen)
    lengths = np.array([1.0, 2.0, 3.0, 4.0])
    data = replace(CASES["example-1"](), embedding=np.diag(lengths))
    solution = solve_kq(data, method="cvxpy").optimal()
    np.testing.assert_allclose(radii[0] / np.outer(lengths, lengths), solution.weight_radius, rtol=0.1)
    monkeypatch.setattr(kq, "polished", lambda _, found: replace(found, weight_radius=0.0))
    weights = np.linalg.norm(solve_kq(data).optimal().matrix)
    for x, y in np.ndindex(4, 4):  # x^T W y: two products of 4 terms each
        rounding = 2 * (2 * 4 * 2.0**-53) * lengths[x] * lengths[y] * weights
        assert rounding / 2 < radii[1][x, y] < 4 * rounding


def test_blocks_that_refute_nothing_are_refused() -> None:
    """Of two winners of the same two losers, one of which is said to be alone with its weight."""
    dataset = related({"z": [("a", "c"), ("b", "c")]})
    exact = solve_exactly(dataset.relations, dataset.V)
    assert decide(exact, dataset.vocabulary)["z"].holds
    with pytest.raises(CertificateError, match="does not refute"):
        decide(replace(exact, numerator=exact.numerator + np.array([1, 0, 0, 0])), dataset.vocabulary)
