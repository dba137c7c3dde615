"""Where hunts look for counterexamples to the claims of arXiv 2409.17335, and how they make one smaller.

Fewer tokens, fewer samples, shorter sentences, smaller counts; also a sample less and a token more in another one, as
fewer samples count for more than shorter ones.
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
    """Tokens of the vocabulary, samples, tokens of the samples, multiplicities, compared in this order."""
    return dataset.V, dataset.N, sum(len(s.tokens) for s in dataset.samples), sum(dataset.counts)


def smaller(dataset: Dataset) -> Iterator[Dataset]:
    """Datasets one reduction smaller, the largest reductions first."""
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
    """Each of the samples in turn with one token more."""
    for sample in counts:
        for token in dataset.vocabulary:
            grown = Counter({s: c for s, c in counts.items() if s != sample})
            grown[Sample((token, *sample.tokens), sample.next)] += counts[sample]
            yield from _rebuilt(dataset, dict(grown))


def _without_token(dataset: Dataset, token: str, counts: dict[Sample, int]) -> Iterator[Dataset]:
    """The token taken out of the vocabulary with every sample it is in; n leads past it."""
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
"""Assumptions that fail whenever the named one does."""

NOT_ENUMERATED = {"collocation", "injective", "next_from_sentence", "orthonormal"}
"""Assumptions that all of the smallest datasets meet."""

SHORT = Config(steps1=150, steps2=150, at=log_spaced(150))
"""Run on which a claim about training is tried."""

LATE = Config(steps1=150, steps2=10_000, lr2=0.1, at=log_spaced(10_000))
"""Run on which a claim about late steps is tried."""

LONG_STEP = 10.0
"""A step of stage 2 that is longer than ||W*_kq||/e, and so than 1/(4 ||W*_kq||), on small data."""

LONGEST_STEPS = Config(steps1=2, steps2=2, lr1=1e6, lr2=1e8, certify=2)
"""Steps so long that each threshold of c/eta lies before t = 2 on small data; float64 loses them, balls do not."""

FEW, MANY = (replace(SHORT, steps2=steps2, lr2=LONG_STEP) for steps2 in (20, 150))
"""Runs of long steps, which soon show what becomes of them; a cycle shows in many alone."""

STAGE_1 = Config(steps1=150, steps2=0)
"""Stage 1 alone, which is continued to far steps by its closed form, as statements that hide a constant need."""

RUNS = {
    False: [
        (SHORT, Config()),
        (STAGE_1, Config()),
        (FEW, Config(lr2=LONG_STEP)),
        (LONGEST_STEPS, LONGEST_STEPS),
    ],
    True: [(LATE, Config()), (MANY, Config(lr2=LONG_STEP))],
}
"""A find is confirmed by an audit's default run, or by one of longer steps, of which statements on any step speak."""


class SentenceSpace(Space):
    """Sentences, those of the smallest sizes first."""

    measures = ("V", "N", "L_max")
    implies = IMPLIES
    runs = RUNS
    smallest = staticmethod(smallest_datasets)
    reductions = staticmethod(smaller)
    size = staticmethod(size)

    def enumerated(self, required: Collection[str], without: str | None) -> bool:
        """Whether some of the smallest are of the kind that is looked for."""
        return "prefix_closed" not in required and without not in NOT_ENUMERATED

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[Dataset]":
        """Random datasets; hypothesis is imported when they are first drawn."""
        from marginaudit.reports.ntp.hunting.strategies import datasets

        return datasets(broken, prefix_closed="prefix_closed" in required)

    def proof(self, dataset: Dataset) -> dict[str, Any] | None:
        """The exact solutions, for `marginaudit verify`; None where there are none."""
        try:
            return certificate_document(dataset, ov=solve_ov(dataset), kq=solve_kq(dataset))
        except (CollocationError, NotExact):
            return None


SPACE = SentenceSpace()
