"""Lemma 6, printed and sharper."""

import numpy as np
import pytest

from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.ntp import Config, Run
from tests.reports.ntp.samples import changed, judged, small, with_copies
from tests.solutions import known


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
