"""Tables: what a reader is shown of a DataFrame, and of a paper's rows."""

from pandas import DataFrame

from marginaudit.claims.table import Captioned
from tests.third_paper.paper import PAPER, Means


def test_columns_of_texts_are_words_unless_they_are_said_to_be_numbers() -> None:
    frame = DataFrame({"text": ["1e5"], "flag": [True], "number": [0.5], "whole": [3], "bound": ["≤ 2"]})
    table = Captioned(frame, "c", numbers=["bound"])
    assert table.words == [True, True, False, False, False]
    assert table.rows == [("1e5", "True", "0.5", "3", "≤ 2")]


def test_whole_numbers_beside_a_missing_one_are_whole() -> None:
    table = Captioned(DataFrame({"steps": [54527, None], "name": [None, "a"]}), "c")
    assert table.rows == [("54527", "–"), ("–", "a")]
    assert table.words == [False, True]


def test_a_papers_rows_are_a_table_without_more() -> None:
    table = Means()
    run = PAPER.run(PAPER.kind.cases["three-numbers"](), PAPER.config(), lambda _: None)
    data = table.of(run)
    [shown] = table.captioned("three-numbers", data)
    assert (shown.caption, shown.header, shown.notes) == ("three-numbers: Where descent ends", ["mean", "end"], ())
    assert shown.rows == [("3", "3")]
    frame = table.frame([("three-numbers", data)])
    assert list(frame.columns) == ["dataset", "mean", "end"]
    assert frame["end"].tolist() == [data[0]["end"]] != [3.0]
    assert table.captioned("none", [])[0].header == ["mean", "end"]
