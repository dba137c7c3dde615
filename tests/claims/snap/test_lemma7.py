"""Lemma 7 and Remark 2: the lag of h* against the recursion in many digits."""

import mpmath
import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.snap.appendix_d3_growth import lemma7, remark2
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star
from tests.claims.snap.samples import run, small
from tests.measured import judgement
from tests.training.snap.growth import precise_star
from tests.twins import part


def test_no_step_before_the_scan_ends() -> None:
    assert lemma7.largest_lag(1000, 7.0) is None
    assert lemma7.lags_by_vocabulary(small(50, lr_y=7.0)).step is not None
    assert len(lemma7.lags_by_vocabulary(small(50, lr_y=7.0))) == 13 - 1  # ln 1000 < 7 < ln 10000


def test_h_has_passed_the_first_step_of_the_recursion_where_the_limit_is_to_be_seen() -> None:
    for eta in (0.01, 1.0, 7.0, 30.0, 300.0):
        at = small(50, lr_y=eta)
        first, s = h_star(np.array([1]), at.M, eta).level.h, np.array([judgement("snap.lemma7.limit").regime(at)])
        assert continuous(s, at.M, eta).h.value > first.value


@pytest.mark.parametrize(("M", "eta_Y"), [(2, 0.01), (5000, 0.5), (10**9, 3.0)])
def test_the_proved_lag_is_less_than_the_lag(M: int, eta_Y: float) -> None:
    found = remark2.proved_lag(small(M, lr_y=eta_Y))
    assert found.step is not None
    assert found.value[0] >= 1 - 1e-12
    near = found.step[found.step < np.log(1e18)]
    s = np.ceil(np.exp(near)).astype(np.int64)
    assert (eta_Y * s >= 4 * np.log(M) + 8).all()
    lag = h_star(s, M, eta_Y).lag
    assert len(s)
    assert (lag.value - lag.error >= found.value[: len(s)] - found.radius[: len(s)]).all()


def test_the_lag_s_bounds_by_hand() -> None:
    on, bound = small(3, lr_y=2.0, at=(1, 5)), part(remark2.REMARK2_REDERIVED, "")
    I = [float(mpmath.log((2 + mpmath.exp(precise_star(5, 3, 2.0)[s])) / 3)) for s in (1, 5)]  # noqa: E741
    np.testing.assert_allclose(bound.lower(on, on.steps), [(i - 2) / 2 for i in I], rtol=1e-12)
    np.testing.assert_allclose(bound.upper(on, on.steps), [np.exp(2) * i / 2 for i in I], rtol=1e-12)


def test_no_lag_beyond_what_is_stepped() -> None:
    found = remark2.REMARK2_REDERIVED.judge(run(at=(10**7,)))
    assert (found.verdict, "no step up to 1000000" in found.detail) == (Verdict.INCONCLUSIVE, True)
    assert remark2.REMARK2_REDERIVED.judge(run(at=(10, 10**7))).verdict is Verdict.HOLDS
