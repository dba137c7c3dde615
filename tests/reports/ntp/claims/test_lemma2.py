"""Lemma 2: the quotient of the two inner products, and its error bar."""

import math

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset
from marginaudit.reports import LEDGER
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.error_bars import margin_error, state_error
from marginaudit.reports.series import FORMULA_ROUNDING
from marginaudit.training.ntp import stage1_loss_gradient
from tests.measured import judgement
from tests.reports.ntp.samples import SKEW


def test_lemma_2_spans_what_the_margins_allow_where_tokens_are_not_orthonormal() -> None:
    on = Run(SKEW, Config(steps1=40, steps2=2))
    measured = judgement("ntp.lemma2").measure(on)
    best, W = on.ov.optimal().matrix, np.zeros((4, 4))
    for t in range(1, 41):
        G = stage1_loss_gradient(SKEW, W)
        W = W - on.eta0 * G / np.linalg.norm(G)
        G = stage1_loss_gradient(SKEW, W)
        assert measured.lower[t - 1] <= np.vdot(W, G) / np.vdot(best, G) <= measured.upper[t - 1]
    assert np.median(measured.radius) > 0.01


def test_the_bars_of_lemmas_2_and_3() -> None:
    on = Run(CASES["example-1"](), Config(steps1=6, steps2=1))
    stage = on.stage1_steps
    quotient, spread = judgement("ntp.lemma2").measure(on), judgement("ntp.lemma3").measure(on)
    assert quotient.step.tolist() == [1, 2, 3, 4, 5, 6]
    for t in range(1, 7):
        low, high = stage.min_margin[t], stage.max_margin[t]
        assert quotient.value[t - 1] == pytest.approx((low + high) / 2)
        error = margin_error(on, stage)[t] + state_error(stage)[t] / math.sqrt(3)
        bar = (high - low) / 2 + error + FORMULA_ROUNDING * max(abs(low), abs(high))
        assert quotient.radius[t - 1] == pytest.approx(bar, rel=1e-9, abs=0)
        assert spread.radius[t - 1] == margin_error(on, stage)[t]
        assert spread.value[t - 1] == stage.label_spread[t]
    assert judgement("ntp.lemma3").scale(on).tolist() == stage.norm[1:].tolist()
    apart = Run(SKEW, Config(steps1=6, steps2=1))
    stage, scores = apart.stage1_steps, apart.ov.optimal().scores
    largest = max(scores[y, x] - scores[v, x] for x, y in enumerate((1, 2, 3, 0)) for v in range(4) if v != y)
    low = np.minimum(stage.min_margin, stage.min_margin / largest)[1:]
    high = np.maximum(stage.max_margin, stage.max_margin / largest)[1:]
    error = margin_error(apart, stage)[1:] + state_error(stage)[1:] / apart.norm_ov
    rounding = FORMULA_ROUNDING * np.abs(np.array([low, high])).max(axis=0)
    np.testing.assert_allclose(
        judgement("ntp.lemma2").measure(apart).radius, (high - low) / 2 + error + rounding, rtol=1e-15
    )
    assert (high - low > 0.01).all()
    two = Dataset.from_sentences("two", ["ab", "ba"])
    absent = LEDGER["ntp.lemma3"].absent
    assert "only one is not n(x)" in str(absent(Run(two)))
    assert absent(on) is None
