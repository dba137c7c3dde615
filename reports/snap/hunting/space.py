"""Search space and reductions of hunts for the claims of arXiv 2305.16380.

Reductions: fewer classes, tokens and queries, smaller M, simpler numbers.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from marginaudit.claims.paper import Space
from marginaudit.claims.snap.config import ClassConfig
from marginaudit.orders.reading import Token
from marginaudit.orders.snap import FAIL_WITH, SequenceClass, SequenceClasses
from marginaudit.orders.snap.classes import normalized
from marginaudit.reports.snap.hunting.smallest import NAMES, smallest_classes

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


DIGITS = (1, 2, 3)
"""Numbers of decimals in rounded probabilities."""


def size(dataset: SequenceClasses) -> tuple[int, ...]:
    """Sort key: classes, digits of M, contextual tokens, those of each class, queries, M, frequencies, digits."""
    return (
        dataset.K,
        len(str(dataset.M)),
        len(dataset.contextual),
        sum(len(c.support) for c in dataset.classes),
        len(dataset.queries),
        dataset.M,
        len(set(dataset.weights or (1.0,))),
        sum(len(repr(p)) for c in dataset.classes for p in c.probabilities.values()),
    )


def smaller(dataset: SequenceClasses) -> Iterator[SequenceClasses]:
    """Datasets after one reduction, largest reductions first."""
    return (found for found in _reduced(dataset) if size(found) < size(dataset))


def _reduced(dataset: SequenceClasses) -> Iterator[SequenceClasses]:
    classes = dataset.classes
    for n in range(dataset.K if dataset.K > 1 else 0):
        weights = dataset.weights and dataset.weights[:n] + dataset.weights[n + 1 :]
        yield replace(dataset, classes=classes[:n] + classes[n + 1 :], weights=weights)
    for token in dataset.contextual:
        if all(c.support != (token,) for c in classes):
            yield replace(dataset, classes=tuple(_without(c, token) for c in classes))
    for n, c in enumerate(classes):
        for token in c.support if len(c.support) > 1 else ():
            yield _with(dataset, n, _without(c, token).probabilities)
    yield replace(dataset, classes=tuple(replace(c, query=classes[0].query) for c in classes))
    yield from _smaller_vocabularies(dataset)
    yield replace(dataset, weights=None)
    yield from _plainer(dataset)


def _smaller_vocabularies(dataset: SequenceClasses) -> Iterator[SequenceClasses]:
    """Smaller M: without unnamed tokens, without half of them, ..; without any unnamed tokens, shared names."""
    spare = dataset.M - len(dataset.tokens)
    while spare:
        yield replace(dataset, M=dataset.M - spare)
        spare //= 2
    if not dataset.M - len(dataset.tokens):
        few = _few_names(dataset)
        yield replace(few, M=len(few.tokens))


def _few_names(dataset: SequenceClasses) -> SequenceClasses:
    """Share names between contextual tokens, queries and next tokens, as far as possible."""
    if max(dataset.K, len(dataset.contextual)) > len(NAMES):
        return dataset
    contextual, queries, following = (
        dict(zip(tokens, NAMES, strict=False)) for tokens in (dataset.contextual, dataset.queries, dataset.next_tokens)
    )
    classes = [
        SequenceClass(
            following[c.next], queries[c.query], {contextual[token]: c.probabilities[token] for token in c.support}
        )
        for c in dataset.classes
    ]
    return replace(dataset, classes=tuple(classes))


def _plainer(dataset: SequenceClasses) -> Iterator[SequenceClasses]:
    """Simpler probabilities: uniform in all classes, uniform in one, copied from another class, fewer digits."""
    equal = [dict.fromkeys(c.support, 1.0) for c in dataset.classes]
    yield replace(dataset, classes=tuple(_weighted(c, w) for c, w in zip(dataset.classes, equal, strict=True)))
    for n, weights in enumerate(equal):
        yield _with(dataset, n, weights)
    for digits in DIGITS:
        rounded = [_rounded(c, digits) for c in dataset.classes]
        yield replace(dataset, classes=tuple(_weighted(c, w) for c, w in zip(dataset.classes, rounded, strict=True)))
        for n, weights in enumerate(rounded):
            yield _with(dataset, n, weights)


def _rounded(c: SequenceClass, digits: int) -> dict[Token, float]:
    """Probabilities rounded to ``digits`` decimals, all positive; the largest absorbs the rounding."""
    _, *others = sorted(c.support, key=lambda token: -c.probabilities[token])
    found = {token: max(round(c.probabilities[token], digits), 10.0**-digits) for token in others}
    left = round(1 - sum(found.values()), digits)
    return {token: found.get(token, left) for token in c.support} if left > 0 else dict(c.probabilities)


def _without(c: SequenceClass, token: Token) -> SequenceClass:
    return _weighted(c, {other: p for other, p in c.probabilities.items() if other != token and p > 0})


def _with(dataset: SequenceClasses, n: int, weights: Mapping[Token, float]) -> SequenceClasses:
    """Replace the weights of class n's tokens."""
    classes = dataset.classes
    return replace(dataset, classes=(*classes[:n], _weighted(classes[n], weights), *classes[n + 1 :]))


def _weighted(c: SequenceClass, weights: Mapping[Token, float]) -> SequenceClass:
    return replace(c, probabilities=normalized(weights))


NOT_ENUMERATED = {"uniform_classes", "single_query"}
"""Assumptions met by all enumerated classes."""

RATES = (0.5, 0.01, 100.0)
"""Step sizes of Y in trials: the default, a small one and one beyond O(1).

Runs reach the farthest step, and so include all earlier ones. Z is slower.
"""

CONFIGS = [
    ClassConfig(),
    *(
        ClassConfig(lr_y=rate, lr_z=min(ClassConfig().eta_Z, rate / 10))
        for rate in RATES
        if rate != ClassConfig().eta_Y
    ),
]

RUNS = dict.fromkeys((False, True), tuple((config, config) for config in CONFIGS))


class ClassSpace(Space):
    """Datasets of sequence classes, smallest first."""

    measures = ("K", "M")
    implies = FAIL_WITH
    runs = RUNS
    smallest = staticmethod(smallest_classes)
    reductions = staticmethod(smaller)
    size = staticmethod(size)

    def enumerated(self, required: Collection[str], without: str | None) -> bool:
        """Whether the enumeration contains suitable datasets."""
        return without not in NOT_ENUMERATED

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[SequenceClasses]":
        """Strategy for random datasets; imports hypothesis on demand."""
        from marginaudit.reports.snap.hunting.strategies import classes

        return classes(broken, required)


SPACE = ClassSpace()
