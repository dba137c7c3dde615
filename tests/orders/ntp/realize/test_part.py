"""The largest realizable part against all subsets of samples and all injective maps, by plain loops."""

import random
from collections import Counter
from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest
import scipy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from marginaudit.orders.ntp import Dataset, Sample, check_assumptions, dataset_from_document
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_3
from marginaudit.orders.ntp.realize import part
from marginaudit.orders.ntp.realize.part import document_of, largest_part
from marginaudit.orders.ntp.realize.program import answers, program, solved
from marginaudit.orders.ntp.realize.reduced_samples import ReducedSamples, samples_of, samples_of_dataset
from marginaudit.orders.ntp.realize.survey import survey
from marginaudit.orders.ntp.realize.winners import allowed, ascend, kept
from marginaudit.orders.ntp.realize.words import Text, numbered
from tests.strategies import free_datasets, realizable_datasets

LINES = st.lists(st.text("abcd", min_size=2, max_size=5), min_size=1, max_size=3)
MAJORITY = st.booleans()
SETTLED, GAP, FOUND = ["abbbaad", "cba"], ["cbcabd", "dadb"], ["bbcbbc", "abdba"]
"""Texts whose linear relaxation shows the largest part, bounds it above it, and bounds it without showing it."""


def meet(samples: list[tuple[str, str]], n: dict[str, str], *, majority: bool) -> bool:
    """Assumption 1, and 3 where asked for, of samples and an injective n, as they are written."""
    beats = set()
    for sentence, following in samples:
        optimal = [x for x in sentence if n[x] == following]
        if not optimal or (majority and any(sentence.count(x) > len(optimal) for x in sentence if n[x] != following)):
            return False
        beats |= {(sentence[-1], x, z) for x in optimal for z in sentence if n[z] != following}
    winners, losers = {(q, x) for q, x, _ in beats}, {(q, z) for q, _, z in beats}
    return not winners & losers


Pairs = frozenset[tuple[str, str]]


def beating(sentence: str, following: str, n: dict[str, str]) -> tuple[Pairs, Pairs]:
    """(query, token) of those that win and of those that lose."""
    optimal = {x for x in sentence if n[x] == following}
    others = set(sentence) - optimal
    if not others:
        return frozenset(), frozenset()
    return frozenset((sentence[-1], x) for x in optimal), frozenset((sentence[-1], x) for x in others)


def heaviest(samples: list[tuple[int, Pairs, Pairs]], winners: Pairs = frozenset(), losers: Pairs = frozenset()) -> int:
    """The largest count of samples in which, with those given, no token wins and loses under one query."""
    if not samples:
        return 0
    (count, wins, losses), *rest = samples
    without = heaviest(rest, winners, losers)
    winners, losers = winners | wins, losers | losses
    return without if winners & losers else max(without, count + heaviest(rest, winners, losers))


def largest(lines: list[str], *, majority: bool) -> tuple[int, int]:
    """How many samples there are in the largest part, and how many fit one n, by trying everything."""
    counts = Counter((line[:i], line[i]) for line in lines for i in range(1, len(line)))
    tokens = sorted(set("".join(lines)))
    best = fits = 0
    for images in permutations(tokens):
        n = dict(zip(tokens, images, strict=True))
        alone = [sample for sample in counts if meet([sample], n, majority=majority)]
        fits = max(fits, sum(counts[sample] for sample in alone))
        best = max(best, heaviest([(counts[sample], *beating(*sample, n)) for sample in alone]))
    return best, fits


@settings(max_examples=15)
@given(LINES, MAJORITY)
@example(GAP, False)
@example(["baaa", "cbcbba", "ba", "abbc"], True)
def test_a_small_text_exactly(lines: list[str], majority: bool) -> None:
    found = survey(samples_of(numbered("x", lines), majority=majority))
    best, fits = largest(lines, majority=majority)
    assert (found.part.lower, found.part.upper, found.fits) == (best, best, fits)
    assert found.part.method.startswith("exact; ")


def largest_of_few_tokens(lines: list[str], *, majority: bool) -> int:
    """How many samples there are in the largest part: over every n, and under each query over every set of winners."""
    counts = Counter((line[:i], line[i]) for line in lines for i in range(1, len(line)))
    tokens = sorted(set("".join(lines)))
    subsets = [frozenset(some) for size in range(len(tokens) + 1) for some in combinations(tokens, size)]
    best = 0
    for images in permutations(tokens):
        answered = dict(zip(images, tokens, strict=True))
        kept: Counter[tuple[str, frozenset[str]]] = Counter()
        for (sentence, following), count in counts.items():
            x, q = answered[following], sentence[-1]
            if x in sentence and not (majority and any(sentence.count(z) > sentence.count(x) for z in sentence)):
                alone = len(set(sentence)) == 1
                kept.update({(q, w): count for w in subsets if alone or w & set(sentence) == {x}})
        best = max(best, sum(max(kept[q, w] for w in subsets) for q in tokens))
    return best


@pytest.mark.parametrize(
    ("tokens", "long", "lines", "majority"), [("abcd", 34, 60, False), ("abcd", 12, 60, True), ("abcde", 9, 40, False)]
)
def test_a_long_text_of_few_tokens_exactly(tokens: str, long: int, lines: int, majority: bool) -> None:
    """As DNA is: most samples differ in nothing that Assumption 1 sees."""
    drawn = random.Random(0)
    text = ["".join(drawn.choices(tokens, range(1, len(tokens) + 1), k=long)) for _ in range(lines)]
    found = largest_part(samples_of(numbered("x", text), majority=majority))
    best = largest_of_few_tokens(text, majority=majority)
    assert (found.lower, found.upper) == (best, best)


@pytest.mark.parametrize(("bound", "most"), [(-5 + 1e-9, 5), (-5 - 1e-9, 5), (-5.9, 5), (None, 16), (-np.inf, 16)])
def test_a_bound_is_the_whole_number_below_it_up_to_the_solver_s_tolerance(
    bound: float | None, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scipy.optimize, "milp", lambda *_, **__: SimpleNamespace(x=None, mip_dual_bound=bound))
    samples = samples_of(numbered("x", GAP))
    written = program(samples, answers(samples))
    assert written.weight.sum() == 16
    assert solved(written, 1) == (None, most)


def test_each_way_to_a_larger_part_is_gone_no_farther_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    gap, settled, shown, easy = (samples_of(numbered("x", lines)) for lines in (GAP, SETTLED, FOUND, ["abb"]))

    def said(samples: ReducedSamples) -> tuple[int, int, str]:
        found = largest_part(samples)
        return found.lower, found.upper, found.method

    assert said(shown) == (5, 5, "exact; bound by linear relaxation")
    size = len(answers(gap).place)
    monkeypatch.setattr(part, "EXACT", size)
    assert said(gap) == (4, 4, "exact; bound by branch and bound")
    monkeypatch.setattr(part, "solved", lambda *_: (None, 7))
    assert said(gap) == said(shown) == (4, 5, "alternating maximisation; bound by linear relaxation")
    monkeypatch.setattr(part, "EXACT", size - 1)
    assert said(gap) == (4, 5, "alternating maximisation; bound by linear relaxation")
    monkeypatch.setattr(part, "solved", None)
    monkeypatch.setattr(part, "EXACT", 100)
    size = len(answers(settled).place)
    monkeypatch.setattr(part, "RELAXED", size)
    assert said(settled) == (5, 5, "exact; bound by linear relaxation")
    monkeypatch.setattr(part, "RELAXED", size - 1)
    assert said(settled) == (4, 6, "alternating maximisation; bound by matching")
    monkeypatch.setattr(part, "program", None)
    monkeypatch.setattr(part, "RELAXED", 100)
    assert said(easy) == (2, 2, "exact; bound by matching")


@given(st.one_of(free_datasets(), realizable_datasets(), LINES.map(lambda x: Dataset.from_sentences("x", x))), MAJORITY)
def test_every_part_meets_the_assumptions_and_is_of_the_samples(data: Dataset, majority: bool) -> None:
    samples = samples_of_dataset(data, majority=majority)
    found = largest_part(samples)
    document = document_of(found, samples, data.vocabulary, "part")
    written = dataset_from_document(document | {"samples": list(document["samples"])})
    assumptions = check_assumptions(written)
    for name in ASSUMPTION_1 + (ASSUMPTION_3 if majority else ()):
        assert assumptions[name].holds, name
    counts = dict(zip(data.samples, data.counts, strict=True))
    assert all(counts[s] == count for s, count in zip(written.samples, written.counts, strict=True))
    assert sum(written.counts) == found.lower <= found.upper <= sum(data.counts)
    used = {x for s in written.samples for x in (*s.tokens, s.next)}
    assert set(written.vocabulary) == used


def test_winners_are_gone_through_until_no_exchange_keeps_more() -> None:
    """One time through the tokens, from any of the three starts, keeps 7 of these samples under one query."""
    counts = {("cq", "c"): 4, ("eadq", "a"): 4, ("aeq", "e"): 3, ("fedbacq", "e"): 3, ("dq", "q"): 2}
    written = tuple(Sample(tuple(sentence), following) for sentence, following in counts)
    samples = samples_of_dataset(Dataset("x", tuple("qabcdef"), written, tuple(counts.values())))
    n = np.arange(7)
    winner = ascend(samples, n, samples.token != 6)
    subsets = (dict(some) for size in range(6) for some in combinations(counts.items(), size))
    same = {x: x for x in "qabcdef"}
    best = max(sum(some.values()) for some in subsets if meet(list(some), same, majority=False))
    assert samples.count[kept(samples, n, winner)].sum() == best == 8


def test_a_sample_that_a_winner_has_lost_already_is_not_lost_to_the_next_one() -> None:
    """Once a wins, abcq is out, so that b costs nothing: aq and bq stay."""
    counts = {("aq", "a"): 2, ("bq", "b"): 1, ("abcq", "c"): 1}
    written = tuple(Sample(tuple(sentence), following) for sentence, following in counts)
    samples = samples_of_dataset(Dataset("x", tuple("qabc"), written, tuple(counts.values())))
    n = np.arange(4)
    winner = ascend(samples, n, np.zeros(len(samples.token), dtype=np.bool_))
    assert samples.count[kept(samples, n, winner)].sum() == 3


def test_a_winner_of_its_sentence_may_be_answered_where_it_is_eligible() -> None:
    """By Assumption 3 no other token of the sentence outnumbers it: of abb under b, b alone may."""
    samples = samples_of(numbered("x", ["abba"]), majority=True)
    places = np.arange(len(samples.token))
    seen = [bool(allowed(samples, places == place)[place]) for place in places]
    sentences = ["a", "ab", "abb"]
    assert sorted(seen) == sorted(2 * s.count(x) >= len(s) for s in sentences for x in set(s))


def test_no_token_may_be_answered_in_a_sentence_with_two_winners() -> None:
    samples = samples_of(numbered("x", ["aab", "cab"]))
    found = allowed(samples, np.ones(len(samples.token), dtype=np.bool_))
    ends = zip(samples.start[:-1].tolist(), samples.start[1:].tolist(), strict=True)
    assert sorted(found[i:j].tolist() for i, j in ends) == [[False, False], [True], [True], [True]]


def test_samples_of_a_large_vocabulary_are_told_apart() -> None:
    """V^2 is beyond 32 bits."""
    V = 65_537
    token = np.array([V - 1, 0, 0, V - 1], dtype=np.int32)
    found = samples_of(Text("many", tuple(f"w{i}" for i in range(V)), token, np.array([0, 2, 4])))
    assert sorted((found.tokens_of(s), int(found.next[s])) for s in range(len(found))) == [([0], V - 1), ([V - 1], 0)]
