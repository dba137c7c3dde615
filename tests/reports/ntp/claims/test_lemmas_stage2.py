"""The error bars of Lemmas 4 to 7 and what is said beside their verdicts, term by term."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import flint
import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset, gram_deviation
from marginaudit.reports import LEDGER, Evidence, Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims import lemma5, lemma6
from marginaudit.reports.ntp.claims.lemma4 import lemma4_sides
from marginaudit.reports.ntp.claims.lemma5 import lemma5_weights
from marginaudit.reports.ntp.error_bars import score_error, state_error
from marginaudit.reports.ntp.quantities import stage2_log_other_weight, stage2_norm
from marginaudit.reports.ntp.sharper import lemma7 as sharp_lemma7
from marginaudit.reports.ntp.sharper.floor import _at_random, _far_along_reference
from marginaudit.reports.ntp.sharper.lemma7 import sharp_allowed
from marginaudit.reports.series import FORMULA_ROUNDING
from marginaudit.training.ntp.model.infimum import log_infimum_ball
from tests.measured import measured

EPS = float(np.finfo(float).eps)


@cache
def run(error: float = 0.0) -> Run:
    """A small run whose state is stated to be off by so much, relative."""
    on = Run(free_dataset(V=5, N=9, L=4, seed=1, max_count=50), Config(steps1=30, steps2=6, lr2=0.3))
    if error:
        stage = on.training.stage2
        wide = replace(stage, distance_error=np.where(stage.step > 0, error * stage.step, np.nan))
        on.__dict__["trained"] = replace(on.training, stage2=wide)
    return on


@pytest.mark.parametrize("error", [0.0, 1e-3])
def test_the_bars_of_lemma_5(error: float) -> None:
    on = run(error)
    found, step = lemma5_weights(on), on.training.stage2.step
    own = score_error(on) + FORMULA_ROUNDING
    assert found.error.tolist() == own.tolist()
    for measure, value, radius, first in (
        (lemma5._rise, found.rise, own[1:] + own[:-1], 1),
        (lemma5._position, found.position, own, 0),
        (lemma5._token, found.token, own, 0),
    ):
        measured = measure(on)
        assert measured.log
        assert measured.step is not None
        assert measured.step.tolist() == step[first:].tolist()
        assert measured.value.tolist() == value[first:].tolist()
        assert measured.radius.tolist() == radius.tolist()


def test_the_parts_of_lemma_5() -> None:
    on, t = run(), np.array([1.0, 5.0])
    parts = list(lemma5.LEMMA5_PARTS.values())
    limits = [part.upper(on, t).tolist() for part in parts if part.upper is not None]  # type: ignore[union-attr]
    L = on.dataset.L_max
    assert limits == [[0.0, 0.0]] * 3 + [pytest.approx([math.log(1 - 1 / L)] * 2)]
    assert parts[3].measure(on).value.tolist() == stage2_log_other_weight(on, 0).value.tolist()
    found = LEDGER["ntp.lemma5"].judge(on)
    assert (found.verdict, found.curve) == (Verdict.HOLDS, None)
    assert all(f"{name}: holds." in found.detail for name in lemma5.LEMMA5_PARTS)


@pytest.mark.parametrize("error", [0.0, 1e-3])
def test_the_bars_of_lemma_7(error: float) -> None:
    on = run(error)
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
    on = run()
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
    on = Run(run().dataset, Config(steps1=30, steps2=6, lr2=0.3, at=(0, 2, 6)))
    stage = on.training.stage2
    t = np.array([2.0, 4.0, 6.0, 10.0])
    norm, cos = stage.norm.tolist(), stage.descent_reference.tolist()
    assert sharp_lemma7._norm_at(on, t) == pytest.approx([norm[1], (norm[1] + norm[2]) / 2, norm[2], norm[2] + 4 * 0.3])
    assert sharp_lemma7._cos_at(on, t) == pytest.approx([cos[1], (cos[1] + cos[2]) / 2, cos[2], cos[2]])


def test_a_gradient_that_rounding_hides_decides_nothing() -> None:
    on = run()
    stage = on.training.stage2
    lost = replace(stage, descent_reference=np.where(stage.step >= 4, np.nan, stage.descent_reference))
    other = Run(on.dataset, on.config)
    other.__dict__ |= {"trained": replace(on.training, stage2=lost), "kq": on.kq}
    found = {name: measured(LEDGER[name]).judge(other) for name in ("ntp.lemma7", "sharp.lemma7")}
    assert [one.verdict for one in found.values()] == [Verdict.INCONCLUSIVE, Verdict.VACUOUS]
    assert {one.detail.partition(".")[0] for one in found.values()} == {"From t = 4 on rounding hides the gradient"}


LEMMA_7 = ("sharp.lemma7", "ntp.lemma7", "ntp.lemma7.rederived")


@pytest.mark.parametrize(("step_size", "vacuous"), [(1e-3, LEMMA_7[:1]), (0.05, ()), (0.3, LEMMA_7[1:]), (3e9, ())])
def test_without_a_gradient_a_bound_is_vacuous_where_the_longest_w_and_the_least_cosine_say_so(
    step_size: float, vacuous: tuple[str, ...]
) -> None:
    """At t eta = 1, 50, 300 and 3e12; two of them begin at 8 L ||W*||^2 = 96."""
    on = Run(run().dataset, Config(steps1=30, steps2=1000, lr2=step_size, at=(0, 1, 999, 1000)))
    L, square, rarity = on.dataset.L_max, on.norm_kq**2, sum(on.dataset.counts) / min(on.dataset.counts)
    begins, reach = 8 * L * square / step_size, 1 - 1 / math.sqrt(2 * square)
    sharp = on.norm_kq * math.log(2 * L**3 * rarity)
    assert (begins > 1000) == (step_size < 0.3)
    assert (sharp / (1000 * step_size) / math.sqrt(2 * square) >= reach) == ("sharp.lemma7" in vacuous)
    stage = on.training.stage2
    on.__dict__["trained"] = replace(on.training, stage2=replace(stage, descent_reference=np.full(4, np.nan)))
    found = {name: measured(LEDGER[name]).judge(on) for name in LEMMA_7}
    assert tuple(name for name, one in found.items() if one.verdict is Verdict.VACUOUS) == vacuous
    for name, one in found.items():
        assert one.detail.startswith("From t = 1 on rounding hides the gradient.")
        assert one.verdict in (Verdict.VACUOUS, Verdict.INCONCLUSIVE)
        assert ("whatever it is" in one.detail) == (name in vacuous)


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
    assert sharp_lemma7.largest_lead(on) == pytest.approx(reach, rel=1e-14, abs=1e-15)
    assert (sharp_lemma7.largest_lead(on) == 0) == (relations == 1)
    found = LEDGER["sharp.lemma7"].judge(on)
    assert found.informative_from == (None if relations == 1 else 1)


def test_the_bars_of_lemma_4_hold_rounding_and_the_gram_matrix() -> None:
    data = CASES["example-1"]()
    sides = lemma4_sides(Run(data))
    operations = data.N + data.L_max + 2 * data.V
    np.testing.assert_allclose(sides.printed.radius, EPS * operations * (1 + 15 + 8) * sides.size, rtol=1e-12)
    assert sides.derivative.radius.tolist() == sides.printed.radius.tolist()
    assert len(sides.size) == 2 * 3 * 6
    assert sides.printed.label[-1] == "A = 8, scores of deviation 3, direction 6"
    assert (sides.size >= np.repeat([0.005, 0.08], 18)).all()
    near = replace(data, embedding=(1 + 3e-13) * np.eye(4))
    wide = lemma4_sides(Run(near))
    per = wide.printed.radius / wide.size
    np.testing.assert_allclose(per, EPS * operations * 24 + 4 * gram_deviation(near), rtol=1e-12)


def test_the_two_bounds_of_lemma_6_are_shown_together() -> None:
    found = LEDGER["ntp.lemma6"].judge(run())
    assert found.curve is not None
    t = np.arange(1, 7)
    assert found.curve.upper == pytest.approx(0.3 * t)
    assert found.curve.lower == pytest.approx(0.3 * t / (2 * run().dataset.L_max * run().norm_kq))
    wide = lemma6.of_steps(replace(stage2_norm(run(), first=1), radius=np.full(6, np.inf)))
    np.testing.assert_array_equal(wide.radius, FORMULA_ROUNDING * wide.value)


def test_contests_are_each_optimal_token_against_each_other_one() -> None:
    on = Run(
        Dataset(
            "one", tuple("oxq"), (Sample(tuple("ooxxq"), "x"),), (1,), next_token=dict(zip("oxq", "xqo", strict=True))
        ),
        Config(steps1=5, steps2=2),
    )
    found: Any = lemma5._contests(on)
    assert found.first.tolist() == [0]
    assert found.log_winner.tolist() == [math.log(2)] * 2
    assert sorted(found.log_loser.tolist()) == [0.0, math.log(2)]
    assert found.between_classes.all()


def test_infima_are_compared_in_balls() -> None:
    on = run()
    for found, entries in ((_far_along_reference(on, log_infimum_ball), 1), (_at_random(on, log_infimum_ball), 3)):
        assert (found.evidence, found.log) == (Evidence.CERTIFIED, True)
        assert len(found) == len(found.label) == entries * len(on.training.classes)
        assert (found.value > 0).all()
        assert (found.radius < 1e-15 * np.maximum(1, found.value)).all()
    assert (_far_along_reference(on, log_infimum_ball).value < 1e-9).all()


@pytest.mark.parametrize("lr1", [1e30, 1e100])
def test_infima_are_compared_where_exp_of_minus_A_has_no_digits(lr1: float) -> None:
    on = Run(run().dataset, Config(steps1=30, steps2=6, lr1=lr1, lr2=0.3))
    assert on.training.margin > lr1
    for found in (_far_along_reference(on, log_infimum_ball), _at_random(on, log_infimum_ball)):
        assert (found.value > 0).all()
        assert (found.radius < 1e-15 * np.maximum(1, found.value)).all()
    assert (_far_along_reference(on, log_infimum_ball).value < 1e-9).all()

    def one_label_more(V: int, A: flint.arb) -> flint.arb:
        return log_infimum_ball(V + 1, A)

    assert (_far_along_reference(on, one_label_more).value < -0.1).all()
    for name, verdict in (("ntp.theorem2.floor", Verdict.VIOLATED), ("sharp.floor.any-step", Verdict.INCONCLUSIVE)):
        judged = LEDGER[name].judge(on)
        assert judged.verdict is verdict, judged.detail
