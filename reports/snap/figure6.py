"""The grid of figures 6, 11 and 12 of arXiv 2305.16380: Syn-Medium at sixteen pairs of step sizes."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses, syn_medium
from marginaudit.reports.run import once_a_run
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.sgd import Recipe, train_sampled

LR_Z = (0.5, 1.0, 2.0, 3.0)
"""eta_Z."""

RATIOS = (1.0, 2.0, 5.0, 10.0)
"""eta_Y/eta_Z."""

NUM_LAST = (1, 3, 5, 10)
"""Queries of Syn-Medium."""

SEEDS = 10
"""Of the figures."""

FIRST_SEEDS = 12
"""With which an audit begins."""

Cell = tuple[float, float]
"""eta_Z and eta_Y/eta_Z."""

ROUNDING = 1e-12
"""Relative, of probabilities that were written to a file and read."""

CELLS: tuple[Cell, ...] = tuple(product(LR_Z, RATIOS))


def last_scores(data: SequenceClasses, cells: Sequence[Cell], seeds: Sequence[int]) -> Floats:
    """Z after the last of 100 updates, shape (seeds, cells, queries, contextual)."""
    rates = [(ratio * lr_z, lr_z) for lr_z, ratio in cells]
    return np.array([train_sampled(data, Recipe(), rates, seed).Z[:, -1] for seed in seeds])


@once_a_run
def scores(run: ClassRun, cells: tuple[Cell, ...], first: int, stop: int) -> Floats:
    """`last_scores` of the run's seeds from ``first`` to ``stop``."""
    return last_scores(run.dataset, cells, [run.config.seed + i for i in range(first, stop)])


def is_syn_medium(data: SequenceClasses) -> bool:
    """Whether these are the classes of Syn-Medium under its names, for any number of queries."""
    if 2 * len(data.queries) != data.K:
        return False
    known = syn_medium(len(data.queries))
    named, expected = ([(c.next, c.query, c.support) for c in of.classes] for of in (data, known))
    alike = data.M == known.M and named == expected and len(set(data.weights or (1.0,))) == 1
    return alike and np.allclose(data.P, known.P, rtol=ROUNDING, atol=0)
