"""A dataset's file is read by the kind that it is of."""

import json
from pathlib import Path
from typing import Any

import pytest

from marginaudit.orders import InputError, Kind, read
from marginaudit.orders.ntp import SENTENCES, Dataset, read_dataset
from marginaudit.orders.snap import CLASSES, SequenceClasses

TWO = {"classes": [{"next": n, "query": "q", "probabilities": {n: 1}} for n in "ab"]}
BOTH: tuple[list[Kind[Any]], ...] = ([SENTENCES, CLASSES], [CLASSES, SENTENCES])


@pytest.mark.parametrize("kinds", BOTH)
def test_the_kind_that_accepts_a_document_reads_it(kinds: list[Kind[Any]]) -> None:
    kind, classes = read(json.dumps(TWO).encode(), Path("two.json"), kinds)
    assert kind is CLASSES
    assert isinstance(classes, SequenceClasses)
    for content, name in ((b'{"sentences": [["a", "b"]]}', "ab.json"), (b"a b\n", "ab.txt")):
        kind, dataset = read(content, Path(name), kinds)
        assert kind is SENTENCES
        assert isinstance(dataset, Dataset)
        assert (dataset.name, dataset.vocabulary) == ("ab", ("a", "b"))


def test_a_number_that_float64_rounds_to_0_is_refused() -> None:
    with pytest.raises(InputError, match=r"^d\.json: got '1e-400', expected a number that float64 holds$"):
        read(b'{"classes": [{"next": "a", "query": "q", "probabilities": {"a": 1e-400}}]}', Path("d.json"), [CLASSES])


def test_other_kinds_are_asked_for_only_where_none_of_the_kinds_accepts() -> None:
    asked = iter([CLASSES])
    read(b'{"sentences": [["a", "b"]]}', Path("d.json"), [SENTENCES], asked)
    assert next(asked) is CLASSES
    with pytest.raises(InputError, match="got sequence classes, expected a dataset of sentences"):
        read(json.dumps(TWO).encode(), Path("two.json"), [SENTENCES], iter([CLASSES]))


def test_an_ending_is_known_in_capitals_too(tmp_path: Path) -> None:
    path = tmp_path / "ab.JSON"
    path.write_text('{"sentences": [["a", "b"]]}', encoding="utf-8")
    assert read_dataset(path).vocabulary == ("a", "b")
