"""Theorem 2's thresholds where steps before the late ones meet them, and its floor: the true one, in balls."""

import math
from dataclasses import replace
from typing import TypeAlias

import flint
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from marginaudit.claims import Evidence, Verdict
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_c_stage2.theorem2_floor import (
    decide_floor,
    excess_along_reference,
    excess_at_random,
    log_losses,
)
from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.training.ntp import stage2_loss
from marginaudit.training.ntp.model.losses import infimum_ball as infimum
from marginaudit.training.ntp.model.losses import log_infimum_ball
from tests.claims.ntp.samples import judged, run, small
from tests.measured import judgement, measured

Floats: TypeAlias = NDArray[np.float64]


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
    assert needed_T(2, 2.9) > math.e
    assert needed_T(1, 2.7) == 2
    assert needed_T(1, 2.8) > 3
    assert needed_T(3, 2.8) > 3


@pytest.mark.parametrize(("less", "verdict"), [(0.5e-9, "holds"), (2e-9, "violated")])
def test_a_floor_that_is_a_little_too_low_is_not_approached(less: float, verdict: str) -> None:
    found = decide_floor(run("example-1", steps2=20), lambda V, A: log_infimum_ball(V, A) - less, lambda _: np.nan)
    assert f"is within 1e-9 of 0: {verdict}." in found.detail


def alone(data: Dataset, number: int) -> Dataset:
    """The dataset of one of the samples."""
    return replace(data, samples=data.samples[number : number + 1], counts=(1,))


ABSENT = Dataset("absent", ("a", "b", "q"), (Sample(("a", "q"), "a"),), (1,), next_token={"a": "b", "b": "a", "q": "q"})
"""No token of the sentence has its answer as next token."""


@pytest.mark.parametrize("data", [free_dataset(V=6, N=20, L=5, seed=2), ABSENT], ids=["answered", "not answered"])
def test_the_losses_in_ball_arithmetic_are_the_textbook_ones(data: Dataset) -> None:
    on = Run(data, Config(steps1=5, steps2=2))
    classes = on.training.classes
    S = np.random.default_rng(0).standard_normal((data.V, data.V))
    expected = {}
    for number, sample in enumerate(on.dataset.samples):
        key = on.dataset.index[sample.query], tuple(sorted(sample.bag.items())), on.dataset.index[sample.next]
        expected[key] = float(stage2_loss(alone(on.dataset, number), on.training.W_ov, S))
    with flint.ctx.workprec(128):
        balls = log_losses(on, S, list(range(len(classes))))
    for number, ball in enumerate(balls):
        edges = np.flatnonzero(classes.edge_class == number)
        bag = {on.dataset.vocabulary[classes.token[e]]: int(classes.multiplicity[e]) for e in edges}
        key = int(classes.query[number]), tuple(sorted(bag.items())), int(classes.next[number])
        assert float(ball.exp()) == pytest.approx(expected[key], rel=1e-9, abs=1e-15)


def test_no_search_finds_a_loss_below_the_floor() -> None:
    data = free_dataset(V=4, N=5, L=4, seed=0)
    on = Run(data, Config(steps1=20, steps2=2))
    A = on.training.margin
    floor = float(infimum(4, flint.arb(A)))
    assert floor == pytest.approx(np.log(1 + 3 * np.exp(-A)), rel=1e-12, abs=0)
    for one in (alone(data, number) for number in range(data.N)):

        def loss(flat: Floats, one: Dataset = one) -> float:
            return float(stage2_loss(one, on.training.W_ov, flat.reshape(4, 4)))

        found = minimize(loss, np.zeros(16), method="Nelder-Mead", options={"maxiter": 3_000}).fun
        assert floor * (1 - 1e-12) <= found
        assert found < floor * 1.01


@pytest.mark.parametrize("lr1", [0.1, 1e30, 1e100])
def test_infima_are_compared_in_balls(lr1: float) -> None:
    """Also where exp(-A) has no digits."""
    on = Run(small().dataset, Config(steps1=30, steps2=6, lr1=lr1, lr2=0.3))
    assert on.training.margin > lr1
    for found, entries in (
        (excess_along_reference(on, log_infimum_ball), 1),
        (excess_at_random(on, log_infimum_ball), 3),
    ):
        assert (found.evidence, found.log) == (Evidence.CERTIFIED, True)
        assert len(found) == len(found.label) == entries * len(on.training.classes)
        assert (found.value > 0).all()
        assert (found.radius < 1e-15 * np.maximum(1, found.value)).all()
    assert (excess_along_reference(on, log_infimum_ball).value < 1e-9).all()

    def one_label_more(V: int, A: flint.arb) -> flint.arb:
        return log_infimum_ball(V + 1, A)

    assert (excess_along_reference(on, one_label_more).value < -0.1).all()
    for name, verdict in (("ntp.theorem2.floor", Verdict.VIOLATED), ("sharp.floor.any-step", Verdict.INCONCLUSIVE)):
        judged = measured(LEDGER[name]).judge(on)
        assert judged.verdict is verdict, judged.detail
