"""Stage 2's reduced problem on a dataset, put together by hand."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import Dataset, broken, free_dataset, prefix_closed_dataset
from marginaudit.training.ntp import sample_classes
from marginaudit.training.ntp.model.edges import merged_edges, sentence_edges
from marginaudit.training.ntp.model.reference import exact_reference
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.kq_loss import CommonMargin, GeneralB
from marginaudit.training.ntp.steps.loss import Loss, Row, TokenGradient
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.spaces import TokenKQ, WeightSpace
from marginaudit.training.ntp.steps.stepper import Stepper

Array = NDArray[np.float64]

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


def answers(data: Dataset) -> NDArray[np.int64]:
    """n(x) of every token."""
    n = data.collocation.require_function()
    return np.array([data.index[n[x]] for x in data.vocabulary])


def dense(data: Dataset, A: float, scores: Array) -> tuple[Array, Array]:
    """W_ov of one margin A, and W_kq with the scores on the pairs and 0 elsewhere, as (V, V) arrays."""
    classes, S = sample_classes(data), np.zeros((data.V, data.V), dtype=scores.dtype)
    S[classes.key, classes.pair_query] = scores
    return A * np.eye(data.V)[:, answers(data)], S


def unreduced(
    data: Dataset, A: float, form: str, what: Array | None = None, B: Array | None = None
) -> CommonMargin | GeneralB:
    """The "common" or "general" form of the loss at one margin A, or at B."""
    classes = sample_classes(data)
    space = TokenKQ(data.V, classes.key, classes.pair_query)
    what = np.zeros(space.shape) if what is None else what
    if form == "common":
        return CommonMargin(space, classes, data.V, what, A)
    return GeneralB(space, classes, data.V, what, dense(data, A, what)[0] if B is None else B)


def at_scores(problem: CommonMargin | GeneralB | ReducedKQ, scores: Array) -> Iterate:
    """The iterate W = scores."""
    return Iterate(problem.space.shape, 1.0, None).placed(0, np.asarray(scores))


def states(problem: ReducedKQ, seed: int = 0) -> list[Array]:
    """Scores of all kinds: zero, mixed, optimal tokens far ahead, others far ahead."""
    rng = np.random.default_rng(seed)
    ahead = np.zeros(problem.space.shape)
    ahead[problem.merged.winner] = 3.0
    noise = rng.normal(size=problem.space.shape)
    return [0 * noise, noise, 3 * noise, ahead + noise, 8 * ahead + noise, noise - ahead]


def rotation(V: int, d: int, seed: int = 0) -> Array:
    """Orthonormal tokens."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, V)))[0].T


class Fixed(Loss):
    """A gradient that is given."""

    def __init__(self, space: WeightSpace, found: TokenGradient) -> None:
        self.space, self.found = space, found

    def token_gradient(self, iterate: Iterate) -> TokenGradient:
        return self.found

    def measure(self, iterate: Iterate) -> Row:
        return {}


def both(
    problem: ReducedKQ, iterate: Iterate, moves: int, goal: int, rest: Array | None = None
) -> tuple[Iterate, Iterate]:
    """The states after the compiled and after the NumPy steps, from one state on."""
    fast, slow = (iterate.placed(moves, iterate.rest if rest is None else rest) for _ in range(2))
    stepper = Stepper(problem)
    stepper.advance(fast, goal, lambda t: None)
    while slow.moves < goal and stepper.step(slow):
        pass
    return fast, slow


def assert_same(fast: Iterate, slow: Iterate, tolerance: float = 1e-13) -> None:
    assert fast.moves == slow.moves
    scale = 1 + np.abs(slow.rest).max()
    np.testing.assert_allclose(fast.rest, slow.rest, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(fast.last, slow.last, rtol=0, atol=20 * tolerance)


def near(value: float | np.floating[Any] | tuple[float, float], rel: float) -> Any:
    """Relatively: `pytest.approx` alone takes everything below 1e-12 as equal."""
    return pytest.approx(value, rel=rel, abs=0)
