"""Verdicts by proof: what follows, what does not, and what happens where a measurement says otherwise."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from marginaudit.orders.ntp import CASES, Dataset, Sample, dataset_from_document
from marginaudit.orders.snap import CASES as CLASS_CASES
from marginaudit.orders.snap import SequenceClasses
from marginaudit.reports import LEDGER, Claim
from marginaudit.reports.audit.auditing import audit
from marginaudit.reports.audit.by_proof import by_proof
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.implication import Implication
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.implications import (
    Sizes,
    above_the_sharp_direction,
    above_the_sharp_lemma7,
    beyond_lemma_10_1,
    sizes,
)
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.paper import Paper
from marginaudit.reports.snap.paper import PAPER as SNAP
from marginaudit.reports.snap.run import ClassConfig, ClassRun
from marginaudit.reports.standing import proved
from marginaudit.reports.verdict import Curve, Evidence, Finding, Verdict
from tests.pages import ROOT, anchors

MEASURED = Finding(Verdict.HOLDS, Evidence.FLOAT64, measured=1.0, detail="Seen.")
VIOLATED = replace(MEASURED, verdict=Verdict.VIOLATED, first_violation=3)
INCONCLUSIVE = replace(MEASURED, verdict=Verdict.INCONCLUSIVE)

SHORT = Config(steps2=900)


def example(config: Config = SHORT) -> Run:
    return Run(CASES["example-1"](), config)


def table(paper: Paper) -> dict[str, list[str]]:
    """The verdicts of README's table, which another test keeps true."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    part = text.split(f"<!-- verdicts of {paper.name}")[1].split(f"<!-- end of verdicts of {paper.name}")[0]
    return {row[0]: row[2:] for row in (re.findall(r"[\w.-]+", line) for line in part.splitlines() if "`" in line)}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_nine_in_ten_default_verdicts_do_not_rest_on_float64_alone(paper: Paper) -> None:
    runs = [paper.run(case(), paper.audited) for case in paper.kind.cases.values()]
    found = [
        by_proof(paper, claim, run, replace(MEASURED, verdict=Verdict(said)))
        for claim in paper.claims
        for run, said in zip(runs, table(paper)[claim.id], strict=True)
        if said != "not-applicable"
    ]
    rest = [one for one in found if one.evidence is Evidence.FLOAT64]
    assert len(found) > 100
    assert len(rest) <= 0.1 * len(found)
    assert {one.verdict for one in found} == {Verdict.HOLDS, Verdict.VIOLATED}
    assert all("Not by proof: " in one.detail for one in rest)


@pytest.mark.parametrize(
    "implication", [one for paper in PAPERS for one in paper.implications], ids=lambda one: one.target
)
def test_the_proof_that_an_implication_names_is_on_the_page(implication: Implication) -> None:
    page, _, place = implication.proof.partition("#")
    assert place in anchors(page)
    assert implication.verdict in (Verdict.HOLDS, Verdict.VIOLATED)


def test_what_a_proved_statement_says_is_proved_and_the_measurement_stays_beside_it() -> None:
    found = by_proof(PAPER, LEDGER["sharp.lemma6"], example(), MEASURED)
    assert (found.verdict, found.evidence, found.measured) == (Verdict.HOLDS, Evidence.PROVED, 1.0)
    assert "docs/proofs.md#5-sharplemma6" in found.detail
    assert found.detail.endswith("Measured, float64: Seen.")


def test_what_follows_names_both_statements() -> None:
    found = by_proof(PAPER, LEDGER["ntp.theorem1.direction"], example(), MEASURED)
    assert found.evidence is Evidence.PROVED
    assert found.detail.startswith(
        "Follows from sharp.theorem1, as its bound is below the printed one from some t_1 on"
    )
    assert "docs/proofs-ntp.md#53-" in found.detail


def test_a_measurement_that_violates_what_is_proved_is_broken_loudly() -> None:
    found = by_proof(PAPER, LEDGER["sharp.theorem1"], example(), VIOLATED)
    assert found.verdict is Verdict.BROKEN
    assert found.detail.startswith("THE MEASUREMENT VIOLATES WHAT IS PROVED")
    assert "docs/proofs.md#7-sharptheorem1" in found.detail
    assert found.detail.endswith("Seen.")
    assert found.first_violation == 3
    followed = by_proof(PAPER, LEDGER["ntp.theorem1.direction"], example(), VIOLATED)
    assert followed.verdict is Verdict.BROKEN
    exact = by_proof(PAPER, LEDGER["sharp.prop2"], example(), replace(VIOLATED, evidence=Evidence.EXACT))
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
    paper = replace(PAPER, claims=(planted,), implications=())
    source = Source(CASES["example-1"](), paper, "example-1")
    found = audit([source], paper.claims, {paper.name: Config(steps1=30, steps2=30)}, lambda *_: lambda _: None)
    assert found.counts == {Verdict.BROKEN: 1}
    assert "THE MEASUREMENT VIOLATES" in found.rows[0].finding.detail


def test_what_error_bars_hide_a_proof_decides() -> None:
    found = by_proof(PAPER, LEDGER["sharp.lemma6"], example(), INCONCLUSIVE)
    assert (found.verdict, found.evidence) == (Verdict.HOLDS, Evidence.PROVED)
    assert found.detail.endswith("By itself the measurement is inconclusive: Seen.")


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
    found = by_proof(PAPER, LEDGER["sharp.theorem1"], example(), hidden)
    assert (found.verdict, found.evidence) == (verdict, Evidence.PROVED)
    assert (found.measured, found.slack, found.worst_step) == (None, None, None), "they are those of error bars"


def test_of_what_was_not_run_no_proof_speaks() -> None:
    claim, run = LEDGER["ntp.theorem1.direction"], example(Config(steps2=1))
    assert by_proof(PAPER, claim, run, INCONCLUSIVE) == INCONCLUSIVE


@pytest.mark.parametrize("verdict", [Verdict.BROKEN, Verdict.NOT_APPLICABLE])
def test_no_proof_mends_a_claims_own_failure(verdict: Verdict) -> None:
    measured = replace(MEASURED, verdict=verdict)
    assert by_proof(PAPER, LEDGER["sharp.lemma6"], example(), measured) == measured


def test_exact_and_certified_verdicts_keep_their_evidence_where_it_says_as_much() -> None:
    exact = replace(MEASURED, evidence=Evidence.EXACT)
    assert by_proof(PAPER, LEDGER["sharp.prop2"], example(), exact) == exact
    enclosed = replace(MEASURED, evidence=Evidence.CERTIFIED)
    assert by_proof(PAPER, LEDGER["sharp.lemma6"], example(), enclosed).evidence is Evidence.PROVED
    violated = replace(VIOLATED, evidence=Evidence.CERTIFIED)
    assert by_proof(PAPER, LEDGER["ntp.theorem2.floor"], example(), violated) == violated
    assert by_proof(PAPER, LEDGER["ntp.theorem2.floor"], example(), VIOLATED).evidence is Evidence.PROVED


def test_a_vacuous_bound_stays_vacuous() -> None:
    found = by_proof(PAPER, LEDGER["ntp.theorem1.direction"], example(), replace(MEASURED, verdict=Verdict.VACUOUS))
    assert (found.verdict, found.evidence) == (Verdict.VACUOUS, Evidence.PROVED)


def test_a_statement_that_is_refuted_elsewhere_holds_where_nothing_contradicts_it() -> None:
    """A contradiction decides only what was seen to be violated."""
    found = by_proof(PAPER, LEDGER["ntp.theorem2.floor"], example(), MEASURED)
    assert (found.verdict, found.evidence) == (Verdict.HOLDS, Evidence.FLOAT64)


def test_tokens_that_are_orthonormal_only_to_rounding_are_not_those_of_a_proof() -> None:
    data = CASES["example-1"]()
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((data.V, data.V)))[0]
    run = Run(replace(data, embedding=turned), SHORT)
    assert run.assumption("orthonormal").holds
    for name in ("sharp.lemma6", "ntp.theorem1.direction"):
        found = by_proof(PAPER, LEDGER[name], run, MEASURED)
        assert found.evidence is Evidence.FLOAT64
        assert "Not by proof: For orthonormal tokens" in found.detail
        assert by_proof(PAPER, LEDGER[name], run, VIOLATED).verdict is Verdict.VIOLATED


def test_no_proof_reaches_beyond_the_assumptions_of_what_it_rests_on() -> None:
    """Theorem 3 assumes neither Assumption 3 nor what it gives."""
    data = dataset_from_document(
        {
            "samples": [{"tokens": ["a", "b", "c", "c"], "next": "b"}],
            "next_token": dict(zip("abcd", "bcda", strict=True)),
        }
    )
    run = Run(data, SHORT)
    found = by_proof(PAPER, LEDGER["ntp.theorem3.order"], run, MEASURED)
    assert found.evidence is Evidence.FLOAT64
    assert "assumption optimal_majority of what it would follow from fails" in found.detail


def test_a_claim_of_ones_own_has_no_proof_here() -> None:
    mine = replace(LEDGER["sharp.lemma6"], id="mine")
    assert isinstance(mine, Claim)
    assert by_proof(PAPER, mine, example(), MEASURED) == MEASURED


def test_an_implication_from_what_is_not_proved_is_refused() -> None:
    wrong = Implication(sources=("ntp.theorem2.floor",), target="ntp.lemma6", proof="docs/proofs.md#0-setting")
    with pytest.raises(ValueError, match=r"ntp\.lemma6: got ntp\.theorem2\.floor, which is not proved"):
        replace(PAPER, implications=(wrong,))
    with pytest.raises(ValueError, match=r"implication to nothing: got an id of no claim"):
        replace(PAPER, implications=(replace(wrong, sources=(), target="nothing"),))


# The conditions


def unmet(paper: Paper, target: str) -> Any:
    [found] = [one for one in paper.implications if one.target == target]
    return found.unmet


def uneven(most: int, lr2: float | None = None) -> Run:
    """Two samples, one of them so many times as frequent."""
    samples = (Sample(("a", "b"), "b"), Sample(("c", "d"), "d"))
    following = dict(zip("abcd", "bcda", strict=True))
    return Run(Dataset("uneven", tuple("abcd"), samples, (most, 1), following), Config(lr2=lr2))


def rare(power: int) -> Sizes:
    """The same with frequencies 10^power and 1, which no dataset holds."""
    return Sizes(N=2, L=2, w=arb(1), eta=arb(0.025), rarity=arb(log_rarity(power)))


@pytest.mark.parametrize("target", ["ntp.theorem1.direction", "ntp.lemma7", "ntp.theorem2.weight", "ntp.theorem2.loss"])
def test_the_bounds_of_stage_2_follow_for_frequencies_that_a_dataset_may_have(target: str) -> None:
    assert unmet(PAPER, target)(uneven(2**52)) is None


def test_the_sizes_are_those_of_the_run() -> None:
    found = sizes(uneven(10**6, lr2=0.5))
    assert found is not None
    assert (found.N, found.L, found.w == 1, found.eta == 0.5) == (2, 2, True, True)
    assert float(found.rarity) == pytest.approx(log_rarity(6), abs=1e-12)


def log_rarity(power: int) -> float:
    """log(2 L^3/pi_min) of frequencies 10^power and 1."""
    return float(np.log(16.0) + np.logaddexp(0, power * np.log(10.0)))


@pytest.mark.parametrize("power", [0, 100, 1000, 5000, 5500, 6000, 7000, 10000])
def test_theorem_1_follows_exactly_where_no_step_is_an_exception(power: int) -> None:
    """b of sharp.theorem1 against max(printed, 2), step by step: w = 1, N = L = 2, eta = 0.025."""
    t = np.geomspace(2, 1e12, 200_000)
    eta, rarity = 0.025, log_rarity(power)
    sharp = ((2 * rarity + eta) * (1 + np.log(t)) + np.sqrt(2) * eta) / (t * eta)
    printed = 54 * 2 * 16 * np.log(t) ** 2 / (t * eta)
    follows = bool((np.minimum(sharp, 2) <= printed).all())
    assert (above_the_sharp_direction(rare(power)) is None) == follows
    assert follows == (power < 6000)


@pytest.mark.parametrize("power", [0, 100, 200, 300, 400])
def test_lemma_7_follows_exactly_where_its_a_is_larger_beyond_the_threshold(power: int) -> None:
    r = np.geomspace(4 * np.sqrt(2) * 2, 1e12, 1000)
    follows = bool((log_rarity(power) <= 4 * 2 * 4 * (1 + np.log(4 * r))).all())
    assert (above_the_sharp_lemma7(rare(power)) is None) == follows
    assert follows == (power < 50)


@pytest.mark.parametrize("power", [0, 1000, 10_000, 14_000, 16_000, 20_000])
def test_theorem_2_follows_only_where_its_threshold_is_beyond_that_of_lemma_10_1(power: int) -> None:
    """At each step beyond the threshold 16 w^2 b(t) <= 1."""
    eta, rarity = 0.025, log_rarity(power)
    t = np.geomspace(2, 1e14, 400_000)
    t = t[t >= 1696 * 32 * np.log(t) ** 2 / eta]
    sharp = ((2 * rarity + eta) * (1 + np.log(t)) + np.sqrt(2) * eta) / (t * eta)
    follows = bool((16 * sharp <= 1).all())
    said = beyond_lemma_10_1(rare(power), 1696) is None
    assert said == follows == (power < 15_000)


def test_theorem_2_at_steps_so_long_that_its_threshold_means_nothing_is_left_alone() -> None:
    assert unmet(PAPER, "ntp.theorem2.loss")(uneven(1, lr2=1e5)) == "its threshold is not beyond e^2"


def test_the_rate_follows_for_short_steps_alone() -> None:
    at = unmet(PAPER, "sharp.rate.any-step")
    assert at(uneven(1, lr2=0.25)) is None
    assert "is longer than 1 / (4 ||W*_kq||)" in at(uneven(1, lr2=0.2500001))


def classes(*rows: dict[str, float], M: int = 5000, query: str = "q") -> ClassRun:
    named = [(f"n{i}", query if query == "q" else f"q{i}", row) for i, row in enumerate(rows)]
    return ClassRun(SequenceClasses.from_weights("mine", M, named), ClassConfig())


PATH = classes({"a": 5, "x": 1}, {"b": 5, "x": 1, "y": 1}, {"c": 5, "y": 1})
PAIR = classes({"a": 1, "x": 1}, {"b": 2, "x": 1})
APART = classes({"a": 1}, {"b": 1})
ALONE = classes({"a": 1})
THREE = classes({"a": 2, "x": 1}, {"b": 2, "x": 1}, {"c": 2, "x": 1})


def test_e_prime_is_positive_for_pairs_and_equal_overlaps_and_not_along_a_path() -> None:
    for target in ("snap.theorem1.a", "snap.theorem1.a.any-t"):
        at = unmet(SNAP, target)
        assert at(PAIR) is None
        assert at(THREE) is None
        assert at(PATH) == "some E'_nk off the diagonal is not positive"
        assert at(APART) is not None
        assert at(ALONE) == "there is one class"
        assert at(classes({"a": 1, "b": 1}, {"a": 1, "b": 1})) is not None


@pytest.mark.parametrize("target", ["snap.theorem2.distinct", "snap.theorem2.common", "snap.theorem3.growth"])
def test_overlaps_stay_equal_for_pairs_and_symmetric_classes(target: str) -> None:
    at = unmet(SNAP, target)
    assert at(PAIR) is None
    assert at(THREE) is None
    assert at(PATH) is not None
    assert at(APART) is not None
    assert at(classes({"a": 2, "x": 1}, {"b": 2, "x": 1}, {"c": 2, "x": 1}, query="each")) is not None
    nearly = classes({"a": 2, "x": 1}, {"b": 2, "x": 1}, {"c": 2 * (1 + 2.0**-51), "x": 1})
    assert nearly.assumption("symmetric_classes").holds
    assert at(nearly) is not None
    assert nearly.reservation(("symmetric_classes", "uniform_classes")) == "To rounding: symmetric_classes."


def test_common_tokens_of_any_classes_lose_only_where_one_of_two_proofs_says_so() -> None:
    at = unmet(SNAP, "snap.corollary2.any-classes")
    assert at(PAIR) is None
    assert at(THREE) is None
    assert at(classes({"a": 1, "x": 1, "y": 1}, {"b": 1, "x": 1, "y": 2})) is not None
    assert at(PATH) is not None


def test_what_contradicts_a_printed_statement_needs_what_it_rests_on() -> None:
    assert unmet(SNAP, "snap.remark1")(PAIR) is None
    assert unmet(SNAP, "snap.remark1")(APART) == "the classes share no token"
    whole = classes({"n0": 1, "n1": 1}, {"n1": 1, "n0": 2}, M=2, query="q")
    assert whole.M > whole.K or unmet(SNAP, "snap.remark1")(whole) == "every token is a next token"
    assert unmet(SNAP, "snap.theorem1.form")(ALONE) == "there is one class"
    assert unmet(SNAP, "snap.lemma4")(PAIR) is None
    assert unmet(SNAP, "snap.lemma4")(ALONE) is not None
    assert unmet(SNAP, "snap.lemma4")(classes({"x": 1, "y": 2}, {"x": 2, "y": 1})) == "no class has a distinct token"


def test_an_offset_of_zero_contradicts_nothing() -> None:
    """K = 2: C0 = 1 exactly where e^2 = 1/2."""
    for target in ("snap.theorem4.closed-form", "snap.theorem4.scan", "snap.theorem4.snap"):
        at = unmet(SNAP, target)
        assert at(PAIR) is None
        one = classes({"a": 1, "x": 1}, {"x": 1})
        assert Fraction(1, 2) == Fraction(one.dataset.classes[0].probabilities["x"])
        assert at(one) == "C0 = 1"


def test_the_other_conditions() -> None:
    assert unmet(SNAP, "snap.lemma8")(classes({"a": 1}, M=4)) is None
    assert unmet(SNAP, "snap.lemma8")(classes({"a": 1}, M=3)) == "M is below 4"
    assert unmet(SNAP, "snap.theorem4.rates")(classes({"a": 1}, M=15)) is None
    assert unmet(SNAP, "snap.theorem4.rates")(classes({"a": 1}, M=14)) == "M is below 15"
    at = unmet(SNAP, "snap.theorem5")
    assert at(ClassRun(PAIR.dataset, ClassConfig(lr_y=1.0))) is None
    assert at(ClassRun(PAIR.dataset, ClassConfig(lr_y=1.01))) == "eta_Y is above 1"
    assert at(ALONE) == "there is one class"
    assert unmet(SNAP, "snap.lemma17")(PAIR) is None
    assert unmet(SNAP, "snap.lemma17")(classes({"a": 1}, {"a": 1})) == "|lambda_1| is not below 1"


@pytest.mark.parametrize("name", CLASS_CASES)
def test_the_built_in_classes_meet_what_they_meet_exactly(name: str) -> None:
    run = ClassRun(CLASS_CASES[name](), ClassConfig())
    assert run.reservation([one for one in run.assumptions if run.assumption(one).holds]) == ""
