"""The lemmas and their sharper forms on steps, data and runs at the edge of what they speak of."""

import pytest

from marginaudit.orders.ntp import CASES, Dataset
from marginaudit.reports import Claim, Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims import CLAIMS as ALL
from tests.reports.ntp.samples import judged

CLAIMS: dict[str, Claim] = {
    name: claim
    for name, claim in ALL.items()
    if name.startswith(("ntp.lemma", "ntp.corollary1", "sharp.lemma", "sharp.floor")) or name == "sharp.theorem1"
}


STAGE2 = ("ntp.lemma5", "ntp.lemma6", "ntp.lemma7", "sharp.lemma6", "sharp.lemma7", "sharp.theorem1")


@pytest.mark.parametrize("steps2", [0, 1, 2, 5])
def test_short_runs(steps2: int) -> None:
    on = Run(CASES["section-7"](), Config(steps2=steps2))
    for claim in STAGE2:
        found = judged(claim, on)
        if steps2 == 0:
            assert found.verdict is Verdict.INCONCLUSIVE
            assert "stage 2 has 0 steps" in found.detail
        else:
            assert found.verdict in {Verdict.HOLDS, Verdict.VACUOUS}, found
    assert judged("sharp.floor", on).verdict is Verdict.INCONCLUSIVE


def test_recorded_steps_that_miss_a_stage_are_named() -> None:
    on = Run(CASES["example-1"](), Config(steps1=9, steps2=5, at=(0,)))
    for claim in ("ntp.lemma2", "ntp.lemma3", *STAGE2):
        found = judged(claim, on)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "recorded" in found.detail


def test_one_token_two_tokens_and_no_relation() -> None:
    alone = Dataset.from_sentences("alone", ["aa"])
    for claim in CLAIMS.values():
        found = claim.judge(Run(alone, Config(steps1=5, steps2=5)))
        assert found.verdict is Verdict.NOT_APPLICABLE, claim.id
    unrelated = Run(Dataset.from_sentences("cycle", ["ab", "ba"]), Config(steps1=5, steps2=5))
    for name in STAGE2:
        found = judged(name, unrelated)
        assert found.verdict is Verdict.NOT_APPLICABLE
        assert "No sample relates two tokens" in found.detail
    assert judged("ntp.lemma2", unrelated).verdict is Verdict.HOLDS
    assert judged("ntp.lemma3", unrelated).verdict is Verdict.NOT_APPLICABLE
    assert judged("ntp.lemma4", unrelated).verdict is Verdict.HOLDS
    untrained = Run(CASES["example-1"](), Config(steps1=0, steps2=5))
    for name in (*STAGE2, "sharp.floor"):
        assert judged(name, untrained).verdict is Verdict.NOT_APPLICABLE
    for name in ("ntp.lemma2", "ntp.lemma3"):
        assert judged(name, untrained).verdict is Verdict.INCONCLUSIVE
