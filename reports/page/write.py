"""Writing an audit's folder: the page, the data behind it, trajectories and figures."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from marginaudit.reports.answers import stage_rows
from marginaudit.reports.audit.auditing import Audit
from marginaudit.reports.ntp.figures.direction import direction_figure
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.tables import TABLES, csv_table
from marginaudit.reports.page.files import csv_text, file_stem, json_text
from marginaudit.reports.page.html import page
from marginaudit.reports.plots.measured import against_bounds, rendered

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


def write_report(audit: Audit, folder: Path, progress: Callable[[str], None]) -> None:
    """Write report.html, report.json, verdicts.csv, tables/, figures/ and trajectories/ into a folder.

    report.json names all files of the report.
    """
    for name, content in _files(audit, progress).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def files_of_report(folder: Path) -> frozenset[str] | None:
    """The files that a report.json of this program names in the folder; None where there is no such report."""
    found = folder / "report.json"
    try:
        document: Any = json.loads(found.read_text(encoding="utf-8")) if found.is_file() else None
        return frozenset(map(str, document["files"])) if "marginaudit" in document else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _files(audit: Audit, progress: Callable[[str], None]) -> dict[str, str | bytes]:
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
    return files


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
