"""Lemma 7: gaps and lags of the recursion in many digits."""

import mpmath
import numpy as np
import pytest

from marginaudit.reports import Verdict
from marginaudit.reports.series import series
from marginaudit.reports.snap.claims import lemma7, remark2
from tests.reports.snap.growth_runs import contains, run, small
from tests.training.snap.growth import DIGITS, precise_logit, precise_star
from tests.twins import twin

HOLDS, VIOLATED = Verdict.HOLDS, Verdict.VIOLATED


NOTHING, OPEN = Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("M", "eta_Y"), [(3, 0.5), (1000, 0.9), (100, 3.0)])
def test_gaps_and_lags(M: int, eta_Y: float) -> None:
    star = precise_star(60, M, eta_Y)
    on = small(M, lr_y=eta_Y, at=tuple(range(1, 61)))
    with mpmath.workdps(DIGITS):
        eta = mpmath.mpf(eta_Y)
        gaps = [(star[s] - precise_logit(s, M, eta_Y)) / eta for s in range(1, 61)]
        lags = [(mpmath.expm1(x) + (M - 1) * x) / (M * eta) - s for s, x in enumerate(star)]
    contains(lemma7.gaps(on), gaps)
    contains(remark2.lag(on), lags[1:])
    last = int(np.log(M) / eta_Y)
    largest = lemma7.largest_lag(M, eta_Y)
    assert largest is not None
    contains(series([largest[0]], radius=[largest[1]]), [lags[last]])
    assert largest[0] == pytest.approx(max(float(found) for found in lags[: last + 1]), rel=1e-9, abs=0)


def test_no_step_before_the_scan_ends() -> None:
    assert lemma7.largest_lag(1000, 7.0) is None
    assert lemma7.lags_by_vocabulary(small(50, lr_y=7.0)).step is not None
    assert len(lemma7.lags_by_vocabulary(small(50, lr_y=7.0))) == 13 - 1  # ln 1000 < 7 < ln 10000


def test_lags_are_swept() -> None:
    by_M, by_rate = lemma7.lags_by_vocabulary(run()), lemma7.lags_by_rate(run())
    assert (by_M.clock, by_rate.clock) == ("M", "1/eta_Y")
    assert by_M.step is not None
    assert by_rate.step is not None
    assert by_M.step[-1] >= 1e12 * by_M.step[0]
    assert by_rate.step[-1] >= 1e6 * by_rate.step[0] * (1 - 1e-12)
    for sweep in (by_M, by_rate):
        assert (sweep.value < 0.25).all()  # ln(1 + 0.567)/2 = 0.2246 for small eta_Y, 0.567 + ln 0.567 = 0


def test_lemma_7_limit() -> None:
    assert twin(lemma7.LEMMA7_LIMIT, "", predicted=lambda _: 1.1).judge(run()).verdict is VIOLATED
    assert lemma7.LEMMA7_LIMIT.judge(run(steps=20)).verdict is OPEN
    for eta_Y in (30.0, 499.0):  # the first step goes far beyond h, which catches up after exp(eta_Y)/eta_Y steps
        assert lemma7.LEMMA7_LIMIT.judge(small(2, lr_y=eta_Y)).verdict in (HOLDS, OPEN)
