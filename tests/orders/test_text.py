"""How text from outside is shown, and what is said where n is no function."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.orders import printable, shown
from marginaudit.orders.notebook import MOST_ROWS, html_table
from marginaudit.orders.ntp import CollocationError, dataset_from_document
from marginaudit.orders.text import LONGEST_SHOWN, shortened, shown_path
from tests.strategies import json_values


@given(st.text(st.characters(codec=None)))
def test_printable(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(text) == "".join(printable(c) for c in text)
    if text.isprintable():
        assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n\r\t\x00\x7f", "\\n\\r\\t\\x00\\x7f"),
        ("\u2028\u202e\ufeff", "\\u2028\\u202e\\ufeff"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_would_act_on(text: str, expected: str) -> None:
    assert printable(text) == expected


@given(json_values())
def test_shown(value: object) -> None:
    assert shown(value).isprintable()
    assert len(shown(value)) <= LONGEST_SHOWN


def test_shown_cuts_only_what_is_too_long() -> None:
    assert shown("a" * 58) == f"'{'a' * 58}'"
    assert shown("a" * 59) == f"'{'a' * 57} …"


def test_a_path_loses_its_middle_beyond_two_hundred_characters() -> None:
    assert shown_path("a" * 200) == "a" * 200
    assert shown_path("a" * 101 + "b" * 100) == f"{'a' * 100} … {'b' * 100}"
    assert shortened("abcde", 4) == "ab … de"
    assert shortened("abcd", 4) == "abcd"


@pytest.mark.parametrize(("rows", "last"), [(MOST_ROWS, "x"), (MOST_ROWS + 1, "and 1 more")])
def test_a_notebook_shows_the_first_rows_and_how_many_more_there_are(rows: int, last: str) -> None:
    assert html_table("", (), [("x",)] * rows).endswith(f"<tr><td>{last}</td></tr></table>")


def test_a_token_without_next_token_is_named() -> None:
    dataset = dataset_from_document({"samples": [{"tokens": ["a", "\n"], "next": "a"}], "next_token": {"a": "a"}})
    with pytest.raises(CollocationError) as caught:
        dataset.collocation.require_function()
    assert str(caught.value) == (
        "next_token: got no value for token '\\n', expected n to be a function on the whole vocabulary "
        "(a length-1 sample of each token, or an entry of next_token)"
    )
