"""What claims measure and why they say nothing: on records made by hand, and on runs too small to hide a mistake."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Evidence
from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.error_bars import log_excess_error, margin_error, score_error, state_error
from marginaudit.claims.ntp.quantities import (
    direction,
    enclosed,
    late_records,
    no_common_margin,
    no_direction_kq,
    no_direction_ov,
    no_infimum,
    no_kq_descent,
    no_margin,
    norm,
    recorded,
    stage2_direction,
    stage2_log_loss,
    stage2_norm,
)
from marginaudit.claims.series import FORMULA_ROUNDING, series
from marginaudit.orders.ntp import CASES, Dataset, Sample
from tests.claims.ntp.samples import SKEW, changed, pair, retrained
from tests.solutions import known

EPS = float(np.finfo(float).eps)
ALONE = Dataset.from_sentences("alone", ["aa"])
UNRELATED = Dataset.from_sentences("cycle", ["ab", "ba"])
PAIR = pair()
CYCLE = Dataset(
    "cycle", ("a", "b"), (Sample(("b", "a"), "a"), Sample(("b", "a"), "b")), (1, 1), next_token={"a": "b", "b": "a"}
)


def example(**config: Any) -> Run:
    return Run(CASES["example-1"](), Config(**({"steps1": 5, "steps2": 5} | config)))


def record(**columns: Any) -> Any:
    """A record of four steps."""
    plain = {
        "step": np.array([0, 1, 2, 3]),
        "norm": np.array([0.0, 1.0, 2.0, 3.0]),
        "distance": np.array([np.nan, 0.5, 0.25, np.nan]),
        "distance_error": np.array([np.nan, 0.125, 0.0625, 2.0]),
        "one_minus_cos": np.array([np.nan, 0.125, 0.03125, np.nan]),
    }
    return SimpleNamespace(**(plain | columns))


def test_a_direction_is_off_by_both_bars() -> None:
    found = direction(record(), 0.25, 1)
    assert known(found.step).tolist() == [1, 2, 3]
    assert found.value.tolist() == [0.125, 0.03125, 1.0]
    bars = [0.375, 0.3125]
    assert found.radius.tolist() == [bars[0] * (0.5 + bars[0] / 2), bars[1] * (0.25 + bars[1] / 2), np.inf]
    assert direction(record(), 0.0, 2).value.tolist() == [0.03125, 1.0]
    lost = record(distance_error=np.full(4, 2.0))
    assert np.isinf(direction(lost, 0.0, 1).radius).all()


def test_a_norm_is_off_by_what_the_state_is() -> None:
    found = norm(record(), 1)
    assert found.value.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(found.radius, [0.125 + FORMULA_ROUNDING, 0.125 + 2 * FORMULA_ROUNDING, np.inf])
    assert state_error(record()).tolist() == [0.0, 0.125, 0.125, np.inf]
    assert known(found.step).tolist() == [1, 2, 3]


def test_why_there_is_no_direction() -> None:
    assert no_margin(example()) is None
    assert no_direction_ov(example()) is None
    assert "one token" in str(no_margin(Run(ALONE)))
    assert "one token" in str(no_direction_ov(Run(ALONE, Config(steps1=0))))
    flat = Run(replace(UNRELATED, embedding=np.ones((2, 1))))
    assert "W*_ov does not exist" in str(no_margin(flat))
    assert no_direction_kq(example()) is None
    assert "W*_kq = 0 has no direction" in str(no_direction_kq(Run(UNRELATED)))
    assert "W*_kq = 0 is silent" in str(no_kq_descent(Run(UNRELATED), "is silent"))
    assert "W*_kq does not exist" in str(no_kq_descent(Run(CYCLE), ""))
    assert "Stage 1" in str(no_direction_kq(example(steps1=0)))
    with pytest.raises(BeyondTheRun, match=r"stage 2 has 1 step .* t = 2"):
        no_direction_kq(example(steps2=1))
    with pytest.raises(BeyondTheRun, match=r"stage 1 has 1 step .* t = 2"):
        no_direction_ov(example(steps1=1))
    assert no_direction_ov(example(steps1=1), first=1) is None


def test_why_there_is_no_infimum() -> None:
    assert no_infimum(example(steps2=0)) is None
    assert no_common_margin(example()) is None
    skew = Run(SKEW, Config(steps1=5, steps2=5))
    short = Run(SKEW, Config(steps1=5, steps2=0))
    for reason in (no_infimum(skew), no_common_margin(skew), no_common_margin(short)):
        assert "margins of W_ov" in str(reason)
    assert "W*_kq = 0" in str(no_infimum(Run(UNRELATED)))
    assert "W*_kq = 0" in str(no_common_margin(Run(UNRELATED)))


def test_what_was_recorded() -> None:
    for stage in (1, 2):
        recorded(example(at=(2, 3)), stage, 3)
        recorded(example(), stage, 5)
        recorded(example(at=(5,)), stage, 5)
        with pytest.raises(BeyondTheRun, match=f"stage {stage} from t = 4"):
            recorded(example(at=(2, 3)), stage, 4)
        with pytest.raises(BeyondTheRun, match=f"stage {stage} has 5 steps"):
            recorded(example(), stage, 6)
    recorded(example(steps1=9, steps2=2), 1, 9)
    recorded(example(steps1=2, steps2=9), 2, 9)


def test_the_norm_of_one_relation_is_that_of_a_sum_of_equal_steps() -> None:
    on = Run(PAIR, Config(steps1=5, steps2=6, lr2=0.5))
    stage = on.training.stage2

    def bars(norms: Any, data: Dataset = PAIR) -> Any:
        other = changed(on, norm=np.asarray(norms), distance_error=np.where(stage.step > 0, 0.5, np.nan))
        other.dataset = data
        return stage2_norm(other, 1)

    whole = 0.5 * stage.step
    found = bars(whole)
    assert found.step.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_array_equal(found.radius, FORMULA_ROUNDING * whole[1:])
    short = np.where(stage.step >= 4, whole - 0.5, whole)
    assert (bars(short).radius[3:] >= 0.5 * short[4:]).all()
    assert (bars(short).radius[:3] == FORMULA_ROUNDING * whole[1:4]).all()
    nearly = np.where(stage.step >= 4, whole - 0.2, whole)
    assert (bars(nearly).radius == FORMULA_ROUNDING * nearly[1:]).all()
    two = Dataset(
        "two", ("a", "b", "c"), (Sample(("b", "c", "a"), "a"),), (1,), next_token={"a": "b", "b": "a", "c": "c"}
    )
    assert (bars(whole, two).radius >= 0.5 * whole[1:]).all()
    assert stage2_norm(on, 4).value.tolist() == stage.norm[4:].tolist()


def test_the_loss_is_not_known_without_a_common_margin() -> None:
    skew = Run(SKEW, Config(steps1=5, steps2=5))
    assert np.isinf(stage2_log_loss(skew, 1).radius).all()
    plain = stage2_log_loss(example(), 2)
    assert np.isfinite(plain.radius).all()
    assert plain.log
    assert known(plain.step).tolist() == [2, 3, 4, 5]


def test_products_with_tokens_of_zeros_are_exact_and_with_tiny_ones_not_known() -> None:
    for size, expected in ((0.0, 0.0), (1e-200, np.inf)):
        on = Run(replace(PAIR, embedding=size * np.eye(2)), Config(steps1=2, steps2=2))
        for stage in (on.training.stage1, on.training.stage2):
            lost: Any = replace(stage, distance_error=np.full(len(stage), np.nan), norm=np.zeros(len(stage)))
            assert margin_error(on, lost)[-1] == expected
        unknown = retrained(on, stage2=lost)
        assert score_error(unknown)[-1] == pytest.approx(expected, abs=1e-13)
        assert not np.isnan(stage2_log_loss(unknown, 0).radius).any()


def test_scores_of_long_tokens_are_off_by_more() -> None:
    data = replace(PAIR, embedding=np.diag([1.0, 3.0]))
    on = Run(data, Config(steps1=5, steps2=4))
    stage = on.training.stage2
    size = stage.along * np.abs(stage.reference).max() + np.abs(stage.rest).max(axis=1)
    by_hand = 2 * 9 * state_error(stage) + EPS * (16 * size + 64)
    np.testing.assert_allclose(score_error(on)[1:], by_hand[1:], rtol=1e-12)
    assert score_error(on)[0] == 0
    first = on.training.stage1
    np.testing.assert_allclose(
        margin_error(on, first), 3 * np.sqrt(2) * state_error(first) + FORMULA_ROUNDING * first.norm, rtol=1e-12
    )


def test_the_excess_is_known_where_it_is_0() -> None:
    on = example(steps2=3)
    gone = changed(on, log_excess=np.array([-np.inf, *on.training.stage2.log_excess[1:]]))
    assert np.isfinite(log_excess_error(gone)).all()


def test_records_that_float64_lost_are_taken_from_the_enclosure() -> None:
    on = example(steps2=4)
    stage = on.training.stage2
    own = late_records(on, "log_excess", np.full(5, 0.25))
    assert known(own.step).tolist() == [1, 2, 3, 4]
    assert (own.value.tolist(), own.radius.tolist()) == (stage.log_excess[1:].tolist(), [0.25] * 4)
    assert own.evidence is Evidence.FLOAT64
    early = late_records(on, "log_excess", np.array([np.inf, np.inf, 0.1, 0.1, 0.1]))
    assert early.evidence is Evidence.FLOAT64
    lost = late_records(on, "log_excess", np.array([0.1, 0.1, 0.1, 0.1, np.inf]))
    assert lost.evidence is Evidence.CERTIFIED
    assert known(lost.step).tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(lost.value, stage.log_excess[1:], rtol=1e-9)
    assert (lost.radius < 1e-12).all()
    assert len(late_records(example(steps2=0), "log_excess", np.array([np.inf]))) == 0


def test_an_enclosure_takes_the_place_of_records_that_it_has_all_of() -> None:
    on = example(steps2=6, certify=4)
    found = known(on.enclosure)
    steps = np.array([1, 3, 4])
    measured = series([9.0, 9.0, 9.0], radius=9.0, step=steps)
    inside = enclosed(on, "norm", measured)
    at = np.searchsorted(found.step, steps)
    assert inside.value.tolist() == found.columns["norm"][0][at].tolist()
    assert inside.radius.tolist() == found.columns["norm"][1][at].tolist()
    assert inside.evidence is Evidence.CERTIFIED
    beyond = series([9.0, 9.0], radius=9.0, step=np.array([4, 5]))
    assert enclosed(on, "norm", beyond) is beyond
    bare = series([9.0], radius=9.0)
    assert enclosed(on, "norm", bare) is bare
    assert enclosed(example(), "norm", measured) is measured


def test_the_references_own_error_counts() -> None:
    on = example()
    off = retrained(on)
    off.__dict__["kq"] = replace(on.kq.optimal(), direction_radius=0.5)
    wide = direction(on.training.stage2, 0.5, 2)
    np.testing.assert_array_equal(stage2_direction(off, 2).radius, wide.radius)
    assert (stage2_direction(on, 2).radius < 1e-6).all()
