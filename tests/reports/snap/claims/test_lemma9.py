"""Lemma 9: verdicts, and the smallest counterexamples to its scan from t = 0 on."""

from functools import cache
from typing import Any

import mpmath

from marginaudit.orders.snap import CASES, SequenceClasses, single_common_dataset, weakly_correlated_dataset
from marginaudit.reports import Verdict
from marginaudit.reports.snap import ClassConfig, ClassRun, two_stages
from marginaudit.reports.snap.claims import lemma9, theorem1_b
from tests.training.snap.growth import DIGITS, precise_logit
from tests.twins import twin

ALL = {claim.id.removeprefix("snap."): claim for claim in (*lemma9.CLAIMS, *theorem1_b.CLAIMS)}


HOLDS, VIOLATED = Verdict.HOLDS, Verdict.VIOLATED


NOTHING, OPEN = Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE


@cache
def run(case: str = "snap-single", **config: Any) -> ClassRun:
    data = {
        "random": lambda: weakly_correlated_dataset(K=4, M=5000, seed=0),
        "large": lambda: single_common_dataset(K=5, M=10**9, seed=1),
    }.get(case, CASES.get(case))
    assert data is not None
    return ClassRun(data(), ClassConfig(**{"steps": 10**18, **config}))


def small(M: int, K: int = 1, **config: Any) -> ClassRun:
    data = SequenceClasses.from_weights("small", M, [(f"n{n}", "q", {"n0": 1.0}) for n in range(K)])
    return ClassRun(data, ClassConfig(**{"steps": 10**18, **config}))


def test_the_range_of_step_sizes() -> None:
    least = 10 * 5000**-0.99
    for claim in (lemma9.LEMMA9_SCAN, lemma9.LEMMA9_SCAN_ANY_T, lemma9.LEMMA9_SNAP, theorem1_b.THEOREM1_B):
        for eta_Y, reason in ((1.0, "to below 1"), (least * 0.999, "is not from 10 M^-0.99")):
            found = claim.judge(run(lr_y=eta_Y))
            assert (found.verdict, reason in found.detail) == (NOTHING, True)
        for eta_Y in (0.999, least * 1.001):
            found = claim.judge(run(lr_y=eta_Y))
            assert found.verdict is (HOLDS if claim in (lemma9.LEMMA9_SCAN, lemma9.LEMMA9_SNAP) else VIOLATED)
        if claim is not lemma9.LEMMA9_SCAN_ANY_T:
            assert f"M/100 = 50, eta_Y/M^-0.99 = {0.5 * 5000**0.99:.4g}." in claim.judge(run()).detail
        found = claim.judge(small(999))
        assert (found.verdict, "large_vocabulary" in found.detail or "overlap" in found.detail) == (NOTHING, True)


def test_what_cannot_be_judged() -> None:
    for name in ("lemma9.scan.rederived", "theorem1.b.rederived"):
        for M, config, verdict in (
            (1, {}, NOTHING),
            (4, {}, NOTHING),
            (5, {}, HOLDS),
            (50, {"lr_y": 501.0}, OPEN),
            (50, {"lr_y": 500.0}, HOLDS),
            (50, {"lr_y": 1e-100}, OPEN),
            (50, {"steps": 0}, OPEN),
        ):
            assert ALL[name].judge(small(M, **config)).verdict is verdict


def test_the_smallest_counterexamples_to_the_scan() -> None:
    """At t = 0; and at the step t = 1 of 40 classes, in 60 digits."""
    found = lemma9.LEMMA9_SCAN_ANY_T.judge(run())
    assert (found.first_violation, found.measured, found.bound) == (0, 1.0, 0.0)
    on = small(1000, K=40, lr_y=0.02)
    with mpmath.workdps(DIGITS):
        x = precise_logit(mpmath.mpf(1) / 40, 1000, 0.02)
        assert mpmath.exp(x) > 999 * x
    assert lemma9.LEMMA9_SCAN.absent(on) is None
    without_start = twin(
        lemma9.LEMMA9_SCAN_ANY_T,
        "",
        measure=lambda on: lemma9.power(on, two_stages.scan_times(on)[two_stages.scan_times(on) >= 1]),
    )
    found = without_start.judge(on)
    assert (found.verdict, found.first_violation) == (VIOLATED, 1)
    assert "up to t = 2.0" in lemma9.LEMMA9_SCAN.judge(on).detail
    assert lemma9.LEMMA9_SCAN.judge(on).verdict is HOLDS  # from t = 40 on
    assert lemma9.from_first_step(on)[0] == 40
    assert lemma9.LEMMA9_SCAN_REDERIVED.judge(on).verdict is HOLDS
