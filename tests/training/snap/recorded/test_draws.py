"""Bars of drawn tokens: Chernoff's by its defining equation in many digits, and by the variance of the shares."""

import mpmath
import numpy as np
import pytest

from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.snap.recorded.draws import CHANCE, Draws
from marginaudit.training.snap.recorded.step import Sequence, Step, Tokens, WeightChange


def taken(data: SequenceClasses, shares: list[list[float]], error: float) -> Draws:
    """Draws of one class's sequences of such shares, each known up to an error."""
    M, none = data.M, np.zeros((data.M, data.M))
    step = Step(1, WeightChange(0.0, none, none, none), WeightChange(0.0, none, none, none), None)
    draws, tokens = Draws(data), Tokens(data)
    for share in shares:
        f = np.zeros(M)
        f[tokens.support[0]] = share
        draws.add(tokens, step, Sequence(0, f, error * f, none, none))
    return draws


def chernoff(p: float, n: int, asked: mpmath.mpf) -> float:
    """The d > 0 with n KL(p - d, p) = asked."""

    def off(d: mpmath.mpf) -> mpmath.mpf:
        x = p - d
        return n * (x * mpmath.log(x / p) + (1 - x) * mpmath.log((1 - x) / (1 - p))) - asked

    with mpmath.workdps(40):
        return float(mpmath.findroot(off, (1e-6, p - 1e-9), solver="anderson", tol=1e-30))


@pytest.mark.parametrize("length", [1, 20])
def test_the_bar_of_a_token_s_share(length: int) -> None:
    """Of a class that has a nine times as often as b: sequences of a alone and of b alone in turn, or 4 to 16 of 20."""
    data = SequenceClasses.from_weights("one", 3, [("n", "a", {"a": 9.0, "b": 1.0})])
    n, share = 2000, {1: (1.0, 0.0), 20: (0.75, 0.8)}[length]
    found = taken(data, [[share[i % 2], 1 - share[i % 2]] for i in range(n)], 1e-3).departure(n)
    assert found is not None
    asked = mpmath.log(4 * (1 + 2) * n * (n + 1) / CHANCE)  # a class and two tokens, at all counts
    bar = chernoff(0.9, n * length, asked) + 2e-3
    assert found.token == "a"
    assert found.error == pytest.approx(0.9 - np.mean(share), rel=1e-12, abs=0)
    assert found.bar == pytest.approx(bar, rel=1e-9, abs=0)


def test_the_bar_by_the_shares_own_variance_where_it_is_less() -> None:
    """Shares of no common denominator that hardly vary."""
    data = SequenceClasses.from_weights("one", 3, [("n", "a", {"a": 1.0, "b": 1.0})])
    n, rng = 4000, np.random.default_rng(0)
    shares = 0.4 + 1e-3 * rng.normal(size=n)
    found = taken(data, [[x, 1 - x] for x in shares.tolist()], 0.0).departure(n)
    assert found is not None
    asked = float(mpmath.log(4 * 3 * n * (n + 1) / CHANCE))
    bar = np.sqrt(2 * np.var(shares, ddof=1) * asked / n) + 7 * asked / (3 * (n - 1))
    assert found.bar == pytest.approx(bar, rel=1e-9, abs=0)
    assert bar < chernoff(0.5, n, asked)
