"""Tokens stand in what is written in their own letters, numbers with few digits."""

import csv
import io

from marginaudit.reports.grid import brief
from marginaudit.reports.page import formats, html
from marginaudit.reports.page.files import json_text


def test_a_letter_stays_a_letter() -> None:
    witness = {"token": "ä", "in": ["ж"]}
    assert html._compact(witness) == '{"token": "ä", "in": ["ж"]}'
    assert html._pretty(witness) == '{\n "token": "ä",\n "in": [\n  "ж"\n ]\n}'
    assert json_text(witness) == '{"token": "ä", "in": ["ж"]}\n'
    text = formats.csv_table(("dataset", "a", "b", "c"), [{"dataset": "é", "a": witness, "b": ["ж"], "c": True}])
    assert list(csv.reader(io.StringIO(text)))[1] == ["é", '{"token": "ä", "in": ["ж"]}', '["ж"]', "true"]


def test_numbers_of_seven_digits_are_whole() -> None:
    assert (brief(9_999_999), brief(-9_999_999)) == ("9999999", "-9999999")
    assert (brief(10_000_000), brief(-10_000_000)) == ("1e+07", "-1e+07")
    assert brief(9_999_999.0) == "1e+07"
    assert brief(0.123456) == "0.1235"
    assert (brief(9_999_999), brief(10**7)) == ("9999999", "1e+07")
    assert brief(0.123456) == "0.1235"


def test_a_norm_is_exact_where_it_can_be() -> None:
    assert html._norm(None) == "–"
    assert html._norm({"norm_squared": None, "status": "infeasible"}) == "infeasible"
    assert html._norm({"norm_squared": 1.5, "norm_squared_exact": "3/2"}) == "3/2"
    assert html._norm({"norm_squared": 1.23456, "norm_squared_exact": None}) == "1.235"
