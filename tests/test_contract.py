"""Every claim of every paper keeps its contract."""

import json

import pytest

from marginaudit.reports import LEDGER
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.judgements import Decided
from marginaudit.reports.standing import Severity
from tests import contract
from tests.pages import ROOT

SLOW = {
    "snap.remark1",
    "snap.theorem3.gain.sgd",
    "snap.theorem5.any-step",
    "sharp.rate.any-step",
    "sharp.floor.any-step",
}
"""Claims with a counterexample that takes long."""

SHIPPED = [name for name, claim in LEDGER.items() if smallest_counterexample(contract.PAPER_OF[name], claim)]


@pytest.mark.parametrize("name", LEDGER)
def test_a_claim(name: str) -> None:
    claim = LEDGER[name]
    contract.is_quoted(claim)
    contract.renders(claim)
    contract.is_proved_where_it_says(claim)
    contract.stands_as_it_says(claim)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "snap.fig6.direction" else name for name in LEDGER]
)
def test_false_twins_of_a_claim_are_violated_and_its_plot_is_drawn(name: str) -> None:
    contract.has_false_twins(LEDGER[name])
    contract.is_drawn(LEDGER[name])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in SHIPPED]
)
def test_the_counterexample_that_ships_violates_its_claim(name: str) -> None:
    contract.is_violated_by_its_counterexample(LEDGER[name])


def test_each_procedure_has_planted_constants() -> None:
    planted = {*contract.DECIDED, *contract.BOUND_BY}
    procedures = {name for name, claim in LEDGER.items() if isinstance(claim.judgement, Decided)}
    assert planted <= procedures <= planted | set(contract.FALSE)


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
