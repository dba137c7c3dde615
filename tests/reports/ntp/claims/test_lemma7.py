"""Lemma 7, printed, re-derived and sharper: verdicts."""

import math
from dataclasses import replace

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset, Sample
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims.lemma7 import lemma7_threshold
from marginaudit.reports.ntp.sharper import lemma7 as sharp_lemma7
from tests.measured import measured
from tests.reports.ntp.samples import judged, small


def test_lemma_7_is_decided_by_formula_before_its_threshold_and_on_the_run_beyond() -> None:
    data = CASES["example-1"]()
    before, beyond = Run(data, Config(steps2=100)), Run(data, Config(steps2=3_000))
    assert lemma7_threshold(before) == pytest.approx(8 * 3 * (13 / 6) / 0.025)
    short = judged("ntp.lemma7", before)
    assert (short.verdict, short.measured, short.informative_from) == (Verdict.HOLDS, None, 2_080)
    assert "sharp.lemma7" in short.detail
    assert "Without the threshold: violated from t = 1" in short.detail
    long = judged("ntp.lemma7", beyond)
    assert long.worst_step is not None
    assert long.worst_step >= 2_080
    assert "Without the threshold t >= 2080: violated from t = 1" in long.detail


def test_a_gradient_that_rounding_hides_decides_nothing() -> None:
    on = small()
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
    on = Run(small().dataset, Config(steps1=30, steps2=1000, lr2=step_size, at=(0, 1, 999, 1000)))
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
