"""Stage 2's reduced problem on a dataset, put together by hand."""

import numpy as np
from numpy.typing import NDArray

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import Dataset, broken, free_dataset, prefix_closed_dataset
from marginaudit.training.ntp import sample_classes
from marginaudit.training.ntp.model.edges import merged_edges, sentence_edges
from marginaudit.training.ntp.model.reference import exact_reference
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.kq import CommonMargin, GeneralB
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.spaces import TokenKQ

SMALL = free_dataset(V=6, N=14, L=5, seed=1, max_count=3)

WITH_SLACK = free_dataset(V=7, N=20, L=5, seed=36, max_count=2)
"""Two of its constraints are slack at W*_kq."""

REDUCED = {
    "free": WITH_SLACK,
    "prefix-closed": prefix_closed_dataset(V=6, N=14, L=5, seed=2),
    "no majority": broken(free_dataset(V=6, N=10, L=5, seed=2, max_count=3), "optimal_majority"),
    "confused": broken(free_dataset(V=4, N=6, L=4, seed=2, max_count=3), "no_confused_tokens"),
    "cycle": broken(free_dataset(V=4, N=6, L=4, seed=2, max_count=3), "well_defined_orders"),
}


def reduced(
    data: Dataset, A: float, exact: bool = True, normalised: bool = True, lr: float | None = None
) -> tuple[ReducedKQ, Iterate]:
    """The problem and its zero iterate."""
    classes = sample_classes(data)
    edges = sentence_edges(classes, data.V)
    merged = merged_edges(edges, len(classes.key))
    space = TokenKQ(data.V, classes.key, classes.pair_query)
    reference = exact_reference(data, classes, merged, solve_kq(data)) if exact else None
    high, low = (np.zeros(space.shape),) * 2 if reference is None else reference.unit
    problem = ReducedKQ(space, classes, data.V, high, A, edges, merged, reference)
    lr = 0.05 / np.sqrt(data.V) if lr is None else lr
    return problem, Iterate(space.shape, lr, high, reference_low=low, normalised=normalised)


def at_scores(problem: CommonMargin | GeneralB | ReducedKQ, scores: NDArray[np.float64]) -> Iterate:
    """The iterate W = scores."""
    return Iterate(problem.space.shape, 1.0, None).placed(0, np.asarray(scores))


def states(problem: ReducedKQ, seed: int = 0) -> list[NDArray[np.float64]]:
    """Scores of all kinds: zero, mixed, optimal tokens far ahead, others far ahead."""
    rng = np.random.default_rng(seed)
    ahead = np.zeros(problem.space.shape)
    ahead[problem.merged.winner] = 3.0
    noise = rng.normal(size=problem.space.shape)
    return [0 * noise, noise, 3 * noise, ahead + noise, 8 * ahead + noise, noise - ahead]


def reference(data: Dataset, seed: int = 0) -> NDArray[np.float64]:
    """Any direction."""
    return np.random.default_rng(seed).normal(size=(data.V, data.V))


def rotation(V: int, d: int, seed: int = 0) -> NDArray[np.float64]:
    """Orthonormal tokens."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, V)))[0].T
