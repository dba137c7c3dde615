"""Seeded generators of realizable datasets, and of datasets that break exactly one assumption.

Both kinds satisfy Assumptions 1-3 by construction: `prefix_closed_dataset` draws sentences that the
collocation and one optimal token per query generate, `free_dataset` draws samples whose prefixes are
no samples. `broken` adds a few fresh tokens on which one named assumption fails.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TypeAlias

import numpy as np

from marginaudit.orders.ntp.dataset import Dataset, Sample, prefix_samples
from marginaudit.orders.reading import Token

ATTEMPTS = 1000
"""How often a generator starts again, or draws again, before it says that the request is impossible."""

Range: TypeAlias = tuple[int, int]


def token_names(size: int) -> tuple[Token, ...]:
    """Names x1 .. xV.

    >>> token_names(3)
    ('x1', 'x2', 'x3')
    """
    return tuple(f"x{i}" for i in range(1, size + 1))


def prefix_closed_dataset(
    *,
    V: int,
    N: int,
    L: int,
    seed: int,
    max_count: int = 1,
    name: str = "prefix-closed",
) -> Dataset:
    """Random sentences with all their prefixes as samples; Assumptions 1-3 hold.

    Source: arXiv 2409.17335, section 4.1: [x] is answered n(x), a longer sentence n(o) for its optimal
    token o. Under prefix closure each query has one optimal token (`sharp.single-optimum`), drawn when a
    sentence first needs it, so tokens per class are an outcome here and not a choice.

    Parameters
    ----------
    V : int
        Vocabulary size.
    N : int
        Number of distinct samples, at least V + L - 1 (each [x] is one, and the prefixes of the longest).
    L : int
        Length of the longest sample, reached by at least one.
    seed : int
    max_count : int
        Sentences are repeated 1 .. max_count times.
    name : str

    Raises
    ------
    ValueError
        No dataset of that size was found.
    """
    rng = np.random.default_rng(seed)
    names = token_names(V)
    for _ in range(ATTEMPTS):
        sentences = _grow(names, N, L, rng)
        if sentences:
            repeats = rng.integers(1, max_count, size=len(sentences), endpoint=True)
            repeated = [s for s, times in zip(sentences, repeats, strict=True) for _ in range(times)]
            return Dataset.from_sentences(name, repeated, vocabulary=names)
    raise ValueError(f"no prefix-closed dataset with V={V}, N={N}, L={L} found in {ATTEMPTS} attempts")


def _grow(names: tuple[Token, ...], N: int, L: int, rng: "np.random.Generator") -> list[tuple[Token, ...]] | None:
    n = dict(zip(names, rng.permutation(names).tolist(), strict=True))
    optimum: dict[Token, Token] = {}
    sentences: list[tuple[Token, ...]] = [(x, n[x]) for x in names]
    growing = list(range(len(sentences)))
    missing, longest = N - len(sentences), 2
    while missing > 0 and growing:
        at = int(rng.integers(len(growing)))
        if missing <= L + 1 - longest:  # just enough to bring the longest sentence to its length
            at = max(range(len(growing)), key=lambda i: len(sentences[growing[i]]))
        sentence = sentences[growing[at]]
        chosen = _optimal_token(sentence, optimum, rng) if len(sentence) <= L else None
        if chosen is None:
            growing.pop(at)
            continue
        if len(set(sentence)) > 1:
            optimum[sentence[-1]] = chosen
        sentences[growing[at]] = (*sentence, n[chosen])
        missing, longest = missing - 1, max(longest, len(sentences[growing[at]]))
    return sentences if missing == 0 and longest == L + 1 else None


def _optimal_token(
    sentence: tuple[Token, ...], optimum: Mapping[Token, Token], rng: "np.random.Generator"
) -> Token | None:
    """A token in the majority whose next token may continue the sentence, or None."""
    bag = Counter(sentence)
    most = max(bag.values())
    if len(bag) == 1:
        return sentence[0]
    fixed = optimum.get(sentence[-1])
    if fixed is not None:
        return fixed if bag[fixed] == most else None
    majority = [x for x, times in bag.items() if times == most]
    return majority[int(rng.integers(len(majority)))]


def free_dataset(
    *,
    V: int,
    N: int,
    L: int,
    seed: int,
    optimal: Range = (1, 3),
    non_optimal: Range = (1, 6),
    max_count: int = 1,
    name: str = "free",
) -> Dataset:
    """Random samples without their prefixes, n given explicitly; Assumptions 1-3 hold.

    Parameters
    ----------
    V, N, L : int
        Vocabulary size (at least 2), number of distinct samples, length of the longest sample (at least 2),
        reached by at least one.
    seed : int
    optimal, non_optimal : (least, most)
        Tokens per class that each query may use, at least 1 and as far as the vocabulary goes. A query
        is a token of all its own samples, so it is either a non-optimal token or the query's one optimal
        token.
    max_count : int
        Multiplicities are drawn from 1 .. max_count.
    name : str

    Raises
    ------
    ValueError
        V, L or a range is too small, or N distinct samples were not found.
    """
    if min(V, L) < 2 or min(*optimal, *non_optimal) < 1:
        raise ValueError(f"no free samples with V={V}, L={L}, optimal={optimal}, non_optimal={non_optimal}")
    rng = np.random.default_rng(seed)
    names = token_names(V)
    n = dict(zip(names, rng.permutation(names).tolist(), strict=True))
    classes = {q: _draw_classes(q, names, optimal, non_optimal, rng) for q in names}
    counts: dict[Sample, int] = {}
    longest = repeats = 0
    while len(counts) < N and repeats < ATTEMPTS:
        query = names[int(rng.integers(V))]
        winners, losers = classes[query]
        winner = winners[int(rng.integers(len(winners)))]
        shortest = 2 if len(counts) < N - 1 or longest == L else L
        sentence = _draw_sentence(query, winner, losers, shortest, L, rng)
        sample, count = Sample(sentence, n[winner]), int(rng.integers(1, max_count, endpoint=True))
        repeats = repeats + 1 if sample in counts else 0
        counts.setdefault(sample, count)
        longest = max(longest, len(sentence))
    if len(counts) < N:
        raise ValueError(f"no {N} distinct free samples with V={V}, L={L} found")
    return Dataset(name, names, tuple(counts), tuple(counts.values()), next_token=n)


def _draw_classes(
    query: Token,
    names: tuple[Token, ...],
    optimal: Range,
    non_optimal: Range,
    rng: "np.random.Generator",
) -> tuple[list[Token], list[Token]]:
    others = [x for x in rng.permutation(names).tolist() if x != query]
    k = int(rng.integers(*optimal, endpoint=True))
    m = int(rng.integers(*non_optimal, endpoint=True))
    if k == 1 and rng.integers(2):
        return [query], others[:m]
    return others[:k], [query, *others[k : k + m - 1]]


def _draw_sentence(
    query: Token,
    winner: Token,
    losers: list[Token],
    shortest: int,
    longest: int,
    rng: "np.random.Generator",
) -> tuple[Token, ...]:
    """The winner at least as often as each loser, and the query last."""
    length = int(rng.integers(shortest, longest, endpoint=True))
    bag = Counter({winner: 1, query: 1})
    while bag.total() < length:
        allowed = [winner, *(x for x in losers if bag[x] < bag[winner])]
        bag[allowed[int(rng.integers(len(allowed)))]] += 1
    bag[query] -= 1
    return (*rng.permutation(list(bag.elements())).tolist(), query)


def broken(dataset: Dataset, assumption: str) -> Dataset:
    """The dataset with a gadget of fresh tokens on which the named assumption fails.

    Exactly that assumption fails, and what it implies: a cycle confuses its tokens, and a sample
    answered by none of its tokens has no optimal majority.

    >>> from marginaudit.orders.ntp import check_assumptions
    >>> whole = free_dataset(V=6, N=12, L=4, seed=0)
    >>> [a for a, found in check_assumptions(broken(whole, "optimal_majority")).items() if not found.holds]
    ['optimal_majority', 'prefix_closed']

    (Free samples are not prefix-closed in the first place.)

    Raises
    ------
    KeyError
        There is no assumption of that name.
    """
    from scipy.linalg import block_diag

    if assumption == "orthonormal":
        rows = dataset.embeddings.copy()
        rows[0] = 0.8 * rows[0] + 0.6 * rows[-1]
        return replace(dataset, embedding=rows)
    sentences = GADGETS[assumption]
    names = (name for i in count(dataset.V + 1) if (name := f"x{i}") not in dataset.index)
    fresh = dict(zip(sorted({*"".join(sentences)}), names, strict=False))
    counts = Counter(dict(zip(dataset.samples, dataset.counts, strict=True)))
    for sentence in sentences:
        counts.update(prefix_samples([fresh[letter] for letter in sentence]))
    if assumption == "prefix_closed":
        counts[Sample((fresh["a"], fresh["c"]), fresh["b"])] += 1
    embedding = dataset.embedding
    return replace(
        dataset,
        vocabulary=(*dataset.vocabulary, *fresh.values()),
        samples=tuple(counts),
        counts=tuple(counts.values()),
        embedding=None if embedding is None else block_diag(embedding, np.eye(len(fresh))),
    )


GADGETS: Mapping[str, tuple[str, ...]] = {
    "collocation": ("a",),
    "injective": ("ac", "bc", "ca"),
    "next_from_sentence": ("aba", "bc", "ca"),
    "well_defined_orders": ("abba", "ba"),
    "no_confused_tokens": ("abcb", "bcc", "ca"),
    "optimal_majority": ("abbb", "ba"),
    "prefix_closed": ("ab", "bc", "ca"),
}
"""Sentences of fresh tokens, a letter each, that break an assumption; `prefix_closed` with the sample [a, c] -> b."""
