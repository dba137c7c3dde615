"""Recorded trajectories of Y and Z on sequence classes."""

from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.approximation import Approximation
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.weight_files.run_file import Target, as_run_file
from marginaudit.training.weight_files.run_file import read_weights as read_targets

MOST_RECORDS, MOST_NUMBERS = 2000, 20_000_000
"""Limits on the measured records, and on their entries of z and E in total; at least two are measured."""

LARGEST_Z = 1e6
"""Largest |z| of a record. Beyond it attention is on one token, and powers of an error of z overflow."""

LEAST_CHANGE = float(np.finfo(np.float64).tiny)
"""Error bar of a recorded z = 0, so that two zeros in a row are not read as "did not move"."""


@dataclass(frozen=True, eq=False)
class ClassTrajectory:
    """Recorded trajectory of Y and Z, as read.

    Attributes
    ----------
    logits : Logits
        The (query, token) pairs of z.
    step : (n,) array
    z : Approximation, shape (n, pairs)
        With an error of one rounding to the file's precision.
    decoder : Recorded
        Y (M, M), [token, token], or logits Y^T f_n (K, M) of each class.
    kept : (n,) array
        Records of the decoder at these steps.
    precision : str
        Precision of Z.
    """

    logits: Logits
    step: NDArray[np.int64]
    z: Approximation
    decoder: Recorded
    kept: NDArray[np.int64]
    precision: str

    @property
    def starts_at_zero(self) -> bool:
        """Whether the first record is Z = 0 at step 0."""
        return bool(self.step[0] == 0 and not self.z.value[0].any())

    @cached_property
    def spans(self) -> NDArray[np.int64]:
        """Records i >= 1 at the end of a span in which z can move: the first step from 0 has zero gradient."""
        return np.flatnonzero(self.step[1:] >= 2) + 1

    @cached_property
    def z_dot(self) -> Approximation:
        """Change of z per step over each of the `spans`, shape (spans, pairs)."""
        taken = (self.step[self.spans] - self.step[self.spans - 1]).astype(np.float64)
        return (self.z[self.spans] - self.z[self.spans - 1]) / taken[:, np.newaxis]

    @cached_property
    def entropy(self) -> Floats:
        """Entropy of each class's attention c_n in nats, shape (n, classes)."""
        found = []
        for z in self.z.value:
            f = self.logits.attended(z)
            c = f / f.sum(axis=1, keepdims=True)
            found.append(-(c * np.log(np.where(c > 0, c, 1.0))).sum(axis=1))
        return np.array(found)

    @cached_property
    def margins(self) -> Floats:
        """Margin of each class's next-token logit over the others' mean, M h for Y of Lemma 5, shape (n, classes)."""
        data, own = self.logits.data, np.arange(self.logits.data.K)
        rows, following = ([data.index[token] for token in names] for names in (data.contextual, data.next_tokens))
        found = []
        for z, i in zip(self.z.value, self.kept, strict=True):
            Y = self.decoder.weights[i]
            with np.errstate(over="ignore", invalid="ignore"):  # shown as null
                if len(Y) == data.K != data.M:
                    w = Y.astype(np.float64)
                else:
                    w = self.logits.attended(z) @ Y[rows].astype(np.float64)
                top = w[own, following]
                found.append(top - (w.sum(axis=1) - top) / max(1, data.M - 1))
        return np.array(found)


def read_class_trajectory(file: str | PathLike[str], dataset: SequenceClasses) -> ClassTrajectory:
    """Read a trajectory: rows of Z are queries, and tokens are in the order of `SequenceClasses.tokens`.

    Raises
    ------
    InputError
        The file cannot be read, is no .npz file of such arrays, or belongs to another dataset.
    """
    decoder, attention = read_weights(file, dataset)
    K, where = dataset.K, as_run_file(file).where
    logits = Logits(dataset)
    kept = _kept(len(attention.step), len(logits.names) + K * K)
    z = _z(logits, attention, kept)
    if (largest := np.abs(z.value).max(initial=0.0)) > LARGEST_Z:
        raise InputError(f"{where}: Z", got=f"{largest:.3g}", expected=f"sizes up to {LARGEST_Z:g}")
    return ClassTrajectory(
        logits=logits,
        step=attention.step[kept],
        z=z,
        decoder=decoder,
        kept=kept,
        precision=attention.precision,
    )


def read_weights(file: str | PathLike[str], dataset: SequenceClasses) -> tuple[Recorded, Recorded]:
    """Read Y and Z of a file at all its steps.

    Raises
    ------
    InputError
        See `read_class_trajectory`.
    """
    run, M, K = as_run_file(file), dataset.M, dataset.K
    if run.head:
        raise InputError("--head", got="sequence classes", expected="a dataset of sentences, whose model has a W_ov")
    targets = {"Y": Target("step", ((M, M), (K, M))), "Z": Target("step", ((len(dataset.queries), M),))}
    found = read_targets(run, targets).records
    if missing := [name for name in targets if name not in found]:
        raise InputError(run.where, got=f"no {', '.join(missing)}", expected="step, Y and Z of sequence classes")
    return found["Y"], found["Z"]


def _kept(count: int, numbers: int) -> NDArray[np.int64]:
    """Indices of evenly spaced records, as many as `MOST_NUMBERS` allows."""
    most = max(2, min(MOST_RECORDS, MOST_NUMBERS // numbers))
    return np.unique(np.rint(np.linspace(0, count - 1, min(count, most))).astype(np.int64))


def _z(logits: Logits, attention: Recorded, kept: NDArray[np.int64]) -> Approximation:
    columns = np.array([logits.data.index[token] for token in logits.data.contextual], dtype=np.int64)
    query, token = logits.pairs
    z = np.array([attention.weights[i][query, columns[token]] for i in kept], dtype=np.float64)
    full = np.zeros(attention.weights.shape[1:])
    excess = np.array([(full + attention.excess(i))[query, columns[token]] for i in kept])
    return Approximation(z, attention.roundoff * np.abs(z) + excess + LEAST_CHANGE)
