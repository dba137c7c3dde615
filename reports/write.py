"""Writing an audit's folder: the page, the data behind it, trajectories and figures."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, printable
from marginaudit.reports.answers import stage_rows
from marginaudit.reports.auditing import Audit
from marginaudit.reports.direction import direction_figure
from marginaudit.reports.figures import against_bounds, rendered
from marginaudit.reports.files import csv_text, file_stem, json_text, write_whole
from marginaudit.reports.page import page
from marginaudit.reports.run import Run
from marginaudit.reports.tables import TABLES, csv_table

VERDICT_COLUMNS = (
    "claim",
    "dataset",
    "verdict",
    "evidence",
    "measured",
    "bound",
    "slack",
    "worst_step",
    "first_violation",
    "informative_from",
    "detail",
)


FIGURES = (
    ("-direction", "direction error of stage 2, measured and proved", direction_figure),
    ("", "measured against bound", against_bounds),
)
"""Of each dataset: what the file's name ends with, what it shows, and what draws it."""


def write_report(audit: Audit, folder: Path, progress: Callable[[str], None]) -> Path:
    """Write report.html, report.json, verdicts.csv, tables/, figures/ and trajectories/; return the page's path.

    Each file is written whole or not at all, and report.json last of all names them; files that an earlier
    report of this folder names and this one does not have are removed.

    Raises
    ------
    InputError
        The folder cannot be written to.
    """
    try:
        return _write(audit, folder, progress)
    except OSError as error:
        where = printable(str(folder))
        raise InputError(where, got=error.strerror or "an error", expected="a folder to write the report to") from None


def check_folder(folder: Path) -> None:
    """Refuse a folder that the report cannot be written to, before the audit runs.

    Raises
    ------
    InputError
        It, or what would hold it, is no folder or is not writable.
    """
    nearest = folder
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    got = None
    if not nearest.is_dir():
        got = "Not a directory"
    elif not os.access(nearest, os.W_OK | os.X_OK):
        got = "Permission denied"
    if got is not None:
        raise InputError(printable(str(folder)), got=got, expected="a folder to write the report to")


def _write(audit: Audit, folder: Path, progress: Callable[[str], None]) -> Path:
    earlier = _files_of_earlier_report(folder)
    files: dict[str, str | bytes] = {}
    pictures = []
    stems = _stems(audit)
    for run in audit.runs:
        if not run.trainable:
            continue
        name, stem = run.dataset.name, stems[run.dataset.name]
        progress(f"{name}: figures")
        findings = {row.claim.id: row.finding for row in audit.rows if row.run is run}
        for suffix, caption, draw in FIGURES:
            figure = draw(run, findings)
            svg, pdf = rendered(figure, ".svg"), rendered(figure, ".pdf")
            pictures.append((f"{name}: {caption}", svg))
            files |= {f"figures/{stem}{suffix}.svg": svg, f"figures/{stem}{suffix}.pdf": pdf}
        files |= {f"trajectories/{stem}-{stage}.csv": text for stage, text in _trajectories(run).items()}

    document = audit.as_document()
    rows = [[row[column] for column in VERDICT_COLUMNS] for row in document["verdicts"]]
    files["verdicts.csv"] = csv_text(VERDICT_COLUMNS, rows)
    for table in TABLES:
        files[f"tables/{table}.csv"] = csv_table(table, [(data["name"], data[table]) for data in document["datasets"]])
    files["report.html"] = page(audit, document, pictures)
    document["files"] = sorted([*files, "report.json"])
    files["report.json"] = json_text(document, indent=2)
    for name, content in files.items():
        write_whole(folder / name, content)
    for name in earlier - set(files):
        (folder / name).unlink(missing_ok=True)
    return folder / "report.html"


def _stems(audit: Audit) -> dict[str, str]:
    """A file name for each dataset, a number appended where two names give one."""
    taken: set[str] = set()
    stems = {}
    for run in audit.runs:
        stem, number = file_stem(run.dataset.name), 1
        while (stem if number == 1 else f"{stem}-{number}").lower() in taken:
            number += 1
        stems[run.dataset.name] = stem if number == 1 else f"{stem}-{number}"
        taken.add(stems[run.dataset.name].lower())
    return stems


def _trajectories(run: Run) -> dict[str, str]:
    texts = {}
    for stage, record in (("stage1", run.trained.stage1), ("stage2", run.trained.stage2)):
        header = list(record.columns())
        texts[stage] = csv_text(header, [[row[column] for column in header] for row in stage_rows(record)])
    return texts


def _files_of_earlier_report(folder: Path) -> set[str]:
    """The files that a report.json of this program names in the folder, none outside of it."""
    try:
        document: Any = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        names = document["files"] if "marginaudit" in document else []
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()
    root = folder.resolve()
    paths = {n: folder / n for n in names if isinstance(n, str)}
    return {n for n, path in paths.items() if path.is_file() and path.resolve().is_relative_to(root)}
