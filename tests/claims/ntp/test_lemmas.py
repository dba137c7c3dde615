"""Lemmas 2 to 6: what they compare, their error bars and their edges; the oracle checks their numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_c_stage2 import lemma5
from marginaudit.claims.ntp.appendix_c_stage2.lemma4 import lemma4, lemma4_sides
from marginaudit.claims.ntp.appendix_c_stage2.lemma5 import lemma5_weights
from marginaudit.claims.ntp.error_bars import margin_error, score_error, state_error
from marginaudit.claims.ntp.quantities import stage2_log_other_weight
from marginaudit.claims.series import FORMULA_ROUNDING, as_series
from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset, gram_deviation
from marginaudit.reports import LEDGER
from marginaudit.training.ntp import loss_gradient, stage1_loss_gradient
from tests.claims.ntp.samples import SKEW, changed, judged, pair, run, small, with_copies
from tests.measured import judgement
from tests.solutions import known

EPS = float(np.finfo(float).eps)


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


def test_lemma_2_allows_for_margins_of_the_reference_above_1() -> None:
    """3 W*_ov in place of W*_ov has all margins 3, and a third of the quotient."""
    on = Run(CASES["example-1"](), Config(steps1=9, steps2=2))
    measure, solution = judgement("ntp.lemma2").measure, on.ov.optimal()
    true = measure(on).value / 3
    on.__dict__["ov"] = replace(solution, dense=lambda: (3 * solution.scores, solution.matrix))
    measured = measure(on)
    assert (measured.lower <= true).all()
    assert (true <= measured.upper).all()


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
    assert absent(Run(two)) is not None
    assert absent(on) is None


def test_lemma_4_agrees_with_the_gradient_as_eq_6_prints_it() -> None:
    data = free_dataset(V=6, N=14, L=5, seed=0, max_count=3)
    n = data.collocation.require_function()
    rng = np.random.default_rng(0)
    one = np.zeros((6, 6))
    one[[data.index[n[x]] for x in data.vocabulary], range(6)] = 1
    for A in (0.1, 3.0, 20.0):
        # one margin A whatever is added to all labels of a token
        W_ov = A * one + rng.standard_normal(6)
        W_kq, W = rng.standard_normal((2, 6, 6))
        value, size = lemma4(data, n, W_ov, W_kq, W, A)
        assert value == pytest.approx(np.vdot(loss_gradient(data, W_ov, W_kq), W), rel=1e-11, abs=1e-13 * size)
        assert size >= abs(value)


def test_the_bars_of_lemma_4_hold_rounding_and_the_gram_matrix() -> None:
    data = CASES["example-1"]()
    sides = lemma4_sides(Run(data))
    operations = data.N + data.L_max + 2 * data.V
    np.testing.assert_allclose(sides.printed.radius, EPS * operations * (1 + 15 + 8) * sides.size, rtol=1e-12)
    assert sides.derivative.radius.tolist() == sides.printed.radius.tolist()
    assert len(sides.size) == 2 * 3 * 6
    assert (np.abs(sides.derivative.value - sides.printed.value) <= 2 * sides.printed.radius).all()
    assert sides.printed.label[-1] == "A = 8, scores of deviation 3, direction 6"
    size = sides.size / np.repeat([0.5, 8.0], 18)
    assert size.min() >= 0.01
    assert size.max() < 1
    near = replace(data, embedding=(1 + 3e-13) * np.eye(4))
    wide = lemma4_sides(Run(near))
    per = wide.printed.radius / wide.size
    np.testing.assert_allclose(per, EPS * operations * 24 + 4 * gram_deviation(near), rtol=1e-12)


def test_lemma_5_blocks_of_records_leave_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    on = run("section-7", steps2=40)
    whole = lemma5_weights(on)
    for most in (1, 500):
        monkeypatch.setattr(lemma5, "MOST_TOGETHER", most)
        on.kept.clear()
        parts = lemma5_weights(on)
        np.testing.assert_array_equal(whole.rise, parts.rise)
        np.testing.assert_array_equal(whole.literal, parts.literal)


def test_lemma_5_read_literally_fails_at_the_start_where_another_token_has_several_positions() -> None:
    on = Run(with_copies(), Config(steps1=50, steps2=40, lr2=0.1))
    found = judged("ntp.lemma5", on)
    assert found.verdict is Verdict.HOLDS
    stage = on.training.stage2
    ahead = stage.score(0, 2) - stage.score(1, 2)
    last = int(stage.step[ahead < np.log(2)][-1])
    assert 0 < last < 40
    assert f"fails up to t = {last}," in found.detail
    assert "every record" in judged("ntp.lemma5", Run(pair(), Config(steps2=20))).detail


@pytest.mark.parametrize("error", [0.0, 1e-3])
def test_the_bars_of_lemma_5(error: float) -> None:
    on = small(error)
    found, step = lemma5_weights(on), on.training.stage2.step
    own = score_error(on) + FORMULA_ROUNDING
    assert found.error.tolist() == own.tolist()
    by_records = [(value, own, 0) for value in (found.position, found.token, found.inverse)]
    values = [(found.rise, own[1:] + own[:-1], 1), *by_records]
    judged_by_them = [part for name, part in lemma5.LEMMA5_PARTS.items() if "summed" not in name]
    for part, (value, radius, first) in zip(judged_by_them, values, strict=True):
        measured = as_series(part.measure(on), "measure")
        assert measured.log
        assert known(measured.step).tolist() == step[first:].tolist()
        assert measured.value.tolist() == value[first:].tolist()
        assert measured.radius.tolist() == radius.tolist()


def test_the_parts_of_lemma_5() -> None:
    on, t = small(), np.array([1.0, 5.0])
    parts = list(lemma5.LEMMA5_PARTS.values())
    limits = [part.upper(on, t).tolist() for part in parts if part.upper is not None]  # type: ignore[union-attr]
    L = on.dataset.L_max
    assert limits == [[0.0, 0.0]] * 3 + [pytest.approx([log] * 2) for log in (math.log(1 - 1 / L), math.log(L))]
    assert as_series(parts[3].measure(on), "measure").value.tolist() == stage2_log_other_weight(on, 0).value.tolist()
    found = LEDGER["ntp.lemma5"].judge(on)
    assert (found.verdict, found.curve) == (Verdict.HOLDS, None)
    assert all(f"{name}: holds." in found.detail for name in lemma5.LEMMA5_PARTS)


def test_contests_are_each_optimal_token_against_each_other_one() -> None:
    on = Run(
        Dataset(
            "one", tuple("oxq"), (Sample(tuple("ooxxq"), "x"),), (1,), next_token=dict(zip("oxq", "xqo", strict=True))
        ),
        Config(steps1=5, steps2=2),
    )
    found = lemma5_weights(on)
    assert (found.position[0], found.token[0], found.literal[0]) == (0.0, 0.0, math.log(2))
    o, x, q = np.exp([on.training.stage2.score_matrix(k, 3)[:, 2] for k in (0, 1)]).T
    assert found.rise[1] == pytest.approx(np.diff(np.log((2 * x + q) / (2 * o)))[0], rel=1e-9, abs=0)
    assert found.inverse[:2] == pytest.approx([math.log(5), math.log((2 * o + 2 * x + q)[1] / o[1])], rel=1e-12, abs=0)


def test_two_optimal_tokens_are_no_rivals_of_each_other() -> None:
    """Without an injective n; each has two positions, the query one."""
    n = dict(zip("oxq", "xxo", strict=True))
    on = Run(
        Dataset("two", tuple("oxq"), (Sample(tuple("ooxxq"), "x"),), (1,), next_token=n), Config(steps1=5, steps2=2)
    )
    found = lemma5_weights(on)
    assert (found.position[0], found.token[0], found.literal[0]) == (0.0, -math.log(2), 0.0)


def test_lemma_6_bounds_a_sum_of_steps_however_wide_the_error_bars_of_the_trajectory_are() -> None:
    on = Run(with_copies(), Config(steps2=50))
    stage = on.training.stage2
    wide = changed(on, distance_error=np.where(stage.step > 0, 1e-3, np.nan))
    assert judged("ntp.lemma6", wide).verdict is Verdict.HOLDS
    longer = changed(wide, norm=stage.norm * (1 + 1e-12))
    assert judged("ntp.lemma6", longer).verdict is Verdict.VIOLATED


def test_the_two_bounds_of_lemma_6_are_shown_together() -> None:
    curve, t = known(LEDGER["ntp.lemma6"].judge(small()).curve), np.arange(1, 7)
    assert curve.upper == pytest.approx(0.3 * t)
    assert curve.lower == pytest.approx(0.3 * t / (2 * small().dataset.L_max * small().norm_kq))
