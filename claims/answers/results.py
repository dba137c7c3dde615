"""Results of a paper for `marginaudit classify`, `train` and `solve`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Lists = Sequence[tuple[str, Sequence[str], Sequence[Sequence[Any]]]]
"""Lists for a reader: title, header and rows of each."""


@dataclass(frozen=True)
class Trained:
    """Result of `marginaudit train`: rows by part, and each part's title and columns for a reader.

    A column is a key of a row, or a path of keys into its nested values. An entry without columns is a note.
    """

    answer: dict[str, Any]
    columns: Mapping[str, tuple[str, tuple[str | tuple[str, ...], ...]]]


@dataclass(frozen=True)
class Solved:
    """Result of `marginaudit solve`.

    Attributes
    ----------
    answer : plain data by problem, with the keys ``status``, ``method``, ``norm_squared``, ``norm_squared_exact``,
        ``certificate`` (as `marginaudit.margins.Certificate` has it), ``direction_radius`` and ``note``, and others
    tables : callable, -> output below the table of problems
    certificate : callable, -> document for `Paper.verify`; may raise `marginaudit.margins.NotExact`
    """

    answer: dict[str, dict[str, Any]]
    tables: Callable[[], Lists]
    certificate: Callable[[], dict[str, Any]]
