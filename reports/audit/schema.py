"""JSON Schema of report.json, made from the classes whose fields it has."""

from dataclasses import Field, fields
from functools import cache
from typing import Any, Literal, NotRequired, get_type_hints

from typing_extensions import TypedDict

from marginaudit.claims.row import ReportRow
from marginaudit.claims.verdict import COLUMNS, Curve, Output, columns
from marginaudit.reports.audit.auditing import SCHEMA
from marginaudit.reports.audit.claim_code import Code
from marginaudit.reports.audit.claim_record import ClaimRecord

FILE = "report.schema.json"
"""File of the schema in this package."""


def schema() -> dict[str, Any]:
    """The schema, which the package has in `FILE`."""
    from pydantic import TypeAdapter

    title = {"title": f"report.json of marginaudit, version {SCHEMA}"}
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return dialect | TypeAdapter(report_type()).json_schema() | title


@cache
def report_type() -> Any:
    """Type of report.json."""
    numbers = list[float | None]
    entries = {"entries": int, "step": numbers, "measured": numbers}
    of_curve = dict.fromkeys(COLUMNS, numbers | None) | entries
    curve: Any = _object("Curve", _types(Curve, fields(Curve)) | of_curve)
    row: Any = _types(ReportRow, columns(ReportRow, Output.JSON)) | {"curve": curve | None}
    code: Any = _object("Code", _types(Code, fields(Code)))
    claim: Any = _types(ClaimRecord, fields(ClaimRecord)) | {"without": dict[str, Any], "code": code | None}
    row, claim = _object("Row", row), _object("Claim", claim)
    paper: Any = {"name": str, "source": str, "title": str | None, "ours": bool}
    made: Any = {"date": str, "command": str | None, "cpu": str, "commit": str | None, "files": dict[str, str]}
    dataset: Any = {
        "name": str,
        "paper": str,
        "origin": str,
        "sha256": str | None,
        "data": dict[str, Any] | None,
        "assumptions": dict[str, Any],
    }
    paper, dataset = _object("Paper", paper), _object("Dataset", dataset, closed=False)
    document: Any = {
        "schema": Literal[SCHEMA],
        "marginaudit": str,
        "made": _object("Made", made),
        "environment": dict[str, str],
        "config": dict[str, dict[str, Any]],
        "papers": list[paper],
        "datasets": list[dataset],
        "claims": list[claim],
        "verdicts": list[row],
        "files": NotRequired[list[str]],
        "sha256": NotRequired[dict[str, str]],
    }
    return _object("Report", document)


def _types(of: type, known: "tuple[Field[Any], ...]") -> dict[str, Any]:
    """Types of a dataclass's fields."""
    hints = get_type_hints(of)
    return {one.name: hints[one.name] for one in known}


def _object(name: str, types: dict[str, Any], *, closed: bool = True) -> Any:
    """Type of a JSON object with these members, and no others if closed."""
    typed: Any = TypedDict
    return typed(name, types, closed=True) if closed else typed(name, types, extra_items=Any)
