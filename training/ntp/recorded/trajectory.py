"""A recorded trajectory of both stages of Algorithm 1."""

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.classes import class_of_samples
from marginaudit.training.ntp.start import step_sizes
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.weight_files.run_file import Target, as_run_file, read_weights


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A recorded trajectory of both stages of Algorithm 1, as loaded from a file.

    Attributes
    ----------
    stage1, stage2 : Recorded or None
        W_ov (n1, V, d), [label, embedding], and W_kq (n2, d, d), [key, query].
    lr1, lr2 : float or None
        The step sizes.
    head : "trained", "given" or "joint"
        How W_ov was trained: by stage 1, not at all, or jointly with W_kq.
    batch : (steps, size) array or None
        Samples of the minibatch of each step of stage 2, by their number in the dataset.
    """

    stage1: Recorded | None
    stage2: Recorded | None
    lr1: float | None
    lr2: float | None
    head: str = "trained"
    batch: NDArray[np.int64] | None = None

    def with_step_sizes(self, lr1: float | None, lr2: float | None) -> "Trajectory":
        """Replace the step sizes that are not None."""
        return replace(self, lr1=lr1 or self.lr1, lr2=lr2 or self.lr2)

    def step_sizes(self, dataset: Dataset) -> tuple[float, float]:
        """eta0 and eta, the paper's if not recorded."""
        return step_sizes(dataset.V, self.lr1, self.lr2)

    def samples(self, dataset: Dataset) -> Floats | None:
        """Weights of the classes of samples in each minibatch, shape (steps, classes); None without any."""
        if self.batch is None:
            return None
        of_class = class_of_samples(dataset)
        classes = of_class[self.batch]
        found = np.zeros((len(classes), int(of_class.max()) + 1))
        np.add.at(found, (np.arange(len(classes))[:, np.newaxis], classes), 1 / classes.shape[1])
        return found


def read_trajectory(file: str | PathLike[str], dataset: Dataset) -> Trajectory:
    """Read the trajectory of one or both stages from a file or a folder of checkpoints.

    Raises
    ------
    InputError
        The file cannot be read, holds no such weights, or belongs to another dataset.
    """
    run = as_run_file(file)
    V, d = dataset.embeddings.shape
    targets = {"W_ov": Target("step1", ((V, d),), fixed=run.head == "given"), "W_kq": Target("step2", ((d, d),))}
    found = read_weights(run, targets, ("lr1", "lr2"), ("batch",))
    records, scalars = found.records, found.scalars
    first, second = records.get("W_ov"), records.get("W_kq")
    if first is None and second is None:
        raise InputError(run.where, got="no stage", expected="step1 with W_ov, step2 with W_kq, or both")
    head = run.head or "trained"
    if not run.head and found.one_clock and first is not None and second is not None:
        head = "given" if all(np.array_equal(one, first.weights[0]) for one in first.weights) else "joint"
    if head != "trained" and (first is None or second is None):
        missing = "W_kq" if second is None else "W_ov"
        raise InputError(run.where, got=f"no {missing}", expected=f"W_ov and W_kq, with --head {head}")
    batch = _batch(f"{run.where}: batch", found.others.get("batch"), second, dataset)
    return Trajectory(first, second, scalars.get("lr1"), scalars.get("lr2"), head, batch)


def _batch(
    where: str, batch: NDArray[Any] | None, second: Recorded | None, dataset: Dataset
) -> NDArray[np.int64] | None:
    if batch is None or second is None:
        return None
    last, N = max(1, int(second.step[-1])), dataset.N
    if batch.dtype.kind not in "iu" or batch.ndim != 2 or len(batch) < last or batch.shape[1] == 0:
        got = f"{batch.dtype} of shape {batch.shape}"
        raise InputError(where, got=got, expected=f"integers of shape ({last}, size): the samples of each step")
    if batch.min() < 0 or batch.max() >= N:
        got = f"samples {batch.min()} to {batch.max()}"
        raise InputError(where, got=got, expected=f"numbers of samples from 0 to {N - 1}")
    return batch.astype(np.int64)
