"""Remark 3: the sign by which it fails, and where its zero lies."""

import mpmath as mp
import pytest

from marginaudit.orders.snap import CASES
from marginaudit.reports import Verdict
from marginaudit.reports.snap.claims import CLAIMS, remark3
from marginaudit.reports.snap.run import ClassRun
from tests.reports.snap.samples import on
from tests.training.snap.growth import precise_logit
from tests.twins import parts

SINGLE = CASES["snap-single"]


def verdict(claim: str, at: ClassRun) -> Verdict:
    return CLAIMS[claim].judge(at).verdict


@pytest.mark.parametrize("eta", [0.02, 0.5, 0.99])
def test_remark_3_fails_by_one_sign_alone(eta: float) -> None:
    found = {name: part.judge(on(SINGLE(), lr_y=eta)).verdict for name, part in parts(remark3.REMARK3).items()}
    assert {name for name, one in found.items() if one is Verdict.VIOLATED} == {"M^-(1-omega_0) > M^-0.99"}
    assert set(found.values()) == {Verdict.VIOLATED, Verdict.HOLDS}
    assert verdict("snap.remark3.rederived", on(SINGLE(), lr_y=eta)) is Verdict.HOLDS
    assert verdict("snap.remark3", on(SINGLE(), lr_y=1.0)) is Verdict.NOT_APPLICABLE


def test_remark_3s_zero_is_where_the_two_are_equal() -> None:
    at = on(SINGLE())
    last = remark3.sides_in_time(at).step[199]  # type: ignore[index]
    x = precise_logit(last, at.M, at.eta_Y)
    assert mp.exp(x) < (at.M - 1) * x < mp.exp(x) * (1 + mp.mpf("1e-4"))
    assert mp.exp(precise_logit(1, at.M, at.eta_Y)) < (at.M - 1) * precise_logit(1, at.M, at.eta_Y)
