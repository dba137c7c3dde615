"""A recorded run on sequence classes beside the batch-1 SGD of Lemma 1."""

from collections.abc import Callable
from pathlib import Path

from marginaudit.claims.answers.conformity import Conformity
from marginaudit.claims.snap.config import RecordedClassConfig
from marginaudit.orders import InputError, printable, shown_path
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.departure import Departure
from marginaudit.training.snap.recorded.conformity import compared_classes
from marginaudit.training.snap.recorded.trajectory import read_weights


def _place(at: Departure) -> str:
    """Y's column, Z's row, or the draws."""
    of = "query" if at.stage == "Z" else "token" if at.explained == "chance" else "next token"
    return f"{at.stage}, step {at.step}, {of} {printable(at.token)}"


def conformity(
    dataset: SequenceClasses, origin: str, file: Path, config: RecordedClassConfig, progress: Callable[[float], None]
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
        raise InputError(f"{shown_path(file)}: Y", got=f"shape {decoder.weights.shape}", expected=expected)
    found = compared_classes(dataset, decoder, attention, config.eta_Y, config.eta_Z, progress)
    algorithm = "SGD on one sequence a step"
    return Conformity(printable(dataset.name), shown_path(str(file)), tuple(found), algorithm, _place)
