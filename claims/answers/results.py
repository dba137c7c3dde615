"""Answers of a paper to `marginaudit classify`, `train` and `solve`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Lists = Sequence[tuple[str, Sequence[str], Sequence[Sequence[Any]]]]
"""Title, header and rows of each."""


@dataclass(frozen=True)
class Trained:
    """Answer of `marginaudit train`: rows by part, and each part's title and columns for a reader.

    A column is a row's key, or the keys that lead to a value of a row's values. What has no columns is no part: a note.
    """

    answer: dict[str, Any]
    columns: Mapping[str, tuple[str, tuple[str | tuple[str, ...], ...]]]


@dataclass(frozen=True)
class Solved:
    """Answer of `marginaudit solve`.

    Attributes
    ----------
    answer : by problem plain data with the keys ``status``, ``method``, ``norm_squared``, ``norm_squared_exact``,
        ``certificate`` (as `marginaudit.margins.Certificate` has it), ``direction_radius`` and ``note``, and others
    tables : makes what a reader sees below a table of these
    certificate : makes the document that `Paper.verify` takes, or raises `marginaudit.margins.NotExact`
    """

    answer: dict[str, dict[str, Any]]
    tables: Callable[[], Lists]
    certificate: Callable[[], dict[str, Any]]
