"""Every claim has a planted false twin that comes out violated; statements found false have a true one."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER, Claim, Evidence, Series, Verdict
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.judgements import Bounded, Decided, Equal, HiddenConstant, Limit
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims.theorem2_floor import log_infimum
from marginaudit.reports.ntp.paper import PAPER
from tests.reports.ntp.claims.test_planted_lemmas import FALSE_LEMMA_TWINS, FOUND_FALSE_LEMMAS
from tests.reports.snap.claims.test_planted import twinned


@cache
def run(case: str, steps2: int = 900) -> Run:
    at = None if steps2 == 900 else tuple(np.unique(np.geomspace(1, steps2, 600).astype(int)).tolist())
    return Run(CASES[case](), Config(steps2=steps2, at=at))


def bounded(**change: Any) -> Callable[[Claim], Claim]:
    def twin(claim: Claim) -> Claim:
        assert isinstance(claim.judgement, Bounded)
        return replace(claim, judgement=replace(claim.judgement, threshold=None, **change))

    return twin


def scaled(side: str, factor: float) -> Callable[[Claim], Claim]:
    def twin(claim: Claim) -> Claim:
        formula = getattr(claim.judgement, side)
        return bounded(**{side: lambda run, t: factor * formula(run, t)})(claim)

    return twin


def shifted(by: float) -> Callable[[Claim], Claim]:
    """An upper bound on a logarithm, lowered."""

    def twin(claim: Claim) -> Claim:
        assert isinstance(claim.judgement, Bounded)
        formula = claim.judgement.upper
        assert formula is not None
        return bounded(upper=lambda run, t: np.asarray(formula(run, t)) - by)(claim)

    return twin


def swapped_sides(claim: Claim) -> Claim:
    assert isinstance(claim.judgement, Bounded)
    return bounded(upper=claim.judgement.lower, lower=claim.judgement.upper, largest=np.inf)(claim)


def negated(series: Series) -> Series:
    return replace(series, value=-series.value)


def opposite_sign(claim: Claim) -> Claim:
    judgement = claim.judgement
    assert isinstance(judgement, Equal)
    return replace(claim, judgement=replace(judgement, expected=lambda run: negated(judgement.expected(run))))


def wrong_exponent(factor: float) -> Callable[[Claim], Claim]:
    def twin(claim: Claim) -> Claim:
        judgement = claim.judgement
        assert isinstance(judgement, HiddenConstant)
        shape = judgement.shape
        return replace(claim, judgement=replace(judgement, shape=lambda run, t: factor * np.asarray(shape(run, t))))

    return twin


def opposite_order(claim: Claim) -> Claim:
    judgement = claim.judgement
    assert isinstance(judgement, HiddenConstant)
    return replace(claim, judgement=replace(judgement, measure=lambda run: negated(judgement.measure(run))))


def double_rate(claim: Claim) -> Claim:
    judgement = claim.judgement
    assert isinstance(judgement, Limit)
    twice = replace(judgement, predicted=lambda run: 2 * judgement.predicted(run), positive=False)
    return replace(claim, judgement=twice)


def one_apart(claim: Claim) -> Claim:
    judgement = claim.judgement
    assert isinstance(judgement, Equal)

    def expected(run: Run) -> Series:
        right = judgement.expected(run)
        return replace(right, value=right.value + 1)

    return replace(claim, judgement=replace(judgement, expected=expected))


FALSE_TWINS: dict[str, Callable[[Claim], Claim]] = {
    "ntp.gradient.ov": opposite_sign,
    "ntp.gradient.kq": opposite_sign,
    "ntp.prop1.norm": scaled("upper", 1 - 1e-11),
    "ntp.prop1.direction": swapped_sides,
    "ntp.prop1.loss": wrong_exponent(8),
    "ntp.theorem1.norm": scaled("lower", 10),
    "ntp.theorem1.direction": scaled("upper", 1e-11),
    "ntp.theorem1.direction.any-step": scaled("upper", 1e-11),
    "ntp.theorem2.weight": shifted(10),
    "ntp.theorem2.weight.any-step": shifted(10),
    "ntp.theorem2.weight.rederived": swapped_sides,
    "ntp.theorem2.weight.rederived.any-step": swapped_sides,
    "ntp.theorem2.loss": shifted(100),
    "ntp.theorem2.loss.any-step": shifted(100),
    "ntp.theorem2.loss.rederived": swapped_sides,
    "ntp.theorem2.loss.rederived.any-step": swapped_sides,
    "ntp.theorem2.rate": double_rate,
    "ntp.prop2.closed-form": opposite_sign,
    "ntp.prop2.corollary": one_apart,
    "ntp.prop2.prefix-closed": opposite_sign,
    "ntp.theorem3.order": opposite_order,
    "ntp.theorem3.order.any-step": opposite_order,
    "ntp.theorem3.order.rederived": opposite_order,
    "ntp.example1": one_apart,
    "ntp.example2": bounded(lower=lambda _, t: 0 * t + 1e3),
    "sharp.stage1": one_apart,
    "sharp.prop2": one_apart,
    "sharp.single-optimum": one_apart,
    "sharp.rate": double_rate,
    "sharp.rate.any-step": double_rate,
    "sharp.theorem1.squared": bounded(upper=lambda _, t: 100 / t**2),
}

FOUND_FALSE = {"ntp.theorem2.floor", "ntp.theorem3.prediction", "ntp.theorem3.prediction.rederived"}
"""Statements that are themselves violated on every default dataset where they apply."""


LONG = {
    "ntp.theorem2.rate": 50_000,
    "ntp.theorem3.order.rederived": 50_000,
    "sharp.rate": 10**9,
    "sharp.rate.any-step": 10**9,
    "sharp.theorem1.squared": 10**9,
}
"""Steps of stage 2 that a statement about late steps needs."""


def test_every_claim_has_a_twin() -> None:
    """Of every paper; those of sequence classes are in `tests.reports.snap.claims.test_planted`."""
    twins = set(FALSE_TWINS) | FOUND_FALSE | set(FALSE_LEMMA_TWINS) | set(FOUND_FALSE_LEMMAS) | twinned()
    assert twins == {claim.id for paper in PAPERS for claim in paper.claims}


@pytest.mark.parametrize("claim", sorted(FALSE_TWINS))
def test_false_twin_is_violated(claim: str) -> None:
    original = LEDGER[claim]
    on = run("example-1", LONG.get(claim, 900))
    assert original.judge(on).verdict not in {Verdict.VIOLATED, Verdict.BROKEN}
    found = FALSE_TWINS[claim](original).judge(on)
    assert found.verdict is Verdict.VIOLATED, found


@pytest.mark.parametrize("case", CASES)
def test_the_true_floor_holds_where_the_printed_one_is_violated(case: str) -> None:
    claim = LEDGER["ntp.theorem2.floor"]
    assert claim.judge(run(case)).verdict is Verdict.VIOLATED
    assert isinstance(claim.judgement, Equal)
    true = replace(claim, judgement=replace(claim.judgement, expected=log_infimum))
    found = true.judge(run(case))
    assert (found.verdict, found.evidence) == (Verdict.HOLDS, Evidence.CERTIFIED)
    assert one_apart(true).judge(run(case)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("claim", sorted(FOUND_FALSE - {"ntp.theorem2.floor"}))
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
        replace(PAPER, claims=(assumes,))


def test_a_claim_of_one_paper_is_about_its_datasets_only() -> None:
    """Also one that assumes nothing, which any dataset meets."""
    free = replace(LEDGER["ntp.prop1.norm"], assumptions=(), paper="")
    (own,) = replace(PAPER, claims=(free,)).claims
    assert own == replace(free, paper="ntp")
    with pytest.raises(ValueError, match=r"^claim ntp\.prop1\.norm: got the paper ntp, expected other$"):
        replace(PAPER, name="other", claims=(own,))
    for paper in PAPERS:
        assert all(other.judges(claim) == (other is paper) for claim in paper.claims for other in PAPERS)
