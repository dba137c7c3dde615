"""A recorded trajectory of both stages of Algorithm 1."""

from dataclasses import dataclass, replace
from os import PathLike

from marginaudit.orders import InputError
from marginaudit.orders.ntp import Dataset
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
    """

    stage1: Recorded | None
    stage2: Recorded | None
    lr1: float | None
    lr2: float | None

    def with_step_sizes(self, lr1: float | None, lr2: float | None) -> "Trajectory":
        """Replace the step sizes that are not None."""
        return replace(self, lr1=lr1 or self.lr1, lr2=lr2 or self.lr2)

    def step_sizes(self, dataset: Dataset) -> tuple[float, float]:
        """eta0 and eta, the paper's if not recorded."""
        return step_sizes(dataset.V, self.lr1, self.lr2)


def read_trajectory(file: str | PathLike[str], dataset: Dataset) -> Trajectory:
    """Read the trajectory of one or both stages from a file or a folder of checkpoints.

    Raises
    ------
    InputError
        The file cannot be read, holds no such weights, or belongs to another dataset.
    """
    run = as_run_file(file)
    V, d = dataset.embeddings.shape
    targets = {"W_ov": Target("step1", ((V, d),)), "W_kq": Target("step2", ((d, d),))}
    found = read_weights(run, targets, ("lr1", "lr2"))
    if not found.records:
        raise InputError(run.where, got="no stage", expected="step1 with W_ov, step2 with W_kq, or both")
    records, scalars = found.records, found.scalars
    return Trajectory(records.get("W_ov"), records.get("W_kq"), scalars.get("lr1"), scalars.get("lr2"))
