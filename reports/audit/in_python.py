"""Datasets as Python has them: documents, sentences, DataFrames; and by path or name."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from marginaudit.orders.kind import from_document, from_rows
from marginaudit.reports.audit.ledger import all_papers, paper_of
from marginaudit.reports.audit.sources import Source, load, made_in_python
from marginaudit.reports.paper import Paper

WHERE = "data"
"""Where an error is, in data that are of no file."""


def dataset(data: Any, name: str = "dataset") -> Any:
    """A dataset from what Python has of it, from a file, or a built-in case.

    Parameters
    ----------
    data : what to read
        A dict, the document of a JSON file; a list of sentences, each a list of tokens or a text that is split at
        white space; a DataFrame with the column ``sentence``, or ``tokens``, ``next`` and perhaps ``count``, or, for
        sequence classes, ``next``, ``query``, ``token``, ``probability``; a path; the name of a built-in case.
    name : of the dataset where the data have none

    Returns
    -------
    Dataset or SequenceClasses

    Raises
    ------
    InputError
        One line: the place, what was got, what is expected.

    >>> dataset(["S V O", ["V", "O"]]).vocabulary
    ('S', 'V', 'O')
    """
    return source_of(data, all_papers(lambda _: None), name).dataset


def source_of(data: Any, papers: Sequence[Paper], name: str = "dataset") -> Source:
    """The dataset that `dataset` reads, with its paper and where it came from."""
    if isinstance(data, str | PathLike):
        return load(str(data), papers)
    kinds = [paper.kind for paper in papers]
    if isinstance(data, Mapping):
        data = from_document(dict(data), WHERE, name, kinds)[1]
    elif isinstance(data, list | tuple):
        data = from_rows(["sentence"], [{"sentence": sentence} for sentence in data], WHERE, name, kinds)
    elif is_frame(data):
        data = from_rows(list(data.columns), data.to_dict("records"), WHERE, name, kinds)
    return made_in_python(data, paper_of(data, papers))


def is_frame(data: Any) -> bool:
    """Whether it is a DataFrame of pandas; without an import of pandas."""
    return hasattr(data, "columns") and hasattr(data, "to_dict")


def is_sentences(data: Any) -> bool:
    """Whether it is a list of lists of tokens, which is one dataset.

    >>> is_sentences([["S", "V"], ["V"]]), is_sentences(["example-1", "a.json"]), is_sentences([[["S", "V"]]])
    (True, False, False)
    """
    return isinstance(data, list | tuple) and bool(data) and all(map(_is_sentence, data))


def _is_sentence(data: Any) -> bool:
    return isinstance(data, list | tuple) and not any(isinstance(token, list | tuple) for token in data)
