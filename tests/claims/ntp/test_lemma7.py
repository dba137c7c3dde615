"""Lemma 7, printed, re-derived and sharper: verdicts; the two cosines that it compares, and their error bars."""

import math
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_c_stage2 import lemma7
from marginaudit.claims.ntp.appendix_c_stage2.lemma7 import lead_bound, lemma7_threshold, sharp_allowed
from marginaudit.claims.ntp.error_bars import state_error
from marginaudit.claims.series import FORMULA_ROUNDING
from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.training.ntp import loss_gradient
from tests.claims.ntp.samples import changed, judged, retrained, small
from tests.measured import measured
from tests.solutions import known


def test_lemma_7_is_decided_by_formula_before_its_threshold_and_on_the_run_beyond() -> None:
    data = CASES["example-1"]()
    before, beyond = Run(data, Config(steps2=100)), Run(data, Config(steps2=3_000))
    assert lemma7_threshold(before) == pytest.approx(8 * 3 * (13 / 6) / 0.025)
    short = judged("ntp.lemma7", before)
    assert (short.verdict, short.measured, short.informative_from) == (Verdict.HOLDS, None, 2_080)
    assert "sharp.lemma7" in short.detail
    assert "violated from t = 1" in short.detail
    long = judged("ntp.lemma7", beyond)
    assert known(long.worst_step) >= 2_080
    assert "t >= 2080: violated from t = 1" in long.detail


def test_a_gradient_that_rounding_hides_decides_nothing() -> None:
    on = small()
    stage = on.training.stage2
    lost = changed(on, descent_reference=np.where(stage.step >= 4, np.nan, stage.descent_reference))
    found = {name: measured(LEDGER[name]).judge(lost) for name in ("ntp.lemma7", "sharp.lemma7")}
    assert [one.verdict for one in found.values()] == [Verdict.INCONCLUSIVE, Verdict.VACUOUS]
    assert all(one.detail.startswith("From t = 4 on ") for one in found.values())


LEMMA_7 = ("sharp.lemma7", "ntp.lemma7", "ntp.lemma7.rederived")


@pytest.mark.parametrize(
    ("step_size", "vacuous"), [(1e-3, LEMMA_7[:1]), (0.015, ()), (0.05, ()), (0.3, LEMMA_7[1:]), (3e9, ())]
)
def test_without_a_gradient_a_bound_is_vacuous_where_the_longest_w_and_the_least_cosine_say_so(
    step_size: float, vacuous: tuple[str, ...]
) -> None:
    """At t eta = 1, 15, 50, 300 and 3e12; two of them begin at 8 L ||W*||^2 = 96."""
    on = Run(small().dataset, Config(steps1=30, steps2=1000, lr2=step_size, at=(0, 1, 999, 1000)))
    L, square, rarity = on.dataset.L_max, on.norm_kq**2, sum(on.dataset.counts) / min(on.dataset.counts)
    begins, reach = 8 * L * square / step_size, 1 - 1 / math.sqrt(2 * square)
    sharp = on.norm_kq * math.log(2 * L**3 * rarity)
    assert (begins > 1000) == (step_size < 0.3)
    assert (sharp / (1000 * step_size) / math.sqrt(2 * square) >= reach) == ("sharp.lemma7" in vacuous)
    lost = changed(on, descent_reference=np.full(4, np.nan))
    found = {name: measured(LEDGER[name]).judge(lost) for name in LEMMA_7}
    assert tuple(name for name, one in found.items() if one.verdict is Verdict.VACUOUS) == vacuous
    for name, one in found.items():
        assert one.detail.startswith("From t = 1 on ")
        assert one.verdict in (Verdict.VACUOUS, Verdict.INCONCLUSIVE)
        assert ("vacuous in any case" in one.detail) == (name in vacuous)


@pytest.mark.parametrize(("tokens", "relations"), [("oq", 1), ("oaq", 2)])
def test_every_bound_on_a_lead_is_vacuous_where_there_is_one_relation(tokens: str, relations: int) -> None:
    """With one relation W and W* lie on one ray, both cosines are the same, and any bound above 0 says nothing."""
    following = dict(zip("oaq", "aqo", strict=True))
    on = Run(
        Dataset("steps", tuple("oaq"), (Sample(tuple(tokens), "a"),), (1,), next_token=following),
        Config(steps1=7, lr1=20.0, steps2=150, lr2=3e14),
    )
    assert len(on.dataset.relations) == relations
    reach = 1 - 1 / math.sqrt(2 * float(on.kq.exact().norm_squared_exact))
    assert lemma7.largest_lead(on) == pytest.approx(reach, rel=1e-14, abs=1e-15)
    assert (lemma7.largest_lead(on) == 0) == (relations == 1)
    found = LEDGER["sharp.lemma7"].judge(on)
    assert found.informative_from == (None if relations == 1 else 1)


EPS = float(np.finfo(float).eps)


def lead(on: Run) -> Any:
    return lead_bound(sharp_allowed).measure(on)


def test_lemma_7_error_bars_hold_what_an_error_of_W_does() -> None:
    """W moved by as much as the record says it may be off: the cosines move by less than the error bar says."""
    on = Run(free_dataset(V=5, N=12, L=4, seed=1), Config(steps1=200, steps2=30, lr2=0.3))
    stage, best = on.training.stage2, on.kq.optimal().scores
    moved = 1e-5
    off = np.where(stage.step > 0, moved / np.where(stage.norm > 0, stage.norm, 1), 0.0)
    nominal, bars = lead(on), lead(changed(on, distance_error=off)).radius
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
    measured = lead(on)
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
    """Where scores alone are recorded, or s + al is not above 0, ||W|| - s as it is."""
    on = small()
    stage = on.training.stage2
    backwards = -9.0 - 0 * stage.along
    assert (backwards + stage.rest @ stage.reference < 0).all()
    for other in (retrained(on, form="embedding space"), changed(on, along=backwards)):
        stage = other.training.stage2
        value = (stage.descent_rest - (stage.norm - stage.along) * stage.descent_reference)[1:] / stage.norm[1:]
        assert lead(other).value.tolist() == value.tolist()


def test_norms_and_cosines_between_and_beyond_the_records() -> None:
    on = Run(small().dataset, Config(steps1=30, steps2=6, lr2=0.3, at=(0, 2, 6)))
    stage = on.training.stage2
    t = np.array([2.0, 4.0, 6.0, 10.0])
    norm, cos = stage.norm.tolist(), stage.descent_reference.tolist()
    norms = [norm[1], (norm[1] + norm[2]) / 2, norm[2], norm[2] + 4 * 0.3]
    cosines = [cos[1], (cos[1] + cos[2]) / 2, cos[2], cos[2]]
    for power in (1, 2):
        upper: Any = lead_bound(lambda _, norm, power=power: norm**power).upper  # type: ignore[misc]
        assert upper(on, t) == pytest.approx([n ** (power - 1) * c for n, c in zip(norms, cosines, strict=True)])
