"""Datasets by name for the commands of arXiv 2409.17335."""

from marginaudit.orders.ntp import Dataset
from marginaudit.reports.audit.sources import Source, load
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.ntp.trainable import trainable


def load_sentences(name: str) -> Source:
    """A dataset of this paper's kind.

    Raises
    ------
    InputError
        There is none of that name, or the file is no such dataset.
    """
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
