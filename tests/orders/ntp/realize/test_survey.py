"""Matchings, pairs and relations counted in pieces, and the numbers of a small text."""

from dataclasses import replace
from importlib import import_module
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from marginaudit.orders.ntp.realize import (
    collocation,
    numbered,
    samples_of,
    survey,
    surveys,
)
from marginaudit.orders.ntp.realize.collocation import NONE, best_matching, pair_weights, pieces
from marginaudit.orders.ntp.realize.winners import allowed, at_query, kept
from tests.orders.ntp.realize.texts import LINES, SMALL

survey_module = import_module("marginaudit.orders.ntp.realize.survey")  # the package's own name is the function


@given(st.lists(st.integers(0, 4), min_size=9, max_size=9))
def test_the_best_matching(weights: list[int]) -> None:
    weight = np.reshape(weights, (3, 3))
    source, value = best_matching(csr_array(weight))
    matched = [(x, y) for y, x in enumerate(source) if x != NONE]
    assert len({x for x, _ in matched}) == len(matched)
    assert sum(weight[pair] for pair in matched) == value
    assert value == max(sum(weight[x, y] for x, y in enumerate(images)) for images in permutations(range(3)))
    assert all(weight[pair] for pair in matched)


@given(LINES)
def test_pairs_are_counted_in_pieces(lines: list[str]) -> None:
    text = numbered("x", lines)
    samples = samples_of(text)
    V = len(text.vocabulary)
    expected = np.zeros((V, V), dtype=int)
    for line in lines:
        for i in range(1, len(line)):
            for x in set(line[:i]):
                expected[text.vocabulary.index(x), text.vocabulary.index(line[i])] += 1
    with pytest.MonkeyPatch.context() as patch:
        for most in (1, 3, 10**6):
            patch.setattr(collocation, "PLACES_AT_ONCE", most)
            np.testing.assert_array_equal(pair_weights(samples, samples.eligible).todense(), expected)


@given(LINES)
def test_relations_are_found_in_pieces(lines: list[str]) -> None:
    """Those of the dataset's samples that fit, by the definition's own code, whatever the pieces."""
    text = numbered("x", lines)
    samples = samples_of(text)
    V = len(text.vocabulary)
    source = np.roll(np.arange(V), 1)
    expected = set()
    for line in lines:
        numbers = [text.vocabulary.index(x) for x in line]
        for i in range(1, len(line)):
            q, x = numbers[i - 1], source[numbers[i]]
            if x in numbers[:i]:
                expected |= {(q, x, other) for other in numbers[:i] if other != x}
    with pytest.MonkeyPatch.context() as patch:
        for places in (1, 3, 10**6):
            patch.setattr(collocation, "PLACES_AT_ONCE", places)
            found = survey_module._relations(samples, source)
            triples = list(zip(found.query.tolist(), found.winner.tolist(), found.loser.tolist(), strict=True))
            assert triples == sorted(expected)
            for (q, winner, loser), s in zip(triples, found.sample.tolist(), strict=True):
                assert {winner, loser, q} <= set(samples.tokens_of(s))
                assert source[samples.next[s]] == winner


@given(st.lists(st.integers(1, 5), min_size=1, max_size=20), st.integers(1, 12))
def test_pieces_are_as_long_as_memory_allows(size: list[int], most: int) -> None:
    start = np.cumsum([0, *size])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collocation, "PLACES_AT_ONCE", most)
        found = pieces(start)
    assert [sample for lo, hi in found for sample in range(lo, hi)] == list(range(len(size)))
    assert all(0 < sum(size[lo:hi]) < most + max(size) for lo, hi in found)
    assert all(sum(size[lo:hi]) > most - max(size) for lo, hi in found[:-1])


def test_numbers_of_a_small_text() -> None:
    """Most samples fit n(a) = b, n(b) = a: under b, a and b then beat each other; c says two next tokens."""
    found = survey(samples_of(numbered("x", SMALL)))
    assert (found.tokens, found.samples, found.distinct) == (3, 14, 8)
    assert (found.one_next, found.several_next) == (2, 1)
    assert found.fits == 12
    assert (found.queries, found.well_ordered, found.unconfused, found.confused) == (2, 0, 0, 2)
    assert found.part.lower == found.part.upper == 10


def test_restrictions_go_down_by_halves() -> None:
    text = numbered("x", ["abcdefgh", "hgf", "ab", "cd", "ef", "gh", "ha", "bc"])
    found = [(varied, value, s.tokens, s.samples) for varied, value, s in surveys(text)]
    assert found == [
        ("vocabulary", 8, 8, 15),
        ("vocabulary", 4, 4, 15),
        ("length", 7, 8, 15),
        ("length", 3, 8, 11),
        ("sentences", 8, 8, 15),
        ("sentences", 4, 8, 11),
    ]


@given(LINES, st.integers(0, 2**32))
def test_what_given_winners_keep_and_allow(lines: list[str], seed: int) -> None:
    """Sample by sample, with any tokens marked."""
    text = numbered("x", lines)
    samples = samples_of(text)
    rng = np.random.default_rng(seed)
    source = rng.permutation(len(text.vocabulary))
    winner = rng.random(len(samples.token)) < 0.4
    samples = replace(samples, eligible=rng.random(len(samples.token)) < 0.8)
    stays, may = kept(samples, source, winner), allowed(samples, winner)
    for s in range(len(samples)):
        places = range(samples.start[s], samples.start[s + 1])
        won = [i for i in places if winner[i]]
        asked = [i for i in places if samples.token[i] == source[samples.next[s]] and samples.eligible[i]]
        assert stays[s] == (bool(asked) and (len(places) == 1 or won == asked))
        assert [i for i in places if may[i]] == [
            i for i in places if samples.eligible[i] and (len(places) == 1 or won == [i])
        ]
    at = np.repeat(samples.query, samples.size)
    np.testing.assert_array_equal(at_query(samples), samples.token == at)
