"""The ablation page is what its cells say, and each counterexample it links to is one."""

import json
import re
import shlex
import shutil
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.judgements import Bounded, HiddenConstant
from marginaudit.claims.standing import Status
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.ntp.paper import PAPER
from tests.command_line import Command
from tests.pages import ROOT, script

DOCS = ROOT / "docs"
CELLS = json.loads((DOCS / "ablation.json").read_text(encoding="utf-8"))
WITHOUT = [
    (claim, name)
    for claim, cells in CELLS.items()
    for name, cell in cells.items()
    if cell["found"] and name != "all kept"
]


def test_the_page_is_made_of_its_cells_and_complete() -> None:
    module = script("ablation")
    assert {claim: set(cells) for claim, cells in CELLS.items()} == {
        claim.id: {module.WHOLE, *claim.asked} for paper in PAPERS for claim in paper.claims
    }
    assert (DOCS / "ablation.md").read_text(encoding="utf-8") == module.page()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_default_audit_finds_what_its_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    assert script("make").default_audit() == (DOCS / "default-audit.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "without"), WITHOUT)
def test_each_counterexample_breaks_its_assumption_and_violates_its_claim(name: str, without: str) -> None:
    claim, answer = LEDGER[name], CELLS[name][without]
    paper = next(paper for paper in PAPERS if paper.has(claim))
    dataset = paper.kind.from_document(answer["dataset"], name, name)
    space = paper.space
    assert space is not None
    dropped = {without, *space.implies.get(without, ())}
    for assumption in claim.assumptions:
        assert paper.kind.check(dataset, assumption).holds or assumption in dropped
    assert not paper.kind.check(dataset, without).holds
    config = replace(space.runs[False][0][1], **answer.get("settings", {}))
    free = replace(claim, assumptions=(), setting=())
    assert free.judge(paper.run(dataset, config)).verdict is Verdict.VIOLATED


def test_the_package_has_a_counterexample_to_each_claim_found_violated_with_all_assumptions_kept() -> None:
    violated = {claim for claim, cells in CELLS.items() if cells["all kept"]["found"]}
    known = {claim.id for paper in PAPERS for claim in paper.claims if smallest_counterexample(paper, claim)}
    assert known == violated
    assert all((DOCS / CELLS[claim]["all kept"]["dataset"]).is_file() for claim in violated)
    assert any(name.startswith("snap.") for name in known)
    assert smallest_counterexample(PAPER, replace(LEDGER[min(violated)], statement="another")) is None


def test_the_page_of_constants_has_what_its_runs_give() -> None:
    """A bound off the clock, on all of its paper's runs; all bounds have a row, or a reason."""
    module = script("constants")
    page = (DOCS / "constants.md").read_text(encoding="utf-8")
    paper = next(paper for paper in PAPERS if paper.name == "snap")
    sides = {"snap.lemma13": module.of_claim(LEDGER["snap.lemma13"], paper, module.runs(paper))}
    factors = ("t", "K", "M", "eta_Y", "eta_Z", "|lambda_1|")
    for row in (*module.constant_rows(sides), *module.power_rows(sides, factors)):
        assert "| " + " | ".join(row).replace("|lambda_1|", "\\|lambda_1\\|") + " |" in page
    bounds = [claim.id for claim in LEDGER.values() if isinstance(claim.judgement, Bounded | HiddenConstant)]
    assert [name for name in bounds if f"`{name}`" not in page] == []


def test_the_findings_are_those_of_the_ledger() -> None:
    module = script("findings")
    page = (DOCS / "findings.md").read_text(encoding="utf-8")
    assert page == module.page()
    sections = re.findall(r"^## arXiv.*?^### Open", page, re.DOTALL | re.MULTILINE)
    false_part = re.sub(r"^\* \*\*In its place.*", "", "".join(sections), flags=re.MULTILINE)
    for claim in LEDGER.values():
        assert (f"`{claim.id}`" in false_part) == (claim.standing.status is Status.REFUTED)
        assert (f"* `{claim.id}`: open is" in page) == (claim.standing.status is Status.OPEN)
    assert f"marginaudit {version('marginaudit')}" in page


def test_the_readmes_python_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [block], [printed] = (re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) for language in ("python", "text"))
    monkeypatch.chdir(tmp_path)
    exec(block, {})
    assert capsys.readouterr().out == printed


def test_the_commands_on_a_text_run(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "my.txt", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    block = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Your data")[2].split("```")[1]
    answers = [command(*shlex.split(line, comments=True)[1:]) for line in block.strip().splitlines()]
    assert [answer.status for answer in answers] == [0] * 4
    assert answers[0].out.startswith(
        "examples/my.txt: most statements do not apply, as Assumption 1 fails (collocation, next_from_sentence); "
        "`marginaudit realize examples/my.txt` finds 10 of 13 samples that meet it\n"
    )


@pytest.mark.parametrize(("page", "most"), [("README.md", 8000), ("CONTRIBUTING.md", 6000)])
def test_what_everybody_reads_is_short(page: str, most: int) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert len(text.encode()) <= most
