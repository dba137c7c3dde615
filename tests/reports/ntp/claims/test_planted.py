"""Every claim has a planted false twin that comes out violated; statements found false have a true one."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import flint
import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset, Sample
from marginaudit.reports import LEDGER, Evidence, Series, Verdict
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.judgements import Bounded, Decided, Equal
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims import CLAIMS
from marginaudit.reports.ntp.claims.lemma6 import LEMMA6_LOWER, LEMMA6_UPPER
from marginaudit.reports.ntp.claims.theorem2_floor import log_infimum
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.training.ntp.model.infimum import log_infimum_ball
from tests.papers import changed
from tests.reports.ntp.twins import (
    Twin,
    apart,
    bounded,
    decided_with,
    double_rate,
    lemma5_with,
    lemma7_with,
    opposite_order,
    scaled,
    scaled_bound,
    shifted,
    swapped_sides,
    times,
    wrong_exponent,
)
from tests.reports.snap.claims.test_planted import twinned


@cache
def run(case: str, steps2: int = 900) -> Run:
    at = None if steps2 == 900 else tuple(np.unique(np.geomspace(1, steps2, 600).astype(int)).tolist())
    return Run(CASES[case](), Config(steps2=steps2, at=at))


def floor_of(labels: Callable[[int], int]) -> Callable[[int, flint.arb], flint.arb]:
    return lambda V, A: log_infimum_ball(labels(V) + 1, A)


FLOOR_TWINS: tuple[Twin, ...] = (
    decided_with(claimed=floor_of(lambda V: V)),
    decided_with(claimed=floor_of(lambda V: V - 2)),
    decided_with(claimed=lambda V, A: log_infimum_ball(V, A * (1 + 1e-9))),
    decided_with(rate=lambda run: 2 * run.eta / run.norm_kq),
    decided_with(rate=lambda run: 1.0067 * run.eta / run.norm_kq),
)

FALSE_TWINS: dict[str, tuple[Twin, ...]] = {
    "ntp.gradient.ov": (times(-1),),
    "ntp.gradient.kq": (times(-1),),
    "ntp.prop1.norm": (scaled("upper", 1 - 1e-11),),
    "ntp.prop1.direction": (swapped_sides,),
    "ntp.prop1.loss": (wrong_exponent(8),),
    "ntp.theorem1.norm": (scaled("lower", 10),),
    "ntp.theorem1.direction": (scaled("upper", 1e-11),),
    "ntp.theorem1.direction.any-step": (scaled("upper", 1e-11),),
    "ntp.theorem2.weight": (shifted(10),),
    "ntp.theorem2.weight.any-step": (shifted(10),),
    "ntp.theorem2.weight.rederived": (swapped_sides,),
    "ntp.theorem2.weight.rederived.any-step": (swapped_sides,),
    "ntp.theorem2.loss": (shifted(100),),
    "ntp.theorem2.loss.any-step": (shifted(100),),
    "ntp.theorem2.loss.rederived": (swapped_sides,),
    "ntp.theorem2.loss.rederived.any-step": (swapped_sides,),
    "ntp.theorem2.rate": (double_rate,),
    "ntp.prop2.closed-form": (times(-1),),
    "ntp.prop2.corollary": (apart(1),),
    "ntp.prop2.prefix-closed": (times(-1),),
    "ntp.theorem3.order": (opposite_order,),
    "ntp.theorem3.order.any-step": (opposite_order,),
    "ntp.theorem3.order.rederived": (opposite_order,),
    "ntp.example1": (apart(1),),
    "ntp.example2": (bounded(lower=lambda _, t: 0 * t + 1e3),),
    "sharp.stage1": (apart(1),),
    "sharp.prop2": (apart(1),),
    "sharp.single-optimum": (apart(1),),
    "sharp.rate": (double_rate,),
    "sharp.rate.any-step": (double_rate,),
    "sharp.theorem1.squared": (bounded(upper=lambda _, t: 100 / t**2),),
    "ntp.lemma2": (scaled("upper", 0.9),),
    "ntp.lemma3": (apart(1e-9),),
    "ntp.corollary1.lower": (decided_with(factor=7),),
    "ntp.corollary1.lower.rederived": (decided_with(factor=7),),
    "ntp.lemma4": (
        times(-1),
        times(1 + 1e-9),
    ),
    "ntp.lemma5": (
        lemma5_with("never decreases", 0.02),
        lemma5_with("each other position", 1e-9),
        lemma5_with("each other token", 1e-9),
        lemma5_with("summed", 1e-9),
    ),
    "ntp.lemma6": (
        decided_with(lower=scaled_bound(LEMMA6_LOWER, "lower", 9)),
        decided_with(upper=scaled_bound(LEMMA6_UPPER, "upper", 1 - 1e-11)),
    ),
    "ntp.lemma7": (lemma7_with(1e-6), lemma7_with(-1)),
    "ntp.lemma7.rederived": (lemma7_with(1e-6),),
    "sharp.lemma6": (scaled("lower", 2.2),),
    "sharp.lemma7": (lemma7_with(1 / 1100), lemma7_with(-1)),
    "sharp.theorem1": (scaled("upper", 1e-5),),
    "sharp.floor": FLOOR_TWINS,
    "sharp.floor.any-step": FLOOR_TWINS,
}

FOUND_FALSE = {
    "ntp.corollary1.upper",
    "ntp.corollary1.upper.rederived",
    "ntp.theorem2.floor",
    "ntp.theorem3.prediction",
    "ntp.theorem3.prediction.rederived",
}
"""Statements that are themselves violated wherever they apply."""


LONG = {
    "ntp.theorem2.rate": 50_000,
    "ntp.theorem3.order.rederived": 50_000,
    "sharp.floor": 50_000,
    "sharp.floor.any-step": 50_000,
    "sharp.rate": 10**9,
    "sharp.rate.any-step": 10**9,
    "sharp.theorem1.squared": 10**9,
}
"""Steps of stage 2 that a statement about late steps needs."""


def test_every_claim_has_a_twin() -> None:
    """Of every paper; those of sequence classes are in `tests.reports.snap.claims.test_planted`."""
    twins = set(FALSE_TWINS) | FOUND_FALSE | twinned()
    assert twins == {claim.id for paper in PAPERS for claim in paper.claims}


@pytest.mark.parametrize(
    ("claim", "number"), [(name, i) for name, twins in FALSE_TWINS.items() for i in range(len(twins))]
)
def test_false_twin_is_violated(claim: str, number: int) -> None:
    original = CLAIMS[claim]
    on = run("example-1", LONG.get(claim, 900))
    assert original.judge(on).verdict in {Verdict.HOLDS, Verdict.VACUOUS}
    found = FALSE_TWINS[claim][number](original).judge(on)
    assert found.verdict is Verdict.VIOLATED, found


@pytest.mark.parametrize("case", CASES)
def test_the_true_floor_holds_where_the_printed_one_is_violated(case: str) -> None:
    claim = LEDGER["ntp.theorem2.floor"]
    assert claim.judge(run(case)).verdict is Verdict.VIOLATED
    assert isinstance(claim.judgement, Equal)
    true = replace(claim, judgement=replace(claim.judgement, expected=log_infimum))
    found = true.judge(run(case))
    assert (found.verdict, found.evidence) == (Verdict.HOLDS, Evidence.CERTIFIED)
    assert apart(1)(true).judge(run(case)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("claim", ["ntp.theorem3.prediction", "ntp.theorem3.prediction.rederived"])
def test_the_prediction_claims_counterexample_is_the_shortest(claim: str) -> None:
    """One copy fewer and the model answers n(x_0), by an independent forward pass."""
    on = run("section-7")
    assert isinstance(LEDGER[claim].judgement, Decided)
    found = LEDGER[claim].judge(on)
    assert found.verdict is Verdict.VIOLATED
    witness = found.witness
    assert witness is not None
    data, step = on.dataset, int(found.worst_step or 0)
    record = int(np.flatnonzero(on.training.stage2.step == step)[0])
    q = data.index[witness["query"]]
    S = on.training.stage2.score_matrix(record, data.V)[:, q]

    def answer(copies: int) -> str:
        bag = np.zeros(data.V)
        bag[data.index[witness["x_0"]]] += 1
        bag[data.index[witness["x"]]] += copies
        if witness["x"] != witness["query"]:
            bag[q] += 1
        phi = bag * np.exp(S)
        logits = on.training.B @ (phi / phi.sum())
        return data.vocabulary[int(np.argmax(logits))]

    assert answer(witness["copies"]) == witness["answer"] != witness["expected"]
    if witness["copies"] > 1:
        assert answer(witness["copies"] - 1) == witness["expected"]


def test_a_claim_that_raises_is_broken_and_names_the_cause() -> None:
    def failing(_: Run) -> Series:
        raise ZeroDivisionError("division by zero")

    claim = replace(LEDGER["ntp.prop1.norm"], judgement=Bounded(measure=failing, upper=lambda _, t: t))
    found = claim.judge(run("example-1"))
    assert found.verdict is Verdict.BROKEN
    assert "ZeroDivisionError" in found.detail


def test_an_unknown_assumption_is_refused() -> None:
    assumes = replace(LEDGER["ntp.prop1.norm"], assumptions=("injective", "prefix_close"))
    with pytest.raises(ValueError, match=r"prop1\.norm: got the assumption prefix_close, expected one of colloc"):
        changed(PAPER, claims=(assumes,))


def test_a_claim_of_one_paper_is_about_its_datasets_only() -> None:
    """Also one that assumes nothing, which any dataset meets."""
    free = replace(LEDGER["ntp.prop1.norm"], assumptions=(), paper="")
    (own,) = changed(PAPER, claims=(free,), figures=()).claims
    assert own == replace(free, paper="ntp")
    with pytest.raises(ValueError, match=r"^claim ntp\.prop1\.norm: got the paper ntp, expected other$"):
        changed(PAPER, name="other", claims=(own,), figures=())
    for paper in PAPERS:
        assert all(other.judges(claim) == (other is paper) for claim in paper.claims for other in PAPERS)


def test_a_constant_above_the_attained_one_is_seen_on_a_single_pair() -> None:
    """sharp.lemma6 is an equality there."""
    data = Dataset("pair", ("a", "b"), (Sample(("b", "a"), "a"),), (1,), next_token={"a": "b", "b": "a"})
    on = Run(data, Config(steps2=50))
    assert LEDGER["sharp.lemma6"].judge(on).verdict is Verdict.HOLDS
    assert scaled("lower", 1 + 1e-11)(LEDGER["sharp.lemma6"]).judge(on).verdict is Verdict.VIOLATED
