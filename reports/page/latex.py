r"""Tables for a LaTeX paper, no wider than a line and no higher than a page; of any DataFrame too."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from marginaudit.claims.values.grid import NONE, Grid, at_least, at_most, brief
from marginaudit.orders import InputError, printable, shown
from marginaudit.reports.page.typeset import FORMULA, typeset

if TYPE_CHECKING:
    from pandas import DataFrame

NEEDS = "% Needs \\usepackage{booktabs} and \\usepackage{graphicx}.\n"

TABLE = r"""\begin{table}
\centering\footnotesize
\caption{%s}
\label{tab:%s}
\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%%
\begin{tabular}{%s}
\toprule
%s\midrule
%s\bottomrule
\end{tabular}}
\end{table}
"""

LINES_A_PAGE = 46

LONG_COLUMN = "p{6.5cm}"

LONGEST_LINE = 40
"""Characters in a line of a long column."""

TABLES_WAITING = 12
r"""Tables between two \clearpage: TeX holds at most 18 floats."""

GAP = "\0"

LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedblright{}",  # \textquotedbl is not in LaTeX's default encoding
    "`": r"\textasciigrave{}",
    GAP: "{}",
    "[": "{[}",  # the next argument of \\ or \caption otherwise
    "*": "{*}",
} | {character: f"\\{character}" for character in "&%$#_{}"}


def latex(grids: Sequence[Grid]) -> str:
    r"""Tables of LaTeX with the rules of its package booktabs, each with its title as caption and as label.

    A table of more than `LINES_A_PAGE` lines becomes several.
    """
    written: list[str] = []
    labels: Counter[str] = Counter()
    for grid in grids:
        parts = list(_parts(grid))
        for number, rows in enumerate(parts, 1):
            which = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
            name, colon, what = f"{grid.title}{which}".rstrip(".").partition(": ")
            notes = [latex_prose(f"{note.rstrip('.')}.") for note in grid.notes]
            caption = " ".join([latex_text(f"{name}{colon}") + latex_prose(f"{what}."), *notes])
            label = re.sub("[^a-z0-9]+", "-", grid.title.lower()).strip("-")
            labels[label] += 1
            same = f"-{labels[label]}" if labels[label] > 1 else ""
            header, *body = ([latex_text(name) for name in grid.header], *(_cells(grid, row) for row in rows))
            lines = [" & ".join(cells) + " \\\\\n" for cells in (header, *body)]
            table = TABLE % (caption, f"{label}{same}", _columns(grid), lines[0], "".join(lines[1:]))
            written.append(table if (len(written) + 1) % TABLES_WAITING else f"{table}\\clearpage\n")
    return NEEDS + "\n".join(written)


def _parts(grid: Grid) -> Iterator[Sequence[tuple[str, ...]]]:
    """The rows in chunks that fit a page."""
    start = filled = 0
    for end, row in enumerate(grid.rows):
        height = max([1, *(-(-len(row[column]) // LONGEST_LINE) for column in grid.long)])
        if filled and filled + height > LINES_A_PAGE:
            yield grid.rows[start:end]
            start, filled = end, 0
        filled += height
    yield grid.rows[start:]


def _columns(grid: Grid) -> str:
    wide = {column for column in grid.long if any(len(row[column]) > LONGEST_LINE for row in grid.rows)}
    return "".join(
        LONG_COLUMN if column in wide else "l" if column in grid.words else "r" for column in range(len(grid.header))
    )


def _cells(grid: Grid, row: Sequence[str]) -> list[str]:
    return [latex_text(cell) if column in grid.words else _latex_number(cell) for column, cell in enumerate(row)]


def latex_text(text: str) -> str:
    r"""Text escaped for LaTeX.

    >>> latex_text("a_b & [c]\\d --e")
    'a\\_b \\& {[}c]\\textbackslash{}d -{}-e'
    """
    no_ligatures = re.sub(r"([-'])(?=\1)", rf"\1{GAP}", printable(text))
    return "".join(LATEX.get(character, character) for character in no_ligatures)


def latex_prose(text: str) -> str:
    r"""LaTeX of a text with its plain-symbol formulas set; `latex_text` where the text has a dollar sign.

    >>> latex_prose("W_kq of a_b & W*_kq, at $1"), latex_prose("W_kq of my_data")
    ('W\\_kq of a\\_b \\& W{*}\\_kq, at \\$1', '$W_{kq}$ of my\\_data')
    """
    parts = [text] if "$" in text else FORMULA.split(typeset(text))
    return "".join(part if i % 2 else latex_text(part) for i, part in enumerate(parts))


def _latex_number(text: str) -> str:
    r"""A cell's numbers in math mode.

    >>> _latex_number("≤ 1.5e-07"), _latex_number("1e-07"), _latex_number("-1/3"), _latex_number("yes")
    ('$\\le$ $1.5 \\times 10^{-7}$', '$10^{-7}$', '$-1/3$', 'yes')
    """
    pieces = re.split(r"(-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?(?:/[0-9]+)?)", text)
    return "".join(_mathematics(piece) if place % 2 else latex_text(piece) for place, piece in enumerate(pieces))


def _mathematics(number: str) -> str:
    mantissa, _, exponent = number.partition("e")
    if not exponent:
        return f"${mantissa}$"
    factor = "" if mantissa == "1" else f"{mantissa} \\times "
    return f"${factor}10^{{{int(exponent)}}}$"


def to_latex(frame: "DataFrame", caption: str) -> str:
    r"""The rows of a DataFrame as ``audit --export latex`` writes tables: all text escaped, numbers in four digits.

    Parameters
    ----------
    frame : DataFrame
        Its columns make the table's, in their order; such as `Report.to_dataframe` or ``verdicts.csv``, filtered.
    caption : str
        Of the table, and what its label is made of.

    Raises
    ------
    InputError
        It is no DataFrame, or one without columns.

    >>> from pandas import DataFrame
    >>> found = DataFrame({"claim": ["my_claim", "other"], "verdict": ["violated", "holds"], "slack": [2e-9, None]})
    >>> print(to_latex(found[found["verdict"] == "violated"], "What is violated"))
    % Needs \usepackage{booktabs} and \usepackage{graphicx}.
    \begin{table}
    \centering\footnotesize
    \caption{What is violated.}
    \label{tab:what-is-violated}
    \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
    \begin{tabular}{llr}
    \toprule
    claim & verdict & slack \\
    \midrule
    my\_claim & violated & $2 \times 10^{-9}$ \\
    \bottomrule
    \end{tabular}}
    \end{table}
    <BLANKLINE>
    """
    from pandas import DataFrame
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if not isinstance(frame, DataFrame):
        raise InputError("to_latex", got=shown(frame), expected="a DataFrame, such as a Report's to_dataframe()")
    if frame.columns.empty:
        raise InputError("to_latex", got="no column", expected="a DataFrame with one or more")
    words = [is_bool_dtype(kind) or not is_numeric_dtype(kind) for kind in frame.dtypes]
    rows = [_values(frame.columns, row) for row in frame.itertuples(index=False, name=None)]
    long = {i for row in rows for i, cell in enumerate(row) if words[i] and len(cell) > LONGEST_LINE}
    header = tuple(str(name).replace("_", " ") for name in frame.columns)
    named = frozenset(i for i, word in enumerate(words) if word)
    return latex([Grid(caption, header, tuple(rows), (), words=named, long=frozenset(long))])


def _values(names: Iterable[str], row: Sequence[Any]) -> tuple[str, ...]:
    """A row of a frame as texts; the bound of a verdict is rounded to its safe side."""
    columns = list(zip(names, row, strict=True))
    rounded = {"upper": at_most, "lower": at_least}.get(str(dict(columns).get("side")), brief)
    return tuple(_value(value, rounded if name == "bound" else brief) for name, value in columns)


def _value(value: Any, written: Callable[[float], str]) -> str:
    from pandas import isna

    if isna(value) is True:  # it is an array for each list
        return NONE
    if isinstance(value, int) and not isinstance(value, bool):
        return written(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return str(value)
    number = float(value)
    return written(int(number) if number.is_integer() else number)
