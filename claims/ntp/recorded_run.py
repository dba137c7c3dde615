"""Recorded run from elsewhere, judged at the steps in its file like our own runs."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np

from marginaudit.claims.answers.conformity import Conformity
from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.ntp.config import Config, RecordedConfig
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.ntp.solving import trainable
from marginaudit.orders import InputError, counted, printable
from marginaudit.orders.ntp import Dataset
from marginaudit.training.departure import Departure
from marginaudit.training.ntp import Progress, Stage1, Stage2, Training
from marginaudit.training.ntp.recorded.candidates import NOT_FROZEN
from marginaudit.training.ntp.recorded.comparison import STEPS1, compared
from marginaudit.training.ntp.recorded.trajectory import Trajectory, read_trajectory
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.weight_files.run_file import as_run_file


class RecordedRun(Run):
    """A dataset, its two solutions, and a trajectory from a file.

    If the trajectory departs from Algorithm 1, the premise of every statement on its weights fails: see `departs`.

    Raises
    ------
    InputError
        n is no function on the whole vocabulary, or the file holds no trajectory of the dataset.
    """

    takes_own_steps = False

    def __init__(self, dataset: Dataset, config: Config, progress: Progress | None, path: str | PathLike[str]) -> None:
        self.path = path
        read = read_trajectory(path, trainable(dataset, dataset.name))
        self.trajectory = read.with_step_sizes(config.lr1, config.lr2)
        first, second = self.trajectory.stage1, self.trajectory.stage2
        own = replace(
            config,
            steps1=STEPS1 if first is None or self.trajectory.head != "trained" else int(first.step[-1]),
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
        """Comparison of the trajectory with Algorithm 1, record by record."""
        return _compared(self.dataset, self.path, self.trajectory, self._reached)

    def _reached(self, share: float) -> None:
        if self._progress is not None:
            self._progress(round(share * (self.config.steps1 + self.steps2)))

    @property
    def departs(self) -> bool:
        """Whether the trajectory departs from Algorithm 1, or may do so within rounding."""
        return not self.conformity.premises_met

    @property
    def undecided(self) -> str:
        """Note on records that rounding leaves undecided; "" for none."""
        decided, records = self.conformity.decided, self.conformity.records
        if self.conformity.departs_at is not None or self.conformity.premises_met:
            return ""
        return (
            f"Of {counted(records, 'record')} {decided} are decided to be Algorithm 1's; the others agree only "
            "within rounding, so proofs do not apply."
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
        """Both stages at the recorded weights, for statements about stage 2; W_kq alone if W_ov is unknown."""
        found, reason = self.trained, self._no_ov
        at = self.conformity.departs_at
        if not reason and not found.common_margin:
            if self.trajectory.head == "given":
                reason = "W_ov is given, and the margins of its columns are not one"
            elif at is not None and at.stage == 1:
                reason = "stage 1 of the trajectory departs, and the margins of its W_ov are not one"
        return without_ov(found, reason) if reason else found

    @property
    def _no_ov(self) -> str:
        """Reason why the W_ov of stage 2 is unknown; "" if known."""
        last = self.conformity.stages[-1]
        if self.trajectory.head == "joint":
            return "W_ov is not frozen in stage 2 of the trajectory"
        if self.trajectory.stage1 is None and not last.premise_met:
            return "the file has no W_ov, which is known only of a trajectory that is decided to be Algorithm 1's"
        if last.stage == 2 and str(last.rule("Algorithm 1")).startswith(NOT_FROZEN):
            return "W_ov is not frozen in stage 2 of the trajectory, and the file has it at the steps of stage 1 alone"
        return ""

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
        found = self._record(stage)
        return () if found is None else tuple(found.step.tolist())

    def require_recorded(self, stage: Literal[1, 2]) -> None:
        """Check the premise of the stage's records, and raise unless the file has the stage.

        Raises
        ------
        BeyondTheRun
            The file lacks the stage.
        """
        if self._record(stage) is None:
            raise BeyondTheRun(f"the trajectory has no stage {stage}")
        self.ask_premise()

    def _record(self, stage: Literal[1, 2]) -> Recorded | None:
        if stage == 2:
            return self.trajectory.stage2
        return self.trajectory.stage1 if self.trajectory.head == "trained" else None

    @property
    def trained(self) -> Training:
        """Both stages at the recorded weights.

        Raises
        ------
        BeyondTheRun
            There are too many tokens.
        """
        self.ask_premise()
        return self._trained

    @cached_property
    def _trained(self) -> Training:
        from marginaudit.training.ntp.recorded.measurement import recorded_training

        self.require_dense()
        stages = self.conformity.stages
        found = recorded_training(self.dataset, self.trajectory, stages, self.solved("ov"), self.solved("kq"))
        return unknown_loss(found) if self._no_ov else found

    def facts(self) -> dict[str, Any]:
        """The trajectory's entry in report.json."""
        return self.conformity.as_document() | {
            "line": self.conformity.line,
            "premises_met": self.conformity.premises_met,
        }


OF_W_OV = frozenset({"B", "W_ov", "margin", "margin_spread", "margin_error", "common_margin"})
"""Attributes of a training that depend on W_ov."""

OF_LOSS = frozenset(
    ("loss", "log_loss", "log_excess", "gradient_norm", "log_gradient_norm", "descent_reference", "descent_rest")
)
"""Columns of stage 2 that depend on W_ov."""


def unknown_loss(training: Training) -> Training:
    """Mask a training with another W_ov than the run's: NaN in the columns of stage 2 that depend on W_ov."""
    unknown = dict.fromkeys(OF_LOSS, np.full(len(training.stage2), np.nan))
    return replace(training, stage2=replace(training.stage2, **unknown))


class _Unknown:
    """Proxy that raises `BeyondTheRun` with a reason on access to one of ``unknown``."""

    unknown: ClassVar[frozenset[str]]
    reason: str

    def __getattribute__(self, name: str) -> Any:
        if name in type(self).unknown:
            raise BeyondTheRun(object.__getattribute__(self, "reason"))
        return super().__getattribute__(name)


class _Stage2WithoutOV(_Unknown, Stage2):
    unknown = OF_LOSS


class _WithoutOV(_Unknown, Training):
    unknown = OF_W_OV


def without_ov(training: Training, reason: str) -> Training:
    """Proxy of the training that raises `BeyondTheRun` with a reason on access to data that depend on W_ov.

    Raises
    ------
    BeyondTheRun
        On access to `OF_W_OV` or `OF_LOSS` of the training.
    """
    stage2 = _Stage2WithoutOV(**vars(training.stage2))
    object.__setattr__(stage2, "reason", reason)
    found = _WithoutOV(**vars(training) | {"stage2": stage2})
    object.__setattr__(found, "reason", reason)
    return found


def conformity(
    dataset: Dataset, origin: str, file: str | PathLike[str], config: RecordedConfig, progress: Callable[[float], None]
) -> Conformity:
    """Compare the trajectory of a file with Algorithm 1; ``origin`` is the dataset's place in errors.

    Raises
    ------
    InputError
        n is no function on the dataset's whole vocabulary, or the file is no trajectory of it, or has stage 1 without
        the step.
    """
    data = trainable(dataset, origin)
    trajectory = read_trajectory(file, data).with_step_sizes(config.lr1, config.lr2)
    recorded, steps1 = trajectory.stage1, config.steps1 if trajectory.head == "trained" else None
    if steps1 is not None and recorded is not None and steps1 not in recorded.step:
        got = f"no record of step {steps1}, from which W_ov was frozen"
        raise InputError(f"{as_run_file(file).where}: step1", got=got, expected="one of its steps, or no stage 1")
    return _compared(data, file, trajectory, progress, steps1)


def _compared(
    data: Dataset,
    file: str | PathLike[str],
    trajectory: Trajectory,
    progress: Callable[[float], None],
    steps1: int | None = None,
) -> Conformity:
    """Compare the trajectory of a file with Algorithm 1 at the file's step sizes."""
    found = tuple(compared(data, trajectory, progress=progress, steps1=steps1))
    after = STEPS1 if steps1 is None else steps1
    assumed = f", W_ov being Algorithm 1's after {after} steps" if found[0].stage == 2 else ""
    assumed = {"given": ", W_ov as given", "joint": ""}.get(trajectory.head, assumed)
    carried = trajectory.head != "trained"
    return Conformity(printable(data.name), as_run_file(file).label, found, "Algorithm 1", _place, assumed, carried)


def _place(at: Departure) -> str:
    """Stage, step, and the column of W_ov or W_kq."""
    return f"stage {at.stage}, step {at.step}, {'query' if at.stage == 2 else 'token'} {printable(at.token)}"
