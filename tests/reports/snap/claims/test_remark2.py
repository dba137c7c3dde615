"""Remark 2: the lag of h* against the recursion in many digits."""

import mpmath
import numpy as np
import pytest

from marginaudit.reports import Verdict
from marginaudit.reports.snap.claims import remark2
from marginaudit.training.snap.growth import omega_1
from marginaudit.training.snap.limit.recursion import h_star
from tests.reports.snap.growth_runs import run, small
from tests.training.snap.growth import precise_logit, precise_star
from tests.twins import part

NOTHING, OPEN = Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE


def test_the_smallest_counterexample_to_remark_2() -> None:
    """M = 4, eta_Y = 0.5: from some step on h*(s) is beyond h(s + ln M), by the recursion in 60 digits."""
    M, eta_Y = 4, 0.5
    star, c = precise_star(200, M, eta_Y), mpmath.log(4)
    beyond = [s for s in range(1, 201) if star[s] > precise_logit(s + c, M, eta_Y)]
    first = beyond[0]
    assert beyond == list(range(first, 201))
    assert first > 2 * np.log(1 + omega_1(np.log([4.0]))[0]) / eta_Y
    lag = h_star(np.array([first - 1, first]), M, eta_Y).lag
    assert lag.value[0] + lag.error[0] < np.log(4) < lag.value[1] - lag.error[1]


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
    assert (found.verdict, "no step up to 1000000" in found.detail) == (OPEN, True)
    assert remark2.REMARK2_REDERIVED.judge(run(at=(10, 10**7))).verdict is Verdict.HOLDS
