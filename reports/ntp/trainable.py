"""Check that a dataset can be trained on and solved: n is a function on the whole vocabulary."""

from marginaudit.orders import InputError, shown_path
from marginaudit.orders.ntp import CollocationError, Dataset


def trainable(dataset: Dataset, origin: str) -> Dataset:
    """The dataset, if n is a function on its whole vocabulary.

    Raises
    ------
    InputError
        It is not; names the dataset's origin.
    """
    try:
        dataset.collocation.require_function()
    except CollocationError as error:
        raise NoFunctionError(f"{shown_path(origin)}: {error}") from None
    return dataset


class NoFunctionError(InputError):
    """n is no function on the whole vocabulary; the message is the whole line."""

    def __init__(self, line: str) -> None:
        ValueError.__init__(self, line)
