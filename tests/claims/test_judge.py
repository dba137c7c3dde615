"""One door to a verdict: whoever asks gets what is measured and what is proved, with the same numbers."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit import audit
from marginaudit.claims import Claim, Evidence, Finding, Verdict
from marginaudit.claims.judgements import Bounded, Decided
from marginaudit.claims.ntp import Config
from marginaudit.claims.ntp.appendix_c_stage2 import theorem1
from marginaudit.claims.row import ReportRow
from marginaudit.claims.series import series
from marginaudit.claims.standing import Severity, Standing, Status
from marginaudit.claims.values.numbers import bound
from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER
from marginaudit.reports.audit import auditing
from marginaudit.reports.bound_constants.measure import measured
from marginaudit.reports.command.verdicts import print_verdicts, why_not_applicable
from marginaudit.reports.hunt import Search
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.study.grid import audited
from tests.claims.ntp.samples import run
from tests.command_line import Command
from tests.papers import changed

VACUOUS, CONFIG = "ntp.theorem1.direction", Config(steps2=2000)
"""A bound that says nothing yet, which float64 shows and a proof says."""

BEYOND = ("ntp.corollary1.upper", "ntp.theorem2.loss", "ntp.theorem2.weight")
"""Statements from a T on that no default run has."""

HEADLINE = ("measured", "bound", "slack", "worst_step")


def test_whoever_asks_gets_what_is_proved() -> None:
    in_audit = audit("example-1", claims=VACUOUS, config=CONFIG).verdict(VACUOUS)
    assert (in_audit.verdict, in_audit.evidence) == (Verdict.VACUOUS, Evidence.PROVED)
    assert None not in [getattr(in_audit, name) for name in HEADLINE]
    assert not in_audit.beyond_the_run
    fixture, _ = measured(VACUOUS, "example-1", CONFIG, None)
    by_module, _ = measured(next(claim for claim in theorem1.CLAIMS if claim.id == VACUOUS), "example-1", CONFIG, None)
    assert by_module == fixture
    alone = LEDGER[VACUOUS].judge(run("example-1", steps2=2000))
    hunting = Search(LEDGER[VACUOUS], PAPER, None, 1e6, lambda _: None).claim.judge(run("example-1", steps2=2000))
    assert fixture == alone == hunting == replace(in_audit, headroom=())
    words = ("verdict", "evidence", "slack")
    (swept,) = audited(PAPER, CASES["example-1"](), [CONFIG], [f"{VACUOUS}:{word}" for word in words])
    assert [swept[f"{VACUOUS}:{word}"] for word in words] == ["vacuous", "proved", in_audit.slack]


def test_a_changed_claim_has_no_proof_left_and_a_changed_paper_its_own() -> None:
    claim = LEDGER["sharp.lemma6"]
    assert [one.sources for one in claim.decided_by or ()] == [("sharp.lemma6",)]
    assert replace(claim, assumptions=()).decided_by is None
    assert changed(PAPER, tables=()).has(claim)
    assert changed(PAPER, name="ntp").claims[0].decided_by is not None


def test_a_failed_assumption_is_a_field_of_the_row(tmp_path: Path, command: Command) -> None:
    """Of the claim or of its source's setting, and of no other row; a file from before the field is compared."""
    needs = replace(LEDGER["ntp.lemma3"], id="mine", assumptions=("prefix_closed",))
    absent = replace(needs, assumptions=(), absent=lambda _: "Assumption prefix_closed fails: it is a quotation.")
    rows = [claim.judge(run("free-20")) for claim in (needs, LEDGER["ntp.prop2.closed-form"], absent)]
    assert [(row.verdict, row.failed_assumption) for row in rows] == [
        (Verdict.NOT_APPLICABLE, failed) for failed in ("prefix_closed", "prefix_closed", "")
    ]
    assert why_not_applicable([row.as_document() for row in rows])[0][:2] == (2, "assumption prefix_closed fails")
    found = audit("free-20", claims=["ntp.prop2.closed-form", "ntp.lemma3"])
    assert found.to_dataframe()["failed_assumption"].tolist() == ["prefix_closed", ""]
    found.save(tmp_path / "new")
    report = json.loads((tmp_path / "new" / "report.json").read_text(encoding="utf-8"))
    for row in report["verdicts"]:
        del row["failed_assumption"]
    (tmp_path / "old.json").write_text(json.dumps(report), encoding="utf-8")
    assert command("compare", tmp_path / "old.json", tmp_path / "new").status == 0


def test_a_claim_of_no_paper_is_measured_alone() -> None:
    claim = LEDGER[VACUOUS]
    mine = replace(claim, id="mine")
    on = run("example-1", steps2=2000)
    assert mine.judge(on).evidence is Evidence.FLOAT64
    assert claim.judge(on).detail.endswith(mine.judge(on).detail)


@pytest.fixture(scope="module")
def beyond(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beyond")
    audit("example-1", claims=[*BEYOND, "ntp.prop1.norm"], config={"steps2": 100}).save(folder, ["latex", "parquet"])
    return folder


def test_nothing_is_headlined_from_before_the_statement_speaks(beyond: Path, command: Command) -> None:
    """Not in JSON, CSV, parquet, LaTeX, the page, a comparison, nor on a terminal."""
    from pandas import read_parquet

    report = json.loads((beyond / "report.json").read_text(encoding="utf-8"))
    rows = {row["claim"]: row for row in report["verdicts"]}
    table = csv.DictReader(io.StringIO((beyond / "verdicts.csv").read_text(encoding="utf-8")))
    of_csv = {row["claim"]: row for row in table}
    parquet = read_parquet(beyond / "tables/verdicts.parquet").set_index("claim")
    latex = (beyond / "tables/verdicts.tex").read_text(encoding="utf-8")
    page = (beyond / "report.html").read_text(encoding="utf-8")
    for claim in BEYOND:
        assert [rows[claim][name] for name in HEADLINE] == [None] * 4
        assert rows[claim]["beyond_the_run"]
        assert rows[claim]["informative_from"] > 1e6
        assert ". At " in rows[claim]["detail"]
        assert [of_csv[claim][name] for name in HEADLINE] == [""] * 4
        assert parquet.loc[claim, list(HEADLINE)].isna().all()
        said = f"needs {rows[claim]['needs']}"
        assert bound(rows[claim]) == said
        assert f"<td>{said}</td>" in page
    assert latex.count("& needs ") == page.count("<td>needs ") == len(BEYOND)
    assert rows["ntp.corollary1.upper"]["needs"] == "T ≥ 1792314, run has 900"
    assert rows["ntp.theorem2.weight"]["needs"] == "T ≥ 1.159e+06, run has 900"
    assert None not in [rows["ntp.prop1.norm"][name] for name in HEADLINE]
    compared = command("compare", beyond, beyond, "--json")
    assert json.loads(compared.out)["changes"] == []


def test_a_violation_before_the_upper_bound_says_anything_keeps_its_numbers() -> None:
    step = np.arange(1, 11)
    measure = Bounded(
        lambda _: series(np.ones(10), radius=0, step=step), upper=lambda _, t: 20 / t, lower=lambda _, t: t, largest=2.5
    )
    found = mine(measure).judge(run("example-1", steps2=2000))
    assert (found.verdict, found.first_violation, found.worst_step, found.informative_from) == ("violated", 2, 10, 9)
    early = Decided(
        lambda _: Finding(Verdict.VIOLATED, measured=1.0, worst_step=2, first_violation=2, informative_from=9), "x"
    )
    assert mine(early).judge(run("example-1", steps2=2000)).measured == 1.0


@pytest.mark.parametrize("smallest", [-np.inf, 0.0])
def test_of_two_bounds_the_one_that_speaks_gives_the_numbers(smallest: float) -> None:
    """The upper one says something from step 500001 on, the lower one at each step."""
    step = np.arange(1, 11)
    both = Bounded(
        lambda _: series(np.full(10, 0.1), radius=0, step=step),
        upper=lambda _, t: 1e6 / t,
        lower=lambda _, t: t / 200,
        largest=2.0,
        smallest=smallest,
    )
    found = mine(both).judge(run("example-1", steps2=2000))
    assert (found.verdict, found.side, found.worst_step, found.measured) == ("holds", "lower", 10, 0.1)
    assert (found.informative_from, found.beyond_the_run) == (500_001, False)


def mine(judgement: Any, **change: Any) -> Claim:
    given: dict[str, Any] = {"assumptions": (), **change}
    return Claim(id="mine", source="me", statement="So.", formula="x", judgement=judgement, **given)


VIOLATED = Decided(lambda _: Finding(Verdict.VIOLATED, measured=2.0, bound=1.0), "test")


def test_what_a_dataset_violates_is_refuted_by_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = mine(VIOLATED, assumptions=("orthonormal",))
    report = audit(["example-1", "section-7"], claims=claim, config={"steps1": 2, "steps2": 2})
    assert claim.standing.status is Status.OPEN
    assert [row.standing for row in report.rows] == [Standing(status=Status.REFUTED, dataset="example-1")] * 2
    assert list(report.to_dataframe()["standing"]) == ["refuted"] * 2
    print_verdicts(report, one_by_one=False)
    assert "mine: violated (your claim) on example-1, section-7" in capsys.readouterr().out
    report.save(tmp_path / "out")
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "Refuted by <bdi>example-1</bdi>" in page
    assert '<span class="badge open">' not in page
    assert not [severity for severity in Severity if f'"badge text">{severity.value}<' in page]


def test_data_that_meet_an_assumption_to_rounding_alone_refute_nothing() -> None:
    nearly = replace(CASES["example-1"](), embedding=np.eye(4) * (1 + 1e-13))
    claim = mine(VIOLATED, assumptions=("orthonormal",))
    (row,) = audit(nearly, claims=claim, config={"steps1": 2, "steps2": 2}).rows
    assert row.finding.verdict is Verdict.VIOLATED
    assert row.standing.status is Status.OPEN
    (row,) = audit(nearly, claims=mine(VIOLATED), config={"steps1": 2, "steps2": 2}).rows
    assert row.standing.status is Status.REFUTED


def test_what_is_refuted_by_proof_stays_so() -> None:
    found = ReportRow(claim="ntp.theorem2.floor", dataset="d", verdict=Verdict.VIOLATED)
    row = auditing.Row(LEDGER["ntp.theorem2.floor"], PAPER, found, refuted_by="d")
    assert row.standing is LEDGER["ntp.theorem2.floor"].standing
