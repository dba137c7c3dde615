"""Is a recorded run Algorithm 1? The answer of `marginaudit conform` and of the pytest fixture `conforms`."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marginaudit.orders import counted, printable, shown_path
from marginaudit.orders.ntp import Dataset
from marginaudit.reports.audit.sources import load
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.ntp.trainable import trainable
from marginaudit.training.ntp.recorded.conformity import STEPS1, Compared, Departure, compared
from marginaudit.training.ntp.recorded.trajectory import read_trajectory


@dataclass(frozen=True)
class Conformity:
    """A recorded run beside Algorithm 1.

    Attributes
    ----------
    dataset, file : str
    stages : tuple of Compared
        Those that the file holds.
    """

    dataset: str
    file: str
    stages: tuple[Compared, ...]

    @property
    def departs_at(self) -> Departure | None:
        """The first departure, if there is one."""
        return next((stage.departs_at for stage in self.stages if stage.departs_at is not None), None)

    @property
    def conforms(self) -> bool:
        """Whether no recorded step departs."""
        return self.departs_at is None

    @property
    def line(self) -> str:
        """The answer in one line."""
        at = self.departs_at
        if at is None:
            decided, records = (sum(getattr(stage, name) for stage in self.stages) for name in ("decided", "records"))
            assumed = f", W_ov being Algorithm 1's after {STEPS1} steps" if self.stages[0].stage == 2 else ""
            return f"{self.file} conforms on {self.dataset}{assumed}: {decided} of {counted(records, 'record')} decided"
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


def _document(at: Departure | None) -> dict[str, Any]:
    if at is None:
        return {"departs_at": None, "cause": None, "value": None}
    names = ("stage", "step", "error", "bar", "token")
    return {"departs_at": {name: getattr(at, name) for name in names}, "cause": at.cause, "value": at.value}


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
    stages = compared(data, read_trajectory(Path(file), data), lr1, lr2, progress)
    return Conformity(printable(data.name), shown_path(os.fspath(file)), tuple(stages))
