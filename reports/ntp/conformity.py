"""A recorded run beside Algorithm 1."""

from collections.abc import Callable
from pathlib import Path

from marginaudit.orders import InputError, printable, shown_path
from marginaudit.orders.ntp import Dataset
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.conformity import Conformity
from marginaudit.reports.ntp.config import RecordedConfig
from marginaudit.reports.ntp.trainable import trainable
from marginaudit.training.conformity import Departure
from marginaudit.training.ntp.recorded.conformity import STEPS1, compared
from marginaudit.training.ntp.recorded.trajectory import Trajectory, read_trajectory


def _place(at: Departure) -> str:
    """Stage, step, and the column of W_ov or W_kq."""
    return f"stage {at.stage}, step {at.step}, {'query' if at.stage == 2 else 'token'} {printable(at.token)}"


def conformity(source: Source, file: Path, config: RecordedConfig, progress: Callable[[float], None]) -> Conformity:
    """Compare the trajectory of a file with Algorithm 1.

    Raises
    ------
    InputError
        n is no function on the dataset's whole vocabulary, or the file is no trajectory of it, or has stage 1 without
        the step.
    """
    data = trainable(source.dataset, source.origin)
    trajectory = read_trajectory(file, data).with_step_sizes(config.lr1, config.lr2)
    recorded = trajectory.stage1
    if config.steps1 is not None and recorded is not None and config.steps1 not in recorded.step:
        got = f"no record of step {config.steps1}, from which W_ov was frozen"
        raise InputError(f"{shown_path(file)}: step1", got=got, expected="one of its steps, or no stage 1")
    return compared_with(data, file, trajectory, progress, config.steps1)


def compared_with(
    data: Dataset, file: Path, trajectory: Trajectory, progress: Callable[[float], None], steps1: int | None = None
) -> Conformity:
    """The trajectory of a file beside Algorithm 1, by its own step sizes."""
    found = tuple(compared(data, trajectory, progress=progress, steps1=steps1))
    after = STEPS1 if steps1 is None else steps1
    assumed = f", W_ov being Algorithm 1's after {after} steps" if found[0].stage == 2 else ""
    return Conformity(printable(data.name), shown_path(str(file)), found, "Algorithm 1", _place, assumed)
