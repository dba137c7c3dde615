"""Report row: an audit's result on one claim and dataset, and the columns of each output."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from sys import float_info
from typing import Annotated, Any, Literal, TypeAlias

from annotated_types import Ge, Le

from marginaudit.claims.values.json_data import finite
from marginaudit.claims.values.reportable import Number, Step
from marginaudit.claims.verdict import ALL_ROWS, Evidence, Finding, Output, Verdict, column, columns
from marginaudit.orders import shown
from marginaudit.orders.reading import validated

Finite: TypeAlias = Annotated[float, Ge(-float_info.max), Le(float_info.max)] | None

IN_JSON: Mapping[Any, Any] = {
    Number: Finite,
    Step: Finite,
    Verdict: Literal[tuple(verdict.value for verdict in Verdict)],
    Evidence: Literal[tuple(evidence.value for evidence in Evidence)],
}
"""JSON types of columns."""


@dataclass(frozen=True, kw_only=True)
class About:
    """The claim, dataset and run of a row.

    Attributes
    ----------
    run : str or None
        The name of a recorded run.
    premise : "met" or "carried over"
        Carried over: measured on recorded weights of another algorithm than the paper's. Proofs do not apply, and a
        violation does not refute the statement.
    settings : mapping from names to plain data
        Settings that differ from the default, in a file with settings per row; a report has them once for all rows.
    """

    claim: str = field(metadata=column(ALL_ROWS | Output.TABLE | Output.KEPT))
    dataset: str = field(metadata=column(ALL_ROWS | Output.TABLE | Output.KEPT))
    run: str | None = field(default=None, metadata=column(ALL_ROWS))
    premise: Literal["met", "carried over"] = field(default="met", metadata=column(ALL_ROWS | Output.KEPT))
    settings: dict[str, Any] = field(default_factory=dict, metadata=column(Output.KEPT))

    @property
    def place(self) -> str:
        """The dataset, with its settings.

        >>> About(claim="c", dataset="d", settings={"seed": 3}).place
        'd (seed = 3)'
        """
        settings = ", ".join(f"{name} = {shown(value)}" for name, value in self.settings.items())
        return f"{self.dataset} ({settings})" if settings else self.dataset

    @property
    def key(self) -> tuple[str, str]:
        """Key of the row in a report: place and claim."""
        return self.place, self.claim


@dataclass(frozen=True, kw_only=True)
class ReportRow(Finding, About):
    """Result of `Claim.judge`: a finding after proofs are taken into account, with claim, dataset and standing.

    Attributes
    ----------
    headroom : tuple of float
        Powers of ten between measured and bound, by `marginaudit.claims.verdict.headroom`.
    refutes : bool
        Whether it is violated on data that meet the assumptions exactly, which rules out a proof.
    counterexample : mapping or None
        The smallest dataset known to violate a violated claim, in the form of a dataset file.
    kind : str
        The kind of the statement.
    standing : str
        Standing of the claim over every dataset.
    form : str
        Form of the statement: printed, rederived, variant, own, control.
    control_of : str or None
        Of a control, the claim of which it is a false twin.
    scale : "paper", "reduced" or None
        Whether the sizes are those of the source, or smaller ones; None if unstated.
    seconds : float or None
        Wall-clock time of the judgement. It includes the training that this row is the first to need, and is None in
        reproducible reports.
    quantifier : str
        What the statement is about: "all" entries, the "last" one, some ("exists"), a "supremum", ..
    """

    headroom: tuple[float, ...] = field(default=(), metadata=column(Output.JSON))
    refutes: bool = False
    standing: str = field(default="", metadata=column(ALL_ROWS))
    source: str = field(default="", metadata=column(ALL_ROWS))
    form: str = field(default="", metadata=column(ALL_ROWS))
    control_of: str | None = field(default=None, metadata=column(ALL_ROWS | Output.KEPT))
    scale: Literal["paper", "reduced"] | None = field(default=None, metadata=column(ALL_ROWS))
    quantifier: str = field(default="", metadata=column(Output.JSON | Output.FRAME))
    kind: str = field(default="", metadata=column(Output.JSON))
    counterexample: Mapping[str, Any] | None = field(default=None, metadata=column(Output.JSON))
    seconds: float | None = field(default=None, compare=False, metadata=column(Output.JSON))

    def as_document(self, output: Output = Output.JSON) -> dict[str, Any]:
        """The columns of an output, as plain JSON data."""
        found = {known.name: getattr(self, known.name) for known in columns(ReportRow, output)}
        if found.get("curve") is not None:
            found["curve"] = found["curve"].as_document(self.worst_step, self.first_violation, self.informative_from)
        return {name: value.value if isinstance(value, StrEnum) else finite(value) for name, value in found.items()}

    def kept(self) -> dict[str, Any]:
        """The columns read by comparisons, as plain JSON data without nulls and `LEFT_OUT`."""
        found = self.as_document(Output.KEPT)
        return {name: value for name, value in found.items() if value is not None and value != LEFT_OUT.get(name)}


def names(output: Output) -> tuple[str, ...]:
    """The columns of an output.

    >>> names(Output.TABLE)
    ('claim', 'dataset', 'verdict', 'evidence', 'measured', 'bound', 'slack', 'informative_from')
    """
    return tuple(known.name for known in columns(ReportRow, output))


LEFT_OUT: Mapping[str, Any] = {"settings": {}, "premise": "met", "beyond_the_run": False}
"""Values other than null omitted by `ReportRow.kept`."""


def row_from_document(document: Any, where: str) -> ReportRow:
    """Parse the row of a JSON document, as far as a comparison reads it.

    Raises
    ------
    InputError
        The document is no row; names the field.
    """
    given = validated(dict[str, Any], document, where)
    values: dict[str, Any] = {}
    for known in columns(ReportRow, Output.KEPT):
        values[known.name] = value = given.get(known.name, LEFT_OUT.get(known.name))
        validated(IN_JSON.get(known.type, known.type), value, f"{where}/{known.name}")
    return ReportRow(**values)


CARRIED_OVER = "carried over to runs that are not known to be the paper's algorithm"


def evidence_text(row: Mapping[str, Any]) -> str:
    """Evidence of a row of report.json for readers: also an enclosure beside a proof, and a carried-over premise."""
    measured = "measured: certified" if row.get("measurement") == Evidence.CERTIFIED else ""
    return ", ".join(filter(None, (row["evidence"], measured, "" if row["premise"] == "met" else row["premise"])))
