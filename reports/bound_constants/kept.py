"""The file that keeps a test file's rows: a report.json with nothing but rows, one a line, sorted."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from marginaudit.orders import InputError
from marginaudit.reports.compare.reading import read_report
from marginaudit.reports.compare.worse import changes
from marginaudit.reports.page.files import json_text, write_whole
from marginaudit.reports.row import ReportRow


def read_rows(file: Path) -> Mapping[tuple[str, str], ReportRow]:
    """All rows of a file by their keys; none where there is no file.

    Raises
    ------
    InputError
        It cannot be read, or holds something else.
    """
    return read_report(file).rows if file.exists() else {}


def update_rows(file: Path, measured: Iterable[tuple[ReportRow, str]]) -> list[str]:
    """Write the measured rows that changed, and return the kept rows that were not measured.

    A row that is the same within its tolerance stays as it was, so that many updates do not add up to a large change.
    The file is written whole or not at all.

    Raises
    ------
    InputError
        Two measured rows of one key differ, or the file is damaged.
    OSError
        It cannot be written.
    """
    kept = read_rows(file)
    asked: dict[tuple[str, str], ReportRow] = {}
    rows = dict(kept)
    for row, changed in measured:
        if changes(asked.setdefault(row.key, row), row):
            expected = "datasets of different names"
            raise InputError(f"{row.claim} on {row.place}", got="two rows that differ", expected=expected)
        if changed:
            rows[row.key] = row
    if rows != kept:
        lines = ",\n".join(json_text(row.kept()).removesuffix("\n") for _, row in sorted(rows.items()))
        write_whole(file, f'{{"verdicts": [\n{lines}\n]}}\n')
    return [f"{claim} on {place}" for place, claim in kept if (place, claim) not in asked]
