"""A recorded run beside Algorithm 1: where it departs, in words and in JSON."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marginaudit.orders import counted, printable, shown_path
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.recorded.conformity import STEPS1, Compared, Departure, compared
from marginaudit.training.ntp.recorded.trajectory import Trajectory


@dataclass(frozen=True)
class Conformity:
    """A recorded run beside Algorithm 1.

    Attributes
    ----------
    dataset, file : str
    stages : tuple of Compared
        Those that the file holds.
    steps1 : int
        The step of stage 1 from which W_ov is taken to be frozen.
    """

    dataset: str
    file: str
    stages: tuple[Compared, ...]
    steps1: int

    @property
    def departs_at(self) -> Departure | None:
        """The first departure, if there is one."""
        return next((stage.departs_at for stage in self.stages if stage.departs_at is not None), None)

    @property
    def conforms(self) -> bool:
        """Whether no recorded step departs."""
        return self.departs_at is None

    @property
    def premises_met(self) -> bool:
        """Whether all of it is known to be Algorithm 1."""
        return self.conforms and self.decided == self.records

    @property
    def records(self) -> int:
        """How many there are."""
        return sum(stage.records for stage in self.stages)

    @property
    def decided(self) -> int:
        """At how many of them rounding does not explain everything."""
        return sum(stage.decided for stage in self.stages)

    @property
    def line(self) -> str:
        """The answer in one line."""
        at = self.departs_at
        if at is None:
            records = counted(self.records, "record")
            assumed = f", W_ov being Algorithm 1's after {self.steps1} steps" if self.stages[0].stage == 2 else ""
            return f"{self.file} conforms on {self.dataset}{assumed}: {self.decided} of {records} decided"
        where = f"stage {at.stage}, step {at.step}, {'query' if at.stage == 2 else 'token'} {printable(at.token)}"
        cause = at.cause or "none of those that are tested"
        by = f"off by {at.error:.3g} where rounding explains {at.bar:.3g}"
        return f"{self.file} departs on {self.dataset} at {where}: {by}; cause: {cause}"

    def as_document(self) -> dict[str, Any]:
        """The answer in JSON."""
        at = self.departs_at
        return {
            "dataset": self.dataset,
            "file": self.file,
            "conforms": at is None,
            **_document(at),
            "stages": [
                {"stage": one.stage, "lr": one.lr, "records": one.records, "decided": one.decided}
                | _document(one.departs_at)
                for one in self.stages
            ],
        }


def compared_with(
    data: Dataset, file: Path, trajectory: Trajectory, progress: Callable[[float], None], steps1: int | None = None
) -> Conformity:
    """The trajectory of a file beside Algorithm 1, by its own step sizes."""
    found = tuple(compared(data, trajectory, progress=progress, steps1=steps1))
    return Conformity(printable(data.name), shown_path(str(file)), found, STEPS1 if steps1 is None else steps1)


def _document(at: Departure | None) -> dict[str, Any]:
    if at is None:
        return {"departs_at": None, "cause": None, "value": None}
    names = ("stage", "step", "error", "bar", "token")
    return {"departs_at": {name: getattr(at, name) for name in names}, "cause": at.cause, "value": at.value}
