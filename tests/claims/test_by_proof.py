"""Verdicts by proof: what follows, what does not, and what happens where a measurement says otherwise."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Claim
from marginaudit.claims.by_proof import by_proof
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.paper import Paper
from marginaudit.claims.run import BaseRun
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.standing import OPEN, Implication, Severity, Status, proved, unsettled
from marginaudit.claims.verdict import Curve, Evidence, Finding, Verdict
from marginaudit.orders.ntp import CASES, dataset_from_document
from marginaudit.orders.snap import CASES as CLASSES
from marginaudit.orders.snap import SequenceClasses
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.auditing import audited
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.training.schedule import log_spaced
from tests.pages import ROOT
from tests.papers import changed

MEASURED = Finding(Verdict.HOLDS, Evidence.FLOAT64, measured=1.0, detail="Seen.")
VIOLATED = replace(MEASURED, verdict=Verdict.VIOLATED, first_violation=3)
INCONCLUSIVE = replace(MEASURED, verdict=Verdict.INCONCLUSIVE)
PROVED_NOWHERE = unsettled("a proof")

SHORT = Config(steps2=900)


def judged(claim: Claim, run: BaseRun[Any], measured: Finding) -> Finding:
    """The finding with what follows by proof."""
    return replace(measured, **by_proof(claim, run, measured, measured.detail))


def example(config: Config = SHORT) -> Run:
    return Run(CASES["example-1"](), config)


def decided_by(claim: Claim, implications: tuple[Implication, ...]) -> Claim:
    own = replace(claim)
    object.__setattr__(own, "decided_by", implications)
    return own


def table(paper: Paper) -> dict[str, list[str]]:
    """The verdicts of the default audit's page, which another test keeps true."""
    text = (ROOT / "docs/default-audit.md").read_text(encoding="utf-8")
    part = text.split(f"<!-- verdicts of {paper.name}")[1].split(f"<!-- end of verdicts of {paper.name}")[0]
    return {row[0]: row[2:] for row in (re.findall(r"[\w.-]+", line) for line in part.splitlines() if "`" in line)}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_nine_in_ten_default_verdicts_do_not_rest_on_float64_alone(paper: Paper) -> None:
    runs = [paper.run(case(), paper.config()) for case in paper.kind.cases.values()]
    found = [
        judged(claim, run, replace(MEASURED, verdict=Verdict(said)))
        for claim in paper.claims
        for run, said in zip(runs, table(paper)[claim.id], strict=True)
        if said != "not-applicable"
    ]
    rest = [one for one in found if one.evidence is Evidence.FLOAT64]
    assert len(found) > 100
    assert len(rest) <= 0.1 * len(found)
    assert {one.verdict for one in found} == {Verdict.HOLDS, Verdict.VIOLATED}
    assert all("Not by proof: " in one.detail for one in rest)


def test_what_a_proved_statement_says_is_proved_and_the_measurement_stays_beside_it() -> None:
    found = judged(LEDGER["sharp.lemma6"], example(), MEASURED)
    assert (found.verdict, found.evidence, found.measured) == (Verdict.HOLDS, Evidence.PROVED, 1.0)
    assert "docs/proofs.md#5-sharplemma6" in found.detail
    assert found.detail.endswith("Measured, float64: Seen.")


def test_what_follows_names_both_statements() -> None:
    found = judged(LEDGER["ntp.theorem1.direction"], example(), MEASURED)
    assert found.evidence is Evidence.PROVED
    assert found.detail.startswith("Follows from sharp.theorem1, ")
    assert "docs/proofs.md#163-" in found.detail


def test_a_measurement_that_violates_what_is_proved_is_broken_loudly() -> None:
    found = judged(LEDGER["sharp.theorem1"], example(), VIOLATED)
    assert found.verdict is Verdict.BROKEN
    assert found.detail.startswith("THE MEASUREMENT VIOLATES")
    assert "docs/proofs.md#7-sharptheorem1" in found.detail
    assert found.detail.endswith("Seen.")
    assert found.first_violation == 3
    followed = judged(LEDGER["ntp.theorem1.direction"], example(), VIOLATED)
    assert followed.verdict is Verdict.BROKEN
    exact = judged(LEDGER["sharp.prop2"], example(), replace(VIOLATED, evidence=Evidence.EXACT))
    assert exact.verdict is Verdict.BROKEN


def test_a_planted_proof_of_what_a_run_refutes_makes_its_row_broken() -> None:
    """||W_kq|| <= t eta/2 is false, here said to be proved."""
    sound = LEDGER["sharp.lemma6"]
    assert isinstance(sound.judgement, Bounded)
    planted = replace(
        sound,
        id="planted",
        judgement=replace(sound.judgement, lower=None, guaranteed=None, upper=lambda run, t: t * run.eta / 2),
        standing=proved("docs/proofs.md#5-sharplemma6", hunted=0),
    )
    paper = changed(PAPER, claims=(planted,), figures=())
    source = Source(CASES["example-1"](), paper, "example-1")
    found = audited(source, paper.claims, Config(steps1=30, steps2=30), lambda *_: lambda _: None)
    [finding] = found.findings.values()
    assert finding.verdict is Verdict.BROKEN
    assert "THE MEASUREMENT VIOLATES" in finding.detail


@pytest.mark.parametrize(
    ("upper", "largest", "verdict"),
    [
        ([2.5, 2.0], 2.0, Verdict.VACUOUS),
        ([2.5, 1.9], 2.0, Verdict.HOLDS),
        ([2.5, 2.0], None, Verdict.HOLDS),
        (None, 2.0, Verdict.HOLDS),
    ],
)
def test_what_is_proved_is_vacuous_where_every_bound_is_beyond_reach(
    upper: list[float] | None, largest: float | None, verdict: Verdict
) -> None:
    hidden = replace(INCONCLUSIVE, curve=Curve([1, 2], [0.1, 0.1], upper=upper, vacuous_above=largest))
    found = judged(LEDGER["sharp.theorem1"], example(), hidden)
    assert (found.verdict, found.evidence) == (verdict, Evidence.PROVED)
    assert (found.measured, found.slack, found.worst_step) == (None, None, None), "they are those of error bars"


@pytest.mark.parametrize("verdict", [Verdict.BROKEN, Verdict.NOT_APPLICABLE, Verdict.NOT_CHECKED])
def test_no_proof_mends_a_claims_own_failure(verdict: Verdict) -> None:
    measured = replace(MEASURED, verdict=verdict)
    assert judged(LEDGER["sharp.lemma6"], example(), measured) == measured


def test_exact_and_certified_verdicts_keep_their_evidence_where_it_says_as_much() -> None:
    exact = replace(MEASURED, evidence=Evidence.EXACT)
    assert judged(LEDGER["sharp.prop2"], example(), exact) == exact
    enclosed = replace(MEASURED, evidence=Evidence.CERTIFIED)
    proved = judged(LEDGER["sharp.lemma6"], example(), enclosed)
    assert (proved.evidence, proved.measurement) == (Evidence.PROVED, Evidence.CERTIFIED)
    violated = replace(VIOLATED, evidence=Evidence.CERTIFIED)
    assert judged(LEDGER["ntp.theorem2.floor"], example(), violated) == violated
    assert judged(LEDGER["ntp.theorem2.floor"], example(), VIOLATED).evidence is Evidence.PROVED


def test_a_float64_verdict_says_why_no_proof_decides_it() -> None:
    on, plain = example(), decided_by(LEDGER["ntp.lemma6"], ())
    refuted = replace(PROVED_NOWHERE, severity=Severity.ORDINARY, status=Status.REFUTED)
    for standing, measured, why in (
        (PROVED_NOWHERE, MEASURED, "the statement is open; unknown: a proof"),
        (replace(PROVED_NOWHERE, settles=""), MEASURED, "the statement is open"),
        (refuted, MEASURED, "the statement is refuted, by other data"),
        (refuted, VIOLATED, "a measured run violates it"),
    ):
        claim = decided_by(replace(plain, standing=standing), ())
        assert judged(claim, on, measured).detail == f"Seen. Not by proof: {why}."


def test_what_error_bars_hide_a_proof_refutes() -> None:
    floor = LEDGER["ntp.theorem2.floor"]
    found = judged(floor, example(), INCONCLUSIVE)
    assert (found.verdict, found.evidence, found.measured) == (Verdict.VIOLATED, Evidence.PROVED, None)
    assert "follows from sharp.floor, sharp.stage1" in found.detail
    assert found.detail.endswith("inconclusive: Seen.")
    assert judged(floor, example(Config(steps1=0)), INCONCLUSIVE).verdict is Verdict.INCONCLUSIVE


def test_a_measurement_that_holds_where_a_proof_refutes_is_broken_unless_it_cannot_show_it() -> None:
    """A difference below the rounding allowance, say."""
    floor = LEDGER["ntp.theorem2.floor"]
    for verdict in (Verdict.HOLDS, Verdict.VACUOUS):
        found = judged(floor, example(), replace(MEASURED, verdict=verdict))
        assert found.verdict is Verdict.BROKEN
        assert found.detail.startswith("THE MEASUREMENT CONTRADICTS")
    unseen = tuple(replace(one, unseen="both sides agree to rounding") for one in floor.decided_by or ())
    found = judged(decided_by(floor, unseen), example(), MEASURED)
    assert (found.verdict, found.evidence, found.measured) == (Verdict.VIOLATED, Evidence.PROVED, None)
    assert found.detail.endswith("as both sides agree to rounding: Seen.")


def test_what_few_recorded_steps_show_does_not_hold_at_every_step() -> None:
    """Theorem 2 (a) of the second paper on classes that no proof speaks of."""
    claim = LEDGER["snap.theorem2.distinct.from-zero"]
    opened = decided_by(replace(claim, standing=OPEN), ())
    rows = ({"a": 9, "x": 2, "z": 1}, {"b": 9, "x": 2, "y": 2}, {"c": 9, "y": 2, "z": 1})
    data = SequenceClasses.from_weights("loop", 10**6, [(f"n{n}", "q", row) for n, row in enumerate(rows)])
    for at, steps, verdict in (
        ((1, 10, 100, 1000), 10**4, Verdict.HOLDS),
        ((1, 10, 100, 1000), 10**5, Verdict.INCONCLUSIVE),
        ((1000,), 1000, Verdict.INCONCLUSIVE),
    ):
        found = opened.judge(ClassRun(data, ClassConfig(at=at, steps=steps)))
        assert found.verdict is verdict, found
    assert found.detail.startswith("Not decided: no step from t = 1 to 1000 ")
    assert claim.judge(ClassRun(CLASSES["snap-single"](), ClassConfig(at=(1000,)))).verdict is Verdict.HOLDS
    sparse = replace(MEASURED, left_out="t = 1 to 1000")
    assert judged(LEDGER["sharp.lemma6"], example(), sparse).verdict is Verdict.HOLDS


def test_tokens_that_are_orthonormal_only_to_rounding_are_not_those_of_a_proof() -> None:
    data = CASES["example-1"]()
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((data.V, data.V)))[0]
    run = Run(replace(data, embedding=turned), SHORT)
    assert run.assumption("orthonormal").holds
    for name in ("sharp.lemma6", "ntp.theorem1.direction"):
        found = judged(LEDGER[name], run, MEASURED)
        assert found.evidence is Evidence.FLOAT64
        assert "Not by proof: Of the nearest orthonormal" in found.detail
        assert judged(LEDGER[name], run, VIOLATED).verdict is Verdict.VIOLATED


def test_no_proof_reaches_beyond_the_assumptions_of_what_it_rests_on() -> None:
    """Theorem 3 assumes neither Assumption 3 nor what it gives."""
    data = dataset_from_document(
        {
            "samples": [{"tokens": ["a", "b", "c", "c"], "next": "b"}],
            "next_token": dict(zip("abcd", "bcda", strict=True)),
        }
    )
    run = Run(data, SHORT)
    found = judged(LEDGER["ntp.theorem3.order.any-t"], run, MEASURED)
    assert found.evidence is Evidence.FLOAT64
    assert "assumption optimal_majority " in found.detail


def test_an_implication_from_what_is_not_proved_is_refused() -> None:
    wrong = Implication(sources=("ntp.theorem2.floor",), proof="docs/proofs.md#0-setting")
    with pytest.raises(ValueError, match=r"ntp\.lemma6: got ntp\.theorem2\.floor, which is not proved"):
        changed(
            PAPER,
            claims=(replace(LEDGER["ntp.lemma6"], implications=(wrong,)), LEDGER["ntp.theorem2.floor"]),
            figures=(),
        )


def test_an_implication_in_words() -> None:
    assert str(Implication(sources=("a", "b"), condition="c", proof="p")) == "a, b, as c (p)"
    assert str(Implication(sources=(), proof="p")).endswith(" (p)")


@pytest.mark.parametrize("unproved", [(), (Implication(sources=(), proof="p", unmet=lambda _: "it fails"),)])
@pytest.mark.parametrize(("at", "verdict"), [(None, Verdict.HOLDS), ((1, 10, 100), Verdict.INCONCLUSIVE)])
def test_the_steps_of_a_run_stand_for_those_between_and_few_chosen_ones_do_not(
    at: tuple[int, ...] | None, verdict: Verdict, unproved: tuple[Implication, ...]
) -> None:
    """A run's own steps leave out t = 12."""

    def steps(run: Any) -> Series:
        step = np.array([t for t in run.config.at or log_spaced(100) if t > 0])
        return series(np.ones(len(step)), radius=0, step=step)

    mine = Claim(id="mine", source="", statement="", assumptions=(), judgement=Bounded(steps, lambda *_: 2.0))
    mine = decided_by(mine, unproved) if unproved else mine
    assert mine.judge(example(Config(steps1=100, steps2=100, at=at))).verdict is verdict
