"""Making a counterexample smaller: fewer tokens, fewer samples, shorter sentences, smaller counts.

Also a sample less and a token more in another one, as fewer samples count for more than shorter ones.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from marginaudit.orders.ntp import Dataset, Sample


def size(dataset: Dataset) -> tuple[int, int, int, int]:
    """What counts as smaller: tokens of the vocabulary, samples, tokens of the samples, multiplicities."""
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
            if count > 1:
                yield replace(dataset, counts=(*dataset.counts[:i], 1, *dataset.counts[i + 1 :]))
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
