"""Each series has the whole error bar of what it is made of, and the quantiles are those of the law by brute force."""

from dataclasses import replace
from math import comb, log
from types import SimpleNamespace
from typing import Any

import flint
import numpy as np
import pytest

from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.orders.snap import SequenceClasses, weakly_correlated_dataset
from marginaudit.orders.snap.overlap import eigenpairs
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.series import FORMULA_ROUNDING, Series
from marginaudit.reports.snap import (
    binomial,
    common_token,
    decoder,
    mean_counts,
    steps_needed,
    token_gains,
    two_stages,
    zeros,
)
from marginaudit.reports.snap.ball_arithmetic import certified
from marginaudit.reports.snap.binomial import LEVELS, ROUNDING, Interval, outside
from marginaudit.reports.snap.claims import (
    eq13,
    lemma2,
    lemma4,
    lemma5,
    lemma6,
    lemma7,
    lemma8,
    lemma9,
    lemma10,
    lemma11,
    lemma12,
    lemma13,
    lemma14,
    lemma15,
    lemma16,
    lemma17,
    lemma18,
    remark1,
    remark2,
    theorem1,
    theorem1_a,
    theorem1_b,
    theorem3_growth,
    theorem4_closed_form,
    theorem4_rates,
    theorem4_scan,
    theorem4_snap,
    theorem5,
)
from marginaudit.reports.snap.claims.theorem4_rates import SLOWER
from marginaudit.reports.snap.eq10 import common_pairs, distinct_pairs, rates_along
from marginaudit.reports.snap.quantiles import largest, quantile, ranks
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.snap.zeros import larger_zero
from marginaudit.reports.verdict import Evidence
from marginaudit.training.snap.attention import follow_common
from marginaudit.training.snap.limit import (
    Approximation,
    class_counts,
    continuous,
    descend,
    gamma,
    gap,
    h_star,
    mended_beta,
    overlap,
    printed_iota,
)
from tests.reports.snap.twins import on, parts, run

EPS = float(np.finfo(float).eps)


def bars_are(found: Series, expected: Any) -> None:
    np.testing.assert_allclose(found.radius, np.broadcast_to(expected, found.radius.shape), rtol=1e-9, atol=0)
    assert (found.radius > 0).any()


def test_balls_are_inside_the_bars_and_a_ball_without_ends_is_anywhere() -> None:
    found = certified([flint.arb(1, 0.25), flint.arb("nan"), flint.arb(-3)], ["a", "b", "c"])
    assert found.value.tolist() == [1, 0, -3]
    assert 0.25 <= found.radius[0] < 0.25 + 1e-8
    assert (found.radius[1], found.label, found.evidence) == (np.inf, ("a", "b", "c"), Evidence.CERTIFIED)
    assert found.radius[2] < 1e-300
    assert len(certified([], [])) == 0


def test_a_chance_has_the_relative_error_of_its_tails() -> None:
    """Both ends known: P(Bin(4, 1/2) outside 1 .. 3) = 1/8."""
    ends = (np.array([0.5]), np.array([3.5]))
    value, radius = outside(np.array([4]), np.array([0.5]), Interval(ends, ends))
    assert value[0] == pytest.approx(1 / 8, rel=1e-12, abs=0)
    assert radius[0] == pytest.approx(ROUNDING / 8, rel=1e-6, abs=0)
    around = Interval.around(np.array([5.0]), np.array([2.0]))
    blur = 16 * EPS * 8
    assert around.widest[0][0] == pytest.approx(3 - blur, rel=1e-16, abs=0)
    assert around.narrowest[1][0] == pytest.approx(7 - blur, rel=1e-16, abs=0)
    assert around.widest[1][0] - around.narrowest[1][0] == pytest.approx(2 * blur, rel=0.1, abs=0)


def test_bars_of_the_chances_of_lemmas_10_and_18() -> None:
    at = run("snap-single")
    found = lemma10.counts(at)
    for which, name in enumerate(("The chance of more than the first bound", "The chance of more than the second")):
        [part] = [part for key, part in parts(lemma10.LEMMA10).items() if key.startswith(name)]
        assert isinstance(part, Bounded)
        bars_are(part.measure(at), found.misses[which][1])
    missed, delta = lemma18.misses(at)
    p = np.array([float(name.split(",")[1].split("=")[1]) for name in missed.label])
    T1 = np.array([int(name.rsplit(" = ", 1)[1]) for name in missed.label])
    bars_are(missed, outside(T1, p, Interval.around(T1 * p, np.sqrt(T1 * np.log(2 / delta) / 2)))[1])


def test_bars_of_attention() -> None:
    """One token: attention is c itself, to rounding. Three seeds: nothing is known but that it is from 0 to 1."""
    one = lemma2.likeness(on(SequenceClasses.from_weights("one", 9, [("n", "q", {"a": 1})])))
    np.testing.assert_allclose(one.value, 1, rtol=1e-15)
    bars_are(one, 4 * EPS)
    few = lemma2.likeness(on(run("snap-single").dataset, seeds=3))
    bars_are(few, np.maximum(few.value, 1 - few.value))


@pytest.mark.parametrize("like", [mean_counts.like_growth, mean_counts.like_share])
@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_the_quantile_of_a_deviation_is_that_of_the_law(like: Any, delta: float) -> None:
    """At the first N = 40 of two classes, over all counts."""
    at, k = run("snap-single"), np.arange(41)
    level, mean = continuous(k, 5000, 0.5), continuous([20.0], 5000, 0.5)
    of = "h" if like is mean_counts.like_growth else "share"
    off = np.abs(getattr(level, of).value / getattr(mean, of).value[0] - 1)
    chance = np.array([comb(40, int(j)) for j in k]) / 2**40
    true = min(d for d in off if chance[off > d * (1 + 1e-9)].sum() <= delta)
    found = lemma11.along_steps(at, like, lemma11.across_the_turn, delta)
    assert found.step is not None
    assert (found.step[0], found.clock) == (40, "N")
    assert abs(found.value[0] - true) <= found.radius[0] <= 1e-7 * true
    whole = mean_counts.means(found.step, 2, 5000, 0.5)
    bars_are(found, binomial.quantile(found.step, np.full(len(found), 0.5), delta, lambda d: like(whole, d))[1])


def test_the_chance_in_other_vocabularies_is_a_sum_over_all_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the constant 3, of which there is a chance to see."""
    monkeypatch.setattr(lemma11, "EARLY", 3)
    found = lemma11.other_vocabularies(on(run("snap-single").dataset))
    for M in (1000, 10**9):
        first = max(40, int(np.ceil(2 * larger_zero(np.log([float(M)]))[0] / 0.5)))
        for delta in LEVELS:
            entry = found.missed.label.index(f"delta = {delta:g}, M = {M}, N = {first}")
            mean = continuous([float(-(-first // 2))], M, 0.5).share.value[0]
            off = np.abs(continuous(np.arange(first + 1), M, 0.5).share.value / mean - 1)
            beyond = np.flatnonzero(off > 0.5 * np.ceil(np.sqrt(first * log(1 / delta))))
            chance = sum(comb(first, int(j)) for j in beyond) / 2**first
            assert abs(found.missed.value[entry] - chance) <= found.missed.radius[entry]
            assert found.missed.radius[entry] == pytest.approx(chance * ROUNDING, rel=1e-3, abs=0)
            assert found.delta[entry] == delta


def test_bars_of_growth_of_steps_and_of_rows() -> None:
    at = run("snap-symmetric")
    h, went, star = (*lemma12.growth_of_steps(at)[::-1], lemma5.alone(at)[1])
    assert h.step is not None
    bars_are(h, (continuous(h.step, 5000, 0.5).h * 4999.0).error)
    bars_are(star, (h_star(h.step, 5000, 0.5).level.h * 4999.0).error)
    column = np.asarray(at.dataset.overlap.F[:, :1])
    steps = np.zeros((1, lemma5.ALONE), dtype=np.int64)
    bars_are(went, descend(overlap(column), steps, h.step.tolist(), 5000, 0.5).error[0])


def test_bars_of_rows_in_turn() -> None:
    at, K = run("snap-symmetric"), 3
    found, stated = remark1.in_turn(at)
    N = np.array([int(name.rsplit(" = ", 1)[1]) for name in found.label])
    rho = at.dataset.overlap.E[1, 0]
    h = h_star(N[: len(N) // 3] // K, 5000, 0.5).level.h * (1 - float(rho))
    wide = [factor * h.error + 1e-14 * factor * h.value for factor in (4999.0, 1.0, 1.0)]
    bars_are(stated, np.concatenate(wide))
    went = descend(at.overlap, np.tile(np.arange(K), remark1.ROUNDS)[None], N[: len(N) // 3].tolist(), 5000, 0.5)
    largest_entries = [np.abs(went.A[0, :, :, column]).max(axis=-1) for column in (0, 1, 3)]
    bars_are(found, np.concatenate([2 * went.error[0] + 1e-15 * K * size for size in largest_entries]))


def test_bars_of_growth() -> None:
    at, M, eta = run("snap-symmetric"), 5000, 0.5
    s = at.steps / 3
    x = continuous(s, M, eta).logit
    found = lemma6.ode_times(at)
    of_x = (M - 1 + np.exp(x.value)) / (M * eta) * x.error
    bars_are(found, of_x + (FORMULA_ROUNDING + 8 * EPS * (1 + x.value)) * found.value)
    gaps = lemma7.gaps(at)
    own = gap(h_star(at.steps, M, eta), eta).error * (M / eta)
    bars_are(gaps, own + FORMULA_ROUNDING * gaps.value)
    bars_are(lemma7._one_and_gaps(at), gaps.radius + FORMULA_ROUNDING)
    lags = lemma7.lags_by_rate(at)
    assert lags.step is not None
    bars_are(lags, [h_star([int(np.log(M) * y)], M, 1 / y).lag.error[0] for y in lags.step])
    near = at.steps[at.steps <= 10**6]
    bars_are(remark2.lag(at), h_star(near, M, eta).lag.error)
    proved = remark2.proved_lag(at)
    assert proved.step is not None
    bars_are(proved, FORMULA_ROUNDING * (proved.step + abs(np.log(eta / 2) - eta)))
    sides = lemma8.sides(at)
    assert sides.step is not None
    bars_are(sides, 8 * EPS * (sides.step + abs(np.log(sides.step)) + np.log(M - 1) + 1))
    above = lemma8._omega_1s(at)
    bars_are(above, FORMULA_ROUNDING * (1 + above.value))


def test_bars_of_speed() -> None:
    at, t = run("snap-symmetric"), np.geomspace(1, 1e9, 19)
    level = continuous(t / 3, 5000, 0.5)
    bars_are(lemma9.power(at, t), np.exp(level.logit.value) * (np.expm1(level.logit.error) + FORMULA_ROUNDING))
    bars_are(two_stages.h(at, t), level.h.error)
    bars_are(two_stages.speeds(at, t), gamma(t, 3, 5000, 0.5).error)
    along = two_stages.largest_over_M("h", lambda M: np.array([2.0]), lambda M, y: y)
    bars = [(h.error / h.value)[0] for h in (continuous([2.0], int(M), 1.0).h for M in zeros.VOCABULARIES)]
    bars_are(along, along.value * (np.array(bars) + FORMULA_ROUNDING))
    start = theorem1_b.constants_at_start(at)
    bars_are(start, 4 * FORMULA_ROUNDING * start.value)


def test_bars_of_section_6(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is integrated each value has the solver's error, here a hundredth of it."""
    at = run("snap-single")
    integrated = follow_common

    def coarse(*arguments: Any) -> Any:
        B = integrated(*arguments).B
        return SimpleNamespace(B=Approximation(B.value, 0.01 * B.value))

    monkeypatch.setattr(common_token, "follow_common", coarse)
    at = on(at.dataset)
    B = common_token.along(at, theorem4_snap.slow_times(at))
    bars_are(B, 0.01 * B.value)
    chi = theorem4_snap.exponent(at)
    bars_are(chi, np.exp(2 * 1.01 * B.value) - np.exp(2 * B.value))
    for slower in (False, True):
        at_t_0 = theorem4_rates.at_transition(at, slower=slower)
        bars_are(at_t_0, 0.01 * at_t_0.value)
    late = [(tuple(theorem4_rates.common_times(at, part).tolist()), part) for part in SLOWER]
    whole = np.concatenate([coarse(*common(at, times, 1)).B.value for times, _ in late])
    part = np.concatenate([coarse(*common(at, times, of)).B.value for times, of in late])
    difference = theorem4_rates.larger(at, lambda of: of, lambda of: of, 1)
    np.testing.assert_allclose(difference.value, whole - part, rtol=1e-9)
    bars_are(difference, 0.01 * (whole + part))
    fastest = theorem4_rates.transitions(at)
    bars_are(fastest, 2e-4 * fastest.value)
    slowest = theorem4_scan.scan_constants(at)
    bars_are(slowest, 4 * FORMULA_ROUNDING * slowest.value)


def test_bars_of_eq_13_and_its_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ln(C0 + 4 Gamma)/4 the bar is that of Gamma over C0 + 4 Gamma."""
    at = on(run("snap-single").dataset)
    half = Approximation(np.full(len(eq13.WEAKER), 3.0), np.full(len(eq13.WEAKER), 0.5))
    monkeypatch.setattr(eq13, "weaker", lambda _: (half, half))
    bars_are(eq13.against(at, 1, -2.0), 0.25 + 1.5 * FORMULA_ROUNDING)
    Gamma = Approximation(np.full(len(at.steps), 3.0), np.full(len(at.steps), 0.5))
    monkeypatch.setattr(theorem4_closed_form, "turned", lambda *_: Gamma)
    for printed in (False, True):
        bars_are(theorem4_closed_form.closed_form(at, printed=printed), 0.5 / (common_token.C0(at) + 4 * 3))


def common(at: ClassRun, times: Any, of: float) -> tuple[Any, ...]:
    return times, common_token.C0(at), at.K, at.M, of * at.eta_Y, of * at.eta_Z


def test_bars_along_eq_10(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where z and rates are known to a hundredth, and B to 0.5."""
    at = on(run("snap-single").dataset)
    seen = rates_along(at)

    def rough(found: Approximation) -> Approximation:
        return Approximation(found.value, 0.01 * np.abs(found.value))

    B = Approximation(seen.path.B.value, np.full_like(seen.path.B.value, 0.5))
    path = replace(seen.path, z=rough(seen.path.z), B=B)
    rates = tuple(replace(found, z_dot=rough(found.z_dot)) for found in seen.found)
    for module in (token_gains, theorem3_growth):
        monkeypatch.setattr(module, "rates_along", lambda _: replace(seen, path=path, found=rates))
    for pairs, sign in ((distinct_pairs, 1), (common_pairs, -1)):
        gained = token_gains.extreme(at, pairs, sign)
        bars_are(gained, 0.01 * np.abs(gained.value))
    exponents = theorem3_growth._gather(at, "exponent", while_assumption_2=False)
    bars_are(exponents, 0.01 * np.abs(exponents.value) + 2 * 0.5)
    speeds = theorem3_growth._gather(at, "z", while_assumption_2=False)
    bars_are(speeds, 0.01 * np.abs(speeds.value))


def test_bars_of_the_derivation_of_eq_10(monkeypatch: pytest.MonkeyPatch) -> None:
    at = on(run("snap-single").dataset)
    monkeypatch.setattr(lemma4, "rounded", lambda x: (float(x.mid()), 0.25))
    bars_are(lemma4.steps_of_sgd(at), 0.25)
    monkeypatch.setattr(
        lemma4, "rates", lambda *_: SimpleNamespace(z_dot=Approximation(np.array([2.0]), np.array([0.5])))
    )
    bars_are(lemma4.of_eq_10(at), 0.5 * at.eta_Z)
    bars_are(lemma4._scaled(at, 3.0), 1.5 * at.eta_Z)


def test_bars_of_overlaps() -> None:
    at = ClassRun(weakly_correlated_dataset(K=5, M=10**6, seed=3))
    own, E_prime, n = at.dataset.overlap, at.overlap.E_prime, np.arange(5)
    pairs = np.triu_indices(5, 1)
    size = np.abs(own.E[pairs])
    shared = (at.dataset.P > 0).astype(int) @ (at.dataset.P > 0).T
    whole = own.relative_error * size + own.norm_error + own.eigenvalue_error
    bars_are(lemma13.entries(at), np.where(shared[pairs] > 0, whole, 0))
    bars_are(lemma14.solved(at), E_prime.error.ravel())
    bars_are(lemma16.diagonal(at), E_prime.error[n, n])
    L, _, e = eigenpairs(at.overlap.E)
    least, most = 1 + L.min() - 4 * e, np.abs(L / (1 + L)).max()
    bars_are(lemma14.spectral(at), 3 * e / least**2 + 2 * e / least + 9 * UNIT_ROUNDOFF * 1.01 * most)
    largest_eigenvalue = float(np.abs(L).max())
    moved = 2 * (largest_eigenvalue + e) * e / (1 - largest_eigenvalue - e) ** 2
    bars_are(lemma17.differences(at), (E_prime - at.overlap.E).error.ravel() + moved)
    of_prime = eigenpairs((E_prime.value + E_prime.value.T) / 2)[2] + np.linalg.norm(E_prime.error)
    lambdas = largest_eigenvalue + (1 - largest_eigenvalue) * np.array([0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
    bars_are(
        lemma15.both_inequalities(at),
        np.concatenate([of_prime + e / (1 - lambdas) ** 2, 2 * e / (1 - lambdas) ** 2]),
    )


def test_bars_of_theorem_1(monkeypatch: pytest.MonkeyPatch) -> None:
    at = run("snap-symmetric")
    where = theorem1.compared(at)

    def unsure(own: Any, rows_at: Any) -> Approximation:
        found = mended_beta(own, rows_at)
        return replace(found, error=np.full_like(found.error, 0.5))

    bars = theorem1.formulas(unsure)(at).radius.reshape(-1, 3, 3)
    np.testing.assert_array_equal(bars[:, :, 0], printed_iota(at.overlap, where.at).error)
    assert (bars[:, :, 1:] == 0.5).all()
    monkeypatch.setattr(theorem1, "rounded", lambda x: (float(x.mid()), 0.25))
    bars_are(theorem1.coefficients(at), 0.25)
    nearest = theorem1_a.least_xi

    def wide(at: Any, counts: Any) -> Any:
        found, whose = nearest(at, counts)
        return Approximation(found.value, np.linspace(0.01, 0.5, len(found.value))), whose

    monkeypatch.setattr(theorem1_a, "least_xi", wide)
    bars_are(theorem1_a.any_least(at), np.linspace(0.01, 0.5, len(theorem1_a.any_least(at))))
    found = theorem1_a.seeds_least(at)
    assert found.step is not None
    counts = class_counts(found.step.tolist(), at.dataset.frequencies, 2000, 0)
    for record in range(len(found)):
        xi = wide(at, counts[:, record])[0]
        lowest = int(np.argmin(xi.value - xi.error))
        assert (found.value[record], found.radius[record]) == (xi.value[lowest], xi.error[lowest])


def test_bars_of_theorem_5(monkeypatch: pytest.MonkeyPatch) -> None:
    at = run("snap-symmetric")
    steps = steps_needed.steps_of_a_class(
        np.array([5000.0]), np.array([0.5]), np.asarray(steps_needed.RESIDUALS, dtype=np.float64)
    )
    least, most = (steps_needed.epochs(S, 3) for S in steps)
    found = steps_needed.along_residual(at)
    bars_are(found, (most - least) / 2)
    np.testing.assert_array_equal(found.value, (most + least) / 2)
    monkeypatch.setattr(decoder, "rounded", lambda x: (float(x.mid()), 0.25))
    bars_are(theorem5.trained(at), 0.25)


def test_bars_of_quantiles_over_seeds() -> None:
    """Values 0 to 1999, and of the larger ones an error of 3: 35 and 7 of them are above the bounds at 0.01."""
    assert ranks(2000, 0.01) == (35, 7)
    assert ranks(12, 0.5, 2.0**-12) == (11, 0)  # all of twelve on one side of a median: 2^-12
    value = np.random.default_rng(0).permutation(2000).astype(float)
    error = np.where(value < 1000, 1.0, 3.0)
    found = quantile(Approximation(value[:, None], error[:, None]), np.array([4]), 0.01)
    assert (found.value.tolist(), found.radius.tolist()) == ([(1964 + 1992) / 2], [(1992 - 1964) / 2 + 3])
    few = quantile(Approximation(value[:20, None], error[:20, None]), np.array([4]), 0.01)
    assert (few.value.tolist(), few.radius.tolist()) == ([value[:20].max()], [np.inf])
    both = largest(Approximation(np.array([[1.0, -7.0], [2.0, 0.5]]), np.array([[0.1, 0.2], [0.4, 0.3]])))
    assert (both.value.tolist(), both.error.tolist()) == ([7, 2], [0.2, 0.4])
