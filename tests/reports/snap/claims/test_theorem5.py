"""Theorem 5: verdicts, controls, and theta's bound by the binomial law."""

from functools import cache
from math import ceil, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from marginaudit.orders.snap import CASES, SequenceClasses, broken, single_common_dataset
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import HiddenConstant
from marginaudit.reports.judgements.parts import Parts
from marginaudit.reports.snap.ball_sgd import descended
from marginaudit.reports.snap.claims.corollary1 import COROLLARY1, COROLLARY1_REDERIVED
from marginaudit.reports.snap.claims.theorem5 import THEOREM5, THEOREM5_ANY_STEP, THEOREM5_REDERIVED, explicit
from marginaudit.reports.snap.run import ClassConfig, ClassRun
from marginaudit.reports.verdict import Verdict
from marginaudit.training.snap.limit import class_counts
from tests.training.snap.growth import precise_star

BOTH = pytest.mark.parametrize(
    "claim", [THEOREM5, THEOREM5_ANY_STEP, COROLLARY1], ids=["theorem5", "theorem5.any-step", "corollary1"]
)


@cache
def run(name: str) -> ClassRun:
    return ClassRun(CASES[name](), ClassConfig(steps=10**18, seeds=1000))


@BOTH
def test_verdicts(claim: Claim) -> None:
    expected = Verdict.VIOLATED if claim is COROLLARY1 else Verdict.HOLDS
    assert claim.judge(run("snap-single")).verdict is expected
    assert claim.judge(run("snap-symmetric")).verdict is expected
    assert claim.judge(run("snap-medium")).verdict is Verdict.NOT_APPLICABLE
    assert COROLLARY1_REDERIVED.judge(run("snap-medium")).verdict is Verdict.HOLDS


@BOTH
def test_controls(claim: Claim) -> None:
    good = single_common_dataset(K=2, M=5000, seed=0)
    for part in ("wide_vocabulary", "small_overlap", "spread_overlap", "uniform_classes"):
        found = claim.judge(ClassRun(broken(good, part)))
        assert found.verdict is Verdict.NOT_APPLICABLE
        assert found.witness
    assert claim.judge(ClassRun(good, ClassConfig(steps=39))).verdict is Verdict.INCONCLUSIVE
    late = ClassRun(good, ClassConfig(steps=10**6, seeds=1))
    assert claim.judge(late).verdict is (Verdict.VIOLATED if claim is COROLLARY1 else Verdict.INCONCLUSIVE)
    fast = claim.judge(ClassRun(good, ClassConfig(lr_y=1e3)))
    assert fast.verdict is (Verdict.INCONCLUSIVE if claim is THEOREM5_ANY_STEP else Verdict.NOT_APPLICABLE)


def test_theorem_5_fails_at_large_step_sizes() -> None:
    """The first step leads to M h* = eta_Y, and theta does not fall for as long as h is far below."""
    fast = ClassRun(CASES["snap-single"](), ClassConfig(steps=10**18, seeds=1000, lr_y=100.0))
    assert THEOREM5_ANY_STEP.judge(fast).verdict is Verdict.VIOLATED
    assert THEOREM5.judge(fast).verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize("eta_Y", [1e-3, 0.5, 7.0, 100.0])
def test_the_rederived_one_holds_at_any_step_size(eta_Y: float) -> None:
    for name in ("snap-single", "snap-medium"):
        on = ClassRun(CASES[name](), ClassConfig(steps=10**18, lr_y=eta_Y))
        assert THEOREM5_REDERIVED.judge(on).verdict is Verdict.HOLDS


def test_controls_of_the_rederived_one() -> None:
    good = single_common_dataset(K=2, M=5000, seed=0)
    same = SequenceClasses.from_weights("same", 5000, [(n, "q", {"a": 1}) for n in "mn"])
    for on, verdict in (
        (ClassRun(broken(good, "uniform_classes")), Verdict.NOT_APPLICABLE),
        (ClassRun(same), Verdict.NOT_APPLICABLE),
        (ClassRun(good, ClassConfig(lr_y=501)), Verdict.INCONCLUSIVE),
        (ClassRun(good, ClassConfig(steps=39)), Verdict.INCONCLUSIVE),
        (ClassRun(broken(good, "small_overlap"), ClassConfig(steps=10**6)), Verdict.HOLDS),
    ):
        assert THEOREM5_REDERIVED.judge(on).verdict is verdict


@pytest.mark.parametrize("eta_Y", [0.5, 7.0, 100.0])
@pytest.mark.parametrize(("M", "N"), [(3, 1), (3, 7), (50, 40), (5000, 101)])
def test_the_rederived_bound_by_the_binomial_law(M: int, N: int, eta_Y: float) -> None:
    """Of two classes, one has k steps and the other N - k; the recursion in 60 digits."""
    star, mean = precise_star(N, M, eta_Y), ceil(N / 2)
    theta = [max(abs(star[s] / star[mean] - 1) for s in (k, N - k)) for k in range(N + 1)]
    for delta in (0.5, 0.1, 0.01):
        bound = float(explicit(delta)(run("snap-single"), np.array([float(N)]))[0])
        assert bound == pytest.approx((sqrt(N / 2 * log(4 / delta)) + 1) / mean, rel=1e-14, abs=0)
        missed = sum(binom.pmf(k, N, 0.5) for k in range(N + 1) if theta[k] > bound)
        assert missed <= delta


def test_what_every_part_is_measured_on_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"counts": 0, "descended": 0}

    def counted(name: str, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            calls[name] += 1
            return function(*arguments)

        return call

    room = "marginaudit.reports.snap"
    monkeypatch.setattr(f"{room}.quantiles.class_counts", counted("counts", class_counts))
    monkeypatch.setattr(f"{room}.decoder.descended", counted("descended", descended))
    on = ClassRun(CASES["snap-single"](), ClassConfig(steps=10**6, seeds=20))
    for claim in (THEOREM5, COROLLARY1):
        claim.judge(on)
    assert calls == {"counts": 1, "descended": 1}


def test_shapes_by_hand() -> None:
    on, N = run("snap-symmetric"), np.array([100.0, 1e6])
    for claim, name, expected in (
        (THEOREM5, "Theta, delta = 0.01", [3 / sqrt(n) * sqrt(log(300)) for n in N]),
        (COROLLARY1, "Sigma, delta = 0.1", [0.5 * sqrt(n * log(10)) for n in N]),
        (COROLLARY1, "Late sigma, delta = 0.1", [3 / sqrt(n) * sqrt(log(10)) for n in N]),
        (COROLLARY1, "Steps along epsilon", [3 * n / 0.5 * log(5000 * n) for n in N]),
        (COROLLARY1, "Steps along M", [3 * 100 / 0.5 * log(n * 100) for n in N]),
        (COROLLARY1, "Steps along eta_Y", [3 * 100 * n * log(1e11) for n in N]),
        (COROLLARY1, "Steps along delta", [3 * 100 / 0.5 * log(5e5) for _ in N]),
    ):
        assert isinstance(claim.judgement, Parts)
        part = claim.judgement.parts[name]
        assert isinstance(part, HiddenConstant)
        np.testing.assert_allclose(np.asarray(part.shape(on, N)), expected, rtol=1e-12)
