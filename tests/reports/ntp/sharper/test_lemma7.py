"""The two cosines that Lemma 7 compares, and their error bars."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.ntp import free_dataset
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.error_bars import state_error
from marginaudit.reports.ntp.sharper import lemma7 as sharp_lemma7
from marginaudit.reports.ntp.sharper.lemma7 import sharp_allowed
from marginaudit.reports.series import FORMULA_ROUNDING
from marginaudit.training.ntp import loss_gradient
from tests.reports.ntp.samples import small

EPS = float(np.finfo(float).eps)


def lead(on: Run) -> Any:
    return sharp_lemma7._lead(on, sharp_lemma7.sharp_allowed)


def test_lemma_7_error_bars_hold_what_an_error_of_W_does() -> None:
    """W moved by as much as the record says it may be off: the cosines move by less than the error bar says."""
    on = Run(free_dataset(V=5, N=12, L=4, seed=1), Config(steps1=200, steps2=30, lr2=0.3))
    stage, best = on.training.stage2, on.kq.optimal().scores
    moved = 1e-5
    off = replace(stage, distance_error=np.where(stage.step > 0, moved / np.where(stage.norm > 0, stage.norm, 1), 0.0))
    nominal = lead(on)
    on.__dict__["trained"] = replace(on.training, stage2=off)
    bars = lead(on).radius
    rng = np.random.default_rng(0)
    worst = 0.0
    for record in range(1, len(stage)):
        for _ in range(5):
            D = np.zeros((5, 5))
            D[stage.key, stage.query] = rng.standard_normal(len(stage.key))
            W = stage.score_matrix(record, 5) + moved * D / np.linalg.norm(D)
            d = -loss_gradient(on.dataset, on.training.W_ov, W)
            d /= np.linalg.norm(d)
            value = np.vdot(d, W) / np.linalg.norm(W) - np.vdot(d, best) / np.linalg.norm(best)
            change = abs(value - nominal.value[record - 1])
            assert change <= bars[record - 1]
            worst = max(worst, change)
    assert worst > 1e-8


@pytest.mark.parametrize("error", [0.0, 1e-3])
def test_the_bars_of_lemma_7(error: float) -> None:
    on = small(error)
    stage, A, W = on.training.stage2, on.training.margin, on.norm_kq
    measured = sharp_lemma7._lead(on, sharp_allowed)
    states = state_error(stage)
    for k in range(1, 7):
        norm, g, r = stage.norm[k], stage.descent_reference[k], stage.descent_rest[k]
        beyond, e = norm - stage.along[k], states[k]
        turned = min(2.0, (7 + A) * W * e + EPS * (1000 + 10 * A) * W)
        rest = np.linalg.norm(stage.rest[k])
        own = ((rest + abs(beyond)) * turned + 2 * e + FORMULA_ROUNDING * (abs(r) + abs(beyond))) / norm
        allowed = W * math.log(2 * on.dataset.L_max**3 * sum(on.dataset.counts) / min(on.dataset.counts))
        other = allowed / norm * (turned + e / norm)
        assert measured.value[k - 1] == pytest.approx((r - beyond * g) / norm, abs=1e-13)
        assert measured.radius[k - 1] == pytest.approx(own + other, rel=1e-6, abs=0)


def test_what_lies_beyond_the_reference() -> None:
    on = small()
    stage = on.training.stage2
    found = sharp_lemma7._beyond_along(on)
    np.testing.assert_allclose(found, stage.norm - stage.along, atol=1e-13)
    turned = replace(on.training, form="embedding space")
    other = Run(on.dataset, on.config)
    other.__dict__ |= {"trained": turned, "kq": on.kq}
    assert sharp_lemma7._beyond_along(other).tolist() == (stage.norm - stage.along).tolist()
    backwards = replace(stage, along=-1.0 - 0 * stage.along)
    other.__dict__["trained"] = replace(on.training, stage2=backwards)
    c = backwards.along + stage.rest @ stage.reference
    assert (c[:1] <= 0).all()
    assert sharp_lemma7._beyond_along(other)[0] == stage.norm[0] + 1.0


def test_norms_and_cosines_between_and_beyond_the_records() -> None:
    on = Run(small().dataset, Config(steps1=30, steps2=6, lr2=0.3, at=(0, 2, 6)))
    stage = on.training.stage2
    t = np.array([2.0, 4.0, 6.0, 10.0])
    norm, cos = stage.norm.tolist(), stage.descent_reference.tolist()
    assert sharp_lemma7._norm_at(on, t) == pytest.approx([norm[1], (norm[1] + norm[2]) / 2, norm[2], norm[2] + 4 * 0.3])
    assert sharp_lemma7._cos_at(on, t) == pytest.approx([cos[1], (cos[1] + cos[2]) / 2, cos[2], cos[2]])
