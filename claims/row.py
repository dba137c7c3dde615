"""A row of results: an audit's report on one claim and dataset, and the columns of each output."""

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
"""Types of columns in JSON."""


@dataclass(frozen=True, kw_only=True)
class About:
    """The claim, dataset and run of a row.

    Attributes
    ----------
    run : str or None
        The name of a recorded run.
    premise : "met" or "carried over"
        Carried over is what is of recorded weights that are not the paper's algorithm's: no proof speaks of it, and a
        violation says nothing of the statement.
    settings : mapping from names to plain data
        Those that differ from the default, in a file that has them row by row; a report has them once for all rows.
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
    """A finding with claim, dataset and standing, after proofs are taken into account: the answer of `Claim.judge`.

    Attributes
    ----------
    headroom : tuple of float
        Powers of ten between measured and bound, as `marginaudit.claims.verdict.headroom` has them.
    refutes : bool
        Whether it is violated on data that meet the assumptions exactly, so that no proof of it can come.
    counterexample : mapping or None
        The smallest dataset known to violate the claim, where it is violated, as a dataset file has it.
    kind : str
        The kind of the statement.
    standing : str
        How the claim stands for every dataset.
    form : str
        Whose statement the claim is: printed, rederived, variant, own, control.
    """

    headroom: tuple[float, ...] = field(default=(), metadata=column(Output.JSON))
    refutes: bool = False
    standing: str = field(default="", metadata=column(ALL_ROWS))
    source: str = field(default="", metadata=column(ALL_ROWS))
    form: str = field(default="", metadata=column(ALL_ROWS))
    kind: str = field(default="", metadata=column(Output.JSON))
    counterexample: Mapping[str, Any] | None = field(default=None, metadata=column(Output.JSON))

    def as_document(self, output: Output = Output.JSON) -> dict[str, Any]:
        """Its columns in an output, as plain JSON data."""
        found = {known.name: finite(getattr(self, known.name)) for known in columns(ReportRow, output)}
        return {name: value.value if isinstance(value, StrEnum) else value for name, value in found.items()}

    def kept(self) -> dict[str, Any]:
        """The columns that comparisons read, as plain JSON data without nulls and `LEFT_OUT`."""
        found = self.as_document(Output.KEPT)
        return {name: value for name, value in found.items() if value is not None and value != LEFT_OUT.get(name)}


def names(output: Output) -> tuple[str, ...]:
    """The columns of an output.

    >>> names(Output.TABLE)
    ('claim', 'dataset', 'verdict', 'evidence', 'measured', 'bound', 'slack', 'informative_from')
    """
    return tuple(known.name for known in columns(ReportRow, output))


LEFT_OUT: Mapping[str, Any] = {"settings": {}, "premise": "met", "beyond_the_run": False}
"""Values other than null that `ReportRow.kept` leaves out."""


def row_from_document(document: Any, where: str) -> ReportRow:
    """The row that a JSON document holds, as far as a comparison reads it.

    Raises
    ------
    InputError
        It holds none; names the field.
    """
    given = validated(dict[str, Any], document, where)
    values: dict[str, Any] = {}
    for known in columns(ReportRow, Output.KEPT):
        values[known.name] = value = given.get(known.name, LEFT_OUT.get(known.name))
        validated(IN_JSON.get(known.type, known.type), value, f"{where}/{known.name}")
    return ReportRow(**values)


CARRIED_OVER = "carried over to runs that are not known to be the paper's algorithm"


def evidence_text(row: Mapping[str, Any]) -> str:
    """The evidence of a row of report.json for readers, and whether its premise was carried over."""
    return str(row["evidence"]) if row["premise"] == "met" else f"{row['evidence']}, {row['premise']}"
