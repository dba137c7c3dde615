"""Up to how many tokens arrays of all pairs of them are made."""

from marginaudit.orders import InputError, printable
from marginaudit.orders.ntp import Dataset

MOST_TOKENS = 5000
"""With 5000 tokens each array of all pairs takes 200 MB."""


class TooDenseError(InputError):
    """An array of all pairs of more than `MOST_TOKENS` tokens was asked for."""


def too_dense(dataset: Dataset) -> str | None:
    """Why no array of all pairs of tokens is made, or None."""
    return None if dataset.V <= MOST_TOKENS else f"{dataset.V} tokens, {dataset.V} x {dataset.V} weights"


def require_dense(dataset: Dataset, what: str, why: str, instead: str = "") -> None:
    """See to it that arrays of all pairs of tokens may be made.

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
