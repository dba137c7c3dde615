"""Corollary 1: sigma beyond its bounds as a sum over all counts, and steps by the recursion and the binomial law."""

from math import ceil, log, sqrt

import numpy as np
import pytest
from scipy.special import lambertw
from scipy.stats import binom

from marginaudit.claims import Verdict
from marginaudit.claims.snap.appendix_d4_sampled_classes.corollary1 import sigma_beyond, stepped_sigma_beyond
from marginaudit.claims.snap.appendix_d4_sampled_classes.corollary1_steps import (
    along_M,
    along_rate,
    along_residual,
    covered,
    epochs,
    first_covered,
    first_steps,
    largest_residual,
    least_for_any,
    steps_enough,
    steps_of_a_class,
    undrawn,
)
from marginaudit.claims.snap.appendix_d4_sampled_classes.enough_steps import enough
from marginaudit.orders.snap import SequenceClasses
from marginaudit.reports import LEDGER
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star
from tests.claims.snap.samples import on, run, single


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("eta", [0.5, 3.0])
def test_the_chance_of_a_sigma_beyond_its_bound_is_a_sum_over_all_counts(late: bool, eta: float) -> None:
    """Of 2 classes, at every N up to 250 at which it is spoken; and the bounds themselves, without chance."""
    found = sigma_beyond(single(lr_y=eta), late=late)
    assert (found.missed.upper <= found.delta).all()
    x_1 = -float(lambertw(-1 / 4999, -1).real)
    least: dict[float, float] = {}
    seen = 0
    for entry, label in enumerate(found.missed.label):
        delta, N = (float(x) for x in label.replace("delta = ", "").split(", N = "))
        mean = -(-int(N) // 2)
        room = sqrt(N / 2 * log(2 / delta)) + 1
        assert not late or (room <= 0.3 * mean and eta * mean >= 2 * x_1)
        least.setdefault(delta, N)
        if N > 250:
            continue
        k = np.arange(int(N) + 1)
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
    for delta, first in least.items() if late else ():
        earlier = [N for N in enough(single(lr_y=eta)).tolist() if first > N and eta * -(-N // 2) >= 2 * x_1]
        assert not any(sqrt(N / 2 * log(2 / delta)) + 1 <= 0.3 * -(-N // 2) for N in earlier), "none is left out"


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("eta", [0.05, 0.5, 0.99])
def test_the_chance_of_a_sigma_beyond_its_printed_order_is_a_sum_over_all_counts(late: bool, eta: float) -> None:
    """Of 2 classes, with h* at N_n and at N-bar, at every N up to 6000 with N-bar >= 10 Delta."""
    found = stepped_sigma_beyond(single(lr_y=eta), late=late)
    assert (found.missed.upper <= found.delta).all()
    x_1 = -float(lambertw(-1 / 4999, -1).real)
    told = [label.replace("delta = ", "").split(", N = ") for label in found.missed.label]
    seen = {(float(delta), int(N)): entry for entry, (delta, N) in enumerate(told)}
    levels = (0.99, 0.9, 0.5, 0.1, 0.01, 1e-3, 1e-6)
    for N in enough(single(lr_y=eta)).tolist():
        for delta in levels:
            y = sqrt(N * log(1 / delta))
            spoken = 10 * ceil(y) <= -(-N // 2) and (not late or 10 * (2 * y + 4 * x_1 / eta) <= N)
            assert spoken == ((delta, N) in seen), "none is left out"
            if N > 6000 or not spoken:
                continue
            k = np.arange(N + 1)
            share = h_star(k, 5000, eta).level.share.value
            sigma = np.abs(share / share[-(-N // 2)] - 1)
            near = np.abs(k - -(-N // 2)) <= 6 * y
            bound = 52 * 2 / N * y if late else 10.4 * eta * y
            assert (sigma[near] <= bound).all(), "with the counts that are near enough"
            chance = binom.pmf(k[sigma > bound], N, 0.5).sum()
            entry = seen[delta, N]
            assert abs(found.missed.value[entry] - chance) <= found.missed.radius[entry] * (1 + 1e-6) + 1e-15
    assert min(N for _, N in seen) <= 6000 or (late and eta < 0.1)


def test_from_where_corollary_1_speaks() -> None:
    for K in (2, 3, 10, 57):
        for delta in (1 - 1e-6, 0.99, 0.5, 0.1, 0.01, 1e-6, 1e-30):
            found = first_steps(K, delta)
            N = np.arange(10 * K * K, found + 1)
            met = 10 * np.ceil(np.sqrt(N * -np.log(delta))) <= np.ceil(N / K)
            assert np.flatnonzero(met).tolist() == [len(N) - 1]
            later = np.unique(np.geomspace(found + 22 * K, 1e15, 200).astype(np.int64))
            assert covered(later, K, delta).all()


@pytest.mark.parametrize("eta", [0.02, 0.5, 0.999])
def test_steps_are_swept_where_corollary_1_speaks(eta: float) -> None:
    """Of 2 classes at delta = 0.01: N-bar >= 10 Delta from N = 1841 on."""
    at = single(lr_y=eta)
    assert first_steps(2, 0.01) / 1841 == pytest.approx(1, abs=0.03, rel=0)
    assert largest_residual(at) == 1000
    for found in (along_residual(at), along_M(at), along_rate(at)):
        assert (found.lower >= first_steps(2, 0.01)).all()
    assert along_residual(at).step is not None
    assert along_residual(at).step[[0, -1]].tolist() == [1e3, 1e9]  # type: ignore[index]


def test_below_the_chance_of_an_undrawn_class_alone_is_corollary_1_false() -> None:
    """Exact chances at N = C K/(epsilon eta_Y) ln(M/epsilon): with its delta 2.8's C serves, and later none."""
    on = run("snap-symmetric")
    for C in (0.44, 10.0):
        N = ceil(C * 3 * 1000 / 0.5 * log(5000 * 1000))
        S = int(steps_of_a_class(np.array([5000.0]), np.array([0.5]), np.array([1000.0]))[1][0])
        mean = -(-N // 3)
        most = (mean // 10) ** 2 / N  # of ln(1/delta), as Delta <= N-bar/10
        assert log(3) + binom.logcdf(S - 1, N, 1 / 3) <= -most
        assert binom.logpmf(0, N, 1 / 3) == pytest.approx(N * log(2 / 3), rel=1e-9, abs=0)
        assert ceil(sqrt(N * N * log(3 / 2))) > mean, "Delta, for the delta with which a class is undrawn"
    verdicts = {name: LEDGER[f"snap.corollary1{name}"].judge(on).verdict for name in ("", ".any-delta")}
    assert verdicts == {"": "holds", ".any-delta": "violated"}


@pytest.mark.parametrize(
    ("M", "eta", "inverse"),
    [
        *((5000, 0.5, 10.0), (5000, 0.5, 1e3), (1000, 0.999, 20.0), (10**6, 0.01, 100.0)),
        *((5000, 0.5, 1e7), (10**6, 0.999, 50.0), (1000, 0.9, 1.0005)),
    ],
)
def test_steps_of_a_class_are_those_of_the_recursion_and_lie_within_its_lag(M: int, eta: float, inverse: float) -> None:
    (least,), (most,) = steps_of_a_class(np.array([float(M)]), np.array([eta]), np.array([inverse]))
    power = sqrt(M * (M - 1)) * inverse - (M - 1)
    s = (power - 1 + (M - 1) * log(power)) / (M * eta)
    lag = np.exp(eta) / 2 * (log((M - 1 + power) / M) + eta)
    assert s <= most < s + 1
    assert max(0, s - lag - 1) < least <= max(1, s - lag)
    around = np.arange(max(0, int(least) - 2), int(most) + 2)
    first = around[np.argmax(np.sqrt(M * (M - 1)) * h_star(around, M, eta).level.share.value <= 1 / inverse)]
    assert first <= most
    assert least <= max(1, first)


def test_epochs_are_the_least() -> None:
    for K in (2, 3, 10):
        for S in (1, 7, 300):
            for delta in (0.5, 0.01, 1e-30):
                N = int(epochs(np.array([float(S)]), K, delta)[0])
                assert K * binom.cdf(S - 1, N, 1 / K) <= delta < K * binom.cdf(S - 1, N - 1, 1 / K)


def test_after_the_steps_that_corollary_1_names_a_class_is_undrawn_too_often() -> None:
    found = undrawn(run("snap-symmetric", seeds=1000))
    assert found.step is not None
    for N, evidence in zip(found.value[:3], found.step[:3], strict=True):
        assert (2 / 3) ** N > np.exp(-evidence) >= (2 / 3) ** (N + 1) * (1 - 1e-12)


def test_so_many_steps_are_enough_whatever_delta_is() -> None:
    found, bound = steps_enough(run("snap-symmetric", seeds=1000), least_for_any)
    assert (found.upper <= bound).all()
    entry = found.label.index("delta = 1e-06, epsilon = 0.01")
    assert bound[entry] == 3 * max(2 * ceil((100 + log(5e5)) / 0.5), 8 * log(3e6))
    entry = found.label.index("delta = 1e-30, epsilon = 0.1")
    assert bound[entry] == pytest.approx(3 * 8 * log(3e30), rel=1e-12, abs=0)


def test_so_many_steps_are_enough_for_each_delta_that_corollary_1_allows_them() -> None:
    found, bound = steps_enough(run("snap-symmetric", seeds=1000), first_covered)
    assert (found.upper <= bound).all()
    for delta in (0.5, 1e-30):
        entry = found.label.index(f"delta = {delta:g}, epsilon = 1e-06")
        assert bound[entry] == 3 * 2 * ceil((1e6 + log(5e9)) / 0.5)
        entry = found.label.index(f"delta = {delta:g}, epsilon = 0.1")
        assert bound[entry] == max(3 * 2 * ceil((10 + log(5e4)) / 0.5), first_steps(3, delta))


def test_a_reason_is_given_though_float64_does_not_follow_the_classes() -> None:
    """Nearly dependent, and M is below 4."""
    rows = (
        {"b": 1.0},
        {"a": 0.007019759176495474, "b": 0.9929802408235044},
        {"c": 6.085977782424672e-06, "a": 0.9998232736177866, "b": 0.00017064040443091528},
    )
    data = SequenceClasses.from_weights("near", 3, [(n, "a", row) for n, row in zip("abc", rows, strict=True)])
    assert LEDGER["snap.corollary1.rederived"].judge(on(data)).verdict is Verdict.NOT_APPLICABLE
