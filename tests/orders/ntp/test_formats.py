"""Reading and writing datasets that are valid."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from marginaudit.orders.ntp import Dataset, dataset_from_document, dataset_to_document, read_dataset
from tests.oracle.problem import problem
from tests.orders.ntp import restated
from tests.strategies import Document, documents


def parts(dataset: Dataset) -> tuple[Any, ...]:
    rows = None if dataset.embedding is None else dataset.embedding.tolist()
    return (dataset.name, dataset.vocabulary, dataset.samples, dataset.counts, dict(dataset.next_token), rows)


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@given(documents())
def test_document_to_dataset_to_document(document: Document) -> None:
    dataset = dataset_from_document(document)
    back = dataset_to_document(dataset)
    assert parts(dataset_from_document(back)) == parts(dataset)
    assert dataset_to_document(dataset_from_document(back)) == back
    assert restated.weighted_examples(back) == restated.weighted_examples(document)
    assert problem(back).vocabulary == problem(document).vocabulary
    assert restated.next_tokens(back) == restated.next_tokens(document)
    assert back.get("embedding") == document.get("embedding")
    assert back.get("next_token", {}) == document.get("next_token", {})
    assert back["name"] == document.get("name", "dataset")


@given(documents())
def test_file_gives_what_the_document_gives(tmp_path_factory: pytest.TempPathFactory, document: Document) -> None:
    folder = tmp_path_factory.mktemp("file")
    for text in (json.dumps(document), json.dumps(document, ensure_ascii=False, indent=2)):
        dataset = read_dataset(written(folder, "data.json", text))
        assert parts(dataset) == parts(dataset_from_document({"name": "data"} | document))


@pytest.mark.parametrize("wrap", ["{}", "\ufeff{}", "\r\n\t {} \r\n"])
def test_json_with_byte_order_mark_and_white_space(tmp_path: Path, wrap: str) -> None:
    text = wrap.replace("{}", '{"sentences":\r\n[["a", "b"]]}')
    assert read_dataset(written(tmp_path, "d.json", text)).vocabulary == ("a", "b")


@pytest.mark.parametrize("name", ["d.json", "d.JSON", "d.Json"])
def test_endings_in_any_case_and_the_name_of_the_stem(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, '{"sentences": [["a", "b"]]}')
    assert read_dataset(path).name == "d"
    assert read_dataset(str(path)).name == "d"


def test_default_vocabulary_is_in_order_of_first_use() -> None:
    document = {
        "next_token": {"z": "y", "a": "x"},
        "samples": [{"tokens": ["c", "q"], "next": "b"}],
        "sentences": [["q", "p"]],
    }
    assert dataset_from_document(document).vocabulary == ("q", "p", "c", "b", "z", "y", "a", "x")


def test_a_given_vocabulary_keeps_its_order_and_its_unused_tokens() -> None:
    document = {"vocabulary": ["z", "b", "a"], "sentences": [["a", "b"]]}
    assert dataset_from_document(document).vocabulary == ("z", "b", "a")


def test_counts_of_sentences_and_samples_add_up() -> None:
    document = {
        "sentences": [["a", "b", "c"], ["a", "b"]],
        "samples": [{"tokens": ["a"], "next": "b", "count": 3}, {"tokens": ["a", "b"], "next": "c"}],
    }
    dataset = dataset_from_document(document)
    assert [(s.tokens, s.next) for s in dataset.samples] == [(("a",), "b"), (("a", "b"), "c")]
    assert dataset.counts == (5, 2)
    assert dataset.frequencies.tolist() == [5 / 7, 2 / 7]


@pytest.mark.parametrize("key", ["sentences", "samples"])
def test_one_of_the_two_may_be_empty(key: str) -> None:
    document = {"sentences": [["a", "b"]], "samples": [{"tokens": ["a"], "next": "b"}]} | {key: []}
    assert dataset_from_document(document).N == 1


def test_next_token_may_agree_with_length_1_samples() -> None:
    document = {"sentences": [["a", "b"]], "next_token": {"a": "b", "b": "a"}}
    assert dataset_from_document(document).collocation.function == {"a": "b", "b": "a"}


def test_embedding_numbers_are_read_exactly() -> None:
    rows = [[1, 0.1, 2**53 + 2, 10**49], [-0.0, 5e-324, -1e50, 10**25], [0, -0.0, 0.0, 0], [1e-50, 0, 0, 0]]
    dataset = dataset_from_document({"vocabulary": list("abcd"), "sentences": [["a", "b"]], "embedding": rows})
    assert dataset.embedding is not None
    assert dataset.embedding.dtype == np.float64
    assert dataset.embedding.tolist() == [[float(number) for number in row] for row in rows]
    np.testing.assert_array_equal(dataset.embeddings, dataset.embedding)


def test_without_embedding_tokens_are_one_hot() -> None:
    np.testing.assert_array_equal(Dataset.from_sentences("d", ["abc"]).embeddings, np.eye(3))


# .txt

TEXT = "# comment\nS V O\n\n   # another\n\tV  O \n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_text(tmp_path: Path, start: str, end: str) -> None:
    dataset = read_dataset(written(tmp_path, "d.txt", start + TEXT.replace("\n", end)))
    assert parts(dataset) == parts(Dataset.from_sentences("d", ["SVO", "VO"]))


def test_a_comment_starts_a_line_and_not_a_token(tmp_path: Path) -> None:
    assert read_dataset(written(tmp_path, "d.txt", "a #b # c\n#a b")).vocabulary == ("a", "#b", "#", "c")


@pytest.mark.parametrize("space", ["\f", "\u2028", "\x85", "\x1c", "\xa0"])
def test_white_space_that_ends_no_line_separates_tokens(tmp_path: Path, space: str) -> None:
    dataset = read_dataset(written(tmp_path, "d.txt", f"a b{space}c d\n"))
    assert [s.tokens for s in dataset.samples] == [("a",), ("a", "b"), ("a", "b", "c")]
