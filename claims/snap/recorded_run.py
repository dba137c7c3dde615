"""Recorded run on sequence classes from elsewhere: judged by its file alone, and compared with Lemma 1's SGD."""

from collections.abc import Callable, Mapping
from functools import cached_property
from os import PathLike
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.answers.conformity import Conformity
from marginaudit.claims.claim import BeyondTheRun, NotJudged
from marginaudit.claims.judgements.sampled.drawing import CONFIDENCE
from marginaudit.claims.run import Progress, Rows
from marginaudit.claims.snap.config import ClassConfig, RecordedClassConfig
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.snap.training import dominant
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.verdict import Evidence
from marginaudit.orders import InputError, counted, printable
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training import log_spaced
from marginaudit.training.departure import Departure
from marginaudit.training.snap.recorded.conformity import compared_classes
from marginaudit.training.snap.recorded.mean_steps import BatchRule, MeanGradients, MeanSteps, single_steps
from marginaudit.training.snap.recorded.repeated import MOST_SEQUENCES, RUNS, MeanOfRuns
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
        self._path, given = path, self.config
        self._rule = None
        if given.batch is not None and given.length is not None:
            self._rule = BatchRule(given.batch, given.length, given.momentum)
        self._trajectory = read_class_trajectory(path, dataset)

    @property
    def recorded(self) -> ClassTrajectory:
        """The recorded trajectory."""
        self.ask_premise()
        return self._trajectory

    def begin(self) -> None:
        """Reset the flags of the next claim."""
        super().begin()
        self.used_noise = False

    @property
    def undecided(self) -> str:
        """Note on the draw of the sequences."""
        return self._drawn if self.used_noise else SAMPLED

    @property
    def _drawn(self) -> str:
        rule, steps = self._declared, len(self._mean_steps.before)
        single = f"{steps} steps that the file shows alone, over the draw at the weights before each"
        spans = f"{counted(steps, 'span')} between records, over {RUNS} runs from the same start"
        return (
            f"Means of {single if self._mean_steps.alone else spans}, in batches of {rule.batch} sequences of "
            f"{rule.length} tokens; all their error bars hold together with confidence {CONFIDENCE:g}."
        )

    @property
    def sampled(self) -> Mapping[str, Any]:
        """Confidence, number of sequences and seed, if the current claim used the bars of `mean_steps`."""
        if not self.used_noise:
            return {}
        samples, seed = len(self._mean_steps.before) * self._declared.batch, self.config.seed
        return {"evidence": Evidence.SAMPLED, "confidence": CONFIDENCE, "samples": samples, "seed": seed}

    @property
    def mean_steps(self) -> MeanSteps | None:
        """Mean steps of Z, with error bars for the draw of the sequences, if the run's rule is declared; else None.

        Raises
        ------
        BeyondTheRun
            The file has one record, or the run is too long to be repeated.
        NotJudged
            The file has no Y of tokens or no start, or a step size is not given.
        """
        if self._rule is None:
            return None
        self.ask_premise()
        found = self._mean_steps
        if not len(found.before):
            raise BeyondTheRun("there are no two records")
        if isinstance(found, MeanOfRuns) and found.sequences > MOST_SEQUENCES:
            raise BeyondTheRun(f"{RUNS} runs have {found.sequences} sequences, more than {MOST_SEQUENCES}")
        return found

    @property
    def _declared(self) -> BatchRule:
        if self._rule is None:
            raise NotJudged("it needs the run's rule, which the file does not hold: give --batch and --length")
        return self._rule

    @cached_property
    def _mean_steps(self) -> MeanSteps:
        decoder, attention = read_weights(self._path, self.dataset)
        config, logits, rule = self.config, self.logits, self._declared
        if decoder.weights.shape[1] != self.M:
            raise NotJudged("its noise depends on Y [contextual token, next token], and the file has another Y")
        adam = config.update == "adam"
        if not adam and len(single_steps(attention.step, rule.momentum)):
            return MeanGradients(logits, decoder, attention, rule, self.eta_Z, config.seed, CONFIDENCE)
        if (adam or rule.momentum) and attention.step[0] != 0:
            raise NotJudged(
                "the optimizer's averages at the first record are not in the file, as that is not at step 0"
            )
        return MeanOfRuns(logits, decoder, attention, rule, (self.eta_Y, self.eta_Z), config.seed, adam=adam)

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
