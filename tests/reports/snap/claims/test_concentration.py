"""Lemmas 10 to 12: chances against sums and draws, intervals of counts against the level itself, and twins."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, comb, log, sqrt
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binomtest

from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.reports.claim import BeyondTheRun, Claim
from marginaudit.reports.judgements import Bounded, Equal, HiddenConstant, Parts
from marginaudit.reports.snap import mean_counts
from marginaudit.reports.snap.binomial import LEVELS, Interval, counted, frequencies, outside, quantile
from marginaudit.reports.snap.claims import lemma10, lemma11
from marginaudit.reports.snap.claims.lemma10 import LEMMA10, LEMMA10_REDERIVED, counts
from marginaudit.reports.snap.claims.lemma11 import LEMMA11, LEMMA11_ANY_DELTA
from marginaudit.reports.snap.claims.lemma12 import (
    LEMMA12,
    LEMMA12_ANY_STEP,
    LEMMA12_REDERIVED,
    beyond_continuous,
    beyond_printed,
    beyond_rederived,
)
from marginaudit.reports.snap.mean_counts import like_growth, like_share, means, radius_of
from marginaudit.reports.snap.zeros import larger_zero
from marginaudit.reports.verdict import Verdict
from marginaudit.training.snap.limit import continuous, h_star
from tests.reports.snap.twins import NAMES, on, one_entry_off, parts, run, tightened, with_part


@pytest.mark.parametrize("case", NAMES)
@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (LEMMA10, "violated"),
        (LEMMA10_REDERIVED, "holds"),
        (LEMMA11, "holds"),
        (LEMMA11_ANY_DELTA, "violated"),
        (LEMMA12, "holds"),
        (LEMMA12_ANY_STEP, "violated"),
        (LEMMA12_REDERIVED, "holds"),
    ],
    ids=lambda value: getattr(value, "id", value),
)
def test_verdicts(case: str, claim: Claim, verdict: str) -> None:
    speaks = claim is not LEMMA12 or case != "snap-medium"  # of M < 1000
    assert claim.judge(run(case)).verdict == (verdict if speaks else "not-applicable")


def steeper(part: HiddenConstant) -> Callable[[Any, Any], Any]:
    return lambda run, N: np.asarray(part.shape(run, N)) / N**2


@pytest.mark.parametrize("claim", [LEMMA10_REDERIVED, LEMMA11, LEMMA12, LEMMA12_REDERIVED], ids=lambda claim: claim.id)
def test_each_part_has_a_twin_that_is_violated(claim: Claim) -> None:
    at = run("snap-symmetric")
    for name, part in parts(claim).items():
        if isinstance(part, HiddenConstant):
            assert with_part(claim, name, replace(part, shape=steeper(part))).judge(at).verdict is Verdict.VIOLATED, (
                name
            )
        elif isinstance(part, Bounded):
            assert with_part(claim, name, tightened(part)).judge(at).verdict is Verdict.VIOLATED, name
        else:
            assert isinstance(part, Equal)
            assert with_part(claim, name, one_entry_off(part)).judge(at).verdict is Verdict.VIOLATED, name


def test_of_the_false_ones_the_other_parts_hold_and_have_twins() -> None:
    at = run("snap-single")
    for claim, false in (
        (LEMMA10, "The first bound below the second"),
        (LEMMA11_ANY_DELTA, "Eq. 62 with Delta/N-bar, late, delta = (1-1/K)^N/2"),
        (LEMMA12_ANY_STEP, "Eq. 66 against SGD"),
    ):
        for name, part in parts(claim).items():
            expected = Verdict.VIOLATED if name == false else Verdict.HOLDS
            assert part.judge(at).verdict is expected, name
            if name != false and isinstance(part, Bounded):
                assert tightened(part).judge(at).verdict is Verdict.VIOLATED


def test_the_chain_of_eq_58_fails_at_one_step_and_its_end_with_a_rare_class() -> None:
    assert sqrt(log(2 / 0.99) / 2) + 1 > sqrt(log(2 / 0.99))
    rare = replace(CASES["snap-single"](), weights=(1.0, 99.0))
    outer = parts(LEMMA10)["The chance of more than the second bound"].judge(on(rare))
    assert outer.verdict is Verdict.VIOLATED
    # N = 1, delta = .9: N_n is 0 with probability .99, ceil(P) = 1, and 1 > sqrt(ln(2/.9))
    assert sqrt(log(2 / 0.9)) < 1
    found = counts(on(rare))
    entry = found.label.index("delta = 0.9, P(n) = 0.01, N = 1")
    assert found.misses[1][0][entry] == pytest.approx(0.99, rel=1e-8, abs=0)
    assert LEMMA10_REDERIVED.judge(on(rare)).verdict is Verdict.HOLDS


def test_where_the_chain_begins() -> None:
    for x, holds in ((11.656, False), (11.658, True)):
        assert (sqrt(x / 2) + 1 <= sqrt(x)) is holds
        assert (x >= lemma10.ENOUGH) is holds


def test_counts_are_centered_on_exact_ceilings() -> None:
    """P(n) = 1/49 in float64 times 49 is below 1; 3 weights of 1e16 to 1."""
    data = SequenceClasses.from_weights("49", 100, [(f"n{i}", "q", {"a": 1, f"d{i}": 1}) for i in range(49)])
    assert frequencies(data) == [Fraction(1, 49)]
    found = counts(on(data))
    for name, value, radius in zip(found.label, *found.misses[0], strict=True):
        n = int(name.rsplit(" = ", 1)[1])
        if not name.startswith("delta = 0.99") or n > 120:
            continue
        room = sqrt(n / 2 * log(2 / 0.99)) + 1
        terms = [
            comb(n, k) * Fraction(1, 49) ** k * Fraction(48, 49) ** (n - k)
            for k in range(n + 1)
            if abs(k - ceil(Fraction(n, 49))) > room
        ]
        assert abs(value - float(sum(terms))) <= radius + 1e-15
    uneven = replace(CASES["snap-symmetric"](), weights=(1.0, 2.0, 3.0))
    assert frequencies(uneven) == [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]


@pytest.mark.parametrize(("N", "p"), [(50, 0.3), (10**4, 1 / 3), (10**6, 0.01)])
def test_tails_are_sums_of_many_digits(N: int, p: float) -> None:
    with mp.workdps(40):
        for z in (-4, -1, 0, 2, 5):
            k = round(N * p + z * sqrt(N * p * (1 - p)))
            interval = Interval.around(np.array([k + 2.5]), np.array([3.0]))  # k - .5 to k + 5.5
            value, radius = outside(np.array([N]), np.array([p]), interval)
            q = mp.mpf(p)
            inside = mp.fsum(mp.binomial(N, j) * q**j * (1 - q) ** (N - j) for j in range(k, k + 6) if 0 <= j <= N)
            assert abs(mp.mpf(float(value[0])) - (1 - inside)) <= float(radius[0])
            assert radius[0] < 1e-8


def test_ends_of_the_interval_are_inside_and_unknown_ones_widen_the_bar() -> None:
    N, p = np.array([4]), np.array([0.5])
    value, radius = outside(N, p, Interval((np.array([0.9]), np.array([3.1])), (np.array([0.9]), np.array([3.1]))))
    assert value[0] == pytest.approx(2 / 16, rel=1e-8, abs=0)
    value, radius = outside(N, p, Interval.around(np.array([2.0]), np.array([1.0])))
    assert value[0] - radius[0] <= 2 / 16 * (1 + 1e-8)
    assert value[0] + radius[0] >= 10 / 16 * (1 - 1e-8)
    for low, high, chance in ((-3.0, 9.0, 0.0), (-3.0, -1.0, 1.0), (5.0, 9.0, 1.0), (-np.inf, np.inf, 0.0)):
        ends = (np.array([low]), np.array([high]))
        assert outside(N, p, Interval(ends, ends))[0][0] == pytest.approx(chance, rel=1e-8, abs=0)


def test_the_quantile_is_that_of_the_law() -> None:
    """Of |N_n - 10|/10, N_n ~ Bin(20, 1/2): P(|N_n - 10| > 4) = .041 and > 3 is .115."""
    N, p = np.array([20]), np.array([0.5])
    value, radius = quantile(N, p, 0.1, lambda d: Interval.around(np.array([10.0]), 10 * d))
    assert abs(value[0] - 0.4) <= radius[0] < 1e-7
    value, radius = quantile(N, p, 0.12, lambda d: Interval.around(np.array([10.0]), 10 * d))
    assert abs(value[0] - 0.3) <= radius[0] < 1e-7


@pytest.mark.parametrize(("M", "eta"), [(4, 0.5), (1000, 0.5), (10**9, 0.01), (1000, 30.0)])
def test_intervals_of_counts_are_those_of_growth_and_share(M: int, eta: float) -> None:
    """Every count is tried: it is within where the closed forms say so, apart from ends that are not known."""
    N = np.array([240])
    at = means(N, 2, M, eta)
    assert at.mean.tolist() == [120.0]
    level, mean = continuous(np.arange(400), M, eta), continuous([120.0], M, eta)
    growth = np.abs(level.h.value / mean.h.value[0] - 1)
    share = np.abs(level.share.value / mean.share.value[0] - 1)
    k = np.arange(400)
    for d in (1e-4, 0.03, 0.4, 0.99, 1.0, 1.7, 40.0):
        for like, off in ((like_growth, growth), (like_share, share)):
            found = like(at, np.array([d]))
            (low, high), (least, most) = found.widest, found.narrowest
            assert ((k >= low) & (k <= high))[off <= d].all()
            assert (off[(k >= least) & (k <= most)] <= d * (1 + 1e-9)).all()
            assert (least - low)[0] < 1e-3
            assert high[0] > 1e9 or (high - most)[0] < 1e-3


def test_the_radius_and_the_zero_are_as_printed() -> None:
    at = means(np.array([1000]), 3, 100, 0.5)
    assert at.mean.tolist() == [334.0]
    assert radius_of(at.N, 0.1).tolist() == [ceil(sqrt(1000 * log(10)))]
    for M in (4, 100, 10**9):
        x = larger_zero(np.log([float(M)]))[0]
        assert np.exp(x) == pytest.approx((M - 1) * x, rel=1e-12, abs=0)
        assert x > 1


@pytest.mark.parametrize("steps", [True, False])
def test_theta_is_beyond_its_bound_as_often_as_sgd_is(steps: bool) -> None:
    """20,000 draws of counts, Clopper and Pearson at 1e-6; the chance of some class is between one's and K times it."""
    K, N = 3, 90
    drawn = np.random.default_rng(5).multinomial(N, np.full(K, 1 / K), size=20_000)
    k = np.arange(N + 1)
    h = (h_star(k, 5000, 0.5).level if steps else continuous(k, 5000, 0.5)).h.value
    theta = np.abs(h[drawn] / h[30] - 1).max(axis=1)
    found = (beyond_printed if steps else beyond_continuous)(run("snap-symmetric")).missed
    assert found.label[0] == "delta = 0.99, N = 90"
    for entry, delta in enumerate(LEVELS):
        bound = K / sqrt(N) * sqrt(log(K / delta))
        ends = binomtest(int((theta > bound).sum()), 20_000).proportion_ci(1 - 1e-6, method="exact")
        i = entry * (len(found) // len(LEVELS))
        assert found.label[i].startswith(f"delta = {delta:g},")
        assert found.value[i] - found.radius[i] <= ends.high
        assert found.value[i] + found.radius[i] >= ends.low


def test_the_rederived_bound_is_never_broken_more_often_than_it_says() -> None:
    """And per count by its proof: |theta| <= (|k - N-bar| + L)/N-bar, L as stated, M = 4 and large steps included."""
    for M, eta in ((2, 0.5), (4, 3.0), (5000, 0.5)):
        k = np.arange(1, 400)
        star, h = h_star(k, M, eta).level, continuous([100.0], M, eta).h.value[0]
        L = np.exp(eta) / 2 * np.log((M - 1 + np.exp(star.logit.value)) / M)
        assert (np.abs(star.h.value / h - 1) <= (np.abs(k - 100) + L) / 100 + 1e-12).all()
    found = beyond_rederived(run("snap-single"))
    assert (found.missed.upper <= found.delta).all()
    assert found.missed.value.max() > 1e-3


def test_eq_66_is_off_by_per_cents_and_by_nothing_to_speak_of_for_tiny_steps() -> None:
    found = parts(LEMMA12_ANY_STEP)["Eq. 66 against SGD"].judge(run("snap-medium"))
    assert found.measured is not None
    assert found.bound is not None
    assert 0.01 < found.measured / found.bound - 1 < 0.03
    assert LEMMA12_ANY_STEP.judge(on(CASES["snap-single"](), lr_y=1e-20)).verdict is Verdict.HOLDS


def test_classes_have_to_be_uniform() -> None:
    uneven = on(replace(CASES["snap-symmetric"](), weights=(1.0, 2.0, 1.0)))
    for claim in (LEMMA11, LEMMA12, LEMMA12_ANY_STEP, LEMMA12_REDERIVED):
        found = claim.judge(uneven)
        assert found.verdict is Verdict.NOT_APPLICABLE
        assert found.witness is not None
        assert "frequencies" in found.witness
    assert LEMMA10_REDERIVED.judge(uneven).verdict is Verdict.HOLDS


def test_what_is_not_judged() -> None:
    only = on(SequenceClasses.from_weights("one", None, [("n", "n", {"n": 1})]))
    small = on(SequenceClasses.from_weights("three", 3, [("n", "q", {"n": 1, "q": 1}), ("q", "q", {"n": 1})]))
    assert LEMMA12.judge(on(CASES["snap-single"](), lr_y=1.0)).verdict is Verdict.NOT_APPLICABLE
    for claim in (LEMMA11, LEMMA12_ANY_STEP, LEMMA12_REDERIVED):
        assert claim.judge(only).verdict is Verdict.NOT_APPLICABLE
        assert claim.judge(on(CASES["snap-single"](), lr_y=1e3)).verdict is Verdict.INCONCLUSIVE
    assert LEMMA11.judge(small).verdict is Verdict.NOT_APPLICABLE
    late = LEMMA11.judge(on(CASES["snap-single"](), lr_y=1e-100))
    assert late.verdict is Verdict.INCONCLUSIVE
    assert "beyond which no chance is computed here" in late.detail


def test_the_numbers_that_are_counted() -> None:
    found = counted(10**6).tolist()
    assert found[:30] == list(range(1, 31))
    assert found[-1] == 10**6
    assert max(b / a for a, b in pairwise(found[30:])) < 1.3
    assert counted(10).tolist() == list(range(1, 11))


@pytest.mark.parametrize("eta", [0.5, 1.0])
def test_the_chance_beyond_the_rederived_bound_is_a_sum_over_all_counts(eta: float) -> None:
    """One class's chance lies in the bar, and so does twice it, at the first N: 40, of 2 classes."""
    found = beyond_rederived(on(CASES["snap-single"](), lr_y=eta)).missed
    k = np.arange(41)
    star, mean = h_star(k, 5000, eta).level, continuous([20.0], 5000, eta)
    theta = np.abs(star.h.value / mean.h.value[0] - 1)
    L = np.exp(eta) / 2 * np.log((4999 + np.exp(star.logit.value[40])) / 5000)
    for delta in LEVELS:
        beyond = theta > (sqrt(20 * log(4 / delta)) + 1 + L) / 20
        chance = sum(comb(40, int(j)) for j in k[beyond]) / 2**40
        entry = found.label.index(f"delta = {delta:g}, N = 40")
        assert found.value[entry] - found.radius[entry] <= chance * (1 + 1e-8)
        assert found.value[entry] + found.radius[entry] >= 2 * chance * (1 - 1e-8)
        assert found.value[entry] + found.radius[entry] <= 2.5 * chance


@pytest.mark.parametrize("delta", [0.9, 0.1, 0.01, 1e-6])
def test_lemma_11_speaks_where_n_bar_is_much_greater_than_delta(delta: float) -> None:
    at = run("snap-symmetric")
    for steps in (mean_counts.enough, lemma11.late):
        N = steps(at, delta)
        Delta, mean = np.ceil(np.sqrt(N * log(1 / delta))), np.ceil(N / 3)
        assert (10 * Delta <= mean).all()
        assert N[0] < 1.8 * max(90, 900 * log(1 / delta)) or N[0] == lemma11.late(at)[0]
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


def test_shapes_are_as_printed() -> None:
    at = means(np.array([1000]), 3, 100, 0.5)
    Delta = ceil(sqrt(1000 * log(10)))
    assert lemma11.third_of_rate(at, 0.1)[0] == pytest.approx(0.5 * Delta / 3, rel=1e-14, abs=0)
    assert lemma11.relative_radius(at, 0.1)[0] == pytest.approx(Delta / 334, rel=1e-14, abs=0)


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


def test_a_constant_is_fitted_beyond_the_turn() -> None:
    for lr_y in (2e-5, 1e-3, 0.5):
        steps = lemma11.across_the_turn(on(CASES["snap-single"](), lr_y=lr_y))
        turn = 2 * larger_zero(np.log([5000.0]))[0] / lr_y
        assert np.sqrt(steps[0] * steps[-1]) > 3 * turn
        assert np.log10(steps[-1] / steps[0]) > 6.99
        assert (np.diff(np.log10(steps)) < 0.26).all()
    with pytest.raises(BeyondTheRun, match=r"g changes most at N = 2\.181e\+06, too late to fit a constant"):
        lemma11.across_the_turn(on(CASES["snap-single"](), lr_y=1e-5))


def test_a_class_that_nearly_all_steps_draw_has_its_chances_to_their_digits() -> None:
    """1 - P(n) is 1e-12 and 1e-100, of which P(n) in float64 keeps four digits, and none."""
    for rare in (1e-12, 1e-100):
        uneven = on(replace(CASES["snap-single"](), weights=(1.0, rare)))
        found = lemma10.counts(uneven)
        [at] = [i for i, label in enumerate(found.label) if label == "delta = 0.99, P(n) = 1, N = 4"]
        value, radius = (column[at] for column in found.misses[0])
        missed = 4 * rare**3  # |N_n - 4| > 2.19: three draws of the other class
        assert abs(value - missed) <= radius + 4 * rare * missed
        assert radius <= 1e-8 * missed
