"""Datasets by name for the commands and the training of arXiv 2409.17335."""

from marginaudit.orders import InputError, shown_path
from marginaudit.orders.ntp import CollocationError, Dataset
from marginaudit.reports.audit.sources import Source, load


def load_sentences(name: str) -> Source:
    """A dataset of this paper's kind.

    Raises
    ------
    InputError
        There is none of that name, or the file is no such dataset.
    """
    from marginaudit.reports.ntp.paper import PAPER

    return load(name, [PAPER])


def load_trainable(name: str) -> Dataset:
    """A dataset whose n is a function on the whole vocabulary, as training and both solutions need.

    Raises
    ------
    InputError
        As `load_sentences`, or n is no such function.
    """
    source = load_sentences(name)
    return trainable(source.dataset, source.origin)


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
