"""Readers of audits to compare: reports, files of stored rows, tables of sweeps."""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

from annotated_types import MinLen
from typing_extensions import TypedDict

from marginaudit.claims.answers.sweeps import AUDITED
from marginaudit.claims.judgements import ALLOWANCE
from marginaudit.claims.row import ReportRow, row_from_document
from marginaudit.orders import InputError, counted, file_content, printable, shortened, shown, shown_path
from marginaudit.orders.reading import csv_rows, parsed_json, utf_8_text, validated
from marginaudit.orders.text import LONGEST_SHOWN

SHA256 = "sha256 of "
"""Prefix of the settings with hashes of dataset files."""

REPORT = "a report.json of `marginaudit audit`"


class _Dataset(TypedDict):
    name: str
    sha256: NotRequired[str | None]


class _Report(TypedDict):
    verdicts: Annotated[list[Any], MinLen(1)]
    marginaudit: NotRequired[str]
    environment: NotRequired[dict[str, Any]]
    config: NotRequired[dict[str, dict[str, Any]]]
    datasets: NotRequired[list[_Dataset]]


@dataclass(frozen=True)
class ComparedAudit:
    """An audit to compare.

    Attributes
    ----------
    where : str
        The file, for messages.
    rows : mapping
        By `ReportRow.key`.
    settings : mapping from names to plain data
        Versions, settings, and the hashes of the datasets' files.
    """

    where: str
    rows: Mapping[tuple[str, str], ReportRow]
    settings: Mapping[str, Any]


def read_report(path: Path) -> ComparedAudit:
    """Read an audit from a report.json, its folder, or a file of the fixture `bound_constants` (rows only).

    Raises
    ------
    InputError
        Not such a file; the message names the file and the position.
    """
    file = path / "report.json" if path.is_dir() else path
    where = shown_path(file)
    return side_of(parsed_json(utf_8_text(file_content(file, REPORT), where), where), where)


def side_of(document: Any, where: str) -> ComparedAudit:
    """Parse the audit in a report's document.

    Raises
    ------
    InputError
        Not such a document; the message names the position.
    """
    report = validated(_Report, document, where)
    places = (f"{where}: /verdicts/{i}" for i in range(len(report["verdicts"])))
    return ComparedAudit(where, rows_by_key(zip(places, report["verdicts"], strict=False)), _settings(report))


def rows_by_key(documents: Iterable[tuple[str, Any]]) -> dict[tuple[str, str], ReportRow]:
    """Parse rows from pairs (position for error messages, document).

    Raises
    ------
    InputError
        A document is not a row, or two rows have the same claim and dataset.
    """
    found: dict[tuple[str, str], ReportRow] = {}
    for place, document in documents:
        row = row_from_document(document, place)
        if row.key in found:
            raise InputError(place, got=f"{shown(row.claim)} on {shown(row.place)} again", expected="it once")
        found[row.key] = row
    return found


def _settings(report: _Report) -> dict[str, Any]:
    """Settings, versions and hashes of the report, flattened."""
    found = {"marginaudit": report.get("marginaudit"), **report.get("environment", {})}
    for paper, config in report.get("config", {}).items():
        found |= {f"{paper}: {name}": value for name, value in config.items()}
    return found | {f"{SHA256}{data['name']}": data.get("sha256") for data in report.get("datasets", [])}


RUNS = "runs.csv"

SWEEP = f"the folder of a `marginaudit sweep` that keeps verdicts, or its {RUNS}"


@dataclass(frozen=True)
class _Sweep:
    """Table of a sweep's runs; ``made`` are its columns of data, settings and seed."""

    where: str
    table: Sequence[dict[str, str]]
    made: Sequence[str]

    @property
    def varied(self) -> set[str]:
        return {name for name in self.made if name in ("dataset", "seed") or len({run[name] for run in self.table}) > 1}

    def side(self, varied: Collection[str]) -> ComparedAudit:
        """The sweep's audits, with datasets named by the ``varied`` columns; constant columns become settings."""
        names = [name for name in self.made if name in varied]
        settings = {name: printable(self.table[0][name]) for name in self.made if name not in varied and self.table}
        versions = ", ".join(sorted({printable(run["versions"]) for run in self.table}))
        documents = _documents(self.table, names, self.where)
        return ComparedAudit(self.where, rows_by_key(documents), {**settings, "versions": versions})


def _sweep(path: Path) -> _Sweep:
    """Read a sweep from its folder or its table of runs."""
    file = path / RUNS if path.is_dir() else path
    where = shown_path(file)
    text = utf_8_text(file_content(file, SWEEP), where)
    header, *runs = [row for _, row in csv_rows(io.StringIO(text, newline=""), where)] or [[]]
    lacking = next((name for name in ("seed", "status", "versions") if name not in header), None)
    if lacking is not None:
        raise InputError(where, got=f"no column {lacking}", expected=SWEEP)
    if not any(name.endswith(":verdict") for name in header):
        raise InputError(where, got="no verdicts", expected='them in the spec: keep = ["*:verdict", ..]')
    for line, run in enumerate(runs, start=2):
        if len(run) != len(header):
            raise InputError(f"{where}: line {line}", got=counted(len(run), "column"), expected=str(len(header)))
    table = [dict(zip(header, run, strict=True)) for run in runs]
    return _Sweep(where, table, header[: header.index("seed") + 1])


def read_sides(*paths: Path) -> list[ComparedAudit]:
    """Read audits from reports or their folders, files of stored rows, and sweeps.

    Unfinished runs of a sweep have no row. Datasets of sweeps are named by their seed and all columns that any of the
    sweeps varied.

    Raises
    ------
    InputError
        A path is none of these; the message names the file and the position.
    """
    found = [_sweep(path) if path.suffix == ".csv" or (path / RUNS).exists() else read_report(path) for path in paths]
    varied = {name for one in found if isinstance(one, _Sweep) for name in one.varied}
    return [one.side(varied) if isinstance(one, _Sweep) else one for one in found]


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
        yield from (
            (f"{where}: line {line}: {shortened(printable(claim), LONGEST_SHOWN)}", row) for claim, row in rows.items()
        )


def _number(text: str) -> float | str:
    """Parse a number; other text is returned as it is, for error messages."""
    try:
        return float(text)
    except ValueError:
        return text
