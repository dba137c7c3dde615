"""Samples follow their law, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.training.snap.sgd import Recipe, attention, entropy_of_distinct, train_sampled
from marginaudit.training.snap.sgd.samples import BITS, PER_BINOMIAL, classes_of, drawn, tally, urns
from tests.training.snap.sgd.test_sgd import SMALL


@pytest.mark.parametrize("length", [7, 127])
def test_samples_follow_their_law(length: int) -> None:
    """Within five standard deviations, for every class, token and pair of tokens; drawn in both ways."""
    data = CASES["snap-single"]()
    classes = classes_of(data)
    size = 40_000
    frequency = np.array([0.8, 0.2])
    assert (length > PER_BINOMIAL * 3) == (length == 127)
    samples = drawn(classes, frequency, size, length, np.random.default_rng(0))
    assert (samples.counts.sum(axis=1) == length).all()
    for n, share in enumerate(frequency.tolist()):
        of_class = samples.counts[samples.number == n].astype(float)
        assert len(of_class) == pytest.approx(size * share, rel=0, abs=5 * np.sqrt(size * share * (1 - share)))
        P = np.array([data.classes[n].probabilities[token] for token in data.classes[n].support])
        expected = length * (np.diag(P) - np.outer(P, P))
        np.testing.assert_allclose(of_class.mean(axis=0), length * P, atol=5 * np.sqrt(length / 4 / len(of_class)))
        np.testing.assert_allclose(np.cov(of_class.T), expected, atol=20 * length / np.sqrt(len(of_class)))
        np.testing.assert_allclose(np.cov(of_class.T), expected, rtol=0, atol=0.1 * np.abs(expected).max())


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=30))
def test_urns_have_the_probabilities(weights: list[float]) -> None:
    p = np.array(weights) / sum(weights)
    own, tokens = urns(p)
    assert (own >= 0).all()
    assert (own <= 1).all()
    drawn_by = np.zeros(len(p))
    for (other, token), share in zip(tokens.tolist(), own.tolist(), strict=True):
        drawn_by[token] += share / len(p)
        drawn_by[other] += (1 - share) / len(p)
    np.testing.assert_allclose(drawn_by, p, rtol=0, atol=1e-15)


def test_a_half_word_chooses_an_urn_and_a_token_in_it() -> None:
    """The lower half first; the last upper half of an odd length is not used."""
    shares, tokens = np.array([2**32, 3 * 2**30, 2**30], dtype=np.uint64), np.array([[2, 0], [0, 1], [1, 2]])
    places = np.array([[0.0, 0.333, 0.34], [0.6, 0.7, 0.9999], [0.584, 0.582, 0.2]])
    halves = [[int(place * 2**32) for place in row] + [2**32 - 1] for row in places]
    words = np.array([[row[0] + (row[1] << 32), row[2] + (row[3] << 32)] for row in halves], dtype=np.uint64)
    count = np.zeros((3, 3), dtype=np.int64)
    tally(words, 3, shares, tokens, count, np.array([2, 0, 1]))
    assert count.tolist() == [[1, 1, 1], [2, 1, 0], [2, 1, 0]]


def test_a_token_s_own_share_ends_below_its_end() -> None:
    """One urn, half of which and a place more is token 0's: its last place in the lower half, the next in the upper."""
    share, count = 2**31 + 1, np.zeros((1, 2), dtype=np.int64)
    words = np.array([[(share - 1) + (share << 32)]], dtype=np.uint64)
    tally(words, 2, np.array([share], dtype=np.uint64), np.array([[1, 0]]), count, np.array([0]))
    assert count.tolist() == [[1, 1]]


def test_half_words_at_equal_distances_choose_by_the_law() -> None:
    """Two intervals of an urn make at most two numbers too many or too few."""
    p, many = np.array([0.5, 0.3, 0.15, 0.05]), 2**16
    own, tokens = urns(p)
    halves = np.arange(many, dtype=np.uint64) * np.uint64(2**BITS // many)
    words = halves[None, ::2] + (halves[None, 1::2] << np.uint64(BITS))
    count = np.zeros((1, len(p)), dtype=np.int64)
    tally(words, many, np.rint(own * 2.0**BITS).astype(np.uint64), tokens, count, np.array([0]))
    np.testing.assert_allclose(count[0], many * p, rtol=0, atol=2 * len(p))


def test_tokens_and_queries_are_found_by_name() -> None:
    classes = classes_of(SMALL)
    assert SMALL.tokens == ("a", "b", "the", "c", "d", "q", "p", "n0", "n1")
    assert SMALL.contextual == ("a", "b", "the", "c", "d", "q")
    assert classes.label.tolist() == [7, 8, 2]
    assert classes.query.tolist() == [0, 0, 1]
    assert classes.first.tolist() == [0, 3, 5, 9]
    assert classes.token.tolist() == [0, 1, 2, 3, 2, 0, 4, 2, 5]
    np.testing.assert_allclose(classes.probability, [0.5, 0.2, 0.3, 0.2, 0.8, 0.2, 0.4, 0.2, 0.2], rtol=1e-15)
    absent = SequenceClasses.from_weights("absent", 9, [("n", "q", {"of no class": 0, "a": 1})])
    assert (absent.tokens[:2], classes_of(absent).token.tolist()) == (("of no class", "a"), [0])


def test_attention_and_entropy_by_hand() -> None:
    Z = np.zeros((2, 3, len(SMALL.contextual)))[:, :2]
    Z[1, 0, SMALL.contextual.index("b")] = np.log(5)
    c = attention(SMALL, Z)
    assert c.shape == (2, 3, 6)
    np.testing.assert_allclose(c[0], SMALL.P, rtol=1e-15)
    np.testing.assert_allclose(c[1, 0, :3], np.array([5, 10, 3]) / 18, rtol=1e-14)
    np.testing.assert_allclose(c[1, 1:], SMALL.P[1:], rtol=1e-15)
    # distinct: b of n0; c of n1; d and q of the third class
    third = -(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3))
    np.testing.assert_allclose(entropy_of_distinct(SMALL, Z), third / 3, rtol=1e-14)
    far = Z.copy()
    far[:, 1, SMALL.contextual.index("d")] = 5000.0
    np.testing.assert_allclose(entropy_of_distinct(SMALL, far), 0, atol=1e-300)
    common = np.zeros((3, len(SMALL.contextual)))
    common[:, SMALL.contextual.index("a")] = 5000.0
    np.testing.assert_allclose(entropy_of_distinct(SMALL, common), third / 3, rtol=1e-14)
    none = SequenceClasses.from_weights("none", 9, [("x", "q", {"a": 1}), ("y", "q", {"a": 1})])
    with pytest.raises(ValueError, match="none: got no class with a distinct token"):
        entropy_of_distinct(none, np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"updates": -1}, "updates: got -1, expected at least 0"),
        ({"batch": 0}, "batch: got 0, expected at least 1"),
        ({"length": 0}, "length: got 0, expected at least 1"),
        ({"momentum": 1.0}, "momentum: got 1.0, expected at least 0 and below 1"),
        ({"momentum": float("nan")}, "momentum: got nan, expected at least 0 and below 1"),
        ({"momentum": -0.1}, "momentum: got -0.1, expected at least 0 and below 1"),
        ({"optimizer": "sgd"}, "optimizer: got 'sgd', expected momentum or adam"),
        ({"start": "one"}, "start: got 'one', expected uniform or zero"),
    ],
)
def test_recipes_out_of_range(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recipe(**wrong)


@pytest.mark.parametrize("rate", [-1.0, float("inf"), float("nan")])
def test_rates_out_of_range(rate: float) -> None:
    for rates in ([(rate, 1.0)], [(1.0, 1.0), (1.0, rate)]):
        with pytest.raises(ValueError, match=f"rates: got {rate}"):
            train_sampled(SMALL, Recipe(updates=1), rates, seed=0)
