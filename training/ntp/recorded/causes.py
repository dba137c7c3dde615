"""Possible causes of a departure from Algorithm 1: other rules, each tested on the recorded steps."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from scipy.optimize import nnls

from marginaudit.orders.arrays import Floats
from marginaudit.training.ntp.recorded.gradients import Stage2Loss
from marginaudit.training.ntp.recorded.rules import (
    Rule,
    Stage,
    adam,
    by_column,
    decayed,
    gradient_descent,
    guarded,
    momentum,
    normalised,
    sign,
    together,
    transposed,
    unit,
    with_ov_moving,
)
from marginaudit.training.trajectory import Recorded

FITTED = 4
"""Records from which weights of the mean are found, at most."""

Frozen: TypeAlias = Callable[[Recorded, int], tuple[int, Stage] | None]
"""The number of steps of stage 1 whose W_ov brings stage 2 closest to a record, with this W_ov."""

MOST = 1000
"""Classes of samples whose weights are looked for."""


@dataclass(frozen=True)
class Cause:
    """A rule that may explain the steps.

    Attributes
    ----------
    words : str
        With ``{0}`` where its first number stands.
    rule : from a stage and the numbers to the rule
    starts : pairs of numbers
        Where the search for each number begins.
    remembers : bool
        Whether a step depends on the steps before it.
    stage : Stage or None
        In place of the stage that departs.
    """

    words: str
    rule: Callable[..., Rule]
    starts: tuple[tuple[float, float], ...] = ()
    remembers: bool = False
    stage: Stage | None = None


def causes(stage: Stage, run: Recorded, first: Recorded | None, i: int, frozen: Frozen) -> Iterator[Cause]:
    """Causes for a stage that departs at record ``i``, in the order of trial; ``first`` is the run of stage 1."""
    lr, square = stage.lr, stage.loss.E.shape[0] == stage.loss.E.shape[1]
    sizes = ((lr, 2 * lr),)
    yield Cause("step size 0", lambda stage: normalised(stage, 0.0))
    yield Cause("gradient not normalised", lambda stage: gradient_descent(stage, lr))
    yield Cause("another step size ({0:.4g})", normalised, sizes)
    yield Cause("gradient not normalised, and another step size ({0:.4g})", gradient_descent, sizes)
    if (epsilon := _epsilon(stage, run, i)) > 0:
        yield Cause(
            "epsilon in the norm ({0:.4g})", lambda stage, by: guarded(stage, lr, by), ((epsilon / 2, epsilon),)
        )
    if stage.number == 2 or square:
        name = "W_ov" if stage.number == 1 else "W_kq"
        yield Cause(f"a transposed {name}", lambda stage: transposed(normalised(stage, lr)))
    for words, weights in stage.loss.other_weights().items():
        name = f"the mean over other weights than {'1' if stage.number == 1 else 'pi'} ({words})"
        yield Cause(name, lambda stage, weights=weights: normalised(stage, lr, weights))
    if isinstance(stage.loss, Stage2Loss):
        d = stage.loss.E.shape[1]
        yield Cause("scores divided by sqrt(d)", lambda stage: normalised(stage, lr, scale=1 / np.sqrt(d)))
        if found := frozen(run, i):
            T, other = found
            yield Cause(f"W_ov after {T} steps", lambda stage: normalised(stage, lr), stage=other)
        yield from (replace(cause, remembers=True) for cause in _ov_not_frozen(stage, stage.loss, run, first))
    yield Cause("each column of the gradient normalised by itself", lambda stage: by_column(stage, lr))
    yield Cause("sign descent (step size {0:.4g})", sign, sizes)
    yield Cause("Adam (step size {0:.4g})", adam, sizes, remembers=True)
    yield from (replace(cause, remembers=True) for cause in _momentum(lr))
    yield Cause("weight decay ({0:.4g})", lambda stage, by: decayed(normalised(stage, lr), lr, by), ((0.01, 0.1),))
    if isinstance(stage.loss, Stage2Loss):
        fitted = _fitted_weights(stage, run, i)
        if fitted is not None:
            words = "the mean over other weights than pi (found by least squares)"
            yield Cause(words, lambda stage: normalised(stage, lr, fitted))


def _momentum(lr: float) -> Iterator[Cause]:
    betas, size = (0.5, 0.9), (lr, 2 * lr)
    words = "momentum ({0:.4g})"
    yield Cause(words, lambda stage, beta: momentum(normalised(stage, lr), beta), (betas,))
    words = "momentum ({0:.4g}), and gradient not normalised"
    yield Cause(words, lambda stage, beta: momentum(gradient_descent(stage, lr), beta), (betas,))
    words = "momentum ({1:.4g}), and another step size ({0:.4g})"
    yield Cause(words, lambda stage, lr, beta: momentum(normalised(stage, lr), beta), (size, betas))
    words = "momentum ({1:.4g}), gradient not normalised, and another step size ({0:.4g})"
    yield Cause(words, lambda stage, lr, beta: momentum(gradient_descent(stage, lr), beta), (size, betas))
    words = "momentum ({0:.4g}), as a running mean"
    yield Cause(words, lambda stage, beta: momentum(normalised(stage, lr), beta, share=1 - beta), (betas,))
    words = "Nesterov's momentum ({0:.4g})"
    yield Cause(words, lambda stage, beta: momentum(normalised(stage, lr), beta, nesterov=True), (betas,))


def _epsilon(stage: Stage, run: Recorded, i: int) -> float:
    """The epsilon with which the mean step to record ``i`` has its length, about; 0 where there is none."""
    W, before = (np.asarray(run.weights[i - 1], np.float64), run.step[i - 1]) if i else (np.zeros(1), 0)
    length = float(np.linalg.norm(run.weights[i] - W)) / int(run.step[i] - before)
    norm = float(np.linalg.norm(stage.gradient(np.broadcast_to(W, run.weights.shape[1:])).value))
    return norm * (stage.lr / length - 1) if length > 0 else 0.0


def _fitted_weights(stage: Stage, run: Recorded, i: int) -> Floats | None:
    """Weights of the classes with which the steps to record ``i`` and the next ones have their directions, if any may.

    Least squares for weights w >= 0 and lengths s >= 0 of the gradients, the first of which is 1: the sum of w_c G_c is
    -s change / lr, entry by entry. None where steps are left out, or there are no more equations than numbers.
    """
    classes, last = len(stage.loss.other_weights()["every query alike"]), min(i + FITTED, len(run.step))
    if i == 0 or (np.diff(run.step[i - 1 : last]) > 1).any() or classes > MOST:
        return None
    weights = [np.asarray(run.weights[j], dtype=np.float64) for j in range(i - 1, last)]
    lengths = np.zeros((last - i, weights[0].size, last - i))
    gradients = []
    for k, (W, after) in enumerate(pairwise(weights)):
        gradients.append([stage.gradient(W, one).value.ravel() for one in np.eye(classes)])
        lengths[k, :, k] = (after - W).ravel() / stage.lr
    equations = np.hstack([np.hstack(gradients).T, lengths.reshape(-1, last - i)])
    equations = equations[equations.any(axis=1)]
    if len(equations) <= equations.shape[1]:
        return None
    found, _ = nnls(np.delete(equations, classes, axis=1), -equations[:, classes])
    return np.asarray(found[:classes])


def _ov_not_frozen(stage: Stage, loss: Stage2Loss, run: Recorded, first: Recorded | None) -> Iterator[Cause]:
    """W_ov not frozen: it is as recorded at the same step, goes on with stage 1, or descends on the loss of stage 2."""
    lr, u, before = stage.lr, stage.u, stage.before
    words = "W_ov not frozen"
    if first is not None and len(first.step) > 1:
        for ahead in dict.fromkeys((0, max(0, int(first.step[-1] - run.step[-1])))):
            how = f"as recorded {ahead} steps later" if ahead else "as recorded at each step"
            yield Cause(f"{words} ({how})", lambda stage, ahead=ahead: _beside(stage, first, ahead))
    if before is None:
        return

    def on_l0(W_ov: Floats, _: Floats) -> Floats:
        return -before.lr * unit(before.gradient(W_ov), u)[0]

    yield Cause(f"{words} (goes on with stage 1)", lambda stage: with_ov_moving(stage, lr, on_l0))
    yield Cause(f"{words} (both normalised together)", lambda stage: together(stage, loss))
    for size in dict.fromkeys((lr, before.lr)):
        for normal in (True, False):

            def on_loss(W_ov: Floats, W: Floats, size: float = size, normal: bool = normal) -> Floats:
                found = loss.ov_gradient(W_ov, W, u)
                return -size * (unit(found, u)[0] if normal else found.value)

            how = f"descends on Loss{'' if normal else ', not normalised'}, step size {size:.6g}"
            yield Cause(f"{words} ({how})", lambda stage, on_loss=on_loss: with_ov_moving(stage, lr, on_loss))


def _beside(stage: Stage, first: Recorded, ahead: int) -> Rule:
    """Steps with the W_ov that was recorded ``ahead`` steps later, or last before that."""
    t = ahead

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal t
        i = int(np.searchsorted(first.step, t, side="right")) - 1
        t += 1
        W_ov = np.asarray(first.weights[max(i, 0)], dtype=np.float64)
        return normalised(replace(stage, W_ov=W_ov), stage.lr)(W)

    return step
