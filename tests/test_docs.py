"""The ablation page is what its cells say, and each counterexample it links to is one."""

import importlib.util
import json
import math
import re
import textwrap
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER, Claim, Verdict
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.audit.sources import load
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.standing import Status

DOCS = Path(__file__).parents[1] / "docs"
CELLS = json.loads((DOCS / "ablation.json").read_text(encoding="utf-8"))
FOUND = [(claim, name) for claim, cells in CELLS.items() for name, cell in cells.items() if cell["found"]]


def script(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_page_is_made_of_its_cells_and_complete() -> None:
    module = script("ablation")
    assert {claim: set(cells) for claim, cells in CELLS.items()} == {
        claim.id: {module.WHOLE, *claim.assumptions} for paper in PAPERS for claim in paper.claims
    }
    assert (DOCS / "ablation.md").read_text(encoding="utf-8") == module.page()


def test_the_default_audit_finds_what_its_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    assert script("make").default_audit() == (DOCS / "default-audit.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dropped_one"), FOUND)
def test_each_counterexample_breaks_its_assumption_and_violates_its_claim(name: str, dropped_one: str) -> None:
    claim, answer = LEDGER[name], CELLS[name][dropped_one]
    without = None if dropped_one == "all kept" else dropped_one
    paper = next(paper for paper in PAPERS if paper.has(claim))
    dataset = (
        load(str(DOCS / answer["dataset"]), PAPERS).dataset
        if without is None
        else paper.kind.from_document(answer["dataset"], name, name)
    )
    space = paper.space
    assert space is not None
    dropped = {without, *space.implies.get(without, ())} if without else set()
    for name in claim.assumptions:
        assert paper.kind.check(dataset, name).holds or name in dropped
    if without:
        assert not paper.kind.check(dataset, without).holds
    config = replace(space.runs[False][0][1], **answer.get("settings", {}))
    assert replace(claim, assumptions=()).judge(paper.run(dataset, config)).verdict is Verdict.VIOLATED


def test_the_package_has_a_counterexample_to_each_claim_found_violated_with_all_assumptions_kept() -> None:
    violated = {claim for claim, cells in CELLS.items() if cells["all kept"]["found"]}
    known = {claim.id for paper in PAPERS for claim in paper.claims if smallest_counterexample(paper, claim)}
    assert known == violated
    assert any(name.startswith("snap.") for name in known)
    assert smallest_counterexample(PAPER, replace(LEDGER[min(violated)], statement="another")) is None


def test_the_constants_of_the_page_are_those_of_its_datasets() -> None:
    """Two datasets of the grid again; the largest c0 by a bound that is made to fail."""
    module = script("constants")
    page = (DOCS / "constants.md").read_text(encoding="utf-8")
    cells = {tuple(row.split(" | ")[:2]): row.split(" | ")[2:] for row in re.findall(r"^\| (`.*) \|$", page, re.M)}
    grid = module.datasets()
    assert f"on {len(grid)} random datasets" in page
    for dataset in (grid[0], next(data for data in grid if data.name.startswith("free V=10"))):
        kind = dataset.name.split()[0]
        for claim, value in module.constants(dataset).items():
            shown = cells[f"`{claim}`", kind][module.VOCABULARIES.index(dataset.V)]
            ends = [float(end) for end in shown.split(" to ")]
            assert math.isnan(value) or 0.99 * min(ends) <= value <= 1.01 * max(ends)


def test_what_could_stand_in_place_of_a_constant_is_of_all_steps() -> None:
    """A run that ends before the bound says anything has its worst step as slack."""
    module, claim = script("constants"), LEDGER["ntp.theorem1.direction"]
    early = Run(CASES["example-1"](), Config(steps2=900))
    slack = claim.judge(early).slack
    assert slack is not None
    assert module.largest_share(early, claim.id) == pytest.approx(1 / slack, rel=1e-12, abs=0)
    late = Run(CASES["example-1"]())
    assert module.largest_share(late, claim.id) == pytest.approx(1 / slack, rel=1e-12, abs=0)
    within = claim.judge(late).slack
    assert within is not None
    assert within > 1e6 * slack


def test_the_smallest_c0_is_where_the_bound_fails_last(monkeypatch: pytest.MonkeyPatch) -> None:
    module = script("constants")
    run = Run(CASES["example-1"](), Config(steps1=30, steps2=1000))
    claim = LEDGER["ntp.theorem2.weight"]
    assert isinstance(claim.judgement, Bounded)
    assert module.smallest_c0(run, claim.id) == 0
    fails_to_100 = replace(claim.judgement, upper=lambda _, t: np.where(t <= 100, -1e3, 0.0))
    monkeypatch.setattr(module, "LEDGER", {claim.id: replace(claim, judgement=fails_to_100)})
    data = run.dataset
    c0 = module.smallest_c0(run, claim.id)
    assert c0 * data.N * data.L_max**4 * run.norm_kq**6 * math.log(100) ** 2 / run.eta == pytest.approx(100)


def test_the_findings_are_those_of_the_ledger() -> None:
    module = script("findings")
    page = (DOCS / "findings.md").read_text(encoding="utf-8")
    assert page == module.page()
    for claim in LEDGER.values():
        assert (f"### `{claim.id}` is false" in page) == (claim.standing.status is Status.REFUTED)
        assert (f"* `{claim.id}`: open is" in page) == (claim.standing.status is Status.OPEN)
    assert f"marginaudit {version('marginaudit')}" in page


def python_blocks(page: str) -> list[str]:
    text = (DOCS.parent / page).read_text(encoding="utf-8")
    return [textwrap.dedent(block) for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)]


def test_the_claim_of_the_contributors_page_is_a_claim() -> None:
    block = python_blocks("CONTRIBUTING.md")[0]
    names: dict[str, object] = {}
    exec(block, names)
    claim = names["NORM"]
    assert isinstance(claim, Claim)
    assert claim.judge(Run(CASES["example-1"]())).verdict is Verdict.HOLDS


def test_the_readmes_python_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = python_blocks("README.md")
    monkeypatch.chdir(tmp_path)
    exec(block, {})
    printed = (DOCS.parent / "README.md").read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    assert capsys.readouterr().out == printed


def test_the_readme_is_short() -> None:
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert len(text.encode()) <= 8000


def test_the_python_of_the_page_of_commands_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = python_blocks("docs/commands.md")
    monkeypatch.chdir(tmp_path)
    exec(block, {})
    assert "13/6" in capsys.readouterr().out
