"""Lemma 11: where it speaks, and what a class that was never drawn needs."""

import re
from dataclasses import replace
from math import ceil, log, sqrt

import numpy as np
import pytest

from marginaudit.claims.judgements import Parts
from marginaudit.claims.snap.appendix_d4_sampled_classes import lemma11
from marginaudit.claims.snap.appendix_d4_sampled_classes.enough_steps import enough
from marginaudit.claims.snap.appendix_d4_sampled_classes.lemma11 import LEMMA11, LEMMA11_ANY_DELTA
from marginaudit.claims.verdict import Verdict
from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.training.snap.counts.mean_counts import means
from marginaudit.training.snap.growth import larger_zero
from marginaudit.training.snap.limit.continuous import continuous
from tests.claims.snap.samples import on, run
from tests.twins import parts


@pytest.mark.parametrize("delta", [0.9, 0.1, 0.01, 1e-6])
def test_lemma_11_speaks_where_n_bar_is_much_greater_than_delta(delta: float) -> None:
    at = run("snap-symmetric")
    for steps in (enough, lemma11.late):
        N = steps(at, delta)
        Delta, mean = np.ceil(np.sqrt(N * log(1 / delta))), np.ceil(N / 3)
        assert (10 * Delta <= mean).all()
        assert N[0] < 1.8 * max(90, 900 * log(1 / delta)) or N[0] == lemma11.late(at)[0]
        assert N[-1] > 10**7 / 1.8 * N[0]
    assert lemma11.late(at, delta)[0] >= 6 * larger_zero(np.log([5000.0]))[0] / 0.5


def test_eq_62_with_eta_y_delta_is_judged_where_that_is_much_less_than_ln_m() -> None:
    slow = on(CASES["snap-single"](), lr_y=0.01)
    for at in (run("snap-single"), slow):
        found = lemma11.slow_turns(at)
        assert (found.missed.upper <= found.delta).all()
        label = [re.fullmatch(r"delta = (\S+), M = (\d+), N = (\d+)", one) for one in found.missed.label]
        told = np.array([[float(x) for x in one.groups()] for one in label if one])
        assert len(told) == len(label) > 20
        assert {5000, 10**9} <= set(told[:, 1])
        Delta = np.ceil(np.sqrt(told[:, 2] * np.log(1 / told[:, 0])))
        assert (10 * at.eta_Y * Delta / 3 <= np.log(told[:, 1])).all()
    assert len(lemma11.slow_turns(slow).delta) > 3 * len(lemma11.slow_turns(run("snap-single")).delta)
    fast = on(CASES["snap-single"](), lr_y=100.0)
    part = parts(LEMMA11)["Eq. 62 with 9 times eta_Y Delta/3, the chance of more"]
    assert part.judge(fast).verdict is Verdict.NOT_APPLICABLE
    assert LEMMA11.judge(fast).verdict is Verdict.HOLDS


def test_a_class_that_is_never_drawn() -> None:
    at = run("snap-symmetric")
    found = lemma11.undrawn(at)
    assert found.step is not None
    for N, value in zip(found.step.tolist(), found.value, strict=True):
        level = continuous([0.0, -(-N // 3)], 5000, 0.5).share.value
        assert value == pytest.approx(level[0] / level[1] - 1, rel=1e-10, abs=0)
    for N in (1000.0, 1e9):
        evidence = log(2) + N * log(1.5)
        expected = ceil(sqrt(N * evidence)) / ceil(N / 3)
        assert lemma11.barely_drawn(at, np.array([N]))[0] == pytest.approx(expected, rel=1e-9, abs=0)


def test_what_eq_61_and_late_eq_62_are_compared_with() -> None:
    """ceil(sqrt(1000 ln 10)) = 48, ceil(1000/3) = 334."""
    at = means(np.array([1000, 10**6]), 3, 5000, 0.5)
    assert lemma11.relative_radius(at, 0.1) == pytest.approx([48 / 334, 1518 / 333334], rel=1e-14, abs=0)


@pytest.mark.parametrize("M", [12, 10005, 10**8])
@pytest.mark.parametrize("lr_y", [1e-7, 4e-7, 1e-6, 1e-5, 1e-4, 1e-2, 0.5, 3.0, 30.0])
def test_eq_62_is_not_refuted_where_its_constant_is_still_to_rise(lr_y: float, M: int) -> None:
    """|log g|' <= eta_Y M/4/(M-1), so that eta_Y Delta/3 needs a constant of about 1 at most, whatever eta_Y is."""
    classes = [(f"n{n}", "q", {"a": 2.0, "b": 1.0 + n}) for n in range(3)]
    at = on(SequenceClasses.from_weights("three", M, classes), lr_y=lr_y)
    verdicts = {LEMMA11.judge(at).verdict}
    for name, part in parts(LEMMA11_ANY_DELTA).items():
        if name.startswith("Eq. 62 with eta_Y Delta/3"):
            verdicts.add(replace(LEMMA11_ANY_DELTA, judgement=Parts({name: part})).judge(at).verdict)
    assert verdicts <= {Verdict.HOLDS, Verdict.INCONCLUSIVE}
    if 1e-4 <= lr_y <= 3:
        assert verdicts == {Verdict.HOLDS}
