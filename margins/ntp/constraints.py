"""Constraint rows of eqs. 2 and 3 of arXiv 2409.17335 for numerical solutions, and the limit on dense arrays."""

import numpy as np

from marginaudit.margins.errors import NotExact
from marginaudit.margins.rows import Indices, Rows
from marginaudit.orders import InputError, printable
from marginaudit.orders.ntp import Dataset, check_assumption

MOST_TOKENS = 5000
"""Limit on the tokens of arrays of all pairs; with 5000 each takes 200 MB."""


class TooDenseError(InputError):
    """An array of all pairs of more than `MOST_TOKENS` tokens is needed."""


def too_dense(dataset: Dataset) -> str | None:
    """Reason against arrays of all pairs of tokens, or None."""
    return None if dataset.V <= MOST_TOKENS else f"{dataset.V} tokens, {dataset.V} x {dataset.V} weights"


def require_dense(dataset: Dataset, what: str, why: str, instead: str = "") -> None:
    """Raise if arrays of all pairs of tokens would be too large.

    Parameters
    ----------
    what, why : str
        Requested result, and why it needs such an array.
    instead : str
        Alternative to fewer tokens.

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
    """The rows of eq. 3, one per relation, in the order of ``dataset.relations``."""
    relations = dataset.relations
    factor = None if orthonormal else dataset.embeddings
    return Rows(relations.winner, relations.loser, relations.query, dataset.V, factor, factor)


def ov_rows(dataset: Dataset, *, orthonormal: bool) -> Rows:
    """The rows of eq. 2, one per pair (x, v) with v != n(x), sorted.

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
    """Index of n(x) for each token x, in vocabulary order.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    """
    n = dataset.collocation.require_function()
    return np.array([dataset.index[n[x]] for x in dataset.vocabulary], dtype=np.int64)


def require_exact(dataset: Dataset, problem: str, *assumptions: str) -> None:
    """Raise if an assumption of the exact solution fails on the dataset.

    Raises
    ------
    NotExact
        An assumption fails; the message gives its witness.
    """
    for name in assumptions:
        found = check_assumption(dataset, name)
        if not found.holds:
            raise NotExact(
                f"{problem} has no exact solution here: assumption {name} fails, with witness "
                f"{printable(str(found.witness))}"
            )
