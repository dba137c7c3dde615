"""Where statements speak, to the last M, step size and step, and how much of a large run is looked at."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.judgements import Equal, HiddenConstant
from marginaudit.claims.snap import ClassConfig, conditions, some_classes
from marginaudit.claims.snap.appendix_c_gradients import lemma1, lemma2
from marginaudit.claims.snap.appendix_d2_one_class import lemma5, remark1
from marginaudit.claims.snap.appendix_d3_growth import lemma7, remark2, two_stages
from marginaudit.claims.snap.appendix_d4_sampled_classes import (
    corollary1,
    corollary1_steps,
    decoder,
    enough_steps,
    lemma11,
    lemma12,
    quantiles,
    theorem5,
)
from marginaudit.claims.snap.appendix_d4_sampled_classes.lemma10 import frequencies
from marginaudit.claims.snap.appendix_d5_theorem1 import lemma14
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.reports import LEDGER
from marginaudit.reports.snap.paper import PAPER
from marginaudit.training.snap.balls.coefficients import bits_a_step
from marginaudit.training.snap.growth import larger_zero
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.fluctuation import fluctuation
from marginaudit.training.snap.limit.recursion import h_star
from tests.claims.snap.samples import on, run, single
from tests.twins import parts


def of_size(M: int | None, K: int = 1, **settings: Any) -> ClassRun:
    """K classes of one shared token and one of each's own, all equally frequent."""
    classes = [(f"n{n}", "q", {"c": 1.0, f"d{n}": 2.0}) for n in range(K)]
    return on(SequenceClasses.from_weights("of size", M, classes), **settings)


# Step sizes, vocabularies and steps


def test_range_r_begins_at_ten_times_its_least_rate_and_ends_below_1() -> None:
    least = conditions.least_rate(5000)
    assert least == pytest.approx(10 * 5000**-0.99, rel=1e-14, abs=0)
    for rate, inside in ((least, True), (np.nextafter(least, 0), False), (np.nextafter(1, 0), True), (1.0, False)):
        reason = conditions.outside_range_r(single(lr_y=float(rate)))
        assert (reason is None) is inside
        assert reason is None or f"eta_Y = {rate:.4g} is not from 10 M^-0.99 = {least:.4g} to below 1." in reason
    rate = 10 * 10_000**-0.99
    for factor, inside in ((1, True), (1 - 1e-12, False)):
        at = of_size(10_000, lr_y=rate * factor)
        assert (conditions.outside_range_r(at) is None) is inside


def test_late_steps_are_from_ten_k_squared_on_and_evenly_taken() -> None:
    at = single(at=(39, 40, 41, 50, 60, 70, 80), steps=80)
    assert conditions.late_steps(at, 10).tolist() == [40, 41, 50, 60, 70, 80]
    assert conditions.late_steps(at, 3).tolist() == [40, 50, 80]
    assert conditions.late_steps(at, 1).tolist() == [40]
    assert conditions.late_steps(single(at=(40,), steps=80, lr_y=500.0), 1).tolist() == [40]
    for wrong, said in (({"at": (39,)}, "from t = 10 K^2 = 40 on"), ({"lr_y": 500.1}, "eta_Y = 500.1, and exp")):
        with pytest.raises(BeyondTheRun) as refused:
            conditions.late_steps(single(**wrong), 1)
        assert said in str(refused.value)


def test_how_far_chances_steps_and_lags_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = enough_steps.steps_from(40.0)
    assert (steps[0], steps[-1], len(steps)) == (40, 40 * 10**7, 29)
    assert enough_steps.steps_from(1e9)[-1] == 10**12
    assert enough_steps.steps_from(40.5)[0] == 41
    with pytest.raises(BeyondTheRun):
        enough_steps.steps_from(1.001e9)
    assert lemma11.late_steps(single()) == max(40, 4 * larger_zero(np.log([5000.0]))[0] / 0.5)
    assert lemma11.late_steps(single(lr_y=50.0)) == 40
    assert lemma7.largest_lag(1000, 5.0) is not None
    assert remark2.REMARK2_REDERIVED.judge(single(at=(10**6,), steps=10**6)).verdict == "holds"
    monkeypatch.setattr(lemma7, "FARTHEST", 13)
    assert lemma7.largest_lag(1000, 0.5) is not None
    monkeypatch.setattr(lemma7, "FARTHEST", 12)
    with pytest.raises(BeyondTheRun):
        lemma7.largest_lag(1000, 0.5)
    at = of_size(5)
    monkeypatch.setattr(two_stages, "FARTHEST", at.transition)
    assert two_stages.beyond_steps(at) is None


def test_records_are_of_uniform_classes_in_two_tokens_or_more() -> None:
    assert list(PAPER.records(on(SequenceClasses.from_weights("two", 2, [("n", "q", {"q": 1.0})]), at=(1,)))) == [
        "limit"
    ]
    assert PAPER.records(on(SequenceClasses.from_weights("one", 1, [("n", "n", {"n": 1.0})]))) == {}
    assert PAPER.records(on(replace(CASES["snap-single"](), weights=(1.0, 2.0)))) == {}


# How much is looked at


def test_of_many_classes_or_tokens_some_are_taken_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    many = of_size(500, K=20)
    some = some_classes.some_classes(many, 12)
    assert len(set(some)) == 12
    assert some == sorted(some) != list(range(12))
    assert some_classes.some_classes(many, 30) == list(range(20))
    for entries, taken in ((21 * 3 + 20, 3), (21 * 3, 3), (21 * 3 - 1, 2), (1, 1)):
        monkeypatch.setattr(some_classes, "MOST_ENTRIES", entries)
        assert len(some_classes.some_classes(many, 12)) == taken


def test_frequencies_are_thinned_out() -> None:
    data = of_size(5000, K=50).dataset
    found = frequencies(replace(data, weights=tuple(float(n) for n in range(1, 51))))
    assert len(found) == 20
    assert [found[0], found[-1]] == [Fraction(1, 1275), Fraction(50, 1275)]


def test_attention_of_fewer_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    twenty = lemma2.likeness(single(seeds=20))
    monkeypatch.setattr(lemma2, "MOST_DRAWN", 3 * 16 * 25 - 1)
    fewer = lemma2.likeness(single(seeds=24))
    monkeypatch.setattr(lemma2, "MOST_DRAWN", 0)
    found = lemma2.likeness(single(seeds=2000))
    assert found.value.tolist() == twenty.value.tolist() != fewer.value.tolist()
    monkeypatch.setattr(lemma2, "MOST_DRAWN", 3 * 16 * 25)
    assert lemma2.likeness(single(seeds=24)).value.tolist() == fewer.value.tolist()
    # the first and the last order statistic are bounds as others are
    monkeypatch.setattr(lemma2, "order_statistics", lambda seeds: (1, seeds))
    assert lemma2.likeness(single(seeds=7)).radius[-1] < 1e-3
    monkeypatch.setattr(lemma2, "order_statistics", lambda seeds: (0, seeds + 1))
    unknown = lemma2.likeness(single(seeds=8))
    assert unknown.radius.tolist() == np.maximum(unknown.value, 1 - unknown.value).tolist()


def test_order_statistics_are_those_of_the_binomial_law() -> None:
    from scipy.stats import binom

    for seeds in (20, 300, 2000):
        below, above = lemma2.order_statistics(seeds)
        # the quantile is below the i-th smallest where fewer than i are below it
        assert binom.cdf(below - 1, seeds, 0.1) <= 5e-7 < binom.cdf(below, seeds, 0.1)
        assert binom.sf(above - 1, seeds, 0.1) <= 5e-7 < binom.sf(above - 2, seeds, 0.1)


def test_how_many_seeds_and_records_chances_are_drawn_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes() -> list[tuple[int, ...]]:
        at = on(CASES["snap-symmetric"](), steps=10**18, seeds=50)
        (step, theta), (_, sigma) = quantiles.largest_theta(at, fluctuation), quantiles.first_sigma(at, fluctuation)
        return [step.shape, theta.value.shape, sigma.value.shape]

    assert sizes() == [(24,), (50, 24), (50, 24)]
    for numbers, seeds, steps in ((3 * 50 * 7, 50, 7), (3 * 50 * 2, 50, 4), (3 * 9, 9, 4), (2, 1, 4)):
        monkeypatch.setattr(quantiles, "NUMBERS", numbers)
        assert sizes() == [(steps,), (seeds, steps), (seeds, steps)]


def test_y_is_trained_for_ten_k_squared_steps_or_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    at = run("snap-symmetric")
    assert len(decoder.sequence(at)) == 90
    assert len(decoder.sequence(single())) == 40
    closed = theorem5.closed_form(at)
    assert decoder.size_of(theorem5.closed_form)(at) == np.abs(closed.value).max()
    monkeypatch.setattr(decoder, "OPERATIONS", 1)
    assert len(decoder.sequence(single())) == 1
    [drawn] = decoder.sequence(single()).tolist()
    counts = np.bincount([drawn], minlength=2)
    lead = h_star([1], 5000, 0.5).level.h.value[0] / continuous([1.0], 5000, 0.5).h.value[0] - 1
    assert counts.sum() == 1
    said = decoder.leading(single())
    assert "for 1 step " in said
    assert f"h(N_n) is up to {lead:.2g} of itself below h*(N_n)" in said
    monkeypatch.setattr(decoder, "OPERATIONS", 4 * 17 * (2 + bits_a_step(single().overlap, 0.5)) + 1e-9)
    assert len(decoder.sequence(single())) == 17


def test_steps_of_sigma_early_and_late() -> None:
    at = on(CASES["snap-symmetric"](), steps=10**18, seeds=50)
    early, late = corollary1.sigmas(at, 0.1, late=False), corollary1.sigmas(at, 0.1, late=True)
    assert early.step is not None
    assert late.step is not None
    least = corollary1.late_from(at, 0.1, late.step)
    x = larger_zero(np.log([5000.0]))[0]
    np.testing.assert_allclose(least, 30 * (np.sqrt(late.step * np.log(10)) + 4 * x), rtol=1e-12)
    every = corollary1.sigmas(at, 0.1, late=False, any_delta=True)
    assert every.step is not None
    assert every.step[0] == 100
    spoken = [N for N in every.step.tolist() if 10 * np.ceil(np.sqrt(N * np.log(10))) <= -(-N // 3)]
    assert early.step.tolist() == spoken
    assert 100 not in spoken
    assert (late.step >= least).all()
    assert set(early.step[early.step >= corollary1.late_from(at, 0.1, early.step)].tolist()) == set(late.step.tolist())
    with pytest.raises(BeyondTheRun):
        corollary1.sigmas(on(CASES["snap-symmetric"](), at=(90,), steps=90, seeds=50), 0.1, late=True)
    for claim in (corollary1.COROLLARY1, corollary1.COROLLARY1_ANY_DELTA):
        for name, measured in parts(claim).items():
            if "igma, delta" in name:
                assert isinstance(measured, HiddenConstant)
                step = measured.measure(at).step
                assert step is not None
                assert (step[0] == 100) == (claim.id.endswith("any-delta") and name.startswith("Sigma")), name


def test_vocabularies_and_rates_are_swept_in_range_r() -> None:
    for eta, first in ((0.5, 1000), (1e-3, np.ceil(1e4 ** (1 / 0.99)))):
        found = corollary1_steps.along_M(single(lr_y=eta))
        assert found.step is not None
        assert (found.step[0], found.clock, len(found)) == (first, "M", 25)
        assert found.step[-1] == pytest.approx(1e6 * first, rel=1e-3, abs=0)
        assert all(conditions.least_rate(M) <= eta for M in found.step.tolist())
        assert (found.step % 1 == 0).all()
    rates = corollary1_steps.along_rate(single())
    assert rates.step is not None
    assert (rates.step[0], rates.clock) == (2, "1/eta_Y")
    assert rates.step[-1] == np.floor(1 / conditions.least_rate(10**9))


def test_sizes_that_rounding_is_relative_to() -> None:
    at, low = run("snap-single"), single(lr_y=1e-4)
    for judged, found in ((lemma5.LEMMA5, lemma5.one_class), (lemma12.LEMMA12_REDERIVED, lemma12.drawn_classes)):
        part = next(iter(parts(judged).values()))
        assert isinstance(part, Equal)
        assert part.scale is not None
        for one, least in ((at, 5e-4), (low, 1e-7)):
            expected = np.maximum(np.abs(found(one)[1].value), least)
            np.testing.assert_allclose(part.scale(one), expected, rtol=1e-12)
    for claim, stated, unit in (
        (lemma1.LEMMA1, lemma1.both_gradients(at)[1], 1.0),
        (remark1.REMARK1_REDERIVED, remark1.flow(at)[1], 1.0),
    ):
        assert isinstance(claim.judgement, Equal)
        assert claim.judgement.scale is not None
        np.testing.assert_allclose(claim.judgement.scale(at), np.maximum(np.abs(stated.value), unit), rtol=1e-12)
    assert isinstance(lemma14.LEMMA14.judgement, Equal)
    assert lemma14.LEMMA14.judgement.scale is not None
    assert lemma14.LEMMA14.judgement.scale(at) == np.abs(at.overlap.E_prime.value).max()


def test_statements_on_eq_10_ask_for_a_fast_decoder() -> None:
    """Assumption 1 (c); what is re-derived, and what is not about attention, speaks of every ratio."""
    fast, slow = (ClassRun(CASES["snap-single"](), ClassConfig(lr_y=0.5, lr_z=lr_z)) for lr_z in (0.05, 0.051))
    silent = {c.id for c in PAPER.claims if c.absent(slow) is not None and c.absent(fast) is None}
    section_6 = {f"snap.theorem4.{part}" for part in ("closed-form", "scan", "snap", "growth", "ends", "rates")}
    section_5 = {"lemma4", "theorem2.distinct", "theorem2.common", "corollary2", "theorem3.gain", "theorem3.growth"}
    assert silent == section_6 | {f"snap.{name}" for name in section_5 | {"eq112", "eq13", "eq132", "eq133"}}
    assert "eta_Y = 0.5 is below 10 eta_Z = 0.51" in LEDGER["snap.eq13"].judge(slow).detail
