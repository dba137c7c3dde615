"""Hypothesis strategies for datasets: small vocabularies, short sentences and small counts first."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from marginaudit.orders.ntp import Dataset, Sample, Token
from marginaudit.reports.ntp.hunting.smallest import NAMES

LONGEST = 6
MOST_SAMPLES = 8
MOST_SENTENCES = 5
MOST_CHAINED = 4
LARGEST_COUNT = 5
LARGEST_POWER = 15
"""Largest power of ten of a count; the total stays below 2^53, exact in float64."""


def datasets(broken: Collection[str] = (), *, prefix_closed: bool = False) -> st.SearchStrategy[Dataset]:
    """Datasets that tend to meet Assumptions 1-3, except those named in ``broken``, which tend to fail.

    Parameters
    ----------
    broken : names of the assumptions to break
    prefix_closed : whether every prefix of a sample must be a sample
    """
    orders_fail = not {"well_defined_orders", "no_confused_tokens", "next_from_sentence"}.isdisjoint(broken)
    closed, free = (any_sentences, any_samples) if orders_fail else (sentences, ordered_samples)
    drawn = closed(broken) if prefix_closed else free(broken) | closed(broken)
    if "collocation" in broken:
        # an extra token without a next token
        drawn = drawn.map(lambda dataset: replace(dataset, vocabulary=(*dataset.vocabulary, "z")))
    if "orthonormal" in broken:
        drawn = drawn.flatmap(_embedded)
    return drawn.flatmap(lambda dataset: st.just(dataset) | _uneven(dataset))


@st.composite
def collocations(draw: st.DrawFn, broken: Collection[str], least: int = 1) -> dict[Token, Token]:
    """n on a vocabulary of ``least`` to eight tokens: a permutation, or no injective function if that is broken.

    One token cannot break injectivity, nor have a next token that is not its own.
    """
    several = not {"injective", "next_from_sentence"}.isdisjoint(broken)
    names = NAMES[: draw(st.integers(max(least, 1 + several), len(NAMES)))]
    if "injective" in broken:
        most = len(names) - 1
        values: Sequence[Token] = draw(st.lists(st.sampled_from(names), min_size=most, max_size=most))
        values = [*values, draw(st.sampled_from(values))]
    else:
        values = draw(st.permutations(names))
    return dict(zip(names, values, strict=True))


@st.composite
def ordered_samples(draw: st.DrawFn, broken: Collection[str]) -> Dataset:
    """Free samples with disjoint classes of winners and losers under each query, so no token is confused."""
    n = draw(collocations(broken))
    counts: Counter[Sample] = Counter()
    classes: dict[Token, tuple[list[Token], list[Token]]] = {}
    for _ in range(draw(st.integers(1, MOST_SAMPLES))):
        query = draw(st.sampled_from(list(n)))
        if query not in classes:
            classes[query] = draw(_classes(query, list(n)))
        winners, losers = classes[query]
        winner = draw(st.sampled_from(winners))
        bag = Counter({winner: draw(st.integers(1, 3)), query: 1})
        for loser in draw(st.lists(st.sampled_from(losers), max_size=LONGEST - 2)) if losers else []:
            if bag[loser] < bag[winner] or "optimal_majority" in broken:
                bag[loser] += 1
        bag[query] -= 1
        sentence = (*sorted(bag.elements()), query)
        counts[Sample(sentence, n[winner])] += draw(st.integers(1, LARGEST_COUNT))
    return Dataset("hunted", tuple(n), tuple(counts), tuple(counts.values()), next_token=n)


@st.composite
def _classes(draw: st.DrawFn, query: Token, names: list[Token]) -> tuple[list[Token], list[Token]]:
    """Winners and losers under a query; the query itself, a token of its samples, is in one of the classes."""
    others = [x for x in names if x != query]
    if not others or draw(st.booleans()):
        return [query], others
    first = draw(st.integers(1, len(others)))
    shuffled = draw(st.permutations(others))
    return list(shuffled[:first]), [query, *shuffled[first:]]


@st.composite
def sentences(draw: st.DrawFn, broken: Collection[str]) -> Dataset:
    """Prefix-closed data: each sentence is extended by n of an optimal token under its query."""
    n = draw(collocations(broken))
    optimum: dict[Token, Token] = {}
    grown = []
    for start in draw(st.lists(st.sampled_from(list(n)), min_size=1, max_size=MOST_SENTENCES, unique=True)):
        sentence = [start, n[start]]
        for _ in range(draw(st.integers(0, LONGEST - 2))):
            bag = Counter(sentence)
            query = sentence[-1]
            candidates = [x for x, times in bag.items() if times == max(bag.values())]
            if "optimal_majority" in broken:
                candidates = list(bag)
            if query not in optimum:
                optimum[query] = draw(st.sampled_from(candidates))
            if optimum[query] not in candidates:
                break
            sentence.append(n[optimum[query]])
        grown.append(tuple(sentence))
    repeated = [s for s in grown for _ in range(draw(st.integers(1, LARGEST_COUNT)))]
    return replace(Dataset.from_sentences("hunted", repeated, vocabulary=tuple(n)), next_token=n)


@st.composite
def any_samples(draw: st.DrawFn, broken: Collection[str]) -> Dataset:
    """Free samples of any structure, with a chain or cycle under one query if the orders may fail."""
    closed = "well_defined_orders" in broken
    chained = closed or "no_confused_tokens" in broken
    n = draw(collocations(broken, least=(2 if closed else 3) if chained else 1))
    counts: Counter[Sample] = Counter(draw(_chains(n, closed=closed)) if chained else ())
    for _ in range(draw(st.integers(1, MOST_SAMPLES))):
        sentence = tuple(draw(st.lists(st.sampled_from(list(n)), min_size=2, max_size=LONGEST)))
        counts[Sample(sentence, draw(_next_token(n, sentence, broken)))] += draw(st.integers(1, LARGEST_COUNT))
    return Dataset("hunted", tuple(n), tuple(counts), tuple(counts.values()), next_token=n)


def _next_token(n: dict[Token, Token], sentence: Sequence[Token], broken: Collection[str]) -> st.SearchStrategy[Token]:
    """n of a token in the majority, of any token if that may fail; or n of no token of the sentence if that may."""
    bag = Counter(sentence)
    common = 1 if "optimal_majority" in broken else max(bag.values())
    answers = [n[x] for x, times in bag.items() if times >= common]
    if "next_from_sentence" not in broken:
        return st.sampled_from(answers)
    known = {n[x] for x in bag}
    others = [x for x in n if x not in known]
    return st.sampled_from(others) | st.sampled_from(answers) if others else st.sampled_from(answers)


@st.composite
def _chains(draw: st.DrawFn, n: dict[Token, Token], *, closed: bool) -> list[Sample]:
    """Samples under one query in which each token beats the next, and the last one the first if closed, or the query.

    Of a cycle, the query may be a token.
    """
    query = draw(st.sampled_from(list(n)))
    among = [x for x in n if closed or x != query]
    tokens = draw(st.lists(st.sampled_from(among), min_size=2, max_size=MOST_CHAINED, unique=True))
    after = [*tokens[1:], tokens[0] if closed else query]
    pairs = zip(tokens, after, strict=True)
    return [Sample((*(x for x in pair if x != query), query), n[pair[0]]) for pair in pairs]


@st.composite
def any_sentences(draw: st.DrawFn, broken: Collection[str]) -> Dataset:
    """Prefix-closed data of any structure.

    If the orders may fail, two sentences go on from the same two tokens by n of the one and of the other, a cycle.
    """
    n = draw(collocations(broken))
    starts = draw(st.lists(st.sampled_from(list(n)), min_size=1, max_size=MOST_SENTENCES))
    begun = [[start, n[start]] for start in starts]
    both = [x for x in n if n[n[x]] != n[x]]
    if "well_defined_orders" in broken and both:
        first = draw(st.sampled_from(both))
        second = n[first]
        begun += [[first, second, n[first]], [first, second, n[second]]]
    grown = []
    for sentence in begun:
        for _ in range(draw(st.integers(0, LONGEST - len(sentence)))):
            sentence.append(draw(_next_token(n, sentence, broken)))
        grown.append(tuple(sentence))
    return replace(Dataset.from_sentences("hunted", grown, vocabulary=tuple(n)), next_token=n)


def _uneven(dataset: Dataset) -> st.SearchStrategy[Dataset]:
    """The dataset with powers of ten as multiplicities."""
    powers = st.lists(st.integers(0, LARGEST_POWER), min_size=dataset.N, max_size=dataset.N)
    return powers.map(lambda found: replace(dataset, counts=tuple(10**power for power in found)))


def _embedded(dataset: Dataset) -> st.SearchStrategy[Dataset]:
    """The dataset with small integer embeddings."""
    entry = st.integers(-2, 2)

    def matrices(dimension: int) -> st.SearchStrategy[list[list[int]]]:
        row = st.lists(entry, min_size=dimension, max_size=dimension)
        return st.lists(row, min_size=dataset.V, max_size=dataset.V)

    def with_rows(rows: list[list[int]]) -> Dataset:
        return replace(dataset, embedding=np.array(rows, dtype=float))

    return st.integers(1, dataset.V + 1).flatmap(matrices).map(with_rows)
