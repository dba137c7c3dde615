"""h*(s) against the recursion in high precision, and beyond the steps that are taken."""

from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit.training.snap.limit import recursion
from marginaudit.training.snap.limit.recursion import gap, h_star, take
from tests.training.snap.growth import DIGITS, precise_logit, precise_star, within

SETTINGS = [
    (2, 1.0),
    (3, 0.5),
    (3, 10.0),
    (50, 3.7),
    (1000, 0.5),
    (1000, 10.0),
    (10**9, 0.9),
    (10**9, 10.0),
    (30, 1e-3),
    (40, 1e-6),
]
STEPS = 400


def lags(x: list[mpmath.mpf], M: int, eta: float) -> list[mpmath.mpf]:
    """How much later h is where h* is: eq. 45 solved for the time, minus the step."""
    with mpmath.workdps(DIGITS):
        c = mpmath.mpf(M) * mpmath.mpf(eta)
        return [(mpmath.expm1(x[s]) + (M - 1) * x[s]) / c - s for s in range(len(x))]


@pytest.mark.parametrize(("M", "eta"), SETTINGS)
def test_every_step_is_within_its_bar(M: int, eta: float) -> None:
    found, x = h_star(np.arange(STEPS + 1), M, eta), precise_star(STEPS, M, eta)
    assert within(found.level.logit, x) <= 1
    with mpmath.workdps(DIGITS):
        assert within(found.level.share, [1 / (M - 1 + mpmath.exp(y)) for y in x]) <= 1
    assert within(found.lag, lags(x, M, eta)) <= 1
    assert (found.level.logit.error[1:] <= 3e-15 * found.level.logit.value[1:]).all()
    assert (found.lag.error[1:] <= 2e-12 * found.lag.value[1:]).all()


@pytest.mark.parametrize(("M", "eta"), SETTINGS)
def test_beyond_the_steps_taken_the_truth_is_within_narrow_bars(
    M: int, eta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recursion, "TAKEN", 100)
    steps, x = np.arange(101, STEPS + 1), precise_star(STEPS, M, eta)
    found = h_star(steps, M, eta)
    assert within(found.level.logit, x[101:]) <= 1
    assert within(found.lag, lags(x, M, eta)[101:]) <= 1
    d = M * eta * h_star(100, M, eta).level.share.value
    since = found.lag.value - h_star(100, M, eta).lag.value
    assert (found.lag.error <= d * (0.51 + 0.6 * since) + 1e-12 * (1 + found.lag.value)).all()


@pytest.mark.parametrize(("M", "eta"), SETTINGS)
def test_the_gap_is_within_its_bar_and_known_where_rounding_hides_it(M: int, eta: float) -> None:
    x = precise_star(STEPS, M, eta)
    steps = h_star(np.arange(STEPS + 1), M, eta)
    found = gap(steps, eta)
    with mpmath.workdps(DIGITS):
        assert within(found, [(y - precise_logit(s, M, eta)) / M for s, y in enumerate(x)]) <= 1
    assert (found.error <= 3e-15 * steps.level.h.value).all()
    far = gap(h_star([10**12, 10**18], M, eta), eta)
    assert (far.error < 1e-4 * far.value).all()
    # about log(1 + eta s)/2 over s
    assert (far.value[1] < 2e-6 * far.value[0]).all()


def test_steps_are_those_of_one_walk_whatever_was_asked_for_before() -> None:
    M, eta = 17, 0.75  # of no other test
    some = h_star([40, 7, 900], M, eta)
    whole = h_star(np.arange(1000), M, eta)
    recursion.state_cache.cache_clear()
    anew = h_star(np.arange(1000), M, eta)
    for found, at in ((some, [40, 7, 900]), (whole, range(1000))):
        for name in ("value", "error"):
            assert (getattr(found.lag, name) == getattr(anew.lag, name)[at]).all()
            assert (getattr(found.level.logit, name) == getattr(anew.level.logit, name)[at]).all()


def test_a_later_step_starts_from_a_state_nearby(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def counted(at: Any, known: Any, *others: Any) -> None:
        taken.append(int((at - known).max()))
        take(at, known, *others)

    monkeypatch.setattr(recursion, "take", counted)
    cache = recursion.StateCache(50, 0.25)
    cache.states(np.array([3, 100_000]))
    assert (cache.states(np.array([77_777])) == recursion.StateCache(50, 0.25).states(np.array([77_777]))).all()
    assert taken[1] == 77_777 % recursion.BETWEEN


def test_steps_keep_their_order_and_shape() -> None:
    found = h_star([[5, 0], [2_000_000, 5]], 50, 0.5)
    alone = h_star(2_000_000, 50, 0.5)
    assert found.level.logit.value.shape == (2, 2)
    assert found.level.logit.value[0, 0] == found.level.logit.value[1, 1] > found.level.logit.value[0, 1] == 0
    assert found.level.logit.value[1, 0] == alone.level.logit.value
    assert found.step.tolist() == [[5, 0], [2_000_000, 5]]


def test_bad_steps_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^at: got step -3"):
        h_star([1, -3], 50, 0.5)
    with pytest.raises(ValueError, match=r"^M: got 1, expected"):
        h_star([1], 1, 0.5)
