"""Lemma 12's formula for Y against whole matrices."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.reports import Verdict
from marginaudit.reports.snap import decoder
from marginaudit.reports.snap.claims import CLAIMS, lemma12_y
from marginaudit.reports.snap.decoder import sequence
from marginaudit.reports.snap.run import ClassRun
from tests.reports.snap.samples import on

SINGLE = CASES["snap-single"]


def verdict(claim: str, at: ClassRun) -> Verdict:
    return CLAIMS[claim].judge(at).verdict


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
        for n in sequence(at):
            alpha = np.exp(F[:, n] @ Y)
            Y += at.eta_Y * np.outer(moves[:, n], np.eye(M)[n] - alpha / alpha.sum())
        found.append(Y)
    return found[0], found[1], (F, u)


def test_lemma_12s_formula_is_that_of_whole_matrices() -> None:
    at = on(replace(SINGLE(), M=60), steps=40)
    by_features, by_rows, (F, u) = dense(at)
    basis = np.linalg.pinv(np.column_stack([F, u]))
    for measure, Y in ((lemma12_y.by_features, by_features), (lemma12_y.by_rows, by_rows)):
        expected = (basis @ Y)[:, : at.K + 1]
        assert measure(at).value.reshape(3, 3) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert lemma12_y.LEMMA12_Y.judgement.judge(at).verdict is Verdict.HOLDS
    assert verdict("snap.lemma12.Y.eq26", at) is Verdict.VIOLATED
    full = SequenceClasses.from_weights("full", 2, [("a", "a", {"a": 1}), ("b", "a", {"a": 1, "b": 1})])
    assert lemma12_y.LEMMA12_Y.judgement.judge(on(full)).verdict is Verdict.HOLDS
    assert verdict("snap.lemma12.Y.eq26", on(full)) is Verdict.NOT_APPLICABLE
