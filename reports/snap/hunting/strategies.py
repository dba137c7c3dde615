"""Hypothesis strategies for sequence classes: few classes, few tokens and small numbers first."""

from collections.abc import Callable, Collection
from dataclasses import replace

from hypothesis import strategies as st

from marginaudit.orders.snap import (
    SequenceClasses,
    broken,
    single_common_dataset,
    symmetric_dataset,
    weakly_correlated_dataset,
)
from marginaudit.reports.snap.hunting.smallest import NAMES

MOST_CLASSES = 5
LARGEST_WEIGHT = 9
LARGEST_FREQUENCY = 3

WIDE = 11
"""Least number of classes for a vocabulary that is large but not wide: 10 K^2 > 1000."""

VOCABULARIES = (0, 1, 2, 10, 100, 1000, 10**4, 10**6, 10**9, 10**12)
"""Numbers of tokens beyond the named ones, or beyond the fewest for Assumption 2."""

GENERATORS: tuple[Callable[..., SequenceClasses], ...] = (
    single_common_dataset,
    symmetric_dataset,
    weakly_correlated_dataset,
)


def classes(missing: Collection[str], required: Collection[str]) -> st.SearchStrategy[SequenceClasses]:
    """Classes of any structure, classes that meet Assumption 2, and classes that violate one missing assumption."""
    uniform = "uniform_classes" in required
    kinds = [odd_classes(uniform=uniform), regular_classes(uniform=uniform)]
    return st.one_of([*kinds, broken_classes(sorted(missing))] if missing else kinds)


@st.composite
def odd_classes(draw: st.DrawFn, *, uniform: bool) -> SequenceClasses:
    """Classes of any structure, with quotients of small whole numbers as probabilities."""
    K, tokens = draw(st.integers(1, MOST_CLASSES)), draw(st.integers(1, MOST_CLASSES))
    queries = st.sampled_from(NAMES[: draw(st.integers(1, K))])
    row = st.lists(st.integers(0, LARGEST_WEIGHT), min_size=tokens, max_size=tokens).filter(any)
    listed = [
        (following, draw(queries), {token: float(w) for token, w in zip(NAMES, draw(row), strict=False) if w})
        for following in NAMES[:K]
    ]
    data = SequenceClasses.from_weights("hunted", None, listed)
    return draw(_frequencies(replace(data, M=data.M + draw(st.sampled_from(VOCABULARIES))), uniform=uniform))


@st.composite
def regular_classes(draw: st.DrawFn, *, uniform: bool) -> SequenceClasses:
    """Random classes that meet Assumption 2, possibly except for frequencies."""
    K, seed = draw(st.integers(2, MOST_CLASSES)), draw(st.integers(0, 2**32))
    make = draw(st.sampled_from(GENERATORS))
    fewest = 144 * K**2 if make is weakly_correlated_dataset else 36 * (K * (K - 1)) ** 2
    data = make(K=K, M=fewest + 1 + draw(st.sampled_from(VOCABULARIES)), seed=seed, name="hunted")
    return draw(_frequencies(data, uniform=uniform))


@st.composite
def broken_classes(draw: st.DrawFn, missing: list[str]) -> SequenceClasses:
    """Classes that violate one of the missing assumptions and, as far as possible, meet all others."""
    assumption = draw(st.sampled_from(missing))
    K = {"large_vocabulary": 2, "wide_vocabulary": WIDE}.get(assumption, draw(st.integers(3, MOST_CLASSES)))
    M = 40 * K**4 + draw(st.sampled_from(VOCABULARIES[3:]))
    seed = draw(st.integers(0, 2**32))
    return broken(symmetric_dataset(K=K, M=M, seed=seed, common=(1, 1), distinct=(3, 4), name="hunted"), assumption)


def _frequencies(data: SequenceClasses, *, uniform: bool) -> st.SearchStrategy[SequenceClasses]:
    """Draw frequencies of the classes, unless ``uniform``."""
    if uniform:
        return st.just(data)
    weights = st.lists(st.integers(1, LARGEST_FREQUENCY).map(float), min_size=data.K, max_size=data.K).map(tuple)
    return st.one_of(st.none(), weights).map(lambda found: replace(data, weights=found))
