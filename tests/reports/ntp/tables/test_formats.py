"""The same numbers in every format of a table."""

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from marginaudit.orders.ntp import CASES
from tests.claims.ntp.samples import COUNTED, CYCLE
from tests.command_line import NO_FUNCTION, Command, dataset_file, strict_json
from tests.papers import audit_only

ROOT = Path(__file__).parents[4]

RUN = ("--steps1", "30", "--steps2", "120")


def test_the_command_the_report_and_its_files_agree(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit_only(monkeypatch, "ntp.prop2.c", "sharp.prop")
    paths = [dataset_file(tmp_path, document, f"{i}.json") for i, document in enumerate((COUNTED, CYCLE, NO_FUNCTION))]
    report = command.json("audit", *paths, *RUN, "--out", tmp_path / "report")
    written = strict_json((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert report["datasets"] == written["datasets"]
    for name in ("direction", "proposition2"):
        answer = command.json("table", name, *paths, *RUN)
        assert answer == {"datasets": [{"name": data["name"], name: data[name]} for data in written["datasets"]]}
        file = (tmp_path / "report" / "tables" / f"{name}.csv").read_bytes().decode("utf-8")
        assert command("table", name, *paths, *RUN, "--format", "csv").out == file
        rows = [row for data in answer["datasets"] for row in _rows(data[name])]
        told = list(csv.DictReader(io.StringIO(file, newline="")))
        assert len(told) == len(rows) > 0
        for cells, row in zip(told, rows, strict=True):
            for column in ("measured", "bound", "slack", "solved", "holds"):
                value = row.get(column)
                assert column not in row or (json.loads(cells[column]) if cells[column] else None) == value
        printed = command("table", name, *paths, *RUN)
        assert (printed.status, printed.err) == (0, "")
        assert max(map(len, printed.out.splitlines())) <= 80


def _rows(table: Any) -> list[dict[str, Any]]:
    return [*table["stage1"], *table["stage2"]] if isinstance(table, dict) else list(table)


def test_all_built_in_cases_by_default(command: Command) -> None:
    answer = command.json(
        "table", "direction", "--steps1", 3, "--steps2", 3, "--lr1", 0.5, "--lr2", 0.25, "--at", "2,3"
    )
    assert [data["name"] for data in answer["datasets"]] == list(CASES)
    first = answer["datasets"][0]["direction"]
    assert [row["step"] for row in first["stage1"]] == [row["step"] for row in first["stage2"]] == [2]
    assert first["stage1"][0]["bound"] == pytest.approx(12 * 3**1.5 * math.log(8) * math.log(2) / (2 * 0.5))
    assert (
        command.json("table", "proposition2", "example-1", "--steps2", 7)["datasets"][0]["proposition2"][0]["steps"]
        == 7
    )


def test_what_table_refuses(command: Command) -> None:
    line = command.refused("table", "list", "--json", "--format", "csv")
    assert line == "--format csv: got --json beside it, expected one of the two"
    assert command.refused("table", "nothing") == "NAME: got 'nothing', expected one of list, direction, proposition2"
    assert "no file of that name" in command.refused("table", "direction", "nothing")
    assert "a step beyond both stages" in command.refused(
        "table", "direction", "example-1", "--steps2", 9, "--at", 1000
    )


SHOWN = {
    "direction": ["section-7", "--steps2", "1e18", "--at", "2,10,100,900,1e6,1e12,1e18"],
    "proposition2": ["example-1", "--steps2", "1e6"],
}
"""What the page of the default audit shows."""


@pytest.mark.parametrize("name", SHOWN)
def test_the_readmes_tables_are_true(command: Command, name: str) -> None:
    text = (ROOT / "docs/default-audit.md").read_text(encoding="utf-8")
    line = f"marginaudit table {name} {' '.join(SHOWN[name])} --format markdown"
    assert f"`{line}`" in text
    printed = command(*line.split()[1:]).out.strip()
    printed = printed[max(printed.find("**section-7: stage 2"), 0) :]  # stage 1 is 0 to rounding
    assert but_error_bars(printed) in but_error_bars(text), f"expected in docs/default-audit.md:\n{printed}"


def but_error_bars(text: str) -> str:
    """Those of directions, as distances of two runs of a solver, depend on how the processor rounds."""
    return re.sub(r"^(\| \S+ \| \S+) \| \d\.\de-\d\d \|", r"\1 |", text, flags=re.MULTILINE)
