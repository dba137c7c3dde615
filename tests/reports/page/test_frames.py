"""Rows of a DataFrame as LaTeX."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame, NaT, Series, Timestamp

from marginaudit import audit, to_latex
from marginaudit.orders import InputError


def body(frame: DataFrame) -> list[str]:
    inside = re.search(r"\\midrule\n(.*)\\bottomrule", to_latex(frame, "c"), re.DOTALL)
    assert inside is not None
    return inside[1].splitlines()


def test_the_violated_rows_of_an_audit() -> None:
    report = audit("example-1", claims=["ntp.corollary1.*", "ntp.lemma2"], config={"steps1": 20, "steps2": 2})
    rows = report.to_dataframe()
    found = to_latex(rows[rows["verdict"] == "violated"][["claim", "dataset", "worst_step", "slack"]], "50 % of x_y")
    assert "ntp.corollary1.upper &" in found
    assert "lemma2" not in found
    assert r"\caption{50 \% of x\_y.}" in found
    assert r"\begin{tabular}{llrr}" in found
    assert "claim & dataset & worst step & slack" in found


def test_cells_of_any_type() -> None:
    frame = DataFrame(
        {
            "text": Series(["a_b & 50 %", None, "é"], dtype=object),
            "number": [54527.0, np.nan, 1.25e-9],
            "whole": Series([3, None, 10**12], dtype="Int64"),
            "flag": [True, False, True],
            "list": Series([[1, 2], None, {"a": 1}], dtype=object),
        }
    )
    assert body(frame) == [
        r"a\_b \& 50 \% & $54527$ & $3$ & True & {[}1, 2] \\",
        r"-- & -- & -- & False & -- \\",
        r"é & $1.25 \times 10^{-9}$ & $10^{12}$ & True & \{'a': 1\} \\",
    ]


def test_cells_that_are_odd() -> None:
    """Whole numbers beyond float64, arrays, dates, exact numbers; columns of one name; no row."""
    exact = [Decimal("0.10"), Fraction(1, 4)]
    cells = [10**400, np.array([1, 2]), (1, None), Timestamp("2024-05-01"), NaT, *exact, np.inf]
    assert [row.removesuffix(r" \\") for row in body(DataFrame({"any": Series(cells, dtype=object)}))] == [
        *(r"1.000e+400", "{[}1 2]", "(1, None)", "2024-05-01 00:00:00", "--", "0.10", "0.25", "inf")
    ]
    assert body(DataFrame([[1, 2]], columns=["a", "a"])) == [r"$1$ & $2$ \\"]
    assert body(DataFrame({"a": []})) == []


def test_long_texts_are_broken() -> None:
    found = to_latex(DataFrame({"detail": ["word " * 20, "word"], "short": ["a", "b"]}), "c")
    assert r"\begin{tabular}{p{6.5cm}l}" in found


@pytest.mark.parametrize("what", [None, [1], {"a": [1]}, Series([1]), DataFrame(index=[1])])
def test_what_is_no_frame_is_refused(what: Any) -> None:
    with pytest.raises(InputError, match=r"to_latex: got .*, expected a DataFrame"):
        to_latex(what, "c")
