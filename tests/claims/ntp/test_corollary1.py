"""Corollary 1, for every T and where it is measured."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from marginaudit.claims import Evidence, Verdict
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_c_stage2 import corollary1
from marginaudit.claims.ntp.appendix_c_stage2.corollary1 import decide_corollary1
from marginaudit.claims.ntp.quantities import label_margins
from marginaudit.claims.series import FORMULA_ROUNDING, by_formula
from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER
from tests.claims.ntp.samples import judged, pair, run, textbook_stage1
from tests.solutions import known


@pytest.mark.parametrize("suffix", ["", ".rederived"])
def test_corollary_1_is_decided_for_every_T(suffix: str) -> None:
    short, on = (run("section-7", steps1=steps, steps2=0) for steps in (0, 3))
    T = 3
    W = list(textbook_stage1(on.dataset, T, on.eta0))[-1][0]
    n = on.dataset.collocation.function
    answer = [on.dataset.index[n[x]] for x in on.dataset.vocabulary]
    margins = (W[answer, range(on.dataset.V)] - W)[~np.eye(on.dataset.V, dtype=bool)[answer].T]
    A = T * on.eta0 / (4 * on.norm_ov**2)
    lower, upper = (judged(f"ntp.corollary1.{side}{suffix}", on) for side in ("lower", "upper"))
    assert (lower.verdict, lower.evidence) == (Verdict.HOLDS, Evidence.EXACT)
    assert (upper.verdict, upper.evidence) == (Verdict.VIOLATED, Evidence.EXACT)
    assert lower.measured is upper.measured is None
    outside = [LEDGER[f"ntp.corollary1.{side}{suffix}"].judgement.judge(on) for side in ("lower", "upper")]
    assert [one.measured for one in outside] == pytest.approx([margins.min(), margins.max()], rel=1e-12, abs=0)
    assert [one.bound for one in outside] == pytest.approx([A, 3 * A])
    start, power = known(upper.first_violation), 7 if suffix else 5
    assert start == upper.informative_from == lower.informative_from

    def late_enough(T: float) -> bool:
        return bool(T * on.eta0 >= 384 * on.norm_ov**power * np.log(2 * on.dataset.V) * np.log(T) * (1 - 1e-12))

    assert late_enough(start)
    assert not late_enough(int(start * (1 - 1e-6)) - 1)
    assert known(upper.witness)["margin"] > known(upper.witness)["bound"]
    for side in ("lower", "upper"):
        untrained = judged(f"ntp.corollary1.{side}{suffix}", short)
        assert untrained.verdict is judged(f"ntp.corollary1.{side}{suffix}", on).verdict


@pytest.mark.parametrize(("size", "verdict"), [(1.25, Verdict.VIOLATED), (2.0, Verdict.HOLDS)])
def test_corollary_1_without_orthonormal_tokens_is_measured_where_it_speaks(size: float, verdict: Verdict) -> None:
    """Longer embeddings make ||W*_ov|| smaller, so that a short stage 1 is beyond the threshold."""
    claim = replace(LEDGER["ntp.corollary1.upper"], assumptions=())
    data = replace(pair(), embedding=size * np.array([[1.0, 0.0], [0.1, 1.0]]))
    assert claim.judge(Run(data, Config(steps1=1, steps2=0))).verdict is Verdict.INCONCLUSIVE
    found = claim.judge(Run(data, Config(steps1=4_000, lr1=0.5, steps2=0, at=(4_000,))))
    assert (found.verdict, found.evidence) == (verdict, Evidence.FLOAT64)
    assert found.first_violation == (4_000 if verdict is Verdict.VIOLATED else None)
    decided = LEDGER["ntp.corollary1.upper"].judgement.judge
    for error in (0.0, 0.01):
        on = Run(data, Config(steps1=2, steps2=0))
        on.__dict__["trained"] = replace(on.training, margin_error=error * label_margins(on, on.training.B).max())
        outside = decided(on)
        of_bound = by_formula([known(outside.bound)]).radius[0] / known(outside.bound)
        bars = 2 * (error + FORMULA_ROUNDING + of_bound)
        assert outside.repeats_within == pytest.approx(bars, rel=0.05, abs=0)
    truth = "false" if verdict is Verdict.VIOLATED else "true"
    assert found.detail.endswith(f" {truth}.")


COROLLARY1 = tuple(f"ntp.corollary1.{side}{suffix}" for side in ("lower", "upper") for suffix in ("", ".rederived"))


@pytest.mark.parametrize(("lr1", "lr2"), [(1e-100, 0.1), (0.1, 1e-13), (1e-100, 1e-100)])
def test_thresholds_further_than_float64_counts_are_reported(lr1: float, lr2: float) -> None:
    """The steps from which claims speak: more than int64 holds, or than 100 digits."""
    on = run("example-1", steps1=9, steps2=9, lr1=lr1, lr2=lr2)
    for claim in (*COROLLARY1, "ntp.theorem2.weight", "ntp.theorem2.loss", "ntp.lemma7", "sharp.theorem1.squared"):
        found = LEDGER[claim].judge(on)
        assert found.verdict is not Verdict.BROKEN, found.detail
        if lr1 == 1e-100 and claim in COROLLARY1:
            start = known(found.informative_from)
            assert start * lr1 == pytest.approx(
                384 * on.norm_ov ** (5 if "rederived" not in claim else 7) * np.log(8) * np.log(start), rel=1e-9, abs=0
            )


@pytest.mark.parametrize(("side", "margin"), [("lower", 1.0), ("upper", 2.0)])
def test_corollary_1_is_about_the_margin_nearest_to_its_bound(
    side: Literal["lower", "upper"], margin: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corollary1, "label_margins", lambda *_: np.array([1.5, 1.0, 2.0]))
    found = decide_corollary1(Run(CASES["example-1"](), Config(steps1=5, steps2=2)), side, 4, 3)
    assert found.measured == margin
