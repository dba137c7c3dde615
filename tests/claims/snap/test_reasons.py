"""Why statements on SGD say nothing of a run: the reason is the run's own, in words."""

from collections.abc import Callable
from typing import Any

import pytest

from marginaudit.claims.claim import BeyondTheRun, NotFollowed
from marginaudit.claims.snap.appendix_d2_one_class import lemma3, lemma5, remark1
from marginaudit.claims.snap.appendix_d3_growth import lemma7, lemma8, remark2, two_stages
from marginaudit.claims.snap.appendix_d4_sampled_classes import lemma11, lemma12, theorem5
from marginaudit.claims.snap.appendix_e_attention import eq10, theorem3_gain
from marginaudit.claims.snap.appendix_f_transition import common_token, eq13, theorem4_growth
from marginaudit.claims.snap.conditions import no_inverse, no_recorded_growth, slow_decoder
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.snap import SequenceClasses
from tests.claims.snap.samples import on, single

APART = SequenceClasses.from_weights("apart", 9, [("m", "q", {"a": 1}), ("n", "q", {"b": 1})])
INSIDE = SequenceClasses.from_weights("inside", 90, [("m", "q", {"a": 1, "x": 1}), ("n", "q", {"x": 1})])
LARGE = SequenceClasses.from_weights("large", 100_000, [("m", "q", {"a": 1, "b": 2, "x": 1}), ("n", "q", {"x": 1})])
WEAK = SequenceClasses.from_weights("weak", 5000, [(n, "q", {"the": 3e-78, n: 1.0}) for n in "mn"])
FAINT = SequenceClasses.from_weights("faint", 5000, [(n, "q", {"the": 1.0, n: 1e-170}) for n in "mn"])
SAME = SequenceClasses.from_weights("same", 90, [("m", "q", {"a": 1}), ("n", "q", {"a": 1})])
NEARLY = SequenceClasses.from_weights("nearly", 90, [("m", "q", {"a": 6, "b": 4}), ("n", "q", {"a": 6 + 1e-7, "b": 4})])
DEPENDENT = "linearly dependent"
NEVER = "|lambda_1| < 1/K is not met from t = 1 on"

NEED_AN_INVERSE = (
    lemma3.LEMMA3,
    lemma5.LEMMA5,
    remark1.REMARK1,
    lemma12.LEMMA12_ANY_STEP,
    lemma12.LEMMA12_REDERIVED,
    theorem5.THEOREM5_REDERIVED,
)


FLUCTUATE = (lemma11.LEMMA11, lemma12.LEMMA12_ANY_STEP, lemma12.LEMMA12_REDERIVED)


def alike(M: int) -> SequenceClasses:
    return SequenceClasses.from_weights("alike", M, [(n, "q", {"the": 9.0, n: 1.0}) for n in "mn"])


def alone(M: int) -> SequenceClasses:
    return SequenceClasses.from_weights("alone", M, [("q", "q", {"q": 1.0})])


@pytest.mark.parametrize(
    ("why", "run", "said"),
    [
        (lemma8.LEMMA8_ANY_M.absent, on(alone(1)), "M is below 2"),
        (lemma8.LEMMA8_ANY_M.absent, on(alone(2)), None),
        (
            no_recorded_growth,
            on(alone(1), at=(), steps=0),
            "zeta_n",
        ),
        (eq10.no_path, on(SAME, lr_y=501.0), DEPENDENT),
        *((claim.absent, on(SAME, lr_y=501.0), DEPENDENT) for claim in NEED_AN_INVERSE),
        (theorem3_gain.no_pair, on(NEARLY), "two distinct tokens"),
        (remark1.no_overlap_of_two, on(alone(90)), "one class"),
        (remark1.no_overlap_of_two, single(), None),
        *((claim.absent, on(alone(90)), "one class") for claim in FLUCTUATE),
        (lemma11.LEMMA11.absent, on(alike(4)), None),
        (lemma12.LEMMA12.absent, single(lr_y=1.0), "eta_Y = 1 is not from 10 M^-0.99 = 0.002178"),
        (
            lemma11.LEMMA11.absent,
            on(alone(3)),
            "M is below 4: omega_1",
        ),
        (theorem4_growth.no_distinct_token, on(INSIDE), None),
        (theorem4_growth.no_distinct_token, on(SAME), "No token is distinct"),
        (two_stages.beyond_steps, on(alone(4)), "M is below 5"),
        (two_stages.beyond_steps, on(alone(5)), None),
        (eq10.no_path, on(alone(3)), "M is below 4"),
        (eq10.no_path, on(SAME), DEPENDENT),
        (eq10.no_path, single(), None),
        (slow_decoder, single(lr_y=0.7, lr_z=0.07), None),
        (slow_decoder, single(lr_y=0.7, lr_z=0.0700001), "eta_Y = 0.7 is below 10 eta_Z = 0.7"),
        (eq10.assumption_2_never_met, on(alike(5000), at=(1,), steps=10), NEVER),
        (
            eq10.assumption_2_never_met,
            on(alike(144), at=(1,), steps=11),
            "M is 144",
        ),
        (common_token.no_overlap, on(APART), "No two classes share a token"),
        (eq13.no_weaker, on(APART), "No two classes share a token"),
        (eq13.no_weaker, on(INSIDE), "Class n has no distinct token"),
        (eq13.no_weaker, single(), None),
    ],
)
def test_the_reason(why: Callable[[ClassRun], str | None], run: ClassRun, said: str | None) -> None:
    found = why(run)
    assert (said or "") in (found or "")
    assert (found is None) == (said is None)


def test_what_float64_does_not_follow_or_was_not_recorded_is_spoken_of_all_the_same() -> None:
    for why, run in (
        (no_recorded_growth, single(lr_y=501.0)),
        *((claim.absent, single(lr_y=501.0)) for claim in FLUCTUATE),
        (no_recorded_growth, single(lr_y=501.0, at=(), steps=0)),
        (remark2.no_step_near, single(at=(10**7,), steps=10**7)),
        (two_stages.beyond_steps, single(lr_y=1e-17)),
        (eq10.no_path, single(lr_z=1e-100, at=(1,))),
        (eq10.assumption_2_never_met, on(alike(5000), at=(1,), steps=11)),
        (eq10.assumption_2_never_met, on(alike(145), at=(2, 10), steps=10)),
        (no_inverse, on(NEARLY)),
        (common_token.no_overlap, on(WEAK)),
    ):
        with pytest.raises(NotFollowed):
            why(run)


@pytest.mark.parametrize(
    ("why", "run", "said"),
    [
        (no_recorded_growth, single(lr_y=501.0), "exp(M h*) leaves float64 in the first step"),
        (no_recorded_growth, single(at=(), steps=0), "no step from 1 on"),
        (remark2.no_step_near, single(at=(10**7,), steps=10**7), "no step up to 1000000"),
        (lambda _: lemma7.largest_lag(1000, 1e-18), single(), "ln M/eta_Y is beyond "),
        (two_stages.beyond_steps, single(lr_y=1e-17), "the scan ends at t = 1.7e+18, beyond 1e+18 steps"),
        (lemma11.late, single(lr_y=1e-100), "too large for computed probabilities"),
        (lemma11.across_the_turn, single(lr_y=1e-5), "g changes most at N = 2.181e+06, too late to fit"),
        (eq13.weaker, on(FAINT), "a class has too little on its distinct tokens"),
        (theorem3_gain.along_sgd, on(LARGE), "a class's tokens times M = 300000 are beyond 200000"),
    ],
)
def test_what_is_beyond_the_run(why: Callable[[ClassRun], Any], run: ClassRun, said: str) -> None:
    with pytest.raises(BeyondTheRun) as refused:
        why(run)
    assert said in str(refused.value)
