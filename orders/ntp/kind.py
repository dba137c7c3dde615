"""Sentences as a kind of dataset."""

from pathlib import Path
from typing import Any

from marginaudit.orders.kind import Kind, content_of, read
from marginaudit.orders.ntp.assumptions import ASSUMPTIONS
from marginaudit.orders.ntp.cases import CASES
from marginaudit.orders.ntp.dataset import Dataset
from marginaudit.orders.ntp.description import describe, in_words
from marginaudit.orders.ntp.formats import (
    dataset_from_document,
    dataset_from_text,
    dataset_to_document,
    samples_of_rows,
    sentences_of_rows,
)


def accepts(document: Any) -> bool:
    """Whether a document is one of sentences or samples, good or bad.

    >>> accepts({"samples": []}), accepts({"classes": []})
    (True, False)
    """
    return isinstance(document, dict) and ("sentences" in document or "samples" in document)


SENTENCES = Kind(
    name="sentences",
    data=Dataset,
    accepts=accepts,
    from_document=dataset_from_document,
    to_document=dataset_to_document,
    tables={
        ("sentence",): sentences_of_rows,
        ("tokens", "next"): samples_of_rows,
        ("tokens", "next", "count"): samples_of_rows,
    },
    from_text=dataset_from_text,
    cases=CASES,
    assumptions=ASSUMPTIONS,
    describe=describe,
    in_words=in_words,
)
"""The datasets of arXiv 2409.17335."""


def read_dataset(path: Path | str) -> Dataset:
    """Read a dataset from a ``.json`` or ``.txt`` file, in UTF-8, after a byte order mark or none.

    Raises
    ------
    InputError
        One line: the file, the place in it (JSON pointer or line), what was got, what is expected.
    """
    path = Path(path)
    dataset: Dataset = read(content_of(path), path, [SENTENCES])[1]
    return dataset
