"""The ablation page is what its cells say, and each counterexample it links to is one."""

import importlib.util
import json
import re
import textwrap
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from marginaudit.orders import CASES, check_assumption, dataset_to_document, read_dataset
from marginaudit.reports import LEDGER, Claim, Run, Verdict
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


def python_blocks(page: str) -> list[str]:
    text = (DOCS.parent / page).read_text(encoding="utf-8")
    return [textwrap.dedent(block) for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)]


def test_the_claim_of_the_contributors_page_is_a_claim() -> None:
    (block,) = python_blocks("CONTRIBUTING.md")
    names: dict[str, object] = {}
    exec(block, names)
    claim = names["NORM"]
    assert isinstance(claim, Claim)
    assert claim.judge(Run(CASES["example-1"]())).verdict is Verdict.HOLDS


def test_the_readmes_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = python_blocks("README.md")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "svop.json").write_text(json.dumps(dataset_to_document(CASES["example-1"]())))
    exec(block, {})
    assert "13/6" in capsys.readouterr().out
