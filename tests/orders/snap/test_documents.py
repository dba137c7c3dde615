"""Documents of sequence classes: what they mean, written and read again, and refused in one line that says where."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.orders import InputError
from marginaudit.orders.snap import (
    SequenceClasses,
    check_assumptions,
    classes_from_document,
    classes_to_document,
    read_classes,
)
from tests.orders.ntp.test_input_errors import refused
from tests.orders.snap import restated
from tests.orders.snap.strategies import class_datasets, class_documents, damaged_class_documents
from tests.strategies import Document

A_CLASS = '{"next": "n", "query": "q", "probabilities": {"a": 1}}'
KEYS = "name, M, classes"


def with_class(members: str) -> str:
    return '{"classes": [' + A_CLASS + ", {" + members + "}]}"


def with_probabilities(members: str) -> str:
    return with_class(f'"next": "m", "query": "q", "probabilities": {members}')


JSON = {
    # the document
    "[]": "got an array of 0 entries, expected an object",
    "{}": "got no key 'classes', expected one",
    '{"classes": [], "sentences": []}': f"/sentences: got an unknown key, expected one of {KEYS}",
    '{"classes": []}': "/classes: got an array of 0 entries, expected at least 1",
    '{"name": "", "classes": [' + A_CLASS + "]}": "/name: got '', expected a string that is not empty",
    # M
    **{
        f'{{"M": {M}, "classes": [{A_CLASS}]}}': f"/M: got {got}"
        for M, got in {
            "0": "0, expected at least 1",
            "3.0": "3.0, expected a whole number",
            "9007199254740993": "9007199254740993, expected at most 9007199254740992",
        }.items()
    },
    '{"M": 2, "classes": [' + A_CLASS + "]}": "/M: got 2, expected at least 3, the number of distinct tokens named",
    '{"M": 1, "classes": [' + A_CLASS + ', {"next": "m", "query": "q", "probabilities": {"a": 1}}]}':
        "/M: got 1, expected at least 2, the number of classes",
    # a class
    '{"classes": [' + A_CLASS + ', "n"]}': "/classes/1: got 'n', expected an object",
    with_class('"next": "m", "query": "q"'): "/classes/1: got no key 'probabilities', expected one",
    with_class('"next": "m", "query": "q", "probabilities": {"a": 1}, "count": 2'):
        "/classes/1/count: got an unknown key, expected one of next, query, probabilities, frequency",
    with_class('"next": 1, "query": "q", "probabilities": {"a": 1}'): "/classes/1/next: got 1, expected a string",
    with_class('"next": "m", "query": "\\ud800", "probabilities": {"a": 1}'):
        "/classes/1/query: got '\\ud800', expected a string that UTF-8 can encode",
    with_class('"next": "n", "query": "q", "probabilities": {"a": 1}'):
        "/classes/1/next: got 'n', already at /classes/0/next, expected another for each class",
    # probabilities
    with_probabilities('["a"]'): "/classes/1/probabilities: got an array of 1 entry, expected an object",
    with_probabilities("{}"): "/classes/1/probabilities: got no positive probability, expected at least one",
    with_probabilities('{"a": 0, "b": -0.0}'):
        "/classes/1/probabilities: got no positive probability, expected at least one",
    with_probabilities('{"a": 0.5, "b": 0.49}'):
        "/classes/1/probabilities: got probabilities that sum to 0.99, expected 1 within 1e-6",
    with_probabilities('{"a": 0.5, "b": 0.50000150}'):
        "/classes/1/probabilities: got probabilities that sum to 1.0000015, expected 1 within 1e-6",
    with_probabilities('{"\\udfff": 1}'):
        "/classes/1/probabilities/���/[key]: got '\\udfff', expected a string that UTF-8 can encode",
    **{
        with_probabilities(f'{{"a": 1, "b/\\n~": {p}}}'): f"/classes/1/probabilities/b~1\\n~0: got {got}"
        for p, got in {
            "-5e-324": "-5e-324, expected at least 0.0",
            "1.1": "1.1, expected at most 1.000001",
            "NaN": "nan, expected a finite number",
            "true": "True, expected a number that float64 holds",
        }.items()
    },
    # frequency
    with_class('"next": "m", "query": "q", "probabilities": {"a": 1}, "frequency": 1'):
        "/classes/0: got no key 'frequency', expected a frequency for every class or for none",
    **{
        '{"classes": [{"next": "n", "query": "q", "probabilities": {"a": 1}, "frequency": ' + f + "}]}":
            f"/classes/0/frequency: got {got}"
        for f, got in {
            "true": "True, expected a number that float64 holds",
            "1.1e50": "1.1e+50, expected at most 1e+50",
            "9e-51": "9e-51, expected at least 1e-50",
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("content", JSON, ids=lambda content: content[:100].encode("unicode_escape").decode())
def test_refused(tmp_path: Path, content: str) -> None:
    assert refused(tmp_path, content, read=read_classes) == JSON[content]


def test_too_many_classes_times_tokens() -> None:
    many = [{"next": f"n{n}", "query": "q", "probabilities": {f"a{n}": 1}} for n in range(5793)]
    with pytest.raises(InputError) as caught:
        classes_from_document({"classes": many})
    got = "got 5793 classes times 5793 contextual tokens, expected a product of at most 33554432"
    assert str(caught.value) == f"dataset: /classes: {got}"
    assert classes_from_document({"classes": many[:-1]}).K == 5792


def test_what_a_document_says(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text(
        '{"M": 5000, "classes": ['
        '{"next": "n0", "query": "q0", "probabilities": {"a": 0.7, "the": 0.3, "never": 0}, "frequency": 3},'
        '{"next": "n1", "query": "a", "probabilities": {"the": 1}, "frequency": 1}]}'
    )
    data = read_classes(path)
    assert (data.name, data.M, data.K) == ("two", 5000, 2)
    assert data.tokens == ("a", "the", "never", "q0", "n0", "n1")
    assert data.contextual == ("a", "the")
    assert data.next_tokens == ("n0", "n1")
    assert data.queries == {"q0": (0,), "a": (1,)}
    assert data.P.tolist() == [[0.7, 0.3], [0, 1]]
    assert data.frequencies.tolist() == [0.75, 0.25]
    assert data.weights == (3.0, 1.0)


def test_the_most_that_one_probability_may_be() -> None:
    """1 and the tolerance of a sum, for a token that is the only one."""

    def read(p: float) -> float:
        classes = [{"next": "n", "query": "q", "probabilities": {"a": p, "b": 0}}]
        return float(classes_from_document({"classes": classes}).P[0, 0])

    assert read(1 + 1e-6) == 1
    with pytest.raises(InputError, match="/probabilities/a: got "):
        read(1.0000011)


def alike(first: SequenceClasses, second: SequenceClasses) -> bool:
    same = (first.name, first.M, first.classes, first.weights) == (
        second.name,
        second.M,
        second.classes,
        second.weights,
    )
    orders = all(
        list(c.probabilities) == list(d.probabilities) for c, d in zip(first.classes, second.classes, strict=True)
    )
    return same and orders and first.tokens == second.tokens and (first.P == second.P).all()


@given(class_documents())
def test_the_document_is_read(document: Document) -> None:
    data = classes_from_document(document)
    assert set(data.tokens) == restated.named(document)
    assert document.get("M", len(data.tokens)) == data.M
    for row, expected in zip(data.P, restated.probabilities(document), strict=True):
        assert {t: p for t, p in zip(data.contextual, row, strict=True) if p} == pytest.approx(
            {t: float(p) for t, p in expected.items()}, rel=1e-15, abs=0
        )
    frequencies = [c.get("frequency", 1) for c in document["classes"]]
    assert data.frequencies == pytest.approx([f / math.fsum(frequencies) for f in frequencies], rel=1e-15, abs=0)


@given(class_datasets(), st.booleans())
def test_written_and_read_again(
    tmp_path_factory: pytest.TempPathFactory, data: SequenceClasses, ascii_only: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "again.json"
    path.write_text(json.dumps(classes_to_document(data), allow_nan=False, ensure_ascii=ascii_only), encoding="utf-8")
    assert alike(read_classes(path), data)


@given(st.lists(st.floats(1e-300, 1), min_size=1, max_size=40), st.floats(1 - 9e-7, 1 + 9e-7))
def test_any_probabilities_are_read_as_they_were_written(weights: list[float], total: float) -> None:
    given = {f"a{i}": w / math.fsum(weights) * total for i, w in enumerate(weights)}
    data = classes_from_document({"classes": [{"next": "n", "query": "q", "probabilities": given}]})
    assert alike(classes_from_document(classes_to_document(data)), data)


def judge(value: Any) -> None:
    """The value is a dataset on which everything can be asked, or an InputError of one line."""
    try:
        data = classes_from_document(value)
    except InputError as error:
        message = str(error)
    else:
        json.dumps({name: a.witness for name, a in check_assumptions(data).items()}, allow_nan=False)
        assert alike(classes_from_document(classes_to_document(data)), data)
        return
    assert message.isprintable()
    assert message.startswith("dataset: ")
    assert ": got " in message
    assert ", expected " in message


@given(damaged_class_documents())
def test_any_damage_to_a_document_leaves_a_dataset_or_is_refused(document: Any) -> None:
    judge(document)


def test_a_vocabulary_of_no_token_is_refused() -> None:
    with pytest.raises(ValueError, match="M: got 0"):
        SequenceClasses.from_weights("none", 0, [("n", "q", {"a": 1})])
