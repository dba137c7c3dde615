"""Lemma 12: chances of theta beyond its bounds by sums over all counts, and its formula for Y by whole matrices."""

from dataclasses import replace
from math import comb, log, sqrt
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.snap.appendix_d4_sampled_classes import decoder, lemma12_y
from marginaudit.claims.snap.appendix_d4_sampled_classes.lemma12 import beyond_continuous, beyond_rederived
from marginaudit.claims.snap.chances import LEVELS
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star
from tests.claims.snap.samples import on, single


@pytest.mark.parametrize("eta", [0.5, 1.0])
def test_the_chance_beyond_the_rederived_bound_is_a_sum_over_all_counts(eta: float) -> None:
    """One class's chance lies in the bar, and so does twice it, at the first N: 40, of 2 classes."""
    found = beyond_rederived(single(lr_y=eta)).missed
    k = np.arange(41)
    star, mean = h_star(k, 5000, eta).level, continuous([20.0], 5000, eta)
    theta = np.abs(star.h.value / mean.h.value[0] - 1)
    L = np.exp(eta) / 2 * np.log((4999 + np.exp(star.logit.value[40])) / 5000)
    for delta in LEVELS:
        beyond = theta > (sqrt(20 * log(4 / delta)) + 1 + L) / 20
        chance = sum(comb(40, int(j)) for j in k[beyond]) / 2**40
        entry = found.label.index(f"delta = {delta:g}, N = 40")
        assert found.value[entry] - found.radius[entry] <= chance * (1 + 1e-8)
        assert found.value[entry] + found.radius[entry] >= 2 * chance * (1 - 1e-8)
        assert found.value[entry] + found.radius[entry] <= 2.5 * chance


@pytest.mark.parametrize("eta", [0.02, 0.5])
def test_the_chance_beyond_the_printed_bound_is_a_sum_over_all_counts(eta: float) -> None:
    """At the first N, 40, of 2 classes."""
    found = beyond_continuous(single(lr_y=eta)).missed
    k = np.arange(41)
    h = continuous(k.astype(float), 5000, eta).h.value
    theta = np.abs(h / h[20] - 1)
    for delta in LEVELS:
        beyond = theta > 2 / sqrt(40) * sqrt(log(2 / delta))
        chance = sum(comb(40, int(j)) for j in k[beyond]) / 2**40
        entry = found.label.index(f"delta = {delta:g}, N = 40")
        assert found.value[entry] - found.radius[entry] <= chance * (1 + 1e-8)
        assert found.value[entry] + found.radius[entry] == pytest.approx(min(2 * chance, 1), rel=1e-6, abs=0)


def dense(at: ClassRun) -> tuple[Any, Any, Any]:
    """Y of eq. 26 and of steps on W', and F', on whole matrices in float64."""
    F, M, K = at.dataset.overlap.F, at.M, at.K
    u = np.linalg.qr(np.column_stack([F, np.eye(len(F))]))[0][:, K]
    leaning = F[:, np.argmax(decoder.counts(at))] / 2 + u
    full = np.column_stack([F, leaning])
    back = np.linalg.pinv(full.T)
    found = []
    for moves in (F @ np.linalg.inv(F.T @ F), back[:, :K]):
        Y = np.zeros((len(F), M))
        for n in decoder.sequence(at):
            alpha = np.exp(F[:, n] @ Y)
            Y += at.eta_Y * np.outer(moves[:, n], np.eye(M)[n] - alpha / alpha.sum())
        found.append(Y)
    return found[0], found[1], (F, u)


def test_lemma_12s_formula_is_that_of_whole_matrices() -> None:
    at = on(replace(CASES["snap-single"](), M=60), steps=40)
    by_features, by_rows, (F, u) = dense(at)
    basis = np.linalg.pinv(np.column_stack([F, u]))
    for measure, Y in ((lemma12_y.by_features, by_features), (lemma12_y.by_rows, by_rows)):
        expected = (basis @ Y)[:, : at.K + 1]
        assert measure(at).value.reshape(3, 3) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    eq_24, eq_26 = lemma12_y.CLAIMS
    assert eq_24.judgement.judge(at).verdict is Verdict.HOLDS
    assert eq_26.judge(at).verdict is Verdict.VIOLATED
    full = SequenceClasses.from_weights("full", 2, [("a", "a", {"a": 1}), ("b", "a", {"a": 1, "b": 1})])
    assert eq_24.judgement.judge(on(full)).verdict is Verdict.HOLDS
    assert eq_26.judge(on(full)).verdict is Verdict.NOT_APPLICABLE
