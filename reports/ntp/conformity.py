"""Is a recorded run Algorithm 1? The answer of `marginaudit conform` and of the pytest fixture `conforms`."""

import os
from collections.abc import Callable
from pathlib import Path

from marginaudit.orders.ntp import Dataset
from marginaudit.reports.audit.sources import load
from marginaudit.reports.ntp.departures import Conformity, compared_with
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.ntp.trainable import trainable
from marginaudit.training.ntp.recorded.trajectory import read_trajectory


def conformity(
    dataset: str | os.PathLike[str] | Dataset,
    file: str | os.PathLike[str],
    *,
    lr1: float | None = None,
    lr2: float | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Conformity:
    """Compare the trajectory of a file with Algorithm 1.

    Parameters
    ----------
    dataset : str, path or Dataset
        A built-in case's name, a path, or a dataset.
    file : path
        An .npz file, as `marginaudit.record.Recorder` writes it.
    lr1, lr2 : float or None
        Step sizes, in place of the file's own; without either, the paper's.
    progress : callable
        Called with the share of the records that are compared.

    Raises
    ------
    InputError
        There is no such dataset, n is no function on its whole vocabulary, or the file is no trajectory of it.
    """
    if isinstance(dataset, Dataset):
        data = trainable(dataset, dataset.name)
    else:
        source = load(os.fspath(dataset), [PAPER])
        data = trainable(source.dataset, source.origin)
    path = Path(file)
    return compared_with(data, path, read_trajectory(path, data).with_step_sizes(lr1, lr2), progress)
