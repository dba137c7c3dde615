"""Tables for papers: every verdict and every table, in each format, and what to cite."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from marginaudit.claims.values.numbers import brief
from marginaudit.reports.command.cli import main
from marginaudit.reports.page.exports import exported
from tests.command_line import SHORT, SVOP, dataset_file, strict_json

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("exports")
    data = dataset_file(found, SVOP, "s_v.json")
    formats = [argument for form in ("latex", "markdown", "parquet", "pdf") for argument in ("--export", form)]
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(data), "example-1", *SHORT, "--claim", "ntp.prop*", *formats, "--out", str(found / "out")])
    assert ended.value.code == 0
    return found / "out"


def test_tables_as_parquet_keep_fractions_flags_and_lists(folder: Path) -> None:
    frame = pd.read_parquet(folder / "tables" / "proposition2.parquet")
    row = frame[(frame["dataset"] == "example-1") & (frame["query"] == "O")].iloc[0]
    assert (row["predicted_optimal"], row["optimal"], bool(row["holds"])) == ("2/3", '["O"]', True)
    assert frame["holds"].dtype == "boolean"
    assert set(frame["dataset"]) == {"svop", "example-1"}


def test_a_column_of_flags_and_numbers_is_text() -> None:
    columns: dict[str, list[Any]] = {
        "flags": [True, None],
        "numbers": [1, 2.5],
        "both": [True, 2.5],
        "none": [None, None],
    }
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    table = SimpleNamespace(name="odd", columns=tuple(columns), rows=lambda _: records)
    paper: Any = SimpleNamespace(name="mine", tables=[table])
    document = {"verdicts": [], "datasets": [{"name": "d", "paper": "mine", "odd": None}]}
    file = exported([paper], document, ["parquet"])["tables/odd.parquet"]
    assert isinstance(file, bytes)
    frame = pd.read_parquet(io.BytesIO(file))
    assert {name: str(frame[name].dtype) for name in columns} == {
        "flags": "boolean",
        "numbers": "float64",
        "both": "string",
        "none": "float64",
    }
    assert list(frame["both"]) == ["true", "2.5"]


def test_the_verdicts_for_latex_and_markdown_say_what_the_report_says(folder: Path) -> None:
    rows = strict_json((folder / "report.json").read_text(encoding="utf-8"))["verdicts"]
    tex = (folder / "tables" / "verdicts.tex").read_text(encoding="utf-8")
    text = (folder / "tables" / "verdicts.md").read_text(encoding="utf-8")
    tables, titled = tex.split(r"\begin{longtable}")[1:], text.split("**Verdicts on ")[1:]
    for number, name in enumerate(("svop", "example-1")):
        own = [row for row in rows if row["dataset"] == name]
        own_tables = "".join(table for table in tables if f"Verdicts on {name}" in table)
        assert titled[number].startswith(name)
        lines = [line.split(" & ")[:3] for line in own_tables.splitlines() if line.startswith(("ntp.", "sharp."))]
        assert lines == [[row["claim"], row["verdict"], row["evidence"]] for row in own]
        cells = [line.split(" | ") for line in titled[number].splitlines() if line.startswith(("| ntp.", "| sharp."))]
        assert [line[1] for line in cells] == [row["verdict"] for row in own]
        assert tables[number].startswith("{lllrrrr}")
        assert "| --- | --- | --- | ---: | ---: | ---: | ---: |" in titled[number]
        measured = [line[3] for line in cells]
        assert measured == [brief(row["measured"]) for row in own]
