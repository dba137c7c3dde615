r"""LaTeX tables that break over pages, from reports or any DataFrame."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from marginaudit.claims.table import Captioned, cell_text
from marginaudit.claims.values.numbers import at_least, at_most, brief
from marginaudit.orders import InputError, printable, shown
from marginaudit.reports.page.typeset import FORMULA, typeset

if TYPE_CHECKING:
    from pandas import DataFrame

NEEDS = "% Needs \\usepackage{booktabs} and \\usepackage{longtable}.\n"

OPENING = r"""{\scriptsize\setlength{\tabcolsep}{3pt}
\setlength{\LTleft}{0pt plus 1fill minus 1fill}\setlength{\LTright}{\LTleft}
"""
"""Small print; a table wider than the line extends into both margins."""

LONG_COLUMN = "p{6.5cm}"

LONGEST_LINE = 40
"""Longest cell of an unwrapped column, in characters."""

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
    '"': r"\textquotedblright{}",  # \textquotedbl is missing from LaTeX's default encoding
    "`": r"\textasciigrave{}",
    GAP: "{}",
    "[": "{[}",  # or an optional argument of \\ or \caption
    "*": "{*}",
} | {character: f"\\{character}" for character in "&%$#_{}"}


def latex(tables: Sequence[Captioned]) -> str:
    """Tables for LaTeX's package longtable, which breaks over pages; labels are derived from captions."""
    written: list[str] = []
    labels: Counter[str] = Counter()
    for one in tables:
        label = re.sub("[^a-z0-9]+", "-", one.caption.lower()).strip("-")
        labels[label] += 1
        same = f"-{labels[label]}" if labels[label] > 1 else ""
        written.append(_longtable(one, f"tab:{label}{same}"))
    return NEEDS + "\n".join(written)


def _longtable(one: Captioned, label: str) -> str:
    from pandas import DataFrame

    name, colon, what = one.caption.rstrip(".").partition(": ")
    notes = [latex_prose(f"{note.rstrip('.')}.") for note in one.notes]
    words, rows = one.words, one.rows
    longest = [max(map(len, column)) for column in zip(one.header, *rows, strict=True)]
    cells = [
        [(latex_text if word else _latex_number)(cell) for word, cell in zip(words, row, strict=True)] for row in rows
    ]
    body = DataFrame(cells, columns=[latex_text(name) for name in one.header]).to_latex(
        index=False,
        longtable=True,
        escape=False,
        caption=" ".join([latex_text(f"{name}{colon}") + latex_prose(f"{what}."), *notes]),
        label=label,
        column_format="".join(map(_alignment, words, longest)),
    )
    return f"{OPENING}{body}}}\n"


def _alignment(word: bool, longest: int) -> str:
    if not word:
        return "r"
    return LONG_COLUMN if longest > LONGEST_LINE else "l"


def latex_text(text: str) -> str:
    r"""Text escaped for LaTeX.

    >>> latex_text("a_b & [c]\\d --e")
    'a\\_b \\& {[}c]\\textbackslash{}d -{}-e'
    """
    no_ligatures = re.sub(r"([-'])(?=\1)", rf"\1{GAP}", printable(text))
    return "".join(LATEX.get(character, character) for character in no_ligatures)


def latex_prose(text: str) -> str:
    r"""LaTeX of a text with its plain-symbol formulas in math mode; `latex_text` if the text has a dollar sign.

    >>> latex_prose("W_kq of a_b & W*_kq, at $1"), latex_prose("W_kq of my_data")
    ('W\\_kq of a\\_b \\& W{*}\\_kq, at \\$1', '$W_{kq}$ of my\\_data')
    """
    parts = [text] if "$" in text else FORMULA.split(typeset(text))
    return "".join(part if i % 2 else latex_text(part) for i, part in enumerate(parts))


def _latex_number(text: str) -> str:
    r"""Cell with its numbers in math mode.

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
    r"""LaTeX table of a DataFrame, as written by ``audit --export latex``: text escaped, numbers in four digits.

    Parameters
    ----------
    frame : DataFrame
        With the table's columns, in order; such as `Report.to_dataframe` or ``verdicts.csv``, filtered.
    caption : str
        Caption of the table; its label is derived from it.

    Raises
    ------
    InputError
        No DataFrame, or one without columns.

    >>> from pandas import DataFrame
    >>> found = DataFrame({"claim": ["my_claim", "other"], "verdict": ["violated", "holds"], "slack": [2e-9, None]})
    >>> print(to_latex(found[found["verdict"] == "violated"], "What is violated"))  # doctest: +ELLIPSIS
    % Needs \usepackage{booktabs} and \usepackage{longtable}.
    {\scriptsize\setlength{\tabcolsep}{3pt}
    \setlength{\LTleft}{0pt plus 1fill minus 1fill}\setlength{\LTright}{\LTleft}
    \begin{longtable}{llr}
    \caption{What is violated.} \label{tab:what-is-violated} \\
    \toprule
    claim & verdict & slack \\
    \midrule
    \endfirsthead
    ...
    \bottomrule
    \endlastfoot
    my\_claim & violated & $2 \times 10^{-9}$ \\
    \end{longtable}
    }
    <BLANKLINE>
    """
    from pandas import DataFrame

    if not isinstance(frame, DataFrame):
        raise InputError("to_latex", got=shown(frame), expected="a DataFrame, such as a Report's to_dataframe()")
    if frame.columns.empty:
        raise InputError("to_latex", got="no column", expected="a DataFrame with one or more")
    rows = [_texts(frame.columns, row) for row in frame.itertuples(index=False, name=None)]
    header = [str(name).replace("_", " ") for name in frame.columns]
    numbers = [name for name, words in zip(header, Captioned(frame, caption).words, strict=True) if not words]
    return latex([Captioned(DataFrame(rows, columns=header), caption, numbers=numbers)])


def _texts(names: Iterable[str], row: Sequence[Any]) -> list[str]:
    """Row of a frame as texts; the bound of a verdict is rounded to its safe side."""
    columns = list(zip(names, row, strict=True))
    rounded = {"upper": at_most, "lower": at_least}.get(str(dict(columns).get("side")), brief)
    return [cell_text(value, rounded if name == "bound" else brief) for name, value in columns]
