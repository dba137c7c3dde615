"""A run that somebody else trained and recorded, judged like our own one at the steps that its file holds."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from marginaudit.orders import InputError, counted, printable, shown_path
from marginaudit.orders.ntp import Dataset
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.claim import BeyondTheRun
from marginaudit.reports.conformity import Conformity
from marginaudit.reports.ntp.config import Config, RecordedConfig
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.solving import trainable
from marginaudit.training.conformity import Departure
from marginaudit.training.ntp import Progress, Stage1, Training
from marginaudit.training.ntp.recorded.conformity import STEPS1, compared
from marginaudit.training.ntp.recorded.trajectory import Trajectory, read_trajectory
from marginaudit.training.trajectory import Recorded


class RecordedRun(Run):
    """A dataset, its two solutions, and a trajectory from a file.

    Where the trajectory departs from Algorithm 1, no premise of a statement on its weights is met: see `departs`.

    Raises
    ------
    InputError
        n is no function on the whole vocabulary, or the file holds no trajectory of the dataset.
    """

    takes_own_steps = False

    def __init__(self, dataset: Dataset, config: Config, progress: Progress | None, path: Path) -> None:
        self.path = path
        read = read_trajectory(path, trainable(dataset, dataset.name))
        self.trajectory = read.with_step_sizes(config.lr1, config.lr2)
        first, second = self.trajectory.stage1, self.trajectory.stage2
        own = replace(
            config,
            steps1=STEPS1 if first is None else int(first.step[-1]),
            steps2=0 if second is None else int(second.step[-1]),
            lr1=self.trajectory.lr1,
            lr2=self.trajectory.lr2,
            at=None,
            optimizer="ngd",
            certify=0,
        )
        super().__init__(dataset, own, progress)

    @cached_property
    def conformity(self) -> Conformity:
        """The trajectory, record by record beside Algorithm 1."""
        return _compared(self.dataset, self.path, self.trajectory, self._reached)

    def _reached(self, share: float) -> None:
        if self._progress is not None:
            self._progress(round(share * (self.config.steps1 + self.steps2)))

    @property
    def departs(self) -> bool:
        """Whether it is not Algorithm 1, or rounding may hide that it is not."""
        return not self.conformity.premises_met

    @property
    def undecided(self) -> str:
        """Note on records that rounding explains whatever they are; "" if there are none."""
        decided, records = self.conformity.decided, self.conformity.records
        if not self.conformity.conforms or self.conformity.premises_met:
            return ""
        return (
            f"Of {counted(records, 'record')} {decided} are decided to be Algorithm 1's; rounding explains the others, "
            "so that no proof speaks."
        )

    @property
    def steps2(self) -> int:
        """The last recorded step of stage 2."""
        return self.config.steps2 or 0

    @property
    def stopped(self) -> None:
        """Always None: a recorded run is never cut short."""

    @property
    def first_steps(self) -> None:
        """Always None: no steps are computed for a recorded run."""

    @property
    def training(self) -> Training:
        """Both stages at the recorded weights, for statements about stage 2.

        Raises
        ------
        BeyondTheRun
            Stage 1 is another algorithm's and its margins differ, for which stage 2 has no error bars.
        """
        found = self.trained
        at = self.conformity.departs_at
        if at is not None and at.stage == 1 and not found.common_margin:
            raise BeyondTheRun("stage 1 of the trajectory departs, and the margins of its W_ov are not one")
        return found

    @property
    def stage1_steps(self) -> Stage1:
        """The recorded steps, with the errors of their weights."""
        return self.trained.stage1

    @property
    def stage1(self) -> Stage1:
        """The recorded steps alone, without the closed form."""
        return self.stage1_steps

    def recorded_steps(self, stage: Literal[1, 2]) -> tuple[int, ...]:
        """The steps in the file."""
        self.require_recorded(stage)
        found = self._record(stage)
        return () if found is None else tuple(found.step.tolist())

    def require_recorded(self, stage: Literal[1, 2]) -> None:
        """Raise unless the file has the stage.

        Raises
        ------
        BeyondTheRun
            It has not.
        """
        if self._record(stage) is None:
            raise BeyondTheRun(f"the trajectory has no stage {stage}")

    def _record(self, stage: Literal[1, 2]) -> Recorded | None:
        return self.trajectory.stage1 if stage == 1 else self.trajectory.stage2

    @property
    def trained(self) -> Training:
        """Both stages at the recorded weights.

        Raises
        ------
        BeyondTheRun
            There are too many tokens.
        """
        self.used_weights = True
        return self._trained

    @cached_property
    def _trained(self) -> Training:
        from marginaudit.training.ntp.recorded.training import recorded_training

        self.require_dense()
        stages = self.conformity.stages
        return recorded_training(self.dataset, self.trajectory, stages, self.solved("ov"), self.solved("kq"))

    def facts(self) -> dict[str, Any]:
        """The trajectory's entry in report.json."""
        return self.conformity.as_document() | {
            "line": self.conformity.line,
            "premises_met": self.conformity.premises_met,
        }


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
    return _compared(data, file, trajectory, progress, config.steps1)


def _compared(
    data: Dataset, file: Path, trajectory: Trajectory, progress: Callable[[float], None], steps1: int | None = None
) -> Conformity:
    """The trajectory of a file beside Algorithm 1, by its own step sizes."""
    found = tuple(compared(data, trajectory, progress=progress, steps1=steps1))
    after = STEPS1 if steps1 is None else steps1
    assumed = f", W_ov being Algorithm 1's after {after} steps" if found[0].stage == 2 else ""
    return Conformity(printable(data.name), shown_path(str(file)), found, "Algorithm 1", _place, assumed)


def _place(at: Departure) -> str:
    """Stage, step, and the column of W_ov or W_kq."""
    return f"stage {at.stage}, step {at.step}, {'query' if at.stage == 2 else 'token'} {printable(at.token)}"
