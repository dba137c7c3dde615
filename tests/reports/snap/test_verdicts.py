"""Verdicts of statements on growth, on built-in cases and at the edges of what can be judged."""

import pytest

from marginaudit.reports import Claim, Verdict
from marginaudit.reports.snap.claims import lemma6, lemma7, lemma8, remark2
from tests.reports.snap.growth_runs import run, small

ALL = {
    claim.id.removeprefix("snap."): claim for claim in (*lemma6.CLAIMS, *lemma7.CLAIMS, *remark2.CLAIMS, *lemma8.CLAIMS)
}


HOLDS, VIOLATED = Verdict.HOLDS, Verdict.VIOLATED


NOTHING, OPEN = Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("lemma6", HOLDS),
        ("lemma7.gap", HOLDS),
        ("lemma7.limit", HOLDS),
        ("remark2", VIOLATED),
        ("remark2.rederived", HOLDS),
        ("lemma8", HOLDS),
        ("lemma8.any-M", HOLDS),
        ("lemma8.rederived", HOLDS),
    ],
)
def test_verdicts_on_random_classes(claim: str, verdict: Verdict) -> None:
    assert ALL[claim].judge(run("random")).verdict is verdict


@pytest.mark.parametrize("claim", ALL.values())
def test_what_cannot_be_judged(claim: Claim) -> None:
    lone = claim.judge(small(1))
    assert (lone.verdict, claim.id == "snap.lemma8" or "M is below" in lone.detail) == (NOTHING, True)
    if "lemma8" not in claim.id:
        assert claim.judge(small(50, lr_y=501.0)).verdict is OPEN
        assert claim.judge(small(50, steps=0)).verdict is OPEN
    for config in ({"steps": 1}, {"at": (3, 10**12)}, {"lr_y": 1e-100}, {"lr_y": 500.0}, {"lr_y": 1e-6}):
        expected = {"snap.remark2": (VIOLATED, HOLDS, OPEN), "snap.lemma8": (NOTHING,)}.get(claim.id, (HOLDS, OPEN))
        assert claim.judge(small(50, **config)).verdict in expected
