"""The rows of a sweep of audits, from its table of runs."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, counted, file_content, printable, shown_path
from marginaudit.orders.reading import utf_8_text
from marginaudit.reports.compare.reading import Side, read_report, rows_by_key
from marginaudit.reports.judgements import ALLOWANCE
from marginaudit.reports.sweeps import AUDITED

RUNS = "runs.csv"

SWEEP = f"the folder of a `marginaudit sweep` that keeps verdicts, or its {RUNS}"


def read_sweep(path: Path) -> Side:
    """The sweep in a folder, or in its table of runs; a run that was not done has no row.

    A dataset is named by what the sweep varied, and its seed; what is the same in all runs is a setting.

    Raises
    ------
    InputError
        It is none; names the file and the row.
    """
    file = path / RUNS if path.is_dir() else path
    where = shown_path(file)
    text = utf_8_text(file_content(file, SWEEP), where)
    try:
        header, *runs = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (csv.Error, ValueError) as error:
        raise InputError(where, got=f"another table ({printable(str(error))})", expected=SWEEP) from None
    lacking = next((name for name in ("seed", "status", "versions") if name not in header), None)
    if lacking is not None:
        raise InputError(where, got=f"no column {lacking}", expected=SWEEP)
    if not any(name.endswith(":verdict") for name in header):
        raise InputError(where, got="no verdicts", expected='them in the spec: keep = ["*:verdict", ..]')
    for line, run in enumerate(runs, start=2):
        if len(run) != len(header):
            raise InputError(f"{where}: line {line}", got=counted(len(run), "column"), expected=str(len(header)))
    table = [dict(zip(header, run, strict=True)) for run in runs]
    made = header[: header.index("seed") + 1]
    varied = [name for name in made if name in ("dataset", "seed") or len({run[name] for run in table}) > 1]
    settings = {name: printable(table[0][name]) for name in made if name not in varied and table}
    versions = ", ".join(sorted({printable(run["versions"]) for run in table}))
    return Side(where, rows_by_key(_documents(table, varied, where)), {**settings, "versions": versions})


def read_side(path: Path) -> Side:
    """The audit of a report, its folder, a file of kept rows, or the audits of a sweep.

    Raises
    ------
    InputError
        It is none of these; names the file and the place in it.
    """
    if path.suffix == ".csv" or (path / RUNS).exists():
        return read_sweep(path)
    return read_report(path / "report.json" if path.is_dir() else path)


def _documents(table: Sequence[dict[str, str]], varied: Sequence[str], where: str) -> Iterator[tuple[str, Any]]:
    for line, run in enumerate(table, start=2):
        dataset = printable(", ".join(f"{name} = {run[name]}" for name in varied))
        rows: dict[str, dict[str, Any]] = {}
        for column, text in run.items():
            claim, _, name = column.rpartition(":")
            if run["status"] == "done" and name in AUDITED and f"{claim}:verdict" in run:
                bar = {} if f"{claim}:repeats_within" in run else {"repeats_within": ALLOWANCE}
                row = rows.setdefault(claim, {"claim": claim, "dataset": dataset, "evidence": "float64"} | bar)
                row |= {name: text if AUDITED[name] is str else _number(text)} if text else {}
        yield from ((f"{where}: line {line}: {claim}", row) for claim, row in rows.items())


def _number(text: str) -> float | str:
    """A number, or the text for an error to show."""
    try:
        return float(text)
    except ValueError:
        return text
