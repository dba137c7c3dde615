"""Search space and reductions of hunts for the claims of arXiv 2409.17335.

Reductions: fewer tokens, fewer samples, shorter sentences, smaller counts; also one sample less with one token more in
another, because fewer samples outweigh shorter ones.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marginaudit.claims.ntp.config import Config
from marginaudit.claims.paper import Space
from marginaudit.margins import NotExact
from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
from marginaudit.orders.ntp import CollocationError, Dataset, Sample
from marginaudit.reports.ntp.hunting.smallest import smallest_datasets
from marginaudit.training import log_spaced

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def size(dataset: Dataset) -> tuple[int, int, int, int]:
    """Sort key: size of the vocabulary, samples, tokens of the samples, multiplicities."""
    return dataset.V, dataset.N, sum(len(s.tokens) for s in dataset.samples), sum(dataset.counts)


def smaller(dataset: Dataset) -> Iterator[Dataset]:
    """Datasets after one reduction, largest reductions first."""
    counts = dict(zip(dataset.samples, dataset.counts, strict=True))
    for token in dataset.vocabulary:
        yield from _without_token(dataset, token, counts)
    for sample in dataset.samples:
        yield from _rebuilt(dataset, {s: c for s, c in counts.items() if s != sample})
    for sample in dataset.samples:
        for i in range(len(sample.tokens) - 1):
            shorter = Sample(sample.tokens[:i] + sample.tokens[i + 1 :], sample.next)
            if len(shorter.tokens) == 1 and dataset.next_token.get(shorter.query, shorter.next) != shorter.next:
                continue
            merged = Counter({s: c for s, c in counts.items() if s != sample})
            merged[shorter] += counts[sample]
            yield from _rebuilt(dataset, dict(merged))
    if any(count > 1 for count in dataset.counts):
        yield replace(dataset, counts=(1,) * dataset.N)
        for i, count in enumerate(dataset.counts):
            for fewer in dict.fromkeys((1, count // 10)):
                if 0 < fewer < count:
                    yield replace(dataset, counts=(*dataset.counts[:i], fewer, *dataset.counts[i + 1 :]))
    for removed in dataset.samples:
        yield from _grown_instead(dataset, {s: c for s, c in counts.items() if s != removed})


def _grown_instead(dataset: Dataset, counts: dict[Sample, int]) -> Iterator[Dataset]:
    """Datasets with one token more in one of the samples."""
    for sample in counts:
        for token in dataset.vocabulary:
            grown = Counter({s: c for s, c in counts.items() if s != sample})
            grown[Sample((token, *sample.tokens), sample.next)] += counts[sample]
            yield from _rebuilt(dataset, dict(grown))


def _without_token(dataset: Dataset, token: str, counts: dict[Sample, int]) -> Iterator[Dataset]:
    """Dataset without a token and its samples; n is redirected past the token."""
    n = dict(dataset.next_token)
    after = n.pop(token, None)
    if after == token:
        after = None
    n = {x: after if y == token and after is not None else y for x, y in n.items()}
    if any(y == token for y in n.values()):
        return
    kept = Counter[Sample]()
    for sample, count in counts.items():
        if token not in sample.tokens and (sample.next != token or after is not None):
            following = after if sample.next == token and after is not None else sample.next
            kept[Sample(sample.tokens, following)] += count
    vocabulary = tuple(x for x in dataset.vocabulary if x != token)
    rows = [i for i, x in enumerate(dataset.vocabulary) if x != token]
    embedding = None if dataset.embedding is None else dataset.embedding[rows]
    if vocabulary:
        smaller = replace(dataset, vocabulary=vocabulary, next_token=n, embedding=embedding)
        yield from _rebuilt(smaller, kept)


def _rebuilt(dataset: Dataset, counts: dict[Sample, int]) -> Iterator[Dataset]:
    if counts:
        yield replace(dataset, samples=tuple(counts), counts=tuple(counts.values()))


IMPLIES = {
    "well_defined_orders": frozenset({"no_confused_tokens"}),
    "next_from_sentence": frozenset({"optimal_majority"}),
}
"""Assumptions that fail together with the key."""

NOT_ENUMERATED = {"collocation", "injective", "next_from_sentence", "orthonormal"}
"""Assumptions met by all enumerated datasets."""

SHORT = Config(steps1=150, steps2=150, at=log_spaced(150))
"""Config for claims about training."""

LATE = Config(steps1=150, steps2=10_000, lr2=0.1, at=log_spaced(10_000))
"""Config for claims about late steps."""

LONG_STEP = 10.0
"""Step size of stage 2 above ||W*_kq||/e, and so above 1/(4 ||W*_kq||), on small data."""

LONGEST_STEPS = Config(steps1=2, steps2=2, lr1=1e6, lr2=1e8, certify=2)
"""Steps so long that every threshold c/eta lies before t = 2 on small data; needs ball arithmetic."""

FEW, MANY = (replace(SHORT, steps2=steps2, lr2=LONG_STEP) for steps2 in (20, 150))
"""Runs with long steps; cycles need many of them."""

STAGE_1 = Config(steps1=150, steps2=0)
"""Stage 1 only, whose closed form reaches far steps, for statements with a hidden constant."""

RUNS = {
    False: [
        (SHORT, Config()),
        (STAGE_1, Config()),
        (FEW, Config(lr2=LONG_STEP)),
        (LONGEST_STEPS, LONGEST_STEPS),
    ],
    True: [(LATE, Config()), (MANY, Config(lr2=LONG_STEP))],
}
"""Pairs of trial and confirming config by lateness: confirmation is by the default run or by one with long steps."""


class SentenceSpace(Space):
    """Datasets of sentences, smallest first."""

    measures = ("V", "N", "L_max")
    implies = IMPLIES
    runs = RUNS
    smallest = staticmethod(smallest_datasets)
    reductions = staticmethod(smaller)
    size = staticmethod(size)

    def enumerated(self, required: Collection[str], without: str | None) -> bool:
        """Whether the enumeration contains suitable datasets."""
        return "prefix_closed" not in required and without not in NOT_ENUMERATED

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[Dataset]":
        """Strategy for random datasets; imports hypothesis on demand."""
        from marginaudit.reports.ntp.hunting.strategies import datasets

        return datasets(broken, prefix_closed="prefix_closed" in required)

    def proof(self, dataset: Dataset) -> dict[str, Any] | None:
        """Certificate of the exact solutions for `marginaudit verify`, or None without exact solutions."""
        try:
            return certificate_document(dataset, ov=solve_ov(dataset), kq=solve_kq(dataset))
        except (CollocationError, NotExact):
            return None


SPACE = SentenceSpace()
