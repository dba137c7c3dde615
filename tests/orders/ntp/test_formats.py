"""Reading and writing datasets that are valid."""

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


@pytest.mark.parametrize("wrap", ["{}", "\ufeff{}", "\r\n\t {} \r\n"])
def test_json_with_byte_order_mark_and_white_space(tmp_path: Path, wrap: str) -> None:
    text = wrap.replace("{}", '{"sentences":\r\n[["a", "b"]]}')
    assert read_dataset(written(tmp_path, "d.json", text)).vocabulary == ("a", "b")


def test_embedding_numbers_are_read_exactly() -> None:
    rows = [[1, 0.1, 2**53 + 2, 10**49], [-0.0, 5e-324, -1e50, 10**25], [0, -0.0, 0.0, 0], [1e-50, 0, 0, 0]]
    dataset = dataset_from_document({"vocabulary": list("abcd"), "sentences": [["a", "b"]], "embedding": rows})
    assert dataset.embedding is not None
    assert dataset.embedding.dtype == np.float64
    assert dataset.embedding.tolist() == [[float(number) for number in row] for row in rows]
    np.testing.assert_array_equal(dataset.embeddings, dataset.embedding)


def test_a_token_is_one_string_in_all_samples(tmp_path: Path) -> None:
    sample = '{"tokens": ["some", "token"], "next": "some"}'
    data = read_dataset(written(tmp_path, "d.json", f'{{"samples": [{sample.replace("some", "token")}, {sample}]}}'))
    assert len({id(x) for one in data.samples for x in (*one.tokens, one.next)}) == data.V == 2
