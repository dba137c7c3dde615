"""Tables of runs' results: rows for files, captioned DataFrames for readers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from numbers import Real
from typing import TYPE_CHECKING, Any

from marginaudit.claims.values.numbers import NONE, brief

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Captioned:
    """A DataFrame with a caption, for a terminal, a page, LaTeX or Markdown.

    Attributes
    ----------
    numbers : text columns of numbers, such as rounded bounds; other text columns hold words
    """

    frame: "DataFrame"
    caption: str
    notes: tuple[str, ...] = ()
    numbers: Collection[str] = ()

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.frame.columns]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells as text: numbers in four digits, a dash for a missing value."""
        return [tuple(map(cell_text, row)) for row in self.frame.itertuples(index=False, name=None)]

    @property
    def words(self) -> list[bool]:
        """Whether each column holds words; the others hold numbers."""
        numbers = {*self.numbers, *self.frame.select_dtypes("number", exclude="timedelta").columns}
        return [name not in numbers for name in self.frame.columns]


def cell_text(value: Any, written: Callable[[float], str] = brief) -> str:
    """A cell of a DataFrame as text; in a column with missing values whole numbers are floats.

    >>> cell_text(54527.0), cell_text(0.000123456), cell_text(None), cell_text(True), cell_text("1e5")
    ('54527', '0.0001235', '–', 'True', '1e5')
    """
    from pandas import isna

    if isna(value) is True:  # an array for each list
        return NONE
    if isinstance(value, int) and not isinstance(value, bool):
        return written(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return str(value)
    number = float(value)
    return written(int(number) if number.is_integer() else number)


class Table(ABC):
    """Base class for a table of runs' results.

    If `of` returns rows, each a mapping by column, a name, a heading and the columns suffice.

    Attributes
    ----------
    name : str
        Name in `marginaudit table`, in report.json and of its CSV file.
    heading, introduction : str
        Text above the table on the page.
    columns : columns of its CSV file, the dataset's first
    """

    name: str
    heading: str
    introduction: str = ""
    columns: tuple[str, ...]

    @abstractmethod
    def of(self, run: Any) -> Any:
        """Plain data of a run for report.json: a list of rows by column, or the input of `records` and the others."""

    def records(self, data: Any) -> Iterable[Mapping[str, Any]]:
        """Rows by column of one dataset's data."""
        rows: Iterable[Mapping[str, Any]] = data
        return rows

    def captioned(self, name: str, data: Any) -> list[Captioned]:
        """One dataset's data for a reader, by default the `records`; ``name`` is the dataset's."""
        from pandas import DataFrame

        return [
            Captioned(DataFrame(list(self.records(data)), columns=list(self.columns[1:])), f"{name}: {self.heading}")
        ]

    def beside(self, found: Sequence[tuple[str, Any]]) -> list[Captioned]:
        """Several runs of one dataset side by side, given by name with their data."""
        return []

    def rows(self, found: Iterable[tuple[str, Any]]) -> list[dict[str, Any]]:
        """Rows by column of all datasets, given by name with their data."""
        return [{"dataset": name, **record} for name, data in found for record in self.records(data)]

    def frame(self, found: Iterable[tuple[str, Any]]) -> "DataFrame":
        """`rows` as a DataFrame, NaN if unknown."""
        from pandas import DataFrame

        frame = DataFrame(self.rows(found), columns=list(self.columns))
        return frame.where(frame.notna(), nan).infer_objects()
