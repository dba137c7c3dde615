"""Recorded run on sequence classes from elsewhere: judged by its file alone, and compared with Lemma 1's SGD."""

from collections.abc import Callable
from functools import cached_property
from os import PathLike
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.answers.conformity import Conformity
from marginaudit.claims.claim import NotJudged
from marginaudit.claims.run import Progress, Rows
from marginaudit.claims.snap.config import ClassConfig, RecordedClassConfig
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.snap.training import dominant
from marginaudit.claims.values.json_data import finite
from marginaudit.orders import InputError, printable
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training import log_spaced
from marginaudit.training.departure import Departure
from marginaudit.training.snap.recorded.conformity import compared_classes
from marginaudit.training.snap.recorded.trajectory import ClassTrajectory, read_class_trajectory, read_weights
from marginaudit.training.weight_files.run_file import as_run_file

SAMPLED = (
    "The statements are about the limit of long sequences; if the run samples its sequences, every step has "
    "sampling noise, which the error bars do not include."
)


class RecordedClassRun(ClassRun):
    """Sequence classes with Y and Z from a file, possibly of another algorithm than the paper's.

    Raises
    ------
    InputError
        The file holds no trajectory of the dataset.
    """

    departs = True

    def __init__(
        self, dataset: SequenceClasses, config: ClassConfig | None, progress: Progress | None, path: str | PathLike[str]
    ) -> None:
        super().__init__(dataset, config, progress)
        self._trajectory = read_class_trajectory(path, dataset)

    @property
    def recorded(self) -> ClassTrajectory:
        """The recorded trajectory."""
        self.ask_premise()
        return self._trajectory

    @property
    def undecided(self) -> str:
        """Note on facts missing in the file."""
        return SAMPLED

    @property
    def known_rates(self) -> bool:
        """Whether both step sizes are given."""
        return None not in (self.config.lr_y, self.config.lr_z)

    @property
    def eta_Y(self) -> float:
        """The configured step size; the file does not record it."""
        if self.config.lr_y is None:
            raise NotJudged("it needs eta_Y, on which h, gamma and t_0 depend: the file does not hold it, give --lr-y")
        return self.config.lr_y

    @property
    def eta_Z(self) -> float:
        """The configured step size; the file does not record it."""
        if self.config.lr_z is None:
            raise NotJudged("it needs eta_Z, on which z-dot and B depend: the file does not hold it, give --lr-z")
        return self.config.lr_z

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """Steps t up to the last record, about 20 a decade, for closed forms in t and the step sizes."""
        return np.array(log_spaced(int(self._trajectory.step[-1]))[1:], dtype=np.int64)

    @property
    def drawn_steps(self) -> NoReturn:
        """Raise: the sequences of a recorded run are not in its file."""
        raise NotJudged("it is about the classes drawn up to a step, and the file holds Y and Z alone")

    @property
    def path(self) -> NoReturn:
        """Raise: a recorded run need not follow eq. 10."""
        raise NotJudged("it is about z-dot and B at given z, by eq. 10, and the file holds z alone")

    def facts(self) -> dict[str, Any]:
        """The trajectory in report.json: its records, the entropy of attention, and when the decoder scanned."""
        found = self._trajectory
        scanned = (found.margins >= np.log(self.M)).all(axis=1)
        return {
            "precision": found.precision,
            "records": len(found.step),
            "first": int(found.step[0]),
            "last": int(found.step[-1]),
            "entropy": {name: finite(found.entropy[[0, -1], n]) for n, name in enumerate(self.dataset.next_tokens)},
            "scanned": int(found.step[int(np.argmax(scanned))]) if scanned.any() else None,
        }

    def records(self) -> Rows:
        """Entropy, margin and z of the most probable distinct token of each class, one row per record."""
        found, names, top = self._trajectory, self.dataset.next_tokens, dominant(self.dataset)
        place = {name: found.logits.position(names.index(name), token) for name, token in top.items()}
        header = ["step", *(f"{what} {name}" for what in ("entropy", "margin") for name in names)]
        header += [f"z {token} of {name}" for name, token in top.items()]
        table = [
            [int(t), *finite(found.entropy[i]), *finite(found.margins[i]), *finite(found.z.value[i, [*place.values()]])]
            for i, t in enumerate(found.step)
        ]
        return header, table


def _place(at: Departure) -> str:
    """Y's column, Z's row, or the draws."""
    of = "query" if at.stage == "Z" else "token" if at.explained == "chance" else "next token"
    return f"{at.stage}, step {at.step}, {of} {printable(at.token)}"


def conformity(
    dataset: SequenceClasses,
    origin: str,
    file: str | PathLike[str],
    config: RecordedClassConfig,
    progress: Callable[[float], None],
) -> Conformity:
    """Compare the Y and Z of a file with Lemma 1's steps.

    Raises
    ------
    InputError
        The file is no trajectory of the dataset, or holds the logits of its classes in place of Y.
    """
    decoder, attention = read_weights(file, dataset)
    M = dataset.M
    if decoder.weights.shape[1] != M:
        expected = f"(n, {M}, {M}), as a step moves the decoder"
        raise InputError(f"{as_run_file(file).where}: Y", got=f"shape {decoder.weights.shape}", expected=expected)
    found = compared_classes(dataset, decoder, attention, config.eta_Y, config.eta_Z, progress)
    algorithm = "SGD on one sequence a step"
    return Conformity(printable(dataset.name), as_run_file(file).label, tuple(found), algorithm, _place, carried=True)
