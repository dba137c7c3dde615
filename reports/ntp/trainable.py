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
        place = f"{shown_path(origin)}: {error.where}"
        raise InputError(place, got=error.got, expected=error.expected) from None
    return dataset
