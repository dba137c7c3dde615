"""Theorem 5 and Corollary 1: verdicts, Y of the whole matrix, bounds on quantiles, steps by brute force, twins."""

from dataclasses import replace
from functools import cache
from math import ceil, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.special import lambertw
from scipy.stats import binom

from marginaudit.orders.snap import CASES, SequenceClasses, broken, single_common_dataset
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Equal, HiddenConstant
from marginaudit.reports.judgements.parts import Parts
from marginaudit.reports.series import Series
from marginaudit.reports.snap.ball_sgd import bits_a_step, descended
from marginaudit.reports.snap.claims.corollary1 import COROLLARY1, COROLLARY1_REDERIVED, sigma_beyond
from marginaudit.reports.snap.claims.theorem5 import THEOREM5, THEOREM5_ANY_STEP, THEOREM5_REDERIVED, explicit, trained
from marginaudit.reports.snap.quantiles import quantile, ranks
from marginaudit.reports.snap.run import ClassConfig, ClassRun
from marginaudit.reports.snap.steps_needed import epochs, steps_enough, steps_of_a_class, undrawn
from marginaudit.reports.verdict import Verdict
from marginaudit.training.snap.limit import Approximation, class_counts, continuous, h_star, overlap
from tests.training.snap.dense import features, padded, sgd
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


def test_y_is_that_of_the_whole_matrix() -> None:
    M, K, eta = 12, 3, 0.9
    F = features(seed=5, tokens=9, K=K)
    sequence = np.array([0, 1, 1, 2, 0, 1])
    A = descended(overlap(F), sequence, M, eta)
    dense = np.linalg.pinv(padded(F, M)) @ sgd(F, sequence, M, eta, modified=True)[-1]
    found = [[float(A[n, j].mid()) for j in range(K + 1)] for n in range(K)]
    np.testing.assert_allclose(found, dense[:, : K + 1], atol=1e-13)
    assert all(A[n, j].rad() < 1e-30 for n in range(K) for j in range(K + 1))


@BOTH
def test_every_part_has_a_twin(claim: Claim) -> None:
    on = run("snap-symmetric")
    assert isinstance(claim.judgement, Parts)
    for name, part in claim.judgement.parts.items():
        assert isinstance(part, Equal | HiddenConstant)
        assert part.judge(on).verdict is (Verdict.VIOLATED if name == "Steps along delta" else Verdict.HOLDS)
        twin = apart(part) if isinstance(part, Equal) else falling(part)
        assert twin.judge(on).verdict is Verdict.VIOLATED


def apart(part: Equal) -> Equal:
    def expected(on: ClassRun) -> Series:
        right = part.expected(on)
        return replace(right, value=right.value * (1 + 1e-9))

    return replace(part, expected=expected)


def falling(part: HiddenConstant) -> HiddenConstant:
    """A bound that falls much faster, along whatever it is swept."""
    return replace(part, shape=lambda on, t: np.asarray(part.shape(on, t)) / t**2)


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


def test_steps_of_a_class_by_the_recursion() -> None:
    for M, eta, epsilon in ((5000, 0.5, 0.1), (5000, 0.5, 1e-3), (1000, 0.999, 0.05), (10**6, 0.01, 0.01)):
        least, most = steps_of_a_class(np.array([M]), np.array([eta]), np.array([1 / epsilon]))
        around = np.arange(max(0, int(least[0]) - 2), int(most[0]) + 2)
        residual = h_star(around, M, eta).level.residual.value
        first = int(around[np.argmax(residual <= epsilon)])
        assert least[0] <= first <= most[0]
        assert most[0] - least[0] <= 15 + 0.02 * most[0]


def test_epochs_are_the_least() -> None:
    for K in (2, 3, 10):
        for S in (1, 7, 300):
            for delta in (0.5, 0.01, 1e-30):
                N = int(epochs(np.array([float(S)]), K, delta)[0])
                assert K * binom.cdf(S - 1, N, 1 / K) <= delta < K * binom.cdf(S - 1, N - 1, 1 / K)


def test_after_the_steps_that_corollary_1_names_a_class_is_undrawn_too_often() -> None:
    found = undrawn(run("snap-symmetric"))
    assert found.step is not None
    for N, evidence in zip(found.value[:3], found.step[:3], strict=True):
        assert (2 / 3) ** N > np.exp(-evidence) >= (2 / 3) ** (N + 1) * (1 - 1e-12)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("eta", [0.5, 3.0])
def test_the_chance_of_a_sigma_beyond_its_bound_is_a_sum_over_all_counts(late: bool, eta: float) -> None:
    """Of 2 classes, at every N up to 250 at which it is spoken; and the bounds themselves, without chance."""
    data = CASES["snap-single"]()
    found = sigma_beyond(ClassRun(data, ClassConfig(lr_y=eta)), late=late)
    assert (found.missed.upper <= found.delta).all()
    x_1 = -float(lambertw(-1 / 4999, -1).real)
    seen = 0
    for entry, label in enumerate(found.missed.label):
        delta, N = (float(x) for x in label.replace("delta = ", "").split(", N = "))
        k, mean = np.arange(int(N) + 1), -(-int(N) // 2)
        room = sqrt(N / 2 * log(2 / delta)) + 1
        assert not late or (room <= 0.3 * mean and eta * mean >= 2 * x_1)
        if N > 250:
            continue
        star, at = h_star(k, 5000, eta).level, continuous([float(mean)], 5000, eta)
        L = np.exp(eta) / 2 * np.log((4999 + np.exp(star.logit.value[-1])) / 5000)
        sigma = np.abs(star.share.value / at.share.value[0] - 1)
        bound = 5 * (room + L) / mean if late else eta * (room + L)
        near = np.abs(k - mean) <= room
        assert (sigma[near] <= bound).all()
        chance = binom.pmf(k[sigma > bound], int(N), 0.5).sum()
        assert abs(found.missed.value[entry] - chance) <= found.missed.radius[entry] * (1 + 1e-6) + 1e-15
        seen += 1
    assert seen > 2


def test_so_many_steps_are_enough_whatever_delta_is() -> None:
    found, bound = steps_enough(run("snap-symmetric"))
    assert (found.upper <= bound).all()
    entry = found.label.index("delta = 1e-06, epsilon = 0.01")
    assert bound[entry] == 3 * max(2 * ceil((100 + log(5e5)) / 0.5), 8 * log(3e6))
    entry = found.label.index("delta = 1e-30, epsilon = 0.1")
    assert bound[entry] == pytest.approx(3 * 8 * log(3e30), rel=1e-12, abs=0)


def test_quantiles_lie_between_their_bounds() -> None:
    rng, seeds, delta = np.random.default_rng(0), 500, 0.1
    low, high = ranks(seeds, delta)
    assert high < seeds * delta < low
    assert binom.cdf(high, seeds, delta) <= 0.001 < binom.cdf(high + 1, seeds, delta)
    assert binom.sf(low, seeds, delta) <= 0.001 < binom.sf(low - 1, seeds, delta)
    sample = rng.random((seeds, 400))
    found = quantile(Approximation(sample, np.zeros_like(sample)), np.arange(1, 401), delta)
    outside = int(((found.lower > 0.9) | (found.upper < 0.9)).sum())
    assert outside <= ceil(400 * 0.002) + 4
    assert 0.03 < found.radius.mean() < 0.06
    few = quantile(Approximation(sample[:20], np.zeros((20, 400))), np.arange(1, 401), delta)
    assert np.isinf(few.radius).all()


def test_nearly_dependent_classes_leave_balls_that_say_something() -> None:
    """A step widens balls by the condition of I + E: with overlaps of 1 - 1e-9, by 2e9 times what it does else."""
    near = SequenceClasses.from_weights("near", 18, [("m", "q", {"a": 1, "b": 1e-5}), ("n", "q", {"a": 1, "c": 1e-4})])
    at = ClassRun(near)
    assert trained(at).radius.max() < 1e-9 * np.abs(trained(at).value).max()
    E = 0.28193634710905369
    assert bits_a_step(run("snap-single").overlap, 0.5) == pytest.approx(
        np.log2(2 + 2 * (1 + E) / (1 - E)), rel=1e-12, abs=0
    )


def test_without_another_token_there_is_no_column_for_it() -> None:
    full = SequenceClasses.from_weights("full", 2, [("a", "a", {"a": 1}), ("b", "a", {"a": 1, "b": 1})])
    assert trained(ClassRun(full)).label == ("a, a", "a, b", "b, a", "b, b")
    assert THEOREM5_REDERIVED.judge(ClassRun(full, ClassConfig(seeds=2000))).verdict is Verdict.HOLDS
