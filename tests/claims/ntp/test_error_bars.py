"""Error bars of what claims measure: against ball arithmetic, and term by term against formulas written out here."""

import math
from dataclasses import replace

import numpy as np
import pytest

from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.error_bars import log_excess_error, moved_attention, score_error
from marginaudit.claims.ntp.quantities import (
    attention,
    excess_rate,
    late_records,
    stage2_log_loss,
    stage2_log_other_weight,
)
from marginaudit.claims.series import FORMULA_ROUNDING
from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, free_dataset
from marginaudit.training.ntp.certified.enclosure import enclose
from marginaudit.training.ntp.stage1 import LAW_ROUNDING
from tests.claims.ntp.samples import CYCLING, changed, small
from tests.measured import judgement
from tests.solutions import known

EPS = float(np.finfo(float).eps)

UNEVEN = free_dataset(V=6, N=20, L=5, seed=0, max_count=1000)

BENIGN = [
    (CASES["example-1"](), Config(steps1=900, steps2=200)),
    (CYCLING, Config(steps1=900, steps2=200)),
    (UNEVEN, Config(steps1=900, steps2=200)),
    (UNEVEN, Config(steps1=1, steps2=100, lr1=1e-6)),
]
# float64 loses its digits: the trajectory's own error, and A times it, are in the bars
EXTREME = [
    (CYCLING, Config(steps1=10**3, steps2=60, lr1=5e3)),
    (CYCLING, Config(steps1=10**3, steps2=60, lr1=5e4, lr2=1.0)),
    (CYCLING, Config(steps1=3, steps2=40, lr1=4.9, lr2=3.0)),
    (UNEVEN, Config(steps1=7, steps2=5, lr1=1.4e12)),
    (UNEVEN, Config(steps1=900, steps2=40, lr2=50.0)),
]


def off_and_bars(data: Dataset, config: Config) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By how much each recorded logarithm is off from t = 1 on, and its error bar."""
    on = Run(data, config)
    assert config.steps2 is not None
    true = enclose(
        data, solve_kq(data), steps1=config.steps1, steps=config.steps2, lr1=config.lr1, lr2=config.lr2
    ).columns
    loss, weight, stage = stage2_log_loss(on, 1), stage2_log_other_weight(on, 1), on.training.stage2
    return {
        "log_loss": (np.abs(loss.value - true["log_loss"][0][1:]), loss.radius),
        "log_other_weight": (np.abs(weight.value - true["log_other_weight"][0][1:]), weight.radius),
        "log_excess": (np.abs(stage.log_excess - true["log_excess"][0])[1:], log_excess_error(on)[1:]),
    }


@pytest.mark.parametrize(("data", "config"), [*BENIGN, *EXTREME])
def test_logarithms_are_off_by_less_than_their_bars_and_not_far_less(data: Dataset, config: Config) -> None:
    for column, (off, bars) in off_and_bars(data, config).items():
        assert (off <= bars).all(), column
        if (data, config) in BENIGN:
            assert (off / bars).max() > 1e-4, column
            assert bars.max() < 1e-8, column


@pytest.mark.parametrize("error", [0.0, 1e-6, 0.3, 2.0, np.nan])
def test_each_term_of_the_bars(error: float) -> None:
    on = Run(UNEVEN, Config(steps1=200, steps2=60, lr2=0.3))
    on = changed(on, distance_error=np.where(on.training.stage2.step > 0, error, np.nan))
    stage, A, L = on.training.stage2, on.training.margin, UNEVEN.L_max
    scores = score_error(on)
    loss, weight, excess = stage2_log_loss(on, 0), stage2_log_other_weight(on, 0), log_excess_error(on)
    assert scores[0] == 0
    for k in (1, 2, 30, 60):
        size = stage.along[k] * np.abs(stage.reference).max() + np.abs(stage.rest[k]).max()
        of_W = error * stage.norm[k] if error < 2 else math.inf
        e = 2 * of_W + EPS * (16 * size + 64)
        assert scores[k] == pytest.approx(e, rel=1e-12, abs=0)
        assert weight.radius[k] == pytest.approx(
            e + 64 * EPS * max(1, abs(stage.log_other_weight[k])), rel=1e-12, abs=0
        )
        w = math.exp(min(0.0, stage.log_other_weight[k] + e))
        moved = min(e / 2, 2 * w * min(e, 1.0)) + (16 + L) * EPS
        rounding = 64 * EPS * max(1, abs(stage.log_loss[k]))
        of_loss = A * moved + on.training.margin_error + rounding if error < 2 else math.inf
        assert loss.radius[k] == pytest.approx(of_loss, rel=1e-12, abs=0)
        own = on.training.margin_error * (2 + 2 * w + 1 / A)
        rounding = 64 * EPS * max(1, abs(stage.log_excess[k]))
        assert excess[k] == pytest.approx((e + 16 * EPS) * (1 + 2 * A * w) + own + rounding, rel=1e-12, abs=0)


def test_moved_attention_bounds_what_softmax_does() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        scores = rng.standard_normal(5) * rng.choice([0.1, 3.0, 20.0])
        error = 10 ** rng.uniform(-6, 1)
        shifted = scores + rng.uniform(-error / 2, error / 2, 5)
        phi, moved = (np.exp(s - s.max()) / np.exp(s - s.max()).sum() for s in (scores, shifted))
        other = np.log(max(phi[1:].sum(), 1e-300))
        change = np.abs((moved - moved[0]) - (phi - phi[0])).max()
        assert change <= moved_attention(np.array([error]), np.array([other]))[0]


@pytest.mark.parametrize("lr1", [0.1, 5.0, 1e17])
def test_stage_1_is_as_far_from_its_closed_form_as_it_says(lr1: float) -> None:
    on = Run(CASES["example-1"](), Config(steps1=200, steps2=1, lr1=lr1))
    stage = on.stage1_steps
    assert stage.step.tolist() == list(range(201))
    np.testing.assert_allclose(stage.norm, stage.step * lr1, rtol=1e-14)
    assert (stage.distance[1:] <= stage.distance_error[1:]).all()
    assert (stage.distance_error[1:] < 1e-12).all()


def test_the_bar_of_the_rate_where_rounding_hides_the_last_record() -> None:
    """1 - cos is half the squared distance d: an error e of d is one of e (d + e/2)."""
    stage = small().training.stage2
    hidden = np.where(stage.step == stage.step[-1], np.inf, stage.error)
    on = changed(small(), error=hidden, distance_error=np.full(len(stage), 0.3))
    on.__dict__["first_steps"] = None
    found = judgement("sharp.rate").measure(on)
    bars = 0.3 * (stage.distance + 0.15)[stage.step >= 1] * found.step**2
    np.testing.assert_allclose(found.radius, np.where(found.step == stage.step[-1], np.inf, bars), rtol=1e-12)


def test_bars_of_attention_of_rates_and_of_enclosed_records() -> None:
    """Attention moves by a quarter of its scores' error, and by no more than 1; rates by both ends'."""
    for on in (small(), small(0.3)):
        for sample in (0, len(on.dataset.samples) - 1):
            bag = on.dataset.samples[sample].bag
            found = attention(on, sample, next(iter(bag)))
            expected = np.minimum(score_error(on) / 4, 1) + EPS * (16 + len(bag))
            np.testing.assert_allclose(found.radius, expected, rtol=1e-12)
    on = Run(small().dataset, replace(small().config, at=(1, 2, 4, 6)))
    late, rate = late_records(on, "log_excess", log_excess_error(on)), excess_rate(on)
    both_ends = (late.radius[1:] + late.radius[:-1]) / [1, 2, 2]
    np.testing.assert_allclose(rate.radius, both_ends + FORMULA_ROUNDING * np.abs(rate.value), rtol=1e-12)
    on = small()
    infinite = np.full(len(on.training.stage2), np.inf)
    lost = changed(on, error=infinite)
    enclosed, first = late_records(lost, "one_minus_cos", infinite), known(lost.first_steps)
    assert enclosed.radius.tolist() == first.columns["one_minus_cos"][1][first.step >= 1].tolist()


def test_stage_1_is_as_far_from_its_law_as_its_length_and_direction_are() -> None:
    on = small()
    ran, found = on.training.stage1, on.stage1_steps
    off = ran.distance[1:] + np.abs(ran.norm[1:] / (ran.step[1:] * on.eta0) - 1) + LAW_ROUNDING
    np.testing.assert_allclose(found.distance_error[1:], off, rtol=1e-12)
