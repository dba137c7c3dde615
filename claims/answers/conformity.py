"""Result of `marginaudit conform`: a recorded run compared with the algorithm of its dataset's paper."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from marginaudit.orders import counted
from marginaudit.training.departure import Departure, StageComparison

UNKNOWN = "none of those that are tested"


@dataclass(frozen=True)
class Conformity:
    """Departures of a recorded run, as text and JSON.

    Attributes
    ----------
    stages : tuple of StageComparison
        The stages in the file.
    algorithm : str
        Name of the reference algorithm.
    place : callable, departure -> its place in words (stage, step and token)
    assumed : str
        Assumptions of the comparison, after a comma; "" for none.
    carried : bool
        Whether audits carry statements over from a conforming run too: it draws samples, or its W_ov is not trained.
    """

    dataset: str
    file: str
    stages: tuple[StageComparison, ...]
    algorithm: str
    place: Callable[[Departure], str]
    assumed: str = ""
    carried: bool = False

    @property
    def departs_at(self) -> Departure | None:
        """The first departure, if any."""
        return next((stage.departs_at for stage in self.stages if stage.departs_at is not None), None)

    @property
    def conforms(self) -> bool | None:
        """Whether no recorded step departs; None if rounding leaves all of them undecided."""
        return False if self.departs_at is not None else True if self.decided else None

    @property
    def premises_met(self) -> bool:
        """Whether the whole run is known to follow the paper's algorithm."""
        return not self.carried and all(stage.premise_met for stage in self.stages)

    @property
    def records(self) -> int:
        """Records of all stages."""
        return sum(stage.records for stage in self.stages)

    @property
    def decided(self) -> int:
        """Number of records that are decidable despite rounding."""
        return sum(stage.decided for stage in self.stages)

    @property
    def rule(self) -> str | None:
        """The rule that all steps after the first records follow, the algorithm's name or a cause; None if unknown."""
        rules = [stage.rule(self.algorithm) for stage in self.stages]
        return next((rule for rule in rules if rule != self.algorithm), self.algorithm)

    def answer(self, command: str) -> str:
        """Records decided, what was found, which rows an audit carries over, and the command of that audit."""
        records, carried = counted(self.records, "record"), not self.premises_met
        rows = "every row on its weights" if carried else "no row"
        return (
            f"{self.file}: {self.decided} of {records} decided; {self._found}; {rows} will be `carried over`; "
            f"next: {command}"
        )

    @property
    def _found(self) -> str:
        at = self.departs_at
        if at is None:
            return self._followed
        stage = next(one for one in self.stages if one.departs_at is at)
        if not stage.goes_on:
            return f"departs from {self.algorithm} at {self.place(at)}; cause: {at.cause or UNKNOWN}"
        start = f"{at.cause or 'another first record'} at {self.place(at)}, then "
        if stage.later is None:
            return f"{start}{'follows' if stage.decided > 1 else 'undecided whether it follows'} {self.algorithm}"
        return f"{start}departs at {self.place(stage.later)}; cause: {stage.later.cause or UNKNOWN}"

    @property
    def _followed(self) -> str:
        """Which records of a run without a departure are known to follow the algorithm."""
        if not self.decided:
            return f"whether they follow {self.algorithm} is undecided"
        whole = self.decided == self.records
        return f"all follow {self.algorithm}" if whole else f"these follow {self.algorithm}, the others are undecided"

    @property
    def line(self) -> str:
        """The result in one line, with size and cause of departures."""
        stage = next((stage for stage in self.stages if stage.departs_at is not None), None)
        notes = "".join(f"; {stage.note}" for stage in self.stages if stage.note)
        if stage is None or stage.departs_at is None:
            records = counted(self.records, "record")
            found = "conforms" if self.decided else "is undecided"
            return f"{self.file} {found} on {self.dataset}{self.assumed}: {self.decided} of {records} decided{notes}"
        found = f"{self.file} departs on {self.dataset} at {self._words(stage.departs_at)}"
        if stage.goes_on and stage.later is None:
            records = counted(stage.records - 1, "record")
            found += f"; from there on {stage.decided - 1} of {records} are decided to be {self.algorithm}'s"
        elif stage.later is not None:
            found += f"; from there on it departs at {self._words(stage.later)}"
        return found + notes

    def _words(self, at: Departure) -> str:
        explained = f"off by {at.error:.3g} where {at.explained} explains {at.bar:.3g}"
        return f"{self.place(at)}: {explained}; cause: {at.cause or UNKNOWN}"

    def as_document(self) -> dict[str, Any]:
        """The result in JSON."""
        return {
            "dataset": self.dataset,
            "file": self.file,
            "conforms": self.conforms,
            **_document(self.departs_at),
            "decided": self.decided,
            "start": "given" if any(one.start == "given" for one in self.stages) else "zero",
            "rule": self.rule,
            "stages": [
                {"stage": one.stage, "lr": one.lr, "records": one.records, "decided": one.decided}
                | _document(one.departs_at)
                | {"start": one.start, "rule": one.rule(self.algorithm), "note": one.note or None}
                | ({"later": _document(one.later)} if one.goes_on else {})
                for one in self.stages
            ],
        }


def _document(at: Departure | None) -> dict[str, Any]:
    if at is None:
        return {"departs_at": None, "cause": None, "value": None}
    names = ("stage", "step", "error", "bar", "token")
    return {"departs_at": {name: getattr(at, name) for name in names}, "cause": at.cause, "value": at.value}
