"""Hunts among sequence classes: every false claim is found out, no true one; sizes, reductions, what is drawn."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginaudit.claims import Verdict
from marginaudit.claims.snap.conditions import slow_decoder
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.snap import (
    CLASSES,
    FAIL_WITH,
    SequenceClass,
    SequenceClasses,
    check_assumption,
    classes_from_document,
    classes_to_document,
)
from marginaudit.reports.hunt import Hunt, hunt
from marginaudit.reports.snap.hunting.smallest import smallest_classes
from marginaudit.reports.snap.hunting.space import RATES, size, smaller
from marginaudit.reports.snap.hunting.strategies import broken_classes, classes, odd_classes, regular_classes
from marginaudit.reports.snap.paper import PAPER

CLAIMS = {claim.id: claim for claim in PAPER.claims}

FOUND_FALSE = {
    "snap.remark2": (1, 4),
    "snap.lemma17.literal": (2, 2),
    "snap.eq13": (2, 145),
    "snap.theorem4.scan": (2, 1000),
}
"""Some claims that are false, and K and M of the smallest classes that show it; `test_hunt` hunts all."""


ASSUMPTION_2 = ("uniform_classes", "wide_vocabulary", "small_overlap", "spread_overlap")


def judged_again(found: Hunt) -> Verdict:
    """The verdict on what is read back from the dataset's document, in an audit with the settings of the hunt."""
    assert found.dataset is not None
    data = classes_from_document(json.loads(json.dumps(classes_to_document(found.dataset))))
    verdict: Verdict = CLAIMS[found.claim].judge(ClassRun(data, replace(PAPER.config(), **found.settings))).verdict
    return verdict


@pytest.mark.parametrize("claim", FOUND_FALSE)
def test_false_claims_are_found_out(claim: str) -> None:
    """Those of one, two and several classes."""
    found = hunt(CLAIMS[claim], PAPER, seconds=30)
    assert found.dataset is not None
    assert FOUND_FALSE[claim] == (found.dataset.K, found.dataset.M)
    assert found.settings == {}
    assert judged_again(found) is Verdict.VIOLATED


@pytest.mark.parametrize("claim", ["snap.lemma10.rederived", "snap.lemma16"])
def test_nothing_is_found_where_nothing_is_wrong(claim: str) -> None:
    found = hunt(CLAIMS[claim], PAPER, seconds=1)
    assert found.dataset is None
    assert set(found.verdicts) == {"holds"}
    assert found.largest["K"] > 2


@pytest.mark.parametrize("assumption", ["equal_overlaps", "uniform_classes"])
def test_a_claim_is_hunted_without_an_assumption(assumption: str) -> None:
    """Eq. 43 is no more true of several overlaps, whose rho is the first two classes', or of other frequencies."""
    found = hunt(CLAIMS["snap.remark1"], PAPER, without=assumption, seconds=20)
    assert found.dataset is not None
    (other,) = {"uniform_classes", "equal_overlaps"} - {assumption}
    assert not check_assumption(found.dataset, assumption).holds
    assert check_assumption(found.dataset, other).holds


def test_the_space_is_the_papers() -> None:
    assert PAPER.space is not None
    smallest = next(iter(smallest_classes()))
    for runs in PAPER.space.runs.values():
        assert [(tried, confirmed) for tried, confirmed in runs if tried != confirmed] == []
        assert [tried.eta_Y for tried, _ in runs] == list(RATES)
        assert [slow_decoder(ClassRun(smallest, tried)) for tried, _ in runs] == [None] * len(RATES)
        assert runs[0][0] == PAPER.config()
    for without in CLASSES.assumptions:
        broken_one = [data for data in smallest_classes() if not check_assumption(data, without).holds]
        assert bool(broken_one) == PAPER.space.enumerated((), without)
    assert PAPER.space.enumerated((), None)


def test_the_smallest_classes_come_first_and_once() -> None:
    """Of one class 6 matrices; of two over two tokens (43 + 5)/2, as five of 43 stay the same with columns swapped."""
    found = list(smallest_classes())
    sizes = [(data.K, len(data.contextual)) for data in found]
    assert sizes == sorted(sizes)
    assert [sizes.count(size) for size in ((1, 1), (1, 2), (1, 3), (2, 2))] == [4, 16, 4, 96]
    assert [data.M for data in found[:4]] == [1, 2, 3, 1000]
    assert {data.M for data in found} == {1, 2, 3, 4, 5, 1000}
    matrices = {tuple(sorted(map(tuple, data.P.tolist()))) for data in found if data.M == 1000}
    assert len(matrices) == len(found) / 4
    assert any(all(check_assumption(data, name).holds for name in ASSUMPTION_2) for data in found)
    assert all(data.weights is None for data in found)


START = SequenceClasses(
    "start",
    12,
    (
        SequenceClass("m", "p", {"x": 0.625, "y": 0.375, "z": 0.0}),
        SequenceClass("n", "q", {"y": 0.5, "w": 0.5}),
    ),
    weights=(2.0, 1.0),
)
"""Eight tokens are named."""


def test_each_way_to_make_classes_smaller() -> None:
    found = list(smaller(START))
    first, second = START.classes
    assert [(data.classes, data.weights) for data in found[:2]] == [((second,), (1.0,)), ((first,), (2.0,))]
    assert [dict(c.probabilities) for c in found[2].classes] == [{"y": 1}, {"y": 0.5, "w": 0.5}]
    assert [[c.support for c in data.classes] for data in found[2:8]] == [
        [("y",), ("y", "w")],
        [("x",), ("w",)],
        [("x", "y"), ("y",)],
        [("y",), ("y", "w")],
        [("x",), ("y", "w")],
        [("x", "y"), ("w",)],
    ]
    assert [c.query for c in found[9].classes] == ["p", "p"]
    rest = found[10:]
    assert [data.M for data in rest[:3]] == [8, 10, 11]
    assert [data.M for data in rest[3:]] == [12] * len(rest[3:])
    assert rest[3].weights is None
    plain = [[list(c.probabilities.values()) for c in data.classes] for data in rest[4:]]
    halves = [0.5, 0.5]
    assert [halves, halves] in plain
    assert [[0.6, 0.4], halves] in plain
    assert [[0.62, 0.38], halves] in plain


def test_rounded_probabilities_are_none_of_them_zero() -> None:
    """The largest takes what is left of 1, as long as something is."""
    steep = SequenceClasses("steep", 9, (SequenceClass("n", "q", {"x": 0.0046, "y": 0.9908, "z": 0.0046}),))
    found = {tuple(data.classes[0].probabilities.values()) for data in smaller(steep) if len(data.contextual) == 3}
    assert found - {(0.0046, 0.9908, 0.0046)} == {(0.1, 0.8, 0.1), (0.01, 0.98, 0.01), (0.005, 0.99, 0.005)}
    eleven = {name: (0.1003 if name == "a" else 0.08997) for name in "abcdefghijk"}
    flat = SequenceClasses.from_weights("flat", None, [("n", "q", eleven)])
    found = {tuple(data.classes[0].probabilities.values()) for data in smaller(flat) if len(data.contextual) == 11}
    assert (0.1, *[0.09] * 10) in found
    assert all(min(values) > 0 for values in found)


def test_names_become_few_where_all_of_them_are_in_the_vocabulary() -> None:
    full = replace(START, M=8, weights=None)
    assert len(full.tokens) == 8
    fewest = [data for data in smaller(full) if data.M < 8]
    assert [(data.M, data.tokens) for data in fewest if data.K == 2] == [(3, ("a", "b", "c"))]
    [data] = [data for data in fewest if data.K == 2]
    assert [(c.next, c.query, dict(c.probabilities)) for c in data.classes] == [
        ("a", "a", {"a": 0.625, "b": 0.375}),
        ("b", "b", {"b": 0.5, "c": 0.5}),
    ]
    many = SequenceClasses.from_weights("many", None, [("n", "q", dict.fromkeys("abcdefghi", 1.0))])
    assert all(data.M == many.M for data in smaller(many))


@settings(max_examples=40)
@given(st.data())
def test_every_reduction_is_smaller_and_can_be_written(data: st.DataObject) -> None:
    dataset = data.draw(st.one_of(odd_classes(uniform=False), regular_classes(uniform=False)))
    for reduced in islice(smaller(dataset), 200):
        assert size(reduced) < size(dataset)
        again = classes_from_document(classes_to_document(reduced))
        assert (again.P.tolist(), again.M, again.weights) == (reduced.P.tolist(), reduced.M, reduced.weights)


@settings(max_examples=40)
@given(st.data())
def test_what_is_drawn(data: st.DataObject) -> None:
    regular = data.draw(regular_classes(uniform=True))
    assert all(check_assumption(regular, name).holds for name in ASSUMPTION_2)
    assert regular.weights is None
    assert data.draw(odd_classes(uniform=True)).weights is None
    assert data.draw(classes({"single_query"}, {"uniform_classes"})).K >= 1
    assumption = data.draw(st.sampled_from(list(CLASSES.assumptions)))
    gone = data.draw(broken_classes([assumption]))
    failing = {name for name in CLASSES.assumptions if not check_assumption(gone, name).holds}
    assert failing == {assumption, *FAIL_WITH.get(assumption, ())}


def sampled(strategy: st.SearchStrategy[Any]) -> Iterator[Any]:
    drawn: list[Any] = []

    @settings(max_examples=100, database=None, derandomize=True)
    @given(strategy)
    def draw(found: Any) -> None:
        drawn.append(found)

    draw()
    return iter(drawn)


def test_odd_classes_are_of_all_kinds() -> None:
    found = list(sampled(odd_classes(uniform=False)))
    assert {data.K for data in found} >= {1, 2, 3, 4}
    assert any(len(set(data.weights or ())) > 1 for data in found)
    assert any(len(data.queries) > 1 for data in found)
    assert any(data.M > 10**5 for data in found)
    assert any(len(data.tokens) == data.M for data in found)
