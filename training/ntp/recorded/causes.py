"""What may stand behind a departure from Algorithm 1: other rules, each put to the recorded steps."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

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
    momentum,
    moving,
    normalised,
    plain,
    sign,
    together,
    transposed,
    unit,
)
from marginaudit.training.trajectory import Recorded

FITTED = 4
"""Records from which weights of the mean are found, at most."""

MOST = 1000
"""Classes of samples whose weights are looked for."""


@dataclass(frozen=True)
class Cause:
    """A rule that may explain the steps.

    Attributes
    ----------
    words : str
        With ``{value}`` where its number stands.
    rule : from a stage and the number to the rule
    start : two numbers or None
        Where the search for the number begins; None where there is none.
    """

    words: str
    rule: Callable[[Stage, float], Rule]
    start: tuple[float, float] | None = None


def causes(stage: Stage, run: Recorded, first: Recorded | None, i: int) -> Iterator[Cause]:
    """Those of a stage that departs at record ``i``, in the order of trial; ``first`` is the run of stage 1."""
    lr, square = stage.lr, stage.loss.E.shape[0] == stage.loss.E.shape[1]
    sizes = (lr, 2 * lr)
    yield Cause("gradient not normalised", lambda stage, _: plain(stage, lr))
    yield Cause("another step size ({value:.4g})", normalised, sizes)
    yield Cause("gradient not normalised, and another step size ({value:.4g})", plain, sizes)
    if stage.number == 2 or square:
        name = "W_ov" if stage.number == 1 else "W_kq"
        yield Cause(f"a transposed {name}", lambda stage, _: transposed(normalised(stage, lr)))
    for words, weights in stage.loss.other_weights().items():
        name = f"the mean over other weights than {'1' if stage.number == 1 else 'pi'} ({words})"
        yield Cause(name, lambda stage, _, weights=weights: normalised(stage, lr, weights))  # type: ignore[misc]
    if isinstance(stage.loss, Stage2Loss):
        d = stage.loss.E.shape[1]
        yield Cause("scores divided by sqrt(d)", lambda stage, _: normalised(stage, lr, scale=1 / np.sqrt(d)))
        yield from _moving(stage, stage.loss, run, first)
    yield Cause("each column of the gradient normalised by itself", lambda stage, _: by_column(stage, lr))
    yield Cause("sign descent (step size {value:.4g})", sign, sizes)
    yield Cause("Adam (step size {value:.4g})", adam, sizes)
    betas = (0.5, 0.9)
    yield Cause("momentum ({value:.4g})", lambda stage, beta: momentum(normalised(stage, lr), beta), betas)
    words = "momentum ({value:.4g}), and gradient not normalised"
    yield Cause(words, lambda stage, beta: momentum(plain(stage, lr), beta), betas)
    words = "momentum ({value:.4g}), as a running mean"
    yield Cause(words, lambda stage, beta: momentum(normalised(stage, lr), beta, share=1 - beta), betas)
    words = "Nesterov's momentum ({value:.4g})"
    yield Cause(words, lambda stage, beta: momentum(normalised(stage, lr), beta, nesterov=True), betas)
    yield Cause("weight decay ({value:.4g})", lambda stage, by: decayed(normalised(stage, lr), lr, by), (0.01, 0.1))
    if isinstance(stage.loss, Stage2Loss):
        fitted = _fitted_weights(stage, run, i)
        if fitted is not None:
            words = "the mean over other weights than pi (found by least squares)"
            yield Cause(words, lambda stage, _: normalised(stage, lr, fitted))


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


def _moving(stage: Stage, loss: Stage2Loss, run: Recorded, first: Recorded | None) -> Iterator[Cause]:
    """W_ov not frozen: it is as recorded at the same step, goes on with stage 1, or descends on the loss of stage 2."""
    lr, u, before = stage.lr, stage.u, stage.before
    words = "W_ov not frozen"
    if first is not None and len(first.step) > 1:
        for ahead in dict.fromkeys((0, max(0, int(first.step[-1] - run.step[-1])))):
            how = f"as recorded {ahead} steps later" if ahead else "as recorded at each step"
            yield Cause(f"{words} ({how})", lambda stage, _, ahead=ahead: _beside(stage, first, ahead))  # type: ignore[misc]
    if before is None:
        return

    def on_l0(W_ov: Floats, _: Floats) -> Floats:
        return -before.lr * unit(before.gradient(W_ov), u)[0]

    yield Cause(f"{words} (goes on with stage 1)", lambda stage, _: moving(stage, lr, on_l0))
    yield Cause(f"{words} (both normalised together)", lambda stage, _: together(stage, loss))
    for size in dict.fromkeys((lr, before.lr)):
        for normal in (True, False):

            def on_loss(W_ov: Floats, W: Floats, size: float = size, normal: bool = normal) -> Floats:
                found = loss.ov_gradient(W_ov, W, u)
                return -size * (unit(found, u)[0] if normal else found.value)

            how = f"descends on Loss{'' if normal else ', not normalised'}, step size {size:.6g}"
            yield Cause(f"{words} ({how})", lambda stage, _, on_loss=on_loss: moving(stage, lr, on_loss))  # type: ignore[misc]


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
