"""What every claim of every paper keeps, its planted twins among it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import flint
import latex2mathml.converter
import numpy as np
import pytest

from marginaudit.claims import Claim, Finding, Verdict
from marginaudit.claims.claim import Judgement
from marginaudit.claims.judgements import Decided
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_c_stage2.lemma5 import LEMMA5_PARTS
from marginaudit.claims.ntp.appendix_c_stage2.lemma6 import LEMMA6_LOWER, LEMMA6_UPPER
from marginaudit.claims.paper import Paper
from marginaudit.claims.quotation import MOST_WORDS, Form
from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.recorded_run import RecordedClassRun
from marginaudit.claims.standing import Severity, Status
from marginaudit.orders.ntp import CASES as SENTENCES
from marginaudit.orders.snap import CASES as CLASSES
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.audit.planted import OF_KIND, opposite, tightened, turned
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.plots.measured import curve_title, measured_figure, rendered
from marginaudit.training.ntp.model.losses import log_infimum_ball
from tests.claims.snap.test_mean_steps import LONG, WEAK
from tests.pages import ROOT, anchors
from tests.twins import decided_with, parts, scaled_bound

PAPER_OF: Mapping[str, Paper] = {claim.id: paper for paper in PAPERS for claim in paper.claims}


def is_quoted(claim: Claim) -> None:
    """A printed statement is quoted with its place; another names the printed one that it corrects or sharpens."""
    words = claim.source_words
    if words.form is Form.PRINTED:
        assert words.quotation
        assert words.place
        assert not words.corrects
        assert len(words.quotation.split()) <= MOST_WORDS
    else:
        assert LEDGER[words.corrects].source_words.form is Form.PRINTED
        assert words.reading
        assert not words.quotation
    assert all(text == " ".join(text.split()) for text in (words.quotation, words.place, words.reading))


def renders(claim: Claim) -> None:
    """Its texts are printable, its formulas MathML without a raw command."""
    assert all(text.isprintable() for text in (claim.statement, claim.formula, claim.source, claim.instead))
    assert not re.search(r"\{(start|over|first)\}", claim.statement + claim.instead)
    for formula in claim.formulas:
        assert "\\" not in latex2mathml.converter.convert(formula)


def is_proved_where_it_says(claim: Claim) -> None:
    """The proof that it names is on the page, and is its own where the page names the claims of its sections."""
    known = claim.standing
    assert (known.status is Status.OPEN) <= (known.proof is None)
    assert all(one.verdict in (Verdict.HOLDS, Verdict.VIOLATED) for one in claim.implications)
    for proof in (known.proof, *(one.proof for one in claim.implications)):
        if proof:
            page, _, place = proof.partition("#")
            assert place in anchors(page)
    assert all(LEDGER[used].standing.status is Status.PROVED for used in known.uses)
    assert claim.id not in known.uses
    text = (ROOT / "docs" / "proofs-snap.md").read_text(encoding="utf-8")
    headings = dict(re.findall(r"^### (\d\.\d) (.*)$", text, re.M))
    for number in re.findall(r"docs/proofs-snap\.md,? section ([\d.]*\d)", claim.instead):
        assert re.sub(r"\.any-\w+$", "", claim.id) in headings[number]
    if claim.source_words.form is Form.OWN:
        text = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
        assert f"Audited by `{claim.id}`: `marginaudit claims {claim.id}`." in text
    if claim.source_words.form is Form.REDERIVED and PAPER_OF[claim.id].name == "snap":
        assert any(f"`{claim.id}`" in heading for heading in headings.values())


def stands_as_it_says(claim: Claim) -> None:
    """What is refuted has a counterexample, a severity and a remedy; what is open says what would settle it."""
    known, shipped = claim.standing, smallest_counterexample(PAPER_OF[claim.id], claim) is not None
    assert (known.status is Status.OPEN) == bool(known.settles)
    assert (known.status is Status.REFUTED) == bool(known.weakest) == bool(known.wrong)
    assert (known.status is Status.REFUTED) == (shipped or bool(known.formula))
    assert not (shipped and known.formula)
    assert (known.severity is None) == (known.status is not Status.REFUTED)
    assert known.severity is Severity.EXTREME or not known.formula


# Planted twins


def floor_of(labels: Callable[[int], int]) -> Callable[[int, flint.arb], flint.arb]:
    """The infimum for another number of labels."""
    return lambda V, A: log_infimum_ball(labels(V) + 1, A)


def lemma5_with(name: str, by: float) -> Mapping[str, Any]:
    """One part of Lemma 5 with its bound, a logarithm, lowered."""
    [name] = [found for found in LEMMA5_PARTS if name in found]
    formula = LEMMA5_PARTS[name].upper
    assert formula is not None
    lowered = replace(LEMMA5_PARTS[name], upper=lambda run, t: np.asarray(formula(run, t)) - by)
    return {"parts": {**LEMMA5_PARTS, name: lowered}}


def lemma7_with(name: str, factor: float) -> Mapping[str, Any]:
    """Lemma 7 with another a_t, and from t = 1 on."""
    judgement: Any = LEDGER[name].judgement
    allowed = judgement.decide.keywords["allowed"]
    return {"allowed": lambda run, norm: factor * allowed(run, norm), "threshold": None}


FLOOR: tuple[Mapping[str, Any], ...] = (
    {"claimed": floor_of(lambda V: V)},
    {"claimed": floor_of(lambda V: V - 2)},
    {"claimed": lambda V, A: log_infimum_ball(V, A * (1 + 1e-9))},
    {"rate": lambda run: 2 * run.eta / run.norm_kq},
    {"rate": lambda run: 1.0067 * run.eta / run.norm_kq},
)

DECIDED: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "ntp.corollary1.lower": ({"factor": 7},),
    "ntp.corollary1.lower.rederived": ({"factor": 7},),
    "ntp.lemma5": (
        lemma5_with("never decreases", 0.02),
        lemma5_with("each other position", 1e-9),
        lemma5_with("each other token", 1e-9),
        lemma5_with("summed", 1e-9),
        lemma5_with("each optimal position", 1e-9),
    ),
    "ntp.lemma6": (
        {"lower": scaled_bound(LEMMA6_LOWER, "lower", 9)},
        {"upper": scaled_bound(LEMMA6_UPPER, "upper", 1 - 1e-11)},
    ),
    "ntp.lemma7": (lemma7_with("ntp.lemma7", 1e-6), lemma7_with("ntp.lemma7", -1)),
    "ntp.lemma7.rederived": (lemma7_with("ntp.lemma7.rederived", 1e-6),),
    "sharp.lemma7": (lemma7_with("sharp.lemma7", 1 / 1100), lemma7_with("sharp.lemma7", -1)),
    "sharp.floor": FLOOR,
    "sharp.floor.any-step": FLOOR,
}
"""Other constants of procedures."""

OTHERWISE: Mapping[str, Callable[[Any], Judgement]] = {
    "ntp.prop1.direction": turned,
    "ntp.theorem3.order": opposite,
    "ntp.theorem3.order.any-t": opposite,
}
"""Twins that are not those of their kind."""


# Runs


@cache
def sentences_run(steps2: int) -> Run:
    """Example 1, trained once for each length of stage 2."""
    at = None if steps2 == 900 else tuple(np.unique(np.geomspace(1, steps2, 600).astype(int)).tolist())
    return Run(SENTENCES["example-1"](), Config(steps2=steps2, at=at))


@cache
def classes_run(case: str) -> ClassRun:
    """A built-in case of the second paper, trained once."""
    return ClassRun(CLASSES[case](), ClassConfig(seeds=700))


@cache
def classes_recorded() -> RecordedClassRun:
    """A run on large batches of long sequences, from its file."""
    decoder, attention = LONG.run(WEAK)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.npz"
        np.savez(file, step=decoder.step, Y=decoder.weights.astype(np.float32), Z=attention.weights)
        config = ClassConfig(lr_y=LONG.lr_y, lr_z=LONG.lr_z, batch=LONG.batch, length=LONG.length)
        run = RecordedClassRun(WEAK, config, None, file)
        assert run.mean_steps is not None  # read while the file is there
    return run


RUNS: Mapping[str, tuple[Callable[[], Any], ...]] = {
    "ntp": tuple(partial(sentences_run, steps2) for steps2 in (900, 50_000, 10**9)),
    "snap": (
        *(partial(classes_run, case) for case in ("snap-symmetric", "snap-single", "snap-medium")),
        classes_recorded,
    ),
}
"""The runs on which twins are judged, in the order of trial: what is about late steps needs long ones."""


def runs_of(claim: Claim) -> Iterator[Callable[[], Any]]:
    """The runs of which a claim speaks."""
    for made in RUNS[claim.paper]:
        on = made()
        if all(on.assumption(name).holds for name in claim.assumptions) and not claim.absent(on):
            yield made


def twins(claim: Claim) -> Iterator[tuple[str, Judgement]]:
    """False twins of a claim's parts, with the part's name; of a procedure none but those with planted constants."""
    for name, judgement in parts(claim).items():
        if not isinstance(judgement, Decided):
            yield name, (OTHERWISE.get(claim.id) or OF_KIND[type(judgement)])(judgement)
        elif claim.id in DECIDED:
            yield from ((name, decided_with(claim, **change).judgement) for change in DECIDED[claim.id])
        elif isinstance(judgement.decide, partial) and "bound" in judgement.decide.keywords:
            yield name, decided_with(claim, bound=tightened(judgement.decide.keywords["bound"])).judgement


@cache
def judged(name: str, part: str, on: Callable[[], Any]) -> Finding:
    """A part of a claim on a run."""
    found: Finding = parts(LEDGER[name])[part].judge(on())
    return found


def decided(claim: Claim, part: str) -> Finding:
    """A part of a claim on the first run that decides it."""
    found = (judged(claim.id, part, on) for on in runs_of(claim))
    return next(one for one in found if one.verdict is not Verdict.INCONCLUSIVE)


def has_false_twins(claim: Claim) -> None:
    """Each part is violated once a constant is tightened, an exponent wrong or a sign swapped.

    One part of a refuted statement may be violated as it stands.
    """
    false = [name for name in parts(claim) if decided(claim, name).verdict is Verdict.VIOLATED]
    assert len(false) <= (claim.standing.status is Status.REFUTED)
    assert false or claim.standing.severity is not Severity.EVERYWHERE
    planted = [(name, twin) for name, twin in twins(claim) if name not in false]
    assert {*parts(claim)} == {*false, *(name for name, _ in planted)}
    for name, twin in planted:
        assert any(
            judged(claim.id, name, on).verdict in {Verdict.HOLDS, Verdict.VACUOUS}
            and twin.judge(on()).verdict is Verdict.VIOLATED
            for on in runs_of(claim)
        ), name


def is_drawn(claim: Claim) -> None:
    """What was measured of it along the steps makes a figure."""
    for name in parts(claim):
        finding = decided(claim, name)
        if finding.curve is not None:
            figure = measured_figure(curve_title("d", claim.id), finding.curve, finding)
            assert rendered(figure, ".svg").rstrip().endswith(b"</svg>"), name


# The tests


SLOW = {
    "snap.remark1",
    "snap.theorem3.gain.sgd",
    "snap.theorem5.any-step",
    "sharp.rate.any-step",
    "sharp.floor.any-step",
}
"""Claims with a counterexample that takes long."""

SHIPPED = [name for name, claim in LEDGER.items() if smallest_counterexample(PAPER_OF[name], claim)]


@pytest.mark.parametrize("name", LEDGER)
def test_a_claim(name: str) -> None:
    claim = LEDGER[name]
    is_quoted(claim)
    renders(claim)
    is_proved_where_it_says(claim)
    stands_as_it_says(claim)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "snap.fig6.direction" else name for name in LEDGER]
)
def test_false_twins_of_a_claim_are_violated_and_its_plot_is_drawn(name: str) -> None:
    has_false_twins(LEDGER[name])
    is_drawn(LEDGER[name])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in SHIPPED]
)
def test_the_counterexample_that_ships_violates_its_claim(name: str) -> None:
    claim, paper = LEDGER[name], PAPER_OF[name]
    data = smallest_counterexample(paper, claim)
    assert paper.space is not None
    config = replace(paper.space.runs[False][0][1], **dict(claim.standing.settings))
    assert claim.judge(paper.run(data, config)).verdict is Verdict.VIOLATED


def test_as_many_datasets_were_hunted_as_is_said() -> None:
    table = json.loads((ROOT / "docs/ablation.json").read_text(encoding="utf-8"))
    for name, claim in LEDGER.items():
        cell = table[name]["all kept"]
        assert claim.standing.hunted == cell["tried"], name
        assert dict(claim.standing.settings) == (cell.get("settings", {}) if cell["found"] else {}), name


def test_what_is_false_everywhere_holds_on_no_built_in_case() -> None:
    page = (ROOT / "docs/default-audit.md").read_text(encoding="utf-8")
    table = {row[0]: row[1:] for row in (line.split(" | ") for line in page.splitlines()) if row[0].startswith("| `")}
    everywhere = [name for name, claim in LEDGER.items() if claim.standing.severity is Severity.EVERYWHERE]
    assert len(everywhere) >= 5
    for name in everywhere:
        assert "holds" not in " ".join(table[f"| `{name}`"])
