"""A recorded trajectory of both stages of Algorithm 1."""

from dataclasses import dataclass, replace
from pathlib import Path

from marginaudit.orders import InputError, shown_path
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.start import step_sizes
from marginaudit.training.recorded_weights import Recorded, positive, read_arrays, recorded

ARRAYS = ("step1", "W_ov", "step2", "W_kq", "lr1", "lr2")


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


def read_trajectory(path: Path, dataset: Dataset) -> Trajectory:
    """Read the trajectory of one or both stages from a file.

    Raises
    ------
    InputError
        The file cannot be read, is no .npz file of such arrays, or belongs to another dataset.
    """
    arrays, where = read_arrays(path, ARRAYS), shown_path(path)
    V, d = dataset.embeddings.shape
    stages: list[Recorded | None] = [
        recorded(where, arrays, steps, name, shape) if {steps, name} & set(arrays) else None
        for steps, name, shape in (("step1", "W_ov", (V, d)), ("step2", "W_kq", (d, d)))
    ]
    if stages == [None, None]:
        raise InputError(where, got="no stage", expected="step1 with W_ov, step2 with W_kq, or both")
    return Trajectory(stages[0], stages[1], positive(where, arrays, "lr1"), positive(where, arrays, "lr2"))
