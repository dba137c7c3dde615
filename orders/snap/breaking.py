"""Changes of sequence classes that break one assumption, and only those that must fail with it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from marginaudit.orders.reading import Token
from marginaudit.orders.snap.classes import SequenceClass, SequenceClasses
from marginaudit.orders.snap.graph import common_tokens, distinct_tokens

FAIL_WITH: Mapping[str, frozenset[str]] = {
    "wide_vocabulary": frozenset({"spread_overlap"}),
    "overlap_below_one": frozenset({"small_overlap"}),
    "equal_overlaps": frozenset({"symmetric_classes"}),
    "shared_common": frozenset({"single_common"}),
    "distinct_beside_common": frozenset({"single_common", "shared_common"}),
}
"""Assumptions that fail together with one, as the rest imply it.

M is large if overlaps lie between 6/sqrt(M) and 1/K; overlaps below 1/K are below 1; symmetric classes with shared
common tokens have equal overlaps and equal amounts of a single common token; classes without distinct tokens share all
their tokens, and are equal if they share a single one.
"""

TURN = 0.1
"""Angle of the rotation of distinct tokens."""

MOVED = 1e-3
"""Share of probability moved from one token to another."""

Squares = list[dict[Token, float]]
"""Squares of the entries of each class's f_n by token, of sum 1."""


def rescaled(dataset: SequenceClasses, factor: float) -> SequenceClasses:
    """Scale E by a factor: squares of common tokens by the factor, those of distinct tokens to keep norms 1.

    >>> from marginaudit.orders.snap import single_common_dataset
    >>> data = single_common_dataset(K=2, M=5000, seed=0)
    >>> bool(np.allclose(rescaled(data, 0.5).overlap.E, data.overlap.E / 2, atol=1e-15))
    True

    Raises
    ------
    ValueError
        A class has no distinct token, or the factor is too large for its common tokens.
    """
    common, changed = set(common_tokens(dataset)), []
    for own in _squares(dataset):
        taken = math.fsum(square for token, square in own.items() if token in common)
        rest = math.fsum(square for token, square in own.items() if token not in common)
        room = rest + (1 - factor) * taken  # rest may be less than the rounding of 1 - taken
        if room <= 0 or rest == 0:
            raise ValueError(f"no overlap times {factor}: a class has too little on its distinct tokens")
        left = room / rest
        changed.append({token: square * (factor if token in common else left) for token, square in own.items()})
    return _of_squares(dataset, changed)


def broken(dataset: SequenceClasses, assumption: str) -> SequenceClasses:
    """Change the classes so that only this assumption fails, with those of `FAIL_WITH`.

    The parts of Assumption 2 can be broken in any classes that meet it and have distinct tokens; the other assumptions
    in classes that meet all, such as those of `symmetric_dataset` with one common token. If M falls below 1000,
    `large_vocabulary` fails too.

    >>> from marginaudit.orders.snap import check_assumption, weakly_correlated_dataset
    >>> data = broken(weakly_correlated_dataset(K=3, M=5000, seed=0), "small_overlap")
    >>> check_assumption(data, "small_overlap").holds, check_assumption(data, "spread_overlap").holds
    (False, True)

    Raises
    ------
    ValueError
        The assumption is unknown, or the classes do not allow the change.
    """
    if assumption not in CHANGES:
        raise ValueError(f"got {assumption!r}, expected one of {', '.join(CHANGES)}")
    return CHANGES[assumption](dataset)


def _other_frequency(dataset: SequenceClasses) -> SequenceClasses:
    return replace(dataset, weights=(2.0, *(1.0,) * (dataset.K - 1)))


def _narrow_vocabulary(dataset: SequenceClasses) -> SequenceClasses:
    return replace(dataset, M=10 * dataset.K**2 - 1)


def _small_vocabulary(dataset: SequenceClasses) -> SequenceClasses:
    """M = 999, with overlaps in the middle of Assumption 2's range for this M."""
    return _largest_overlap(replace(dataset, M=999), math.sqrt(6 / math.sqrt(999) / dataset.K))


def _largest_overlap(dataset: SequenceClasses, size: float) -> SequenceClasses:
    return rescaled(dataset, size / np.abs(dataset.overlap.eigenvalues).max())


def _smallest_overlap(dataset: SequenceClasses) -> SequenceClasses:
    return rescaled(dataset, 0.9 * 6 / math.sqrt(dataset.M) / np.abs(dataset.overlap.eigenvalues).min())


def _two_common(dataset: SequenceClasses) -> SequenceClasses:
    """Split the common token into two of half the square each."""
    common, *more = common_tokens(dataset)
    if more:
        raise ValueError(f"{len(more) + 1} tokens are common: only a single one can be split")
    split = [own | {common: own[common] / 2, f"{common}'": own[common] / 2} for own in _squares(dataset)]
    return _of_squares(dataset, split)


def _own_common(dataset: SequenceClasses) -> SequenceClasses:
    """K common tokens, one per class and twice as large there as in the others; E is unchanged."""
    common, K, e = set(common_tokens(dataset)), dataset.K, float(dataset.overlap.E[1, 0])
    taken, square = e * (K + 3) / (K + 2), e / (K + 2)
    changed = []
    for n, own in enumerate(_squares(dataset)):
        distinct = {token: found for token, found in own.items() if token not in common}
        left = (1 - taken) / math.fsum(distinct.values())
        shared = {f"c{k + 1}": square * (4 if k == n else 1) for k in range(K)}
        changed.append(shared | {token: found * left for token, found in distinct.items()})
    return _of_squares(dataset, changed)


def _no_distinct(dataset: SequenceClasses) -> SequenceClasses:
    """K tokens, all common, one per class and large there; E is unchanged."""
    K, e = dataset.K, float(dataset.overlap.E[1, 0])
    ratio = (1 + math.sqrt((1 - e) * (1 + (K - 1) * e))) / e
    return _of_squares(dataset, [{f"c{k + 1}": ratio**2 if k == n else 1.0 for k in range(K)} for n in range(K)])


def _even_distinct(dataset: SequenceClasses) -> SequenceClasses:
    changed = []
    for own, distinct in zip(_squares(dataset), _distinct(dataset, 2), strict=True):
        even = math.fsum(own[token] for token in distinct) / len(distinct)
        changed.append(own | dict.fromkeys(distinct, even))
    return _of_squares(dataset, changed)


def _turned_distinct(dataset: SequenceClasses) -> SequenceClasses:
    """Rotate three distinct tokens of the first class about (1, 1, 1); their sum and norm are unchanged."""
    first, *others = _squares(dataset)
    tokens = _distinct(dataset, 3)[0][:3]
    f = np.sqrt([first[token] for token in tokens])
    apart = f - f.mean()
    turned = f.mean() + math.cos(TURN) * apart + math.sin(TURN) * np.cross(np.full(3, 1 / math.sqrt(3)), apart)
    return _of_squares(dataset, [first | dict(zip(tokens, (turned**2).tolist(), strict=True)), *others])


def _moved_distinct(dataset: SequenceClasses) -> SequenceClasses:
    """Move probability between two distinct tokens of the first class; the norm of its probabilities changes."""
    first, *others = dataset.classes
    to, source = _distinct(dataset, 2)[0][:2]
    found = dict(first.probabilities)
    moved = MOVED * min(found[to], found[source])
    changed = SequenceClass(first.next, first.query, found | {to: found[to] + moved, source: found[source] - moved})
    return replace(dataset, classes=(changed, *others))


def _other_query(dataset: SequenceClasses) -> SequenceClasses:
    first, *others = dataset.classes
    return replace(dataset, classes=(replace(first, query=f"{first.query}'"), *others))


def _distinct(dataset: SequenceClasses, least: int) -> list[tuple[Token, ...]]:
    """The distinct tokens of each class, at least ``least`` of them."""
    found = list(distinct_tokens(dataset).values())
    if min(len(tokens) for tokens in found) < least:
        raise ValueError(f"a class has fewer than {least} distinct tokens")
    return found


def _squares(dataset: SequenceClasses) -> Squares:
    column = {token: i for i, token in enumerate(dataset.contextual)}
    squares = dataset.overlap.F.T**2
    return [{token: float(squares[n, column[token]]) for token in c.support} for n, c in enumerate(dataset.classes)]


def _of_squares(dataset: SequenceClasses, squares: Squares) -> SequenceClasses:
    """Classes of new f_n: P(l|n) is f_n divided by its sum."""
    classes = [
        (c.next, c.query, {token: math.sqrt(square) for token, square in own.items()})
        for c, own in zip(dataset.classes, squares, strict=True)
    ]
    return replace(SequenceClasses.from_weights(dataset.name, dataset.M, classes), weights=dataset.weights)


CHANGES: Mapping[str, Callable[[SequenceClasses], SequenceClasses]] = {
    "uniform_classes": _other_frequency,
    "wide_vocabulary": _narrow_vocabulary,
    "small_overlap": lambda dataset: _largest_overlap(dataset, 1.1 / dataset.K),
    "spread_overlap": _smallest_overlap,
    "single_common": _two_common,
    "symmetric_classes": _turned_distinct,
    "shared_common": _own_common,
    "single_query": _other_query,
    "distinct_beside_common": _no_distinct,
    "dominant_distinct": _even_distinct,
    "equal_overlaps": _moved_distinct,
    "overlap_below_one": lambda dataset: _largest_overlap(dataset, 1.1),
    "large_vocabulary": _small_vocabulary,
}
"""Change that breaks each assumption."""
