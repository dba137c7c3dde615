"""Tables for a LaTeX paper, set by each of its engines, no wider than a line and no higher than a page."""

import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence

from marginaudit.orders import printable
from marginaudit.reports.grid import Grid

NEEDS = "% Needs \\usepackage{booktabs} and \\usepackage{graphicx}.\n"

CHARACTER = r"""% pdfLaTeX needs \usepackage[T1]{fontenc} too. A character, or its number where the font lacks it:
\providecommand{\auditchar}[2]{\ifdefined\Umathcode
  \iffontchar\font"#2 #1\else\textless U+#2\textgreater{}\allowbreak\fi
  \else\ifcsname u8:\detokenize{#1}\endcsname #1\else\textless U+#2\textgreater{}\allowbreak\fi\fi}
"""
r"""LuaTeX and XeTeX, which alone have \Umathcode, drop what a font lacks; pdfTeX stops at what nobody has declared."""

TABLE = r"""\begin{table}
\centering
\caption{%s}
\label{%s}
\fontsize{8}{9.5}\selectfont
\setlength{\tabcolsep}{3pt}
\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%%
%s}
\end{table}
"""

LINES_A_PAGE = 46

LONGEST_LINE = 40

MOST_LINES = 8
"""Of a cell."""

NARROW = 12
"""Characters of a line of a header, and those of a word in a caption after which a line may end."""

TABLES_WAITING = 12
r"""TeX can keep few floats that have no page yet: so many are followed by \clearpage."""

BREAK = "\1"

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
    BREAK: r"\allowbreak{}",
    "[": "{[}",  # the next argument of \\ or \caption otherwise
    "*": "{*}",
} | {character: f"\\{character}" for character in "&%$#_{}"}


def latex(grids: Sequence[Grid]) -> str:
    r"""Tables of LaTeX with the rules of its package booktabs, each with its title as caption and as label.

    A table of more than `LINES_A_PAGE` lines becomes several; a cell of more than `MOST_LINES` is cut, with dots.

    >>> table = Grid("Verdicts on my_data", ("claim", "slack"), (("a", "2"),), (), words=frozenset({0}))
    >>> print(latex([table]))
    % Needs \usepackage{booktabs} and \usepackage{graphicx}.
    \begin{table}
    \centering
    \caption{Verdicts on my\_data.}
    \label{tab:verdicts-on-my-data}
    \fontsize{8}{9.5}\selectfont
    \setlength{\tabcolsep}{3pt}
    \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
    \begin{tabular}{lr}
    \toprule
    claim & slack \\
    \midrule
    a & $2$ \\
    \bottomrule
    \end{tabular}}
    \end{table}
    <BLANKLINE>
    """
    written: list[str] = []
    labels: Counter[str] = Counter()
    for grid in grids:
        parts = _parts(grid)
        for number, rows in enumerate(parts, 1):
            if written and len(written) % TABLES_WAITING == 0:
                written[-1] += "\\clearpage\n"
            which = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
            title = f"{grid.title}{which}"
            caption = " ".join(_caption(f"{text.rstrip('.')}.") for text in (title, *grid.notes))
            label = _label(grid.title)
            labels[label] += 1
            same = f"-{labels[label]}" if labels[label] > 1 else ""
            written.append(TABLE % (caption, f"tab:{label}{same}", _tabular(grid, rows)))
    text = "\n".join(written)
    return NEEDS + (CHARACTER if r"\auditchar{" in text else "") + text


def _parts(grid: Grid) -> list[list[tuple[str, ...]]]:
    """The rows in as few parts as pages hold them, all about as high; lines of a cell are divided by line feeds."""
    rows = [
        tuple(_folded(cell) if column in grid.long else printable(cell) for column, cell in enumerate(row))
        for row in grid.rows
    ]
    heights = [max(cell.count("\n") for cell in row) + 1 for row in rows]
    part = sum(heights) / max(1, math.ceil(sum(heights) / LINES_A_PAGE))
    parts: list[list[tuple[str, ...]]] = [[]]
    filled = 0
    for row, height in zip(rows, heights, strict=True):
        if parts[-1] and filled + height > part:
            parts.append([])
            filled = 0
        parts[-1].append(row)
        filled += height
    return parts


def _folded(cell: str) -> str:
    lines = textwrap.wrap(
        printable(cell), LONGEST_LINE, max_lines=MOST_LINES, placeholder=" ...", break_on_hyphens=False
    )
    return "\n".join(lines)


def _tabular(grid: Grid, rows: Sequence[tuple[str, ...]]) -> str:
    ways = [("l", _text) if column in grid.words else ("r", _latex_number) for column in range(len(grid.header))]
    header = [
        _lines("\n".join(textwrap.wrap(printable(name), NARROW, break_long_words=False)), "b", side, _text)
        for name, (side, _) in zip(grid.header, ways, strict=True)
    ]
    body = [[_lines(cell, "t", side, text) for cell, (side, text) in zip(row, ways, strict=True)] for row in rows]
    set_rows = [" & ".join(cells) + r" \\" for cells in (header, *body)]
    columns = "".join(side for side, _ in ways)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            set_rows[0],
            r"\midrule",
            *set_rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _lines(cell: str, align: str, side: str, text: Callable[[str], str]) -> str:
    """One or more lines of a cell, which is aligned by its top or bottom line."""
    lines = [text(line) for line in cell.split("\n")]
    if len(lines) == 1:
        return lines[0]
    return rf"\begin{{tabular}}[{align}]{{@{{}}{side}@{{}}}}" + r" \\ ".join(lines) + r"\end{tabular}"


def _caption(text: str) -> str:
    """Text that can be broken within long words."""
    return _anywhere(_escaped(re.sub(rf"\S{{{NARROW}}}(?=\S)", rf"\g<0>{BREAK}", printable(text))))


def _label(title: str) -> str:
    """What a title says in characters that every command of LaTeX takes.

    >>> _label("Verdicts on my_data 数")
    'verdicts-on-my-data-u6570'
    """
    ascii_only = "".join(c if c.isascii() else f" u{ord(c):x} " for c in title.lower())
    return re.sub("[^a-z0-9]+", "-", ascii_only).strip("-")


def _text(text: str) -> str:
    r"""A cell as every engine shows it.

    >>> _text("a_é")
    'a\\_\\auditchar{é}{E9}'
    """
    return _anywhere(latex_text(text))


def _anywhere(text: str) -> str:
    return re.sub(r"[^\x00-\x7f]", lambda found: rf"\auditchar{{{found[0]}}}{{{ord(found[0]):X}}}", text)


def latex_text(text: str) -> str:
    r"""Text without anything that LaTeX would act on.

    >>> latex_text("a_b & [c]\\d --e")
    'a\\_b \\& {[}c]\\textbackslash{}d -{}-e'
    """
    return _escaped(printable(text))


def _escaped(text: str) -> str:
    no_ligatures = re.sub(r"([-'])(?=\1)", rf"\1{GAP}", text)
    return "".join(LATEX.get(character, character) for character in no_ligatures)


def _latex_number(text: str) -> str:
    r"""The numbers of a cell in mathematics.

    >>> _latex_number("≤ 1.5e-07"), _latex_number("-1/3"), _latex_number("yes")
    ('$\\le$ $1.5 \\times 10^{-7}$', '$-1/3$', 'yes')
    """
    pieces = re.split(r"(-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?(?:/[0-9]+)?)", text)
    return "".join(_mathematics(piece) if place % 2 else _text(piece) for place, piece in enumerate(pieces))


def _mathematics(number: str) -> str:
    mantissa, _, exponent = number.partition("e")
    if not exponent:
        return f"${mantissa}$"
    factor = "" if mantissa == "1" else f"{mantissa} \\times "
    return f"${factor}10^{{{int(exponent)}}}$"
