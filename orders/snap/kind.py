"""Sequence classes as a kind of dataset."""

from pathlib import Path

from marginaudit.orders.kind import Kind, content_of, read
from marginaudit.orders.snap.assumptions import ASSUMPTIONS
from marginaudit.orders.snap.cases import CASES
from marginaudit.orders.snap.classes import SequenceClasses
from marginaudit.orders.snap.description import describe, in_words
from marginaudit.orders.snap.documents import accepts, classes_from_document, classes_of_rows, classes_to_document

CLASSES = Kind(
    name="sequence classes",
    data=SequenceClasses,
    accepts=accepts,
    from_document=classes_from_document,
    to_document=classes_to_document,
    tables={("next", "query", "token", "probability"): classes_of_rows},
    cases=CASES,
    assumptions=ASSUMPTIONS,
    describe=describe,
    in_words=in_words,
)
"""The datasets of arXiv 2305.16380."""


def read_classes(path: Path | str) -> SequenceClasses:
    """Read sequence classes from a ``.json`` file.

    Raises
    ------
    InputError
        One line: the file, the place in it (JSON pointer or line), what was got, what is expected.
    """
    path = Path(path)
    dataset: SequenceClasses = read(content_of(path), path, [CLASSES])[1]
    return dataset
