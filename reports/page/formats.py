"""Tables as CSV, LaTeX and Markdown."""

import json
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from marginaudit.orders import printable
from marginaudit.reports.grid import Grid
from marginaudit.reports.page.files import csv_text


def csv_table(columns: Sequence[str], tables: Iterable[tuple[str, Iterable[Mapping[str, Any]]]]) -> str:
    """One CSV file of a table of all datasets, given as (dataset, records); lists and mappings as JSON texts."""
    records = [{"dataset": dataset, **record} for dataset, found in tables for record in found]
    return csv_text(columns, [[flat(record.get(column)) for column in columns] for record in records])


def flat(value: Any) -> Any:
    """A value as a cell of a file: lists and mappings as JSON texts, flags as words of JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def markdown(grids: Sequence[Grid]) -> str:
    """Tables of GitHub's Markdown, each under its title."""
    return "\n".join(_markdown(grid) for grid in grids)


def _markdown(grid: Grid) -> str:
    rules = ["---" if column in grid.words else "---:" for column in range(len(grid.header))]
    lines = [f"**{_markdown_text(grid.title)}**", ""]
    lines += [f"| {' | '.join(cells)} |" for cells in ([_markdown_text(name) for name in grid.header], rules)]
    lines += [f"| {' | '.join(_markdown_text(cell) for cell in row)} |" for row in grid.rows]
    lines += [line for note in grid.notes for line in ("", _markdown_text(note))]
    return "\n".join(lines) + "\n"


def _markdown_text(text: str) -> str:
    r"""Text without anything that Markdown or HTML would act on.

    >>> _markdown_text("a|b *c* <d> \\ x_y W_kq -1/3")
    'a\\|b \\*c\\* \\<d\\> \\\\ x\\_y W\\_kq -1/3'
    """
    return re.sub(r"([\\`*_{}\[\]<>|#~&$!])", r"\\\1", printable(text))


def latex(grids: Sequence[Grid]) -> str:
    r"""Tables of LaTeX with the rules of its package booktabs, each with its title as caption and as label.

    >>> table = Grid("Verdicts on my_data", ("claim", "slack"), (("a", "2"),), (), words=frozenset({0}))
    >>> print(latex([table]))
    \begin{table}
    \centering
    \caption{Verdicts on my\_data.}
    \label{tab:verdicts-on-my-data}
    \begin{tabular}{lr}
    \toprule
    claim & slack \\
    \midrule
    a & $2$ \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    return "\n".join(_latex(grid) for grid in grids)


def _latex(grid: Grid) -> str:
    from pandas import DataFrame

    frame = DataFrame([list(row) for row in grid.rows], columns=list(grid.header), dtype=object)
    words: list[Hashable] = [name for column, name in enumerate(grid.header) if column in grid.words]
    numbers: list[Hashable] = [name for name in grid.header if name not in words]
    style = frame.style.hide(axis="index").format_index(latex_text, axis=1)
    style = style.format(latex_text, subset=words).format(_latex_number, subset=numbers)
    return style.to_latex(
        hrules=True,
        position_float="centering",
        column_format="".join("l" if name in words else "r" for name in grid.header),
        caption=" ".join(latex_text(f"{text.rstrip('.')}.") for text in (grid.title, *grid.notes)),
        label=f"tab:{re.sub('[^a-z0-9]+', '-', grid.title.lower()).strip('-')}",
    )


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
    "\0": "{}",
    "[": "{[}",  # the next argument of \\ or \caption otherwise
    "*": "{*}",
} | {character: f"\\{character}" for character in "&%$#_{}"}


def latex_text(text: object) -> str:
    r"""Text without anything that LaTeX would act on.

    >>> latex_text("a_b & [c]\\d --e")
    'a\\_b \\& {[}c]\\textbackslash{}d -{}-e'
    """
    no_ligatures = re.sub(r"([-'])(?=\1)", "\\1\0", printable(str(text)))
    return "".join(LATEX.get(character, character) for character in no_ligatures)


def _latex_number(text: object) -> str:
    r"""The numbers of a cell in mathematics.

    >>> _latex_number("≤ 1.5e-07"), _latex_number("-1/3"), _latex_number("yes")
    ('$\\le$ $1.5 \\times 10^{-7}$', '$-1/3$', 'yes')
    """
    return re.sub(r"-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?(?:/[0-9]+)?", _mathematics, latex_text(text))


def _mathematics(found: re.Match[str]) -> str:
    mantissa, _, exponent = found.group().partition("e")
    if not exponent:
        return f"${mantissa}$"
    factor = "" if mantissa == "1" else f"{mantissa} \\times "
    return f"${factor}10^{{{int(exponent)}}}$"
