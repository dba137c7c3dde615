"""What is refused: in one line that names the file, the place, what was got and what is expected."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from marginaudit.orders import InputError
from marginaudit.orders.ntp import (
    Dataset,
    Sample,
    check_assumptions,
    dataset_from_document,
    dataset_from_text,
    dataset_to_document,
    formats,
    read_dataset,
)
from tests.orders.ntp import restated
from tests.strategies import damaged_documents


def refusal(path: Path, read: Callable[[Path], object] = read_dataset) -> str:
    """What the error says after the file's name."""
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert message.isprintable()
    assert message.startswith(f"{path}: ")
    assert ": got " in message
    assert ", expected " in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message.removeprefix(f"{path}: ")


def refused(
    folder: Path, content: str | bytes, name: str = "d.json", read: Callable[[Path], object] = read_dataset
) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return refusal(path, read)


SENTENCES = '"sentences": [["a", "b"]]'
OF_VOCABULARY = "expected a token of the vocabulary"
KEYS = "name, vocabulary, sentences, samples, next_token, embedding"

JSON = {
    # not JSON
    '{\n"sentences": [\n["a" "b"]]}':
        "line 3 column 6: got invalid JSON (Expecting ',' delimiter), expected a JSON document",
    "{" + SENTENCES + "} {}": "line 1 column 29: got invalid JSON (Extra data), expected a JSON document",
    "[" * 100_000: "got JSON nested too deeply, expected at most 200 levels",
    '{"name": ' + "[" * 700 + "]" * 700 + "}": "got JSON nested too deeply, expected at most 200 levels",
    # keys twice
    '{"samples": [{"tokens": ["a"], "next": "b"}, {"tokens": ["a"], "next": "b", "next": "c", "next": "b"}]}':
        "/samples/1: got an object with 3 keys 'next', expected each key once",
    '{"next_token": {"a/\\n~": "b", "a/\\n~": "b"}, ' + SENTENCES + "}":
        "/next_token: got an object with 2 keys 'a/\\n~', expected each key once",
    '{"a": 1, "a": 1}': "got an object with 2 keys 'a', expected each key once",
    # the document
    "null": "got null, expected an object",
    "NaN": "got nan, expected an object",
    "{}": "got no sentences and no samples, expected at least one",
    '{"samples": [], "sentences": []}': "got no sentences and no samples, expected at least one",
    '{"sentence": [["a", "b"]], "sentences": 1}': f"/sentence: got an unknown key, expected one of {KEYS}",
    '{"a/b~\\u001b\\n": 1}': f"/a~1b~0\\x1b\\n: got an unknown key, expected one of {KEYS}",
    '{"\\ud800": 1}': "got '\\ud800', expected a string that UTF-8 can encode",
    '{"name": "", ' + SENTENCES + "}": "/name: got '', expected a string that is not empty",
    '{"name": null, ' + SENTENCES + "}": "/name: got null, expected a string",
    '{"name": "\\ud800", ' + SENTENCES + "}": "/name: got '\\ud800', expected a string that UTF-8 can encode",
    # vocabulary
    '{"vocabulary": "ab", ' + SENTENCES + "}": "/vocabulary: got 'ab', expected an array",
    '{"vocabulary": [], ' + SENTENCES + "}": "/vocabulary: got an array of 0 entries, expected at least 1",
    '{"vocabulary": ["a", "b", "a"], ' + SENTENCES + "}":
        "/vocabulary/2: got 'a', already at /vocabulary/0, expected each token once",
    # sentences
    '{"sentences": [["a", "b"], ["a"]]}': "/sentences/1: got an array of 1 entry, expected at least 2",
    '{"sentences": [["a", "b"], ["a", true]]}': "/sentences/1/1: got True, expected a string",
    '{"sentences": [["a", "b"], [["a"], "b"]]}': "/sentences/1/0: got an array of 1 entry, expected a string",
    '{"sentences": [["a\\ud800b", "c"]]}': "/sentences/0/0: got 'a\\ud800b', expected a string that UTF-8 can encode",
    '{"vocabulary": ["a"], "sentences": [["a", "\\u001b[31m\\n\\u202e"]]}':
        f"/sentences/0/1: got '\\x1b[31m\\n\\u202e', {OF_VOCABULARY}",
    '{"vocabulary": ["a"], "sentences": [["a", "' + "b" * 99 + '"]]}':
        f"/sentences/0/1: got '{'b' * 57} …, {OF_VOCABULARY}",
    # samples
    '{"samples": [["a", "b"]]}': "/samples/0: got an array of 2 entries, expected an object",
    '{"samples": [{"tokens": ["a"], "next": "b", "weight": 2}]}':
        "/samples/0/weight: got an unknown key, expected one of tokens, next, count",
    '{"samples": [{"tokens": ["a"]}]}': "/samples/0: got no key 'next', expected one",
    '{"samples": [{"tokens": [], "next": "b"}]}': "/samples/0/tokens: got an array of 0 entries, expected at least 1",
    '{"samples": [{"tokens": ["a"], "next": {}}]}': "/samples/0/next: got an object, expected a string",
    '{"vocabulary": ["a"], "samples": [{"tokens": ["a"], "next": "b"}]}': f"/samples/0/next: got 'b', {OF_VOCABULARY}",
    '{"vocabulary": ["b"], "samples": [{"tokens": ["a"], "next": "b"}]}':
        f"/samples/0/tokens/0: got 'a', {OF_VOCABULARY}",
    # next_token
    '{"next_token": {"a/": null}, ' + SENTENCES + "}": "/next_token/a~1: got null, expected a string",
    '{"vocabulary": ["a", "b"], "next_token": {"a": "c"}, ' + SENTENCES + "}":
        f"/next_token/a: got 'c', {OF_VOCABULARY}",
    '{"vocabulary": ["a", "b"], "next_token": {"c/": "a"}, ' + SENTENCES + "}":
        f"/next_token/c~1: got 'c/', {OF_VOCABULARY}",
    '{"next_token": {"a": "a"}, ' + SENTENCES + "}":
        "/sentences/0: got the sample ['a'] -> 'b', expected next token 'a', as in next_token",
    '{"next_token": {"a": "a"}, "samples": [{"tokens": ["b", "a"], "next": "b"}, {"tokens": ["a"], "next": "b"}]}':
        "/samples/1: got the sample ['a'] -> 'b', expected next token 'a', as in next_token",
}  # fmt: skip


@pytest.mark.parametrize("content", JSON, ids=lambda content: content[:70].encode("unicode_escape").decode())
def test_json(tmp_path: Path, content: str) -> None:
    assert refused(tmp_path, content) == JSON[content]


WHOLE, LEAST = "a whole number", "at least 1"
COUNTS = {
    "true": f"True, expected {WHOLE}",
    "0": f"0, expected {LEAST}",
    "1.0": f"1.0, expected {WHOLE}",
    "9" * 4200: f"inf, expected {WHOLE}",
}


@pytest.mark.parametrize("count", COUNTS, ids=lambda count: count[:10])
def test_counts(tmp_path: Path, count: str) -> None:
    samples = '{"tokens": ["a"], "next": "b"}, {"tokens": ["a"], "next": "b", "count": ' + count + "}"
    assert refused(tmp_path, '{"samples": [' + samples + "]}") == f"/samples/1/count: got {COUNTS[count]}"


AT_MOST = (
    "samples, repetitions counted, expected at most 9007199254740992 (2^53, up to where float64 has every integer)"
)
TOO_MANY = {
    (2**53 + 1,): "9007199254740993",
    (2**53 - 1, 2): "9007199254740993",
    (10**4500,): "a value too large to show",
}


@pytest.mark.parametrize("counts", TOO_MANY, ids=lambda counts: f"{len(counts)} samples")
def test_too_many_samples(counts: tuple[int, ...]) -> None:
    samples = tuple(Sample(("a",) * (k + 1), "b") for k in range(len(counts)))
    listed = [{"tokens": list(s.tokens), "next": s.next, "count": c} for s, c in zip(samples, counts, strict=True)]
    with pytest.raises(InputError) as caught:
        dataset_from_document({"samples": listed})
    assert str(caught.value) == f"dataset: /samples: got {TOO_MANY[counts]} {AT_MOST}"
    with pytest.raises(InputError) as caught:
        Dataset("d\n", ("a", "b"), samples, counts)
    assert str(caught.value) == f"dataset d\\n: counts: got {TOO_MANY[counts]} {AT_MOST}"


def test_the_most_samples() -> None:
    samples = [{"tokens": ["a"], "next": "b", "count": 2**53 - 2}, {"tokens": ["a"], "next": "b"}]
    dataset = dataset_from_document({"samples": samples, "sentences": [["b", "a"]]})
    assert sum(dataset.counts) == 2**53
    assert dataset.smallest_frequency == Fraction(1, 2**53)


LARGEST, NUMBER = "expected at most 1e+50", "expected a number that float64 holds"
EMBEDDINGS = {
    "{}": "/embedding: got an object, expected an array",
    "[[1]]": "/embedding: got 1 row, expected 2 (a row for each token of the vocabulary)",
    "[[1], [2], [3]]": "/embedding: got 3 rows, expected 2 (a row for each token of the vocabulary)",
    "[[], []]": "/embedding/0: got an array of 0 entries, expected at least 1",
    "[[1], [1, 2]]": "/embedding/1: got a row of length 2, expected length 1, as in row 0",
    "[[1], {}]": "/embedding/1: got an object, expected an array",
    "[[1], [NaN]]": "/embedding/1/0: got nan, expected a finite number",
    "[[1, 0], [0, -Infinity]]": "/embedding/1/1: got -inf, expected a finite number",
    "[[1], [1%s]]" % ("0" * 400): f"/embedding/1/0: got 1{'0' * 57} …, {NUMBER}",
    "[[1], [1%s]]" % ("0" * 5000): "/embedding/1/0: got inf, expected a finite number",
    "[[1], [1.1e50]]": f"/embedding/1/0: got 1.1e+50, {LARGEST}",
    "[[1, 1], [0, -9e-51]]":
        "/embedding/1: got -9e-51 as the largest entry, expected zeros, or an entry of at least 1e-50",
    "[[true], [0]]": f"/embedding/0/0: got True, {NUMBER}",
}  # fmt: skip


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=lambda embedding: embedding[:24])
def test_embeddings(tmp_path: Path, embedding: str) -> None:
    content = '{"vocabulary": ["a", "b"], "embedding": ' + embedding + f", {SENTENCES}}}"
    assert refused(tmp_path, content) == EMBEDDINGS[embedding]


AT_LEAST_2 = "got a sentence of 1 token, expected at least 2"
TEXT = {
    "\n \n# a b\n": "got no sentence, expected one sentence per line",
    "a b\n\n# c\n  d  \ne f": f"line 4: {AT_LEAST_2}",
    "a b\r\n\r\nc\r\n": f"line 3: {AT_LEAST_2}",
    "a b\r\rc\r": f"line 3: {AT_LEAST_2}",
    "\ufeffa\n": f"line 1: {AT_LEAST_2}",
    "a\x0cb c\u2028d\x85e\x1cf\nlone\n": f"line 2: {AT_LEAST_2}",
}


@pytest.mark.parametrize("content", TEXT, ids=lambda content: content.encode("unicode_escape").decode())
def test_text(tmp_path: Path, content: str) -> None:
    assert refused(tmp_path, content, "d.txt") == TEXT[content]


@pytest.mark.parametrize("name", ["d.json", "d.txt"])
@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\xff", 1),
        (b"a b\nc d\nc\xe9 d\n", 3),
        (b"\xef\xbb\xbfa b\n\xc3(", 2),
    ],
)
def test_not_utf_8(tmp_path: Path, name: str, content: bytes, line: int) -> None:
    assert refused(tmp_path, content, name) == f"line {line}: got text that is not UTF-8, expected UTF-8"


@pytest.mark.parametrize("name", ["missing.json", "missing.txt", "no/such/folder.json"])
def test_missing_file(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path / name) == "got No such file or directory, expected a dataset file"


def outcome(read: Callable[[], Dataset]) -> Dataset | str:
    """The dataset, or why there is none."""
    try:
        return read()
    except InputError as error:
        return str(error)


def judge(value: Any) -> None:
    """The value is a dataset on which everything can be asked, or an InputError of one line."""
    dataset = outcome(lambda: dataset_from_document(value))
    if isinstance(dataset, str):
        assert dataset.isprintable()
        assert dataset.startswith("dataset: ")
        return
    assert {name: a.holds for name, a in check_assumptions(dataset).items()} == restated.holds(value)
    json.dumps(dataset_to_document(dataset), allow_nan=False, ensure_ascii=False).encode()
    assert all(math.isfinite(f) for f in dataset.frequencies)


@given(damaged_documents())
def test_any_damage_to_a_document_leaves_a_dataset_or_is_refused(document: Any) -> None:
    judge(document)


def test_sentences_with_too_many_prefixes_are_refused_before_these_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_PREFIX_TOKENS", 9)
    text = "a b c d\na b\na b c d\nb a c"  # 6 + 1 + 3, the repeated sentence once
    got = "got sentences of up to 4 tokens, whose prefix samples have 10 tokens in all, expected at most 9"
    with pytest.raises(InputError, match=f"^x.txt: {got}$"):
        dataset_from_text(text, "x.txt")
    with pytest.raises(InputError, match=f"^x.json: /sentences: {got}$"):
        dataset_from_document({"sentences": [line.split() for line in text.splitlines()]}, "x.json")
    monkeypatch.setattr(formats, "MOST_PREFIX_TOKENS", 10)
    assert dataset_from_text(text).N == 5
