"""The error bars of attention's statements and of Theorems 1 and 5, term by term."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import series as measured
from marginaudit.claims.series import FORMULA_ROUNDING, series
from marginaudit.claims.snap.appendix_d4_sampled_classes import corollary1, corollary1_steps, theorem5
from marginaudit.claims.snap.appendix_d4_sampled_classes.quantiles import quantile_along
from marginaudit.claims.snap.appendix_d5_theorem1 import (
    eq90,
    lemma13,
    lemma14,
    lemma15,
    lemma16,
    lemma17,
    theorem1,
    theorem1_a,
)
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import largest_eigenvalue_of_inverse
from marginaudit.claims.snap.appendix_e_attention import eq10, eq112, lemma4, theorem3_growth, token_gains
from marginaudit.claims.snap.appendix_e_attention.eq10 import common_pairs, distinct_pairs, rates_along
from marginaudit.claims.snap.appendix_f_transition import (
    common_token,
    eq13,
    eq132_eq133,
    theorem4_closed_form,
    theorem4_ends,
    theorem4_eq14,
    theorem4_growth,
    theorem4_rates,
)
from marginaudit.claims.snap.appendix_f_transition.theorem4_rates import SLOWER
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.orders.snap import weakly_correlated_dataset
from marginaudit.orders.snap.overlap import eigenpairs, overlap_of
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.attention.common import follow_common
from marginaudit.training.snap.counts.drawn import class_counts
from marginaudit.training.snap.limit.backpropagated import mended_beta, printed_iota
from tests.claims.snap.samples import bars_are, on, run
from tests.measured import judgement


def known_to(share: float) -> Any:
    """`follow_common` with B known to a share of itself."""

    def known(*arguments: Any) -> Any:
        B = follow_common(*arguments).B
        return SimpleNamespace(B=Approximation(B.value, share * B.value))

    return known


def test_bars_of_section_6(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is integrated each value has the solver's error, here a hundredth of it."""
    at = run("snap-single")
    coarse = known_to(0.01)
    monkeypatch.setattr(common_token, "follow_common", coarse)
    at = on(at.dataset)
    B = common_token.along(at, theorem4_eq14.slow_times(at))
    bars_are(B, 0.01 * B.value)
    chi = theorem4_eq14.exponent(at)
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
    slowest = theorem4_eq14.scan_constants(at)
    bars_are(slowest, 4 * FORMULA_ROUNDING * slowest.value)


def test_bars_of_section_6_have_the_rounding_of_c0(monkeypatch: pytest.MonkeyPatch) -> None:
    at = run("snap-single")
    monkeypatch.setattr(common_token, "follow_common", known_to(1e-13))
    at, (_, square) = on(at.dataset), theorem4_growth.dominating(at)
    of_C0 = FORMULA_ROUNDING * (1 + abs(np.log(common_token.C0(at))))
    ends = theorem4_ends.at_ends(at)
    bars_are(ends, 1e-13 * ends.value + of_C0)
    for printed in (False, True):
        B, of_eq_14 = theorem4_growth.exponents(at, printed=printed), theorem4_eq14.in_scan(printed=printed)
        whole = (1e-13 + FORMULA_ROUNDING) * B.value + printed * 2 * square * of_C0
        bars_are(B, whole)
        in_scan: Any = of_eq_14.parts["Eq. 14"]
        measured = in_scan.measure(at)
        bars_are(measured, 1e-13 * measured.value + printed * FORMULA_ROUNDING)
    line = theorem4_growth.linear(at)
    bars_are(line, 1e-13 * line.value)


def test_bars_far_out_are_those_of_formulas() -> None:
    at = run("snap-single")
    B, rate = eq132_eq133.late_B(at), eq132_eq133.against_132(at)
    assert B.step is not None
    start = eq132_eq133.log_A(at) - np.log(common_token.C0(at))
    bars_are(B, FORMULA_ROUNDING * (B.step + abs(start)))
    bars_are(rate, B.radius * rate.value / B.value + FORMULA_ROUNDING * rate.value)


def test_bars_of_eq_13_and_its_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ln(C0 + 4 Gamma)/4 the bar is that of Gamma over C0 + 4 Gamma, and rounding."""
    at = on(run("snap-single").dataset)
    half = Approximation(np.full(len(eq13.WEAKER), 3.0), np.full(len(eq13.WEAKER), 0.5))
    monkeypatch.setattr(eq13, "weaker", lambda _: (half, half))
    bars_are(eq13.against(at, 1, -2.0), 0.25 + 1.5 * FORMULA_ROUNDING)
    Gamma, C0 = Approximation(np.full(len(at.steps), 3.0), np.full(len(at.steps), 1e-12)), common_token.C0(at)
    monkeypatch.setattr(theorem4_closed_form, "turned", lambda *_: Gamma)
    for printed, start in ((False, 0), (True, 1 + abs(np.log(C0)) / 4)):
        bars = (Gamma * (4 / C0)).error / (1 + 4 * 3 / C0) / 4 + FORMULA_ROUNDING * (np.log1p(4 * 3 / C0) / 4 + start)
        bars_are(theorem4_closed_form.closed_form(at, printed=printed), bars)


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
    rates = tuple(replace(found) for found in seen.found)
    for found, near in zip(rates, seen.found, strict=True):
        vars(found)["z_dot"] = rough(near.z_dot)
    for module in (eq10, theorem3_growth):
        monkeypatch.setattr(module, "rates_along", lambda _: replace(seen, path=path, found=rates))
    wide = rough(eq10.at_start(at))
    monkeypatch.setattr(token_gains, "at_start", lambda _: wide)
    began = token_gains.starting(at, distinct_pairs)
    bars_are(began, 0.01 * np.abs(began.value))
    for pairs, sign in ((distinct_pairs, 1), (common_pairs, -1)):
        gained = token_gains.extreme(at, pairs, sign)
        bars_are(gained, 0.01 * np.abs(gained.value))
    eq_12: Any = theorem3_growth.eq_12(while_assumption_2=False).parts
    exponents = eq_12["ln chi"].measure(at)
    bars_are(exponents, 0.01 * np.abs(exponents.value) + 2 * 0.5)
    speeds = eq_12["z"].measure(at)
    bars_are(speeds, 0.01 * np.abs(speeds.value))


def test_bars_of_overlaps_along_eq_10(monkeypatch: pytest.MonkeyPatch) -> None:
    """E is off by 3 off (1 + off) of itself where f is off by so much; of eq. 112 a half counts twice."""
    at = on(run("snap-symmetric").dataset)
    monkeypatch.setattr(eq10, "off_by", lambda _: 0.5)
    found, (_, z) = eq10.overlaps_along(at)[0], eq10.attention_along(at)
    own = overlap_of(at.logits.attended(z.value[0]))
    assert found.eigenvalue_error == own.eigenvalue_error + 3 * 0.5 * 1.5 * own.largest
    one = series([1.0], radius=1e-3)
    monkeypatch.setattr(eq112, "both_sides", lambda _: (one, one))
    _, twice = eq112.well_known(at)
    assert twice.value == 2
    bars_are(twice, 2e-3)


def test_bars_of_the_derivation_of_eq_10(monkeypatch: pytest.MonkeyPatch) -> None:
    at = on(run("snap-single").dataset)
    monkeypatch.setattr(measured, "rounded", lambda x: (float(x.mid()), 0.25))
    bars_are(lemma4.steps_of_sgd(at), 0.25)
    monkeypatch.setattr(
        lemma4, "rates", lambda *_: SimpleNamespace(z_dot=Approximation(np.array([2.0]), np.array([0.5])))
    )
    bars_are(lemma4.of_eq_10(at), 0.5 * at.eta_Z)
    bars_are(judgement("snap.lemma4.rederived").expected(at), 0.5 * at.eta_Z / at.K)


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
    sides, (_, of_inverse) = eq90.three_sides(at)[0], largest_eigenvalue_of_inverse(at)
    own_bars = np.array([E_prime.error.max() + of_inverse, of_inverse, 0.0]) + 5 / 4 * own.eigenvalue_error
    bars_are(sides, own_bars + FORMULA_ROUNDING * sides.value)
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
    monkeypatch.setattr(measured, "rounded", lambda x: (float(x.mid()), 0.25))
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
    steps = corollary1_steps.steps_of_a_class(
        np.array([5000.0]), np.array([0.5]), np.geomspace(1e4, 1e10, 7, dtype=np.float64)
    )
    least, most = (corollary1_steps.epochs(S, 3) for S in steps)
    found = corollary1_steps.along_residual(at)
    bars_are(found, (most - least) / 2)
    np.testing.assert_array_equal(found.value, (most + least) / 2)
    monkeypatch.setattr(measured, "rounded", lambda x: (float(x.mid()), 0.25))
    bars_are(theorem5.trained(at), 0.25)


def test_bars_of_quantiles_over_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values 0 to 1999, and of the larger ones an error of 3: 35 and 7 of them are above the bounds at 0.01."""
    value = np.random.default_rng(0).permutation(2000).astype(float)
    error = np.where(value < 1000, 1.0, 3.0)
    found = quantile_along(np.array([4]), Approximation(value[:, None], error[:, None]), 0.01)
    assert (found.value.tolist(), found.radius.tolist()) == ([(1964 + 1992) / 2], [(1992 - 1964) / 2 + 3])
    sigma = Approximation(value[:, None], error[:, None])
    monkeypatch.setattr(corollary1, "first_sigma", lambda *_: (np.array([4]), sigma))
    np.testing.assert_array_equal(
        corollary1.sigmas(run("snap-symmetric"), 0.01, late=False, any_delta=True).radius, found.radius
    )


def test_log_A_at_a_small_M() -> None:
    at: Any = SimpleNamespace(K=3, M=5, eta_Y=0.5, eta_Z=0.25)
    assert eq132_eq133.log_A(at) == pytest.approx(np.log(2 * 3 * 4**2 / (5**2 * 0.5 / 0.25)), rel=1e-12, abs=0)
