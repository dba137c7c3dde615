"""Output of commands for a person: tables on standard output, notes and progress on standard error."""

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from marginaudit.claims.values.numbers import at_most, brief
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import counted, printable, shortened
from marginaudit.reports.command.output import notify, print_json, standard_output
from marginaudit.reports.plots.style import VERDICTS

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from marginaudit.claims.table import Captioned

PIPED_WIDTH = 200
"""Width of a table in a pipe, unless COLUMNS gives another."""


MOST_ROWS, LONGEST_CELL = 60, 300
"""Most rows of a summary, and most characters of its cells."""

TEXT_WIDTH = 80
"""Width of texts in a pipe, in characters."""


LONGEST_WORD = 60
"""Longest id, number or path that a table keeps on one line, however narrow the terminal is."""


def _print(*what: Any, least: int = 0, **how: Any) -> None:
    """Print to standard output, at least ``least`` columns wide; wide and without colours in a pipe.

    Characters missing from the output's encoding are escaped.
    """
    output = standard_output()
    if isinstance(output, io.TextIOWrapper):
        output.reconfigure(errors="backslashreplace")
    Console(highlight=False, soft_wrap=False, width=max(width(), least)).print(*what, **how)


def width(piped: int = PIPED_WIDTH) -> int:
    """Width of the output in characters: the terminal's, COLUMNS, or else ``piped``."""
    known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    return Console().width if known else piped


def cell(value: Any) -> Text:
    """A table cell: text without markup, control characters escaped."""
    if isinstance(value, Text):
        return value
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return Text(brief(value), justify="right")
    text = printable(str(value))
    return Text(text, style=f"bold {VERDICTS[Verdict(text)]}" if text in set(Verdict) else "")


def upper_bound(value: float | None) -> Text:
    """A table cell of an upper bound or an error bar, rounded up."""
    return Text(at_most(value), justify="right")


def print_captioned(one: "Captioned") -> None:
    """Print a table with its notes."""
    words = one.words
    rows = [
        [Text(printable(text), justify="left" if word else "right") for word, text in zip(words, row, strict=True)]
        for row in one.rows
    ]
    print_table(one.caption, one.header, rows, one.notes)


def print_summary(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print the first rows of a table, long cells shortened."""
    short = [[shortened(cell, LONGEST_CELL) if isinstance(cell, str) else cell for cell in row] for row in rows]
    print_table(title, header, short[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        print_line(f"and {counted(len(rows) - MOST_ROWS, 'row')} more; --json has all of them.")


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str] = ()) -> None:
    """Print a table with its notes; wider than the terminal if words of up to `LONGEST_WORD` characters do not fit.

    Columns are one blank apart, not two, if the words then fit.
    """
    cells = [[cell(value) for value in row] for row in rows]
    header = [printable(name) for name in header]
    columns = [[name, *map(str, column)] for name, *column in zip(header, *cells, strict=True)]
    wanted = [max(map(cell_len, column)) for column in columns]
    words = [max(cell_len(word) for text in column for word in (*text.split(), "")) for column in columns]
    blanks = 2 if sum(words) + 2 * (len(columns) - 1) <= width() else 1
    between = blanks * (len(columns) - 1)
    widths = _fitted(wanted, words, width() - between)
    _print_title(title)
    table = Table(box=None, pad_edge=False, collapse_padding=blanks == 1)
    for i, name in enumerate(header):
        of_numbers = bool(cells) and all(row[i].justify == "right" for row in cells)
        table.add_column(
            Text(name), justify="right" if of_numbers else "left", overflow="fold", header_style="dim", width=widths[i]
        )
    for row in cells:
        table.add_row(*row)
    _print(table, least=sum(widths) + between)
    for note in notes:
        print_wrapped(note)
    _print()


def _print_title(title: str) -> None:
    _print(Text(printable(title), style="bold"), soft_wrap=True)


def _fitted(wanted: Sequence[int], words: Sequence[int], room: int) -> list[int]:
    """Column widths that fit: the widest shrink first, none below its longest word.

    >>> _fitted([8, 20, 30], [8, 5, 5], 40), _fitted([8, 90], [8, 80], 40)
    ([8, 16, 16], [8, 60])
    """
    widths, least = [min(width, max(room, 1)) for width in wanted], [min(word, LONGEST_WORD) for word in words]
    while sum(widths) > room and (wide := [i for i, width in enumerate(widths) if width > least[i]]):
        widths[max(wide, key=lambda i: widths[i])] -= 1
    return [max(width, word) for width, word in zip(widths, least, strict=True)]


def print_texts(title: str, texts: Mapping[str, str]) -> None:
    """Print named texts, wrapped at blanks only; in a pipe at `TEXT_WIDTH`."""
    _print_title(title)
    left = max(map(len, texts)) + 2
    room = max(width(TEXT_WIDTH) - left, 1)
    for name, text in texts.items():
        lines = wrap(printable(text), room, break_long_words=False, break_on_hyphens=False)
        for i, line in enumerate(lines):
            print_line(f"{'' if i else name:{left}}{line}")
    _print()


def print_names(kind: str, names: Mapping[str, str], *, as_json: bool) -> None:
    """Print each name with the first line of its description, or a document of the names under their ``kind``."""
    if as_json:
        print_json({kind: list(names)})
        return
    left = max(map(len, names), default=0) + 2
    for name, text in names.items():
        print_line(f"{name:{left}}{text.partition(chr(10))[0]}".rstrip())


def print_wrapped(text: str) -> None:
    """Print a text, wrapped at blanks only; in a pipe at `TEXT_WIDTH`."""
    for line in wrap(printable(text), width(TEXT_WIDTH), break_long_words=False, break_on_hyphens=False):
        print_line(line)


def print_line(text: str) -> None:
    """Print a line to standard output."""
    _print(Text(printable(text)), soft_wrap=True)


@dataclass
class Bar:
    """Progress bar on standard error, silent in a pipe.

    A thread draws the bar from the first update on.
    """

    progress: "Progress"
    task: "TaskID"

    def say(self, text: str) -> None:
        """Show the current task."""
        self.progress.start()
        self.progress.update(self.task, description=printable(text))

    def log(self, text: str) -> None:
        """Print a line to standard error if no bar is shown."""
        if self.progress.disable:
            notify(text)

    def reach(self, done: float) -> None:
        """Show how much of the total is done."""
        self.progress.start()
        self.progress.update(self.task, completed=done)


@contextmanager
def progress_bar(total: float) -> Iterator[Bar]:
    """Progress bar over ``total`` units of work."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    try:
        yield Bar(progress, progress.add_task("", total=total))
    finally:
        progress.stop()
