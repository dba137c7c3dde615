"""Is a recorded run Algorithm 1? The answer of `marginaudit conform` and of the pytest fixture `conforms`."""

import os
from collections.abc import Callable
from pathlib import Path

from marginaudit.orders import InputError, shown_path
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
    steps1: int | None = None,
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
    steps1 : int or None
        The step of stage 1 from which W_ov was frozen; the last recorded one, or 900, unless given.
    progress : callable
        Called with the share of the records that are compared.

    Raises
    ------
    InputError
        There is no such dataset, n is no function on its whole vocabulary, or the file is no trajectory of it, or
        has stage 1 without the step.
    """
    if isinstance(dataset, Dataset):
        data = trainable(dataset, dataset.name)
    else:
        source = load(os.fspath(dataset), [PAPER])
        data = trainable(source.dataset, source.origin)
    path = Path(file)
    trajectory = read_trajectory(path, data).with_step_sizes(lr1, lr2)
    recorded = trajectory.stage1
    if steps1 is not None and recorded is not None and steps1 not in recorded.step:
        got = f"no record of step {steps1}, from which W_ov was frozen"
        raise InputError(f"{shown_path(path)}: step1", got=got, expected="one of its steps, or no stage 1")
    return compared_with(data, path, trajectory, progress, steps1)
