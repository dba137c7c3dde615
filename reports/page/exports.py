"""Exports of a report for other papers: tables in LaTeX, Markdown and Parquet, and BibTeX."""

import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from marginaudit.claims.paper import Paper
from marginaudit.claims.row import ReportRow, evidence_text, names
from marginaudit.claims.table import Captioned, Table
from marginaudit.claims.values.numbers import bound, brief
from marginaudit.claims.verdict import COLUMNS, Output
from marginaudit.orders import printable
from marginaudit.reports.page.files import csv_text
from marginaudit.reports.page.latex import latex, latex_text

EXPORTED = (".tex", ".bib", ".md", ".parquet", ".pdf")
"""Endings of exported files."""

TOOL = """@misc{{marginaudit,
  title = {{marginaudit: numerical audits of theorems on how transformers train}},
  author = {{{{marginaudit developers}}}},
  note = {{Computer program, version {version}}},
}}
"""


def exported(papers: Sequence[Paper], document: Mapping[str, Any], formats: Iterable[str]) -> dict[str, str | bytes]:
    """Files by name with the verdicts and tables of a report in the given formats; with LaTeX also references.bib.

    ``document`` is the content of report.json.
    """
    files: dict[str, str | bytes] = {}
    tables = list(tables_of(papers, document))
    for form in formats:
        if form == "parquet":
            files["tables/verdicts.parquet"] = _parquet(names(Output.CSV), document["verdicts"])
            for table, found in tables:
                files[f"tables/{table.name}.parquet"] = _parquet(table.columns, table.rows(found))
        elif form in WRITERS:
            write, ending = WRITERS[form]
            files[f"tables/verdicts.{ending}"] = write(list(_verdicts(document)))
            for table, found in tables:
                of_datasets = [one for name, data in found for one in table.captioned(name, data)]
                files[f"tables/{table.name}.{ending}"] = write(of_datasets)
        if form == "latex":
            files["tables/references.bib"] = references(papers)
    return files


def references(papers: Sequence[Paper]) -> str:
    """BibTeX entries of the audited papers and this program."""
    entries = [
        paper.bibtex
        or f"@misc{{{paper.name},\n  key = {{{paper.name}}},\n  note = {{{latex_text(paper.source)}}},\n}}\n"
        for paper in papers
    ]
    return "\n".join([*entries, TOOL.format(version=version("marginaudit"))])


def tables_of(papers: Sequence[Paper], document: Mapping[str, Any]) -> Iterator[tuple[Table, list[tuple[str, Any]]]]:
    """Tables with their data, by dataset."""
    for paper in papers:
        own = [data for data in document["datasets"] if data["paper"] == paper.name]
        for table in paper.tables:
            yield table, [(data["name"], data[table.name]) for data in own]


def _verdicts(document: Mapping[str, Any]) -> Iterator[Captioned]:
    """Tables of verdicts, one per dataset."""
    from pandas import DataFrame

    columns = [name for name in names(Output.TABLE) if name != "dataset"]
    header = [name.replace("_", " ") for name in columns]
    for data in document["datasets"]:
        rows = [row for row in document["verdicts"] if row["dataset"] == data["name"]]
        frame = DataFrame([[_of_row(row, name) for name in columns] for row in rows], columns=header)
        yield Captioned(frame, f"Verdicts on {data['name']}", numbers=header[3:])


def _of_row(row: Mapping[str, Any], name: str) -> str:
    if name == "evidence":
        return evidence_text(row)
    if name == "bound":
        return bound(row)
    return row[name] if isinstance(row[name], str) else brief(row[name])


def _parquet(columns: Sequence[str], records: Sequence[Mapping[str, Any]]) -> bytes:
    """Parquet file of records: numeric columns as float64, flags as bool, others as text.

    Lists and mappings become JSON texts, as in the CSV files.
    """
    from pandas import DataFrame

    frame = DataFrame({name: _column([record.get(name) for record in records]) for name in columns})
    return frame.to_parquet(index=False)


def _column(values: list[Any]) -> Any:
    from pandas import Series

    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return Series(values, dtype="boolean")
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return Series([math.nan if value is None else float(value) for value in values], dtype="float64")
    return Series([None if value is None else str(flat(value)) for value in values], dtype="string")


CURVES = "tables/curves.parquet"
"""File of the entries of all curves."""


def curves(rows: Iterable[ReportRow]) -> bytes:
    """Parquet file of the entries of the rows' curves: claim, dataset, part, clock, step, and the columns in float64.

    A missing column is null; numbers may be infinite, and NaN if not known.
    """
    import pyarrow
    from pyarrow import parquet

    found: dict[str, list[Any]] = {name: [] for name in (*OF_CURVES, "step", *COLUMNS)}
    for row in rows:
        if (curve := row.curve) is None:
            continue
        count = len(curve.step)
        for name, text in zip(OF_CURVES, (row.claim, row.dataset, curve.part, curve.clock), strict=True):
            found[name] += [text] * count
        for name in ("step", *COLUMNS):
            found[name] += [None] * count if (column := getattr(curve, name)) is None else map(float, column)
    types = [pyarrow.string()] * len(OF_CURVES) + [pyarrow.float64()] * (len(found) - len(OF_CURVES))
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(found, pyarrow.schema(zip(found, types, strict=True))), buffer)
    return buffer.getvalue()


OF_CURVES = ("claim", "dataset", "part", "clock")


def csv_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """CSV text of rows by column; lists and mappings as JSON texts."""
    return csv_text(columns, [[flat(row.get(column)) for column in columns] for row in rows])


def flat(value: Any) -> Any:
    """Cell of a file: lists and mappings as JSON texts, flags as JSON's true and false."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def markdown(tables: Sequence[Captioned]) -> str:
    """Tables in GitHub's Markdown, each under its caption."""
    return "\n".join(_markdown(one) for one in tables)


def _markdown(one: Captioned) -> str:
    lines = [f"**{_markdown_text(one.caption)}**", ""]
    header, *rows = ([_markdown_text(cell) for cell in row] for row in (one.header, *one.rows))
    lines += [f"| {' | '.join(row)} |" for row in (header, ["---" if words else "---:" for words in one.words], *rows)]
    lines += [line for note in one.notes for line in ("", _markdown_text(note))]
    return "\n".join(lines) + "\n"


def _markdown_text(text: str) -> str:
    r"""Text escaped for Markdown.

    >>> _markdown_text("a|b *c* <d> \\ x_y W_kq -1/3")
    'a\\|b \\*c\\* \\<d\\> \\\\ x\\_y W\\_kq -1/3'
    """
    return re.sub(r"([\\`*_{}\[\]<>|#~&$!])", r"\\\1", printable(text))


WRITERS = {"latex": (latex, "tex"), "markdown": (markdown, "md")}
