"""Reading the two sides of a comparison: reports of audits, files of kept rows, tables of sweeps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

from annotated_types import MinLen
from typing_extensions import TypedDict

from marginaudit.orders import InputError, file_content, shown, shown_path
from marginaudit.orders.reading import parsed_json, utf_8_text, validated
from marginaudit.reports.row import ReportRow, row_from_document

SHA256 = "sha256 of "
"""Prefix of the setting that is the hash of a dataset's file."""

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
class Side:
    """One of two audits.

    Attributes
    ----------
    where : str
        The file, as the user sees it.
    rows : mapping
        By `ReportRow.key`.
    settings : mapping from names to plain data
        Versions, settings, and the hashes of the datasets' files.
    """

    where: str
    rows: Mapping[tuple[str, str], ReportRow]
    settings: Mapping[str, Any]


def read_report(file: Path) -> Side:
    """The audit in a report.json, or in what the fixture `bound_constants` keeps, which has a report's rows alone.

    Raises
    ------
    InputError
        It is none; names the file and the place in it.
    """
    where = shown_path(file)
    return side_of(parsed_json(utf_8_text(file_content(file, REPORT), where), where), where)


def side_of(document: Any, where: str) -> Side:
    """The audit in the document of a report.

    Raises
    ------
    InputError
        It is none; names the place in it.
    """
    report = validated(_Report, document, where)
    places = (f"{where}: /verdicts/{i}" for i in range(len(report["verdicts"])))
    return Side(where, rows_by_key(zip(places, report["verdicts"], strict=False)), _settings(report))


def rows_by_key(documents: Iterable[tuple[str, Any]]) -> dict[tuple[str, str], ReportRow]:
    """Rows from documents, each beside its place for an error.

    Raises
    ------
    InputError
        One is no row, or two are of one claim and dataset.
    """
    found: dict[tuple[str, str], ReportRow] = {}
    for place, document in documents:
        row = row_from_document(document, place)
        if row.key in found:
            raise InputError(place, got=f"{shown(row.claim)} on {shown(row.place)} again", expected="it once")
        found[row.key] = row
    return found


def _settings(report: _Report) -> dict[str, Any]:
    """Settings, versions and hashes of the report, in one level."""
    found = {"marginaudit": report.get("marginaudit"), **report.get("environment", {})}
    for paper, config in report.get("config", {}).items():
        found |= {f"{paper}: {name}": value for name, value in config.items()}
    return found | {f"{SHA256}{data['name']}": data.get("sha256") for data in report.get("datasets", [])}
