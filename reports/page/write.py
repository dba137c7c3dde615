"""Writing an audit's folder: the page, the data behind it, trajectories and figures."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from marginaudit.reports.audit.auditing import Audit
from marginaudit.reports.page.exports import exported, tables_of
from marginaudit.reports.page.files import csv_text, file_stem, json_text
from marginaudit.reports.page.formats import csv_table
from marginaudit.reports.page.html import page
from marginaudit.reports.page.proofs import proof_pages
from marginaudit.reports.page.shown import drawn, rendered_as

COLUMNS = (
    "claim",
    "dataset",
    "verdict",
    "evidence",
    "measured",
    "bound",
    "slack",
    "constant",
    "worst_step",
    "first_violation",
    "informative_from",
    "detail",
)
"""Of a table of verdicts in Python, as report.json names them."""

NO_HASH = "0" * 64

VERDICT_COLUMNS = tuple(column for column in COLUMNS if column != "constant")
"""Of verdicts.csv."""


def write_report(audit: Audit, folder: Path, progress: Callable[[str], None], exports: Collection[str] = ()) -> None:
    """Write report.html, report.json, verdicts.csv, tables/, figures/, trajectories/ and proofs/ into a folder.

    report.json names all files of the report, with their hashes; its own is that of itself with `NO_HASH` in the
    hash's place. ``exports`` are
    `marginaudit.reports.page.exports.FORMATS`.
    """
    for name, content in _files(audit, progress, exports).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)


def files_of_report(folder: Path) -> frozenset[str] | None:
    """The files that a report.json of this program names in the folder; None where there is no such report.

    Those that were changed since are the user's own.
    """
    found = folder / "report.json"
    try:
        content = found.read_bytes() if found.is_file() else b"null"
        document: Any = json.loads(content)
        if "marginaudit" not in document:
            return None
        hashes = dict(document.get("sha256", {}))
        return frozenset(
            name
            for name in map(str, document["files"])
            if name not in hashes
            or hashes[name] == (_own_hash(content, hashes[name]) if name == "report.json" else _hash_of(folder / name))
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _own_hash(report: bytes, said: str) -> str:
    return hashlib.sha256(_with_hash(report, said, NO_HASH)).hexdigest()


def _with_hash(report: bytes, old: str, new: str) -> bytes:
    """A report.json with another hash of its own, at its end; what it says of datasets may hold the same text."""
    said, says = (f'"report.json": "{digest}"'.encode() for digest in (old, new))
    before, _, after = report.rpartition(said)
    return before + says + after


def _hash_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
    except OSError:
        return None


def _files(audit: Audit, progress: Callable[[str], None], exports: Collection[str]) -> dict[str, bytes]:
    files: dict[str, str | bytes] = {}
    pictures: list[tuple[str, bytes]] = []
    beside: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    stems = _stems(audit)
    for one in audit.audited:
        shown = one.shown or drawn(one, exports, progress)
        stem = stems[one.name]
        for picture in shown.pictures:
            of_page = (f"{one.name}: {picture.caption}", picture.files[".svg"])
            (beside[picture.claim] if picture.claim else pictures).append(of_page)
            files |= {f"figures/{stem}{picture.suffix}{ending}": content for ending, content in picture.files.items()}
        files |= {f"trajectories/{stem}-{part}.csv": text for part, text in shown.records.items()}

    for paper, name, claim in audit.illustrations:
        progress(f"figure {name}")
        found = audit.figures.get(name) or rendered_as(paper.figures[name](), exports)
        beside[claim].append((name, found[".svg"]))
        files |= {f"figures/{name}{ending}": content for ending, content in found.items()}

    document = audit.as_document()
    rows = [[row[column] for column in VERDICT_COLUMNS] for row in document["verdicts"]]
    files["verdicts.csv"] = csv_text(VERDICT_COLUMNS, rows)
    for table, of_datasets in tables_of(audit.papers, document):
        records = [(name, table.records(data)) for name, data in of_datasets]
        files[f"tables/{table.name}.csv"] = csv_table(table.columns, records)
    files |= exported(audit.papers, document, exports, VERDICT_COLUMNS)
    proofs = proof_pages(audit.papers) if audit.proofs is None else audit.proofs
    files |= {f"proofs/{name}.html": text for name, text in proofs.items()}
    files["report.html"] = page(audit, document, pictures, beside, proofs)
    written = {name: text.encode("utf-8") if isinstance(text, str) else text for name, text in files.items()}
    document["files"] = sorted([*files, "report.json"])
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in written.items()}
    document["sha256"] = dict(sorted({**hashes, "report.json": NO_HASH}.items()))
    report = json_text(document, indent=2).encode("utf-8")
    return written | {"report.json": _with_hash(report, NO_HASH, hashlib.sha256(report).hexdigest())}


def _stems(audit: Audit) -> dict[str, str]:
    """A file name for each dataset, a number appended where two names give one, or one is an illustration's."""
    taken = {name.lower() for paper in audit.papers for name in paper.illustrations}
    stems = {}
    for one in audit.audited:
        stem, number = file_stem(one.name), 1
        while (stem if number == 1 else f"{stem}-{number}").lower() in taken:
            number += 1
        stems[one.name] = stem if number == 1 else f"{stem}-{number}"
        taken.add(stems[one.name].lower())
    return stems
