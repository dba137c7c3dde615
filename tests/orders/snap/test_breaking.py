"""Classes that break one assumption and nothing that need not fail with it; overlaps times a factor."""

import numpy as np
import pytest

from marginaudit.orders.snap import (
    CLASSES,
    FAIL_WITH,
    SequenceClasses,
    broken,
    classes_from_document,
    classes_to_document,
    rescaled,
    single_common_dataset,
    symmetric_dataset,
    weakly_correlated_dataset,
)
from tests.orders.snap.test_generate import SEEDS, SIZES, failing

SIZE = {"large_vocabulary": (2, 10**4), "wide_vocabulary": (11, 10**6)}
"""K and M of classes in which an assumption can fail alone; of three classes and M = 10^5 for the rest."""


def meeting_all(K: int, M: int, seed: int) -> SequenceClasses:
    data = symmetric_dataset(K=K, M=M, seed=seed, common=(1, 1), distinct=(3, 4))
    assert failing(data, tuple(CLASSES.assumptions)) == set()
    return data


@pytest.mark.parametrize("assumption", CLASSES.assumptions)
def test_every_assumption_fails_with_nothing_but_what_must_fail_with_it(assumption: str) -> None:
    K, M = SIZE.get(assumption, (3, 10**5))
    expected = {assumption} | FAIL_WITH.get(assumption, set())
    for seed in SEEDS:
        data = meeting_all(K, M, seed)
        changed = broken(data, assumption)
        assert failing(changed, tuple(CLASSES.assumptions)) == expected
        assert changed.next_tokens == data.next_tokens
        assert pytest.approx(1, rel=1e-14, abs=0) == changed.P.sum(axis=1)
        assert classes_from_document(classes_to_document(changed)).tokens == changed.tokens


def test_what_cannot_be_broken() -> None:
    data = weakly_correlated_dataset(K=3, M=5000, seed=0)
    with pytest.raises(ValueError, match=r"^got 'collocation', expected one of uniform_classes, wide_vocabulary, "):
        broken(data, "collocation")
    with pytest.raises(ValueError, match=r"^\d tokens are common: only a single one can be split$"):
        broken(data, "single_common")
    few = symmetric_dataset(K=2, M=5000, seed=0, common=(1, 1), distinct=(1, 1))
    for assumption, least in (("symmetric_classes", 3), ("dominant_distinct", 2), ("equal_overlaps", 2)):
        with pytest.raises(ValueError, match=f"^a class has fewer than {least} distinct tokens$"):
            broken(few, assumption)
    many = single_common_dataset(K=2, M=5000, seed=0, distinct=(18, 18))
    assert len(many.tokens) == 40
    with pytest.raises(ValueError, match=r"^M: got 39, expected at least 40"):
        broken(many, "wide_vocabulary")
    full = broken(single_common_dataset(K=3, M=5000, seed=0, distinct=(28, 28)), "wide_vocabulary")
    assert full.M == len(full.tokens) == 89
    weights = [{"a": 1.0, "the": 1.0}, {"b": 1.0, "c": 1.0, "d": 1.0, "the": 1.0}]
    uneven = SequenceClasses.from_weights("d", 5000, [(n, "q", w) for n, w in zip("mn", weights, strict=True)])
    with pytest.raises(ValueError, match=r"^a class has fewer than 2 distinct tokens$"):
        broken(uneven, "dominant_distinct")


@pytest.mark.parametrize("K", SIZES)
def test_by_how_much_a_part_is_broken(K: int) -> None:
    """The first class is drawn twice as often; M is one too small, an eigenvalue a tenth beyond its bound."""
    data = symmetric_dataset(K=K, M=40 * K**4, seed=1)
    assert broken(data, "uniform_classes").weights == (2, *[1] * (K - 1))
    assert broken(data, "wide_vocabulary").M == 10 * K**2 - 1
    assert broken(data, "small_overlap").overlap.largest * K == pytest.approx(1.1, rel=1e-12, abs=0)
    least = np.abs(broken(data, "spread_overlap").overlap.eigenvalues).min()
    assert least * data.M**0.5 / 6 == pytest.approx(0.9, rel=1e-12, abs=0)


@pytest.mark.parametrize("factor", [0.01, 0.5, 1.0, 1.5])
def test_rescaled(factor: float) -> None:
    for seed in SEEDS:
        data = weakly_correlated_dataset(K=4, M=10**6, seed=seed, queries=2)
        scaled = rescaled(data, factor)
        assert pytest.approx(factor * data.overlap.E, rel=1e-12, abs=1e-15) == scaled.overlap.E
        assert (scaled.name, scaled.M, scaled.tokens, scaled.queries) == (data.name, data.M, data.tokens, data.queries)
