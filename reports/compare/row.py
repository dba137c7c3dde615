"""A row of a report as it is compared, read from JSON and written to it."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from typing import Any, Literal

from marginaudit.orders import InputError, shown
from marginaudit.reports.verdict import Evidence, Verdict


@dataclass(frozen=True, kw_only=True)
class ReportRow:
    """The fields of a row of report.json that a comparison reads, and the settings of its run.

    Attributes
    ----------
    claim, dataset : str
    settings : mapping from names to plain data
        Those that differ from the default, in a file that has them row by row; a report has them once for all rows.
    verdict, evidence, measured, bound, slack, side, constant, informative_from
        As in `marginaudit.reports.Finding`.
    repeats_within : float or None
        Error bar of slack and constant, relative; None where it is unbounded.
    """

    claim: str
    dataset: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    verdict: Verdict
    evidence: Evidence
    measured: float | None = None
    bound: float | None = None
    slack: float | None = None
    side: Literal["upper", "lower"] | None = None
    constant: float | None = None
    repeats_within: float | None = None
    informative_from: int | float | None = None

    @property
    def place(self) -> str:
        """The dataset, with its settings.

        >>> row_from_document(
        ...     {"claim": "c", "dataset": "d", "settings": {"seed": 3}, "verdict": "holds", "evidence": "exact"}, "here"
        ... ).place
        'd (seed = 3)'
        """
        settings = ", ".join(f"{name} = {shown(value)}" for name, value in self.settings.items())
        return f"{self.dataset} ({settings})" if settings else self.dataset

    @property
    def key(self) -> tuple[str, str]:
        """Where it stands in a report: place and claim."""
        return self.place, self.claim

    def as_document(self) -> dict[str, Any]:
        """Plain JSON data, without what is null or empty."""
        found = asdict(self) | {"verdict": self.verdict.value, "evidence": self.evidence.value}
        return {name: value for name, value in found.items() if value is not None and value != {}}


def row_from_document(document: Any, where: str) -> ReportRow:
    """The row that a JSON document holds.

    Raises
    ------
    InputError
        It holds none; names the field.
    """
    if not isinstance(document, dict):
        raise InputError(where, got=shown(document), expected="a verdict")
    values: dict[str, Any] = {known.name: document.get(known.name) for known in fields(ReportRow)}
    values["settings"] = document.get("settings", {})
    for name, value in values.items():
        accepts, expected = ACCEPTED.get(name, (_is_number_or_null, "a number or null"))
        if not accepts(value):
            raise InputError(f"{where}/{name}", got=shown(value), expected=expected)
    values |= {"verdict": Verdict(values["verdict"]), "evidence": Evidence(values["evidence"])}
    return ReportRow(**values)


def _is_number_or_null(value: Any) -> bool:
    try:
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value))
    except OverflowError:  # of an integer beyond float64
        return False


def _one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: value in values


ACCEPTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "claim": (lambda value: isinstance(value, str), "a text"),
    "dataset": (lambda value: isinstance(value, str), "a text"),
    "settings": (lambda value: isinstance(value, dict), "an object"),
    "verdict": (_one_of(*Verdict), ", ".join(Verdict)),
    "evidence": (_one_of(*Evidence), ", ".join(Evidence)),
    "side": (_one_of("upper", "lower", None), "upper, lower or null"),
}
"""A field's test and its name in an error; the other fields are numbers or null."""
