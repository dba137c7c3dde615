"""Theorem 1 (a): xi at t >> K^2 and at any t, and how many draws it is computed for."""

import re

import numpy as np
import pytest

from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_d5_theorem1 import theorem1_a
from marginaudit.claims.snap.appendix_d5_theorem1.theorem1_a import A
from marginaudit.orders.snap import CASES
from marginaudit.training.snap.counts.drawn import class_counts
from marginaudit.training.snap.limit.backpropagated import backpropagated as gradient_of
from marginaudit.training.snap.limit.fluctuation import fluctuation
from tests.claims.snap.samples import on, run, single


def test_the_chance_of_an_exception_is_the_one_that_is_proved() -> None:
    for name, K in (("snap-single", 2), ("snap-symmetric", 3)):
        on = ClassRun(CASES[name](), ClassConfig(seeds=3, at=(100,), steps=100))
        exact = K * (np.exp(-6.4 * K) + np.exp(-25 * K))
        assert theorem1_a.exception(on) == pytest.approx(exact, rel=1e-12, abs=0)
        said = re.search("probability below (.*), at level 0.99.* at most (.*) where 10 K", A.judge(on).detail)
        assert said is not None
        below, most = map(float, said.groups())
        assert 0 <= most / exact - 1 < 0.1, "a bound is rounded upwards"
        assert below == 0.79, "none of three seeds: (1 - 0.7846)^3 = 0.01"


def test_the_least_xi_is_over_all_classes_in_parts_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    at = run("snap-symmetric")
    counts = class_counts([90, 400], at.dataset.frequencies, 20, 5).reshape(-1, 3)
    xi = gradient_of(at.overlap, fluctuation(counts, 5000, 0.5)).xi
    least, whose = theorem1_a.least_xi(at, counts)
    assert least.value.tolist() == xi.value.min(axis=1).tolist()
    assert whose.tolist() == np.argmin(xi.value, axis=1).tolist()
    assert set(whose.tolist()) == {0, 1, 2}
    assert least.error.tolist() == xi.error[np.arange(len(counts)), whose].tolist()
    monkeypatch.setattr(theorem1_a, "AT_ONCE", 9 * 7)
    assert theorem1_a.least_xi(at, counts)[0].value.tolist() == least.value.tolist()


def test_how_many_seeds_and_counts_xi_is_computed_for(monkeypatch: pytest.MonkeyPatch) -> None:
    at = run("snap-symmetric")
    assert theorem1_a.seeds_judged(on(at.dataset, seeds=5000)) == 2000
    assert theorem1_a.seeds_judged(on(at.dataset, seeds=5)) == 5
    two = single(steps=10**18)
    few = theorem1_a.few_steps(two)
    assert few[:2].tolist() == [[1, 0], [0, 1]]
    assert (len(few), few[-1].sum(), len(np.unique(few, axis=0))) == (2925, 75, 2925)
    assert len(theorem1_a.few_steps(single(steps=3))) == 2 + 3 + 4
    alone = theorem1_a.one_class_alone(two)
    assert len(alone) == 2 * 20 == 2 * len(np.unique(alone.sum(axis=1)))
    assert (alone.sum(axis=1).min(), alone.max()) == (1, 10**18)
    assert theorem1_a.one_class_alone(single(at=(4, 9))).tolist() == [[4, 0], [0, 4], [9, 0], [0, 9]]
    monkeypatch.setattr(theorem1_a, "COUNT_VECTORS", 14)
    assert len(theorem1_a.few_steps(two)) == 2 + 3 + 4 + 5
    monkeypatch.setattr(theorem1_a, "COUNT_VECTORS", 13)
    assert len(theorem1_a.few_steps(two)) == 2 + 3 + 4
    monkeypatch.setattr(theorem1_a, "COUNT_VECTORS", 1)
    assert len(theorem1_a.few_steps(two)) == 2
    monkeypatch.setattr(theorem1_a, "COUNT_VECTORS", 3000)
    for entries, seeds, few_vectors in ((2 * 9 * 7, 7, 696), (2 * 9 * 7 - 1, 6, 696), (1, 1, 3)):
        monkeypatch.setattr(theorem1_a, "AT_ONCE", entries)
        assert theorem1_a.seeds_judged(at) == seeds
        assert len(theorem1_a.few_steps(at)) <= max(3, 50 * entries // 9) < 10 * few_vectors
