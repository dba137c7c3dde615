"""Matchings, pairs and relations counted in pieces, and the numbers of a small text."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given

from marginaudit.orders.ntp.realize import matching
from marginaudit.orders.ntp.realize.matching import pair_weights
from marginaudit.orders.ntp.realize.reduced_samples import samples_of
from marginaudit.orders.ntp.realize.survey import survey, surveys
from marginaudit.orders.ntp.realize.words import numbered
from tests.orders.ntp.realize.test_part import LINES

survey_module = import_module("marginaudit.orders.ntp.realize.survey")  # the package's own name is the function


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
            patch.setattr(matching, "PLACES_AT_ONCE", most)
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
            patch.setattr(matching, "PLACES_AT_ONCE", places)
            found = survey_module.relations_of_fitting(samples, source)
            triples = list(zip(found.query.tolist(), found.winner.tolist(), found.loser.tolist(), strict=True))
            assert triples == sorted(expected)
            for (q, winner, loser), s in zip(triples, found.sample.tolist(), strict=True):
                assert {winner, loser, q} <= set(samples.tokens_of(s))
                assert source[samples.next[s]] == winner


def test_numbers_of_a_small_text() -> None:
    """Most samples fit n(a) = b, n(b) = a: under b, a and b then beat each other; c says two next tokens."""
    lines = ["ab", "ab", "ba", "ba", "abb", "baa", "bab", "aba", "ca", "cb"]
    found = survey(samples_of(numbered("x", lines)))
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
