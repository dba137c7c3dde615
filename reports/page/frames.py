"""Any rows of a pandas DataFrame as a table of a LaTeX paper."""

from numbers import Real
from typing import TYPE_CHECKING, Any

from marginaudit.orders import InputError, shown
from marginaudit.reports.grid import NONE, Grid, brief
from marginaudit.reports.page.latex import LONGEST_LINE, latex

if TYPE_CHECKING:
    from pandas import DataFrame


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
    rows = [tuple(map(_cell, row)) for row in frame.itertuples(index=False, name=None)]
    long = {i for row in rows for i, cell in enumerate(row) if words[i] and len(cell) > LONGEST_LINE}
    header = tuple(str(name).replace("_", " ") for name in frame.columns)
    named = frozenset(i for i, word in enumerate(words) if word)
    return latex([Grid(caption, header, tuple(rows), (), words=named, long=frozenset(long))])


def _cell(value: Any) -> str:
    from pandas import isna

    if isna(value) is True:  # it is an array for each list
        return NONE
    if isinstance(value, int) and not isinstance(value, bool):
        return brief(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return str(value)
    number = float(value)
    return brief(int(number) if number.is_integer() else number)
