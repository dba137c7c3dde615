"""The ablation page is what its cells say, and each counterexample it links to is one."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from marginaudit.orders import check_assumption, read_dataset
from marginaudit.reports import LEDGER, Run, Verdict
from marginaudit.reports.hunt.search import IMPLIES

DOCS = Path(__file__).parents[1] / "docs"
CELLS = sorted((DOCS / "ablation").glob("*.dataset.json"))


def ablation() -> ModuleType:
    specification = importlib.util.spec_from_file_location("ablation", DOCS / "ablation.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_page_is_made_of_its_cells_and_complete() -> None:
    module = ablation()
    assert all(module.cell_file(*cell).exists() for cell in module.cells())
    assert (DOCS / "ablation.md").read_text(encoding="utf-8") == module.page()


@pytest.mark.slow
@pytest.mark.parametrize("path", CELLS, ids=lambda path: path.name.removesuffix(".dataset.json"))
def test_each_counterexample_breaks_its_assumption_and_violates_its_claim(path: Path) -> None:
    answer = json.loads(path.with_name(path.name.replace(".dataset.json", ".json")).read_text(encoding="utf-8"))
    claim, without, dataset = LEDGER[answer["claim"]], answer["without"], read_dataset(path)
    dropped = {without, *IMPLIES.get(without, ())} if without else set()
    for name in claim.assumptions:
        assert check_assumption(dataset, name).holds or name in dropped
    if without:
        assert not check_assumption(dataset, without).holds
    assert replace(claim, assumptions=()).judge(Run(dataset)).verdict is Verdict.VIOLATED
