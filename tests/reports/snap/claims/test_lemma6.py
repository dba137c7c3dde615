"""Lemma 6: the time at which the differential equation reaches h."""

import mpmath
import numpy as np
import pytest

from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.snap.claims import lemma6
from marginaudit.training.snap.limit import continuous
from tests.reports.snap.growth_runs import contains, run, small
from tests.training.snap.growth import DIGITS, precise_logit

HOLDS, VIOLATED = Verdict.HOLDS, Verdict.VIOLATED


@pytest.mark.parametrize(("M", "eta_Y"), [(2, 30.0), (1000, 0.5), (10**9, 1e-3)])
def test_the_time_of_the_differential_equation(M: int, eta_Y: float) -> None:
    on = small(M, lr_y=eta_Y, at=(1, 20, 10**6, 10**18))
    x = continuous(on.steps, M, eta_Y).logit
    with mpmath.workdps(DIGITS):
        true = [
            mpmath.quad(lambda u: (M - 1 + mpmath.exp(u)) / (M * mpmath.mpf(eta_Y)), np.linspace(0, float(end), 9))
            for end in (precise_logit(int(s), M, eta_Y) for s in on.steps)
        ]
    found = lemma6.ode_times(on)
    contains(found, true)
    assert (found.radius <= 1e-12 * found.value).all()
    assert (x.value > 0).all()


def test_the_time_on_each_of_several_classes() -> None:
    assert LEDGER["snap.lemma6"].judge(run(at=(7, 900))).verdict is HOLDS
    np.testing.assert_allclose(lemma6.ode_times(run(at=(7, 900))).value, [3.5, 450.0], rtol=1e-12)
