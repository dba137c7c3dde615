"""Theorem 2's thresholds, t >= kappa log^2 t and T >= kappa log T, where steps before the late ones meet them."""

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset, Sample
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.verdict import Verdict
from tests.measured import judgement
from tests.reports.ntp.samples import judged


@pytest.fixture(scope="module")
def rare() -> Run:
    """Three relations, two of them rare, and steps so long that kappa is 3.0: true of 2 and of all from 42 on."""
    samples = tuple(Sample((x, y), y) for x, y in ("ab", "bc", "ca"))
    data = Dataset("rare", tuple("abc"), samples, (8 * 10**15, 10**7, 1), dict(zip("abc", "bca", strict=True)))
    return Run(data, Config(steps1=2, lr1=1800.0, steps2=60, lr2=91584.0))


@pytest.mark.parametrize("name", ["weight", "loss"])
def test_a_step_before_the_late_ones_is_judged(rare: Run, name: str) -> None:
    found = judged(f"ntp.theorem2.{name}.any-step", rare)
    assert (found.verdict, found.first_violation, found.informative_from) == (Verdict.VIOLATED, 2, 2)


def needed_T(T: int, kappa: float) -> float:
    """The T that Theorem 2 needs, of a run with T steps of stage 1, so long that the factor of log T is kappa."""
    data = CASES["example-1"]()
    lr1 = float(384 * Run(data, Config()).norm_ov ** 5 * np.log(data.V) / kappa)
    found: float = judgement("ntp.theorem2.weight").threshold(Run(data, Config(steps1=T, lr1=lr1))).needed
    return found


def test_a_stage_1_of_two_steps_may_be_long_enough() -> None:
    assert [needed_T(2, kappa) for kappa in (2.7, 2.8)] == [2, 2]
    assert needed_T(2, 2.9) > np.e
    assert needed_T(1, 2.7) == 2
    assert needed_T(1, 2.8) > 3
    assert needed_T(3, 2.8) > 3
