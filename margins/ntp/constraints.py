"""Constraint rows of eqs. 2 and 3 of arXiv 2409.17335, where no exact solution exists, and the largest dense arrays."""

import numpy as np

from marginaudit.margins.errors import NotExact
from marginaudit.margins.rows import Indices, Rows
from marginaudit.orders import InputError, printable
from marginaudit.orders.ntp import Dataset, check_assumption

MOST_TOKENS = 5000
"""Most tokens of arrays of all pairs: with 5000 each takes 200 MB."""


class TooDenseError(InputError):
    """An array of all pairs of more than `MOST_TOKENS` tokens was asked for."""


def too_dense(dataset: Dataset) -> str | None:
    """Why no array of all pairs of tokens is made, or None."""
    return None if dataset.V <= MOST_TOKENS else f"{dataset.V} tokens, {dataset.V} x {dataset.V} weights"


def require_dense(dataset: Dataset, what: str, why: str, instead: str = "") -> None:
    """Raise where arrays of all pairs of tokens would be too large.

    Parameters
    ----------
    dataset : Dataset
    what, why : str
        What is made of it, and why by such an array.
    instead : str
        What may be asked for in place of fewer tokens.

    Raises
    ------
    TooDenseError
        There are too many tokens.
    """
    got = too_dense(dataset)
    if got is not None:
        where, expected = f"{what} of {printable(dataset.name)}", f"at most {MOST_TOKENS} tokens{instead}"
        raise TooDenseError(where, got=f"{got} {why}", expected=expected)


def kq_rows(dataset: Dataset, *, orthonormal: bool) -> Rows:
    """The rows of eq. 3, one a relation, in the order of ``dataset.relations``."""
    relations = dataset.relations
    factor = None if orthonormal else dataset.embeddings
    return Rows(relations.winner, relations.loser, relations.query, dataset.V, factor, factor)


def ov_rows(dataset: Dataset, *, orthonormal: bool) -> Rows:
    """The rows of eq. 2, one a pair (x, v) with v != n(x), sorted.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    """
    next_index = next_indices(dataset)
    column, loser = np.divmod(np.arange(dataset.V**2), dataset.V)
    kept = loser != next_index[column]
    column, loser = column[kept], loser[kept]
    return Rows(next_index[column], loser, column, dataset.V, None, None if orthonormal else dataset.embeddings)


def next_indices(dataset: Dataset) -> Indices:
    """The index of n(x) for each token x, in vocabulary order.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    """
    n = dataset.collocation.require_function()
    return np.array([dataset.index[n[x]] for x in dataset.vocabulary], dtype=np.int64)


def require_exact(dataset: Dataset, problem: str, *assumptions: str) -> None:
    """Refuse a dataset on which an assumption fails that the exact solution needs.

    Raises
    ------
    NotExact
        One fails; the message gives its witness.
    """
    for name in assumptions:
        found = check_assumption(dataset, name)
        if not found.holds:
            raise NotExact(
                f"{problem} has no exact solution here: assumption {name} fails, with witness "
                f"{printable(str(found.witness))}"
            )
