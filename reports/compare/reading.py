"""Reading the two sides of a comparison: reports of audits, files of kept rows, tables of sweeps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, file_content, shown, shown_path
from marginaudit.orders.reading import parsed_json, utf_8_text
from marginaudit.reports.compare.row import ReportRow, row_from_document

SHA256 = "sha256 of "
"""Before a dataset's name: the setting that is the hash of its file."""

REPORT = "a report.json of `marginaudit audit`"


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
    if not isinstance(document, dict) or not isinstance(document.get("verdicts"), list):
        raise InputError(where, got="no list of verdicts", expected=REPORT)
    if not document["verdicts"]:
        raise InputError(where, got="an empty list of verdicts", expected=REPORT)
    places = (f"{where}: /verdicts/{i}" for i in range(len(document["verdicts"])))
    return Side(where, rows_by_key(zip(places, document["verdicts"], strict=False)), _settings(document, where))


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


def _settings(document: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Settings, versions and hashes of the report, in one level."""
    found = {"marginaudit": document.get("marginaudit")}
    for name in ("environment", "config"):
        if not isinstance(document.get(name, {}), dict):
            raise InputError(f"{where}: /{name}", got=shown(document[name]), expected=REPORT)
    found |= document.get("environment", {})
    for paper, config in document.get("config", {}).items():
        if not isinstance(config, dict):
            raise InputError(f"{where}: /config/{paper}", got=shown(config), expected=REPORT)
        found |= {f"{paper}: {name}": value for name, value in config.items()}
    datasets = document.get("datasets", [])
    if not isinstance(datasets, list) or not all(isinstance(data, dict) and "name" in data for data in datasets):
        raise InputError(f"{where}: /datasets", got=shown(datasets), expected=REPORT)
    return found | {f"{SHA256}{data['name']}": data.get("sha256") for data in datasets}
