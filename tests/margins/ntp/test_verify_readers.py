"""Datasets of any form are read the same by the stand-alone checker and by the product."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import marginaudit.margins.ntp.verify as checker
from marginaudit.margins.ntp.verify import Unreadable
from marginaudit.orders import InputError
from marginaudit.orders.ntp import (
    CollocationError,
    read_dataset,
)
from tests.strategies import documents

FLOAT64_LIMITS = ("at most 1e50", "at least 1e-50", "float64 has every integer")


def read_both(path: Path) -> tuple[Any, Any]:
    """What the product's reader and the checker's make of a file: None where it is refused."""
    try:
        data = read_dataset(path)
    except InputError as error:
        ours = None
        if any(limit in str(error) for limit in FLOAT64_LIMITS):
            return None, None
    else:
        ours = (
            set(data.vocabulary),
            {(sample.tokens, sample.next) for sample in data.samples},
            dict(data.next_token),
            [] if data.embedding is None else data.embedding.tolist(),
        )
    try:
        theirs = tuple(checker.read(path, checker.read_dataset))
    except Unreadable:
        theirs = None
    return ours, theirs


ODD = "\t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u3000\ufeff\u200b\x00\x1a#é😀"


MARK = b"\xef\xbb\xbf"


@given(
    text=st.text(st.sampled_from("ab #\n" + ODD), max_size=30),
    start=st.sampled_from([b"", b"", MARK, MARK + MARK, b"\xff"]),
    words=st.lists(st.sampled_from(["a b", "#a b", "a #b", "\r\n", "\n", " ", "c"]), max_size=6),
)
@example(text="a b\x0cc\u2028d\x85e\x1cf\rb a\r\n", start=b"", words=[])
@example(text="a\u2028b c", start=MARK, words=["\r\n", "c", "\x0b"])
def test_text_datasets_read_the_same_in_both_readers(
    text: str, start: bytes, words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "text.txt"
    for content in (text, "a b\n" + text, "".join(words) + text):
        path.write_bytes(start + content.encode())
        ours, theirs = read_both(path)
        assert ours == theirs


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        1.5,
        "",
        "a",
        "S",
        "\ud800",
        [],
        {},
        [[]],
        ["S"],
        [1],
        [["S"]],
        {"S": "S"},
        {"": []},
        10**30,
    ]
)


@st.composite
def odd_documents(draw: st.DrawFn) -> str:
    """A valid document, some of whose values and keys are exchanged, left out or repeated."""
    document = draw(documents())
    for _ in range(draw(st.integers(0, 2))):
        place: Any = document
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
                place = place[key]
                continue
            if draw(st.booleans()):
                place[key] = draw(JUNK)
            elif isinstance(place, dict) and draw(st.booleans()):
                place[draw(st.sampled_from(["", "a", "count", "next", "name"]))] = place.pop(key)
            else:
                del place[key]
            break
    text = json.dumps(document)
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.sampled_from([i for i, c in enumerate(text) if c == "{"]))
        text = text[: at + 1] + draw(st.sampled_from(['"name": "x", ', '"S": "S", ', '"count": 1, '])) + text[at + 1 :]
        text = text.replace(", }", "}")
    return draw(st.sampled_from(["", "", "\ufeff", " "])) + text


@given(text=odd_documents())
def test_json_datasets_read_the_same_in_both_readers(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "document.json"
    path.write_bytes(text.encode())
    ours, theirs = read_both(path)
    assert ours == theirs


@given(document=documents())
def test_constraints_are_the_product_s(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "constraints.json"
    path.write_text(json.dumps(document))
    dataset, data = read_dataset(path), checker.read(path, checker.read_dataset)
    try:
        n = dataset.collocation.require_function()
    except CollocationError:
        with pytest.raises(checker.Refused):
            checker.collocation(data)
        return
    assert checker.collocation(data) == n
    found = {(q, *edge) for q, edges in checker.relations(data.samples, n).items() for edge in edges}
    assert found == {(q, *edge) for q, order in dataset.orders.items() for edge in order.relations}
