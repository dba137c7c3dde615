"""Bars of drawn tokens, by the formula of Maurer and Pontil on draws with known mean and variance."""

from math import log, sqrt

import numpy as np
import pytest

from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.snap.recorded.draws import CHANCE, Draws
from marginaudit.training.snap.recorded.step import Change, Sequence, Step, Tokens


def test_the_bar_of_a_token_s_share() -> None:
    """Sequences of a alone and of b alone in turn, known to 1e-3, of a class that has a nine times as often."""
    data = SequenceClasses.from_weights("one", 3, [("n", "a", {"a": 9.0, "b": 1.0})])
    n, none = 2000, np.zeros((3, 3))
    step = Step(1, Change(0.0, none, none, none), Change(0.0, none, none, none), None)
    draws, tokens = Draws(data), Tokens(data)
    a, b = tokens.support[0]
    for i in range(n):
        f = np.zeros(3)
        f[b if i % 2 else a] = 1.0
        draws.add(tokens, step, Sequence(0, f, 1e-3 * f, none, none))
    found = draws.departure(n)
    assert found is not None
    asked = log(4 * (1 + 2) * n * (n + 1) / CHANCE)  # a class and two tokens, at all counts
    variance = n / (n - 1) / 4
    bar = sqrt(2 * variance * asked / n) + 7 * asked / (3 * (n - 1)) + 2e-3
    assert found.token == "a"
    assert found.error == pytest.approx(0.4, rel=1e-12, abs=0)
    assert found.bar == pytest.approx(bar, rel=1e-12, abs=0)
