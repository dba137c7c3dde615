"""The infimum of a sample's loss in ball arithmetic, for any A."""

import flint
import mpmath
import pytest
from mpmath import mp

from marginaudit.training.ntp.model.losses import log_infimum_ball, log_softplus

SIZES = (-1e60, -1000.0, -10.0, -54.0, -53.5, -52.0, -0.5, 0.0, 0.5, 52.0, 53.5, 10.0, 1000.0, 1e60)


def holds(ball: flint.arb, true: mpmath.mpf) -> bool:
    with flint.ctx.workprec(300):
        return bool(ball.contains(flint.arb(mpmath.nstr(true, 80))))


@pytest.mark.parametrize("x", SIZES)
def test_log_softplus_encloses_it_and_says_it_to_the_working_precision(x: float) -> None:
    with mp.workdps(100):
        # mpmath takes exp(-1e60) for what it is: a number with a long exponent
        true = mp.log(mp.log1p(mp.exp(mp.mpf(x)))) if x < 1000 else mp.log(mp.mpf(x) + mp.exp(-mp.mpf(x)))
        found = log_softplus(flint.arb(x))
        assert holds(found, true)
        assert float(found.rad()) <= 1e-14 * max(1.0, abs(float(true)))


def test_what_is_left_out_far_from_0_is_within_the_ball() -> None:
    with flint.ctx.workprec(300):
        precise = {x: log_softplus(flint.arb(x)) for x in (-60.0, 60.0)}
    for x, true in precise.items():
        assert log_softplus(flint.arb(x)).contains(true)
    with flint.ctx.workprec(600):
        near = flint.arb(-301)
        true = near.exp().log1p().log()
    with flint.ctx.workprec(300):
        assert log_softplus(near).contains(true)


def test_the_infimum_of_the_largest_margin_is_known() -> None:
    """T = 1e18 steps of 1e100, where an exponential has no digit left."""
    with flint.ctx.workprec(500):
        A = flint.arb(10) ** 118
        found = log_infimum_ball(4, A) + A
        assert abs(found - flint.arb(3).log()) < 1e-30
