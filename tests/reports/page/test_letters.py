"""Tokens stand in what is written in their own letters, numbers with few digits."""

import csv
import io

from marginaudit.reports.page import formats, html
from marginaudit.reports.page.files import json_text


def test_a_letter_stays_a_letter() -> None:
    witness = {"token": "ä", "in": ["ж"]}
    assert html._compact(witness) == '{"token": "ä", "in": ["ж"]}'
    assert html._pretty(witness) == '{\n "token": "ä",\n "in": [\n  "ж"\n ]\n}'
    assert json_text(witness) == '{"token": "ä", "in": ["ж"]}\n'
    text = formats.csv_table(("dataset", "a", "b", "c"), [{"dataset": "é", "a": witness, "b": ["ж"], "c": True}])
    assert list(csv.reader(io.StringIO(text)))[1] == ["é", '{"token": "ä", "in": ["ж"]}', '["ж"]', "true"]
