"""A recorded run beside the algorithm of its dataset's paper: the answer of `marginaudit conform`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from marginaudit.orders import counted
from marginaudit.training.conformity import Compared, Departure


@dataclass(frozen=True)
class Conformity:
    """Departures of a recorded run, in words and in JSON.

    Attributes
    ----------
    dataset, file : str
    stages : tuple of Compared
        Those that the file holds.
    algorithm : str
        Name of the algorithm that the run is compared with.
    place : from a departure to its place in words: stage, step and token
    assumed : str
        Assumptions of the comparison, after a comma; "" for none.
    """

    dataset: str
    file: str
    stages: tuple[Compared, ...]
    algorithm: str
    place: Callable[[Departure], str]
    assumed: str = ""

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
        """Whether all of it is known to be the paper's algorithm."""
        return all(stage.premise_met for stage in self.stages)

    @property
    def records(self) -> int:
        """Records of all stages."""
        return sum(stage.records for stage in self.stages)

    @property
    def decided(self) -> int:
        """Records at which rounding does not explain everything."""
        return sum(stage.decided for stage in self.stages)

    @property
    def line(self) -> str:
        """The answer in one line."""
        at = self.departs_at
        if at is None:
            records = counted(self.records, "record")
            return f"{self.file} conforms on {self.dataset}{self.assumed}: {self.decided} of {records} decided"
        cause = at.cause or "none of those that are tested"
        by = f"off by {at.error:.3g} where {at.explained} explains {at.bar:.3g}"
        return f"{self.file} departs on {self.dataset} at {self.place(at)}: {by}; cause: {cause}"

    def as_document(self) -> dict[str, Any]:
        """The answer in JSON."""
        return {
            "dataset": self.dataset,
            "file": self.file,
            "conforms": self.conforms,
            **_document(self.departs_at),
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
