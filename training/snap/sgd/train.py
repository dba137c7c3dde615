"""Training on sampled sequences as in section 8, at several step sizes on the same samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.snap.sgd.kernel import follow
from marginaudit.training.snap.sgd.samples import classes_of, drawn


@dataclass(frozen=True)
class Recipe:
    """Mini-batch training of Y and Z on sampled sequences.

    Defaults are those of Syn-Medium. Syn-Small starts at "zero".

    Source: arXiv 2305.16380, section 8, and the settings published by its authors.

    Attributes
    ----------
    batch : int
        Samples per update; the loss is their mean.
    length : int
        Contextual tokens per sample, without the query.
    optimizer : "momentum" or "adam"
        v <- momentum v + g, w <- w - eta v; or Adam with the moments .9 and .999 and epsilon 1e-8.
    start : "uniform" or "zero"
        Y and Z from the uniform distribution on [-1/sqrt(M), 1/sqrt(M)], or 0.

    Raises
    ------
    ValueError
        A number is out of range, or a name is unknown.
    """

    updates: int = 100
    batch: int = 128
    length: int = 127
    optimizer: Literal["momentum", "adam"] = "momentum"
    momentum: float = 0.9
    start: Literal["uniform", "zero"] = "uniform"

    def __post_init__(self) -> None:
        for name, least in (("updates", 0), ("batch", 1), ("length", 1)):
            if not getattr(self, name) >= least:
                raise ValueError(f"{name}: got {getattr(self, name)}, expected at least {least}")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum: got {self.momentum}, expected at least 0 and below 1")
        for name, known in (("optimizer", ("momentum", "adam")), ("start", ("uniform", "zero"))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name}: got {getattr(self, name)!r}, expected {' or '.join(known)}")


@dataclass(frozen=True, eq=False)
class Sampled:
    """Runs on the samples of one seed.

    Attributes
    ----------
    rates : tuple of pairs
        (eta_Y, eta_Z) of each run.
    loss : (runs, updates) array
        Mean cross-entropy of each batch before its update, in nats.
    Z : (runs, updates + 1, queries, contextual) array
        Rows of queries, in the order of `SequenceClasses.queries`, before and after each update.
    Y : (runs, contextual, M) array
        After the last update; columns in the order of `SequenceClasses.tokens`, unnamed tokens last.
    """

    rates: tuple[tuple[float, float], ...]
    loss: Floats
    Z: Floats
    Y: Floats


def train_sampled(data: SequenceClasses, recipe: Recipe, rates: Sequence[tuple[float, float]], seed: int) -> Sampled:
    """Train Y and Z from one start on one stream of samples, once for each pair (eta_Y, eta_Z).

    Parameters
    ----------
    rates : sequence of pairs
    seed : int
        Seed of the samples and the start, shared by all rates, so that runs differ only by rates.

    Raises
    ------
    ValueError
        A rate is negative or not finite.

    >>> from marginaudit.orders.snap import syn_medium
    >>> found = train_sampled(syn_medium(1), Recipe(updates=3), [(1.0, 1.0), (5.0, 1.0)], seed=0)
    >>> found.Z.shape, found.loss.round(3).tolist()
    ((2, 4, 1, 30), [[3.492, 3.071, 2.325], [3.492, 1.583, 0.236]])
    """
    pairs = tuple((float(lr_y), float(lr_z)) for lr_y, lr_z in rates)
    for lr in (lr for pair in pairs for lr in pair):
        if not 0 <= lr < np.inf:
            raise ValueError(f"rates: got {lr}, expected finite numbers of at least 0")
    rng = np.random.default_rng(seed)
    shapes = (len(data.contextual), data.M), (len(data.queries), len(data.contextual))
    bound = 1 / np.sqrt(data.M) if recipe.start == "uniform" else 0.0
    Y, Z = (rng.uniform(-bound, bound, shape) for shape in shapes)
    classes = classes_of(data)
    samples = drawn(classes, data.frequencies, recipe.updates * recipe.batch, recipe.length, rng)
    found = Sampled(
        rates=pairs,
        loss=np.empty((len(pairs), recipe.updates)),
        Z=np.empty((len(pairs), recipe.updates + 1, *shapes[1])),
        Y=np.broadcast_to(Y, (len(pairs), *shapes[0])).copy(),
    )
    momentum = -1.0 if recipe.optimizer == "adam" else recipe.momentum
    for run, (lr_y, lr_z) in enumerate(pairs):
        now = Z.copy()
        follow(classes, samples, recipe.batch, found.Y[run], now, lr_y, lr_z, momentum, found.loss[run], found.Z[run])
    return found
