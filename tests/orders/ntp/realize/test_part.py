"""The largest realizable part against all subsets of samples and all injective maps, by plain loops."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from marginaudit.orders.ntp import Dataset, Sample, check_assumptions, dataset_from_document
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_3
from marginaudit.orders.ntp.realize import (
    Part,
    document_of,
    largest_part,
    numbered,
    part,
    samples_of,
    samples_of_dataset,
    survey,
)
from marginaudit.orders.ntp.realize.program import SCALE, program, proved_bound, relaxed
from marginaudit.orders.ntp.realize.samples import Samples
from marginaudit.orders.ntp.realize.winners import ascend, kept
from tests.orders.ntp.realize.texts import LINES, SMALL
from tests.strategies import free_datasets, realizable_datasets

MAJORITY = st.booleans()
SETTLED, GAP = ["cab", "baa"], ["cbbab", "caaba"]
"""Texts whose linear relaxation shows the largest part, and only bounds it."""


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


def found_without(limit: str, samples: Samples) -> Part:
    """The part that is found where a limit leaves nothing below it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part, limit, -1)
        return largest_part(samples)


@given(LINES, MAJORITY)
def test_without_the_program_the_exact_number_lies_between(lines: list[str], majority: bool) -> None:
    samples = samples_of(numbered("x", lines), majority=majority)
    found = found_without("RELAXED", samples)
    assert 0 < found.lower <= largest(lines, majority=majority)[0] <= found.upper
    assert found.method.endswith("; bound by matching")


@given(LINES, MAJORITY)
@example(SMALL, False)
def test_without_branch_and_bound_the_bound_is_the_relaxation_s(lines: list[str], majority: bool) -> None:
    samples = samples_of(numbered("x", lines), majority=majority)
    found = found_without("EXACT", samples)
    most = relaxed(program(samples))[1]
    assert found.lower <= largest(lines, majority=majority)[0] <= found.upper == min(found.fits, most)
    assert found.method.endswith("; bound by linear relaxation" if most < found.fits else "; bound by matching")


def test_each_way_to_a_larger_part_is_gone_no_farther_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    gap, settled, easy = (samples_of(numbered("x", lines)) for lines in (GAP, SETTLED, ["abb"]))

    def said(samples: Samples) -> tuple[int, int, str]:
        found = largest_part(samples)
        return found.lower, found.upper, found.method

    monkeypatch.setattr(part, "EXACT", len(gap.token))
    assert said(gap) == (5, 5, "exact; bound by branch and bound")
    monkeypatch.setattr(part, "solved", lambda *_: (None, 7))
    assert said(gap) == (4, 6, "alternating maximisation; bound by matching")
    monkeypatch.setattr(part, "solved", lambda *_: (None, 5))
    assert said(gap) == (4, 5, "alternating maximisation; bound by branch and bound")
    monkeypatch.setattr(part, "EXACT", len(gap.token) - 1)
    assert said(gap) == (4, 6, "alternating maximisation; bound by matching")
    monkeypatch.setattr(part, "solved", None)
    monkeypatch.setattr(part, "EXACT", 100)
    monkeypatch.setattr(part, "RELAXED", len(settled.token))
    assert said(settled) == (3, 3, "exact; bound by matching")
    monkeypatch.setattr(part, "RELAXED", len(settled.token) - 1)
    assert said(settled) == (2, 3, "alternating maximisation; bound by matching")
    monkeypatch.setattr(part, "program", None)
    monkeypatch.setattr(part, "RELAXED", 100)
    assert said(easy) == (2, 2, "exact; bound by matching")


def test_n_and_winners_are_improved_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "RELAXED", -1)
    lines = ["cb", "daabc"]  # 3 after the first turn
    assert largest_part(samples_of(numbered("x", lines))).lower == largest(lines, majority=False)[0] == 4


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


@given(realizable_datasets())
def test_all_of_what_is_realizable(data: Dataset) -> None:
    found = survey(samples_of_dataset(data))
    assert found.part.lower == found.part.upper == found.samples == found.fits == sum(data.counts)
    assert (found.confused, found.queries, found.well_ordered) == (0, found.unconfused, found.queries)
    assert found.queries == len(data.orders)


@given(LINES, st.lists(st.integers(0, 3), min_size=60, max_size=60))
def test_any_multipliers_bound_the_optimum(lines: list[str], multipliers: list[int]) -> None:
    written = program(samples_of(numbered("x", lines)))
    best = largest(lines, majority=False)[0]
    some = np.resize(np.array(multipliers), len(written.b)) * (SCALE // 3 + 1)
    assert proved_bound(written, some) >= best
    assert proved_bound(written, 0 * some) == written.weight.sum()
    values, bound = relaxed(written)
    assert best <= bound <= written.weight @ values + 1e-6
    assert np.max(written.A @ values - written.b) < 1e-6


@given(LINES, st.integers(0, 2**32))
def test_winners_only_get_better(lines: list[str], seed: int) -> None:
    samples = samples_of(numbered("x", lines))
    random = np.random.default_rng(seed)
    V = samples.vocabulary_size
    source = random.permutation(V)
    win = random.random((V, V)) < 0.4
    winner = win[np.repeat(samples.query, samples.size), samples.token]
    query = samples.token == np.repeat(samples.query, samples.size)
    better = ascend(samples, source, winner)
    ends = [samples.count[kept(samples, source, by)].sum() for by in (better, winner, query, np.zeros_like(winner))]
    assert ends[0] == max(ends)
    for block in range(len(samples.query_start) - 1):
        here = slice(samples.start[samples.query_start[block]], samples.start[samples.query_start[block + 1]])
        assert all(len(set(better[here][samples.token[here] == x])) <= 1 for x in range(V))


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
