"""The limit dynamics as `marginaudit train` shows them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from marginaudit.orders import InputError
from marginaudit.orders.snap import SequenceClasses
from marginaudit.reports.paper import Trained
from marginaudit.reports.plain import finite
from marginaudit.reports.run import Progress
from marginaudit.reports.snap.run import ClassConfig, ClassRun
from marginaudit.reports.snap.setting import no_inverse
from marginaudit.training.snap.limit import backpropagated, continuous, fluctuation, gamma, h_star
from marginaudit.training.snap.limit.level import LARGEST_RATE

COLUMNS = ("step", "h", "h_star", "gamma", "share")


def rows(run: ClassRun) -> list[dict[str, Any]]:
    """A row a recorded step t: h(t/K), h*(ceil(t/K)), gamma(t), and xi of each class after ceil(t/K) steps on each.

    ``share`` is 1/(M - 1 + exp(M h)), what alpha leaves of a class's row. Without E' there is no xi after the start.
    """
    data, M, K, eta_Y = run.dataset, run.M, run.K, run.eta_Y
    t = np.concatenate([[0], run.steps])
    whole = -(-t // K)
    level = continuous(t / K, M, eta_Y)
    discrete, speed = h_star(whole, M, eta_Y).level, gamma(t, K, M, eta_Y)
    steps = np.repeat(whole[1:, None], K, axis=1)
    xi = np.zeros((len(t), K))  # at the start gamma is 0
    if no_inverse(run):
        xi[1:] = np.nan
    elif len(steps):
        xi[1:] = backpropagated(run.overlap, fluctuation(steps, M, eta_Y)).xi.value
    return [
        {
            "step": int(t[i]),
            "h": finite(level.h.value[i]),
            "h_star": finite(discrete.h.value[i]),
            "gamma": finite(speed.value[i]),
            "share": finite(level.share.value[i]),
            "xi": dict(zip(data.next_tokens, finite(xi[i]), strict=True)),
        }
        for i in range(len(t))
    ]


def train(
    dataset: SequenceClasses, config: ClassConfig, progress: Progress, tell: Callable[[str], None], origin: str
) -> Trained:
    """The rows of `rows`.

    Raises
    ------
    InputError
        The classes are not uniform, or M is below 2: h(t/K) then says nothing. Or the step size is too large for it.
    """
    if dataset.M < 2:
        raise InputError(f"{origin}: M", got=str(dataset.M), expected="at least 2 tokens to train on")
    if config.lr_y > LARGEST_RATE:
        raise InputError(
            "--lr-y", got=f"{config.lr_y:g}", expected=f"at most {LARGEST_RATE:g}, for exp of it to be a float64"
        )
    run = ClassRun(dataset, config)
    if not run.assumption("uniform_classes").holds:
        raise InputError(
            origin, got="classes of different frequencies", expected="uniform ones, of which h(t/K) speaks"
        )
    found = rows(run)
    progress(config.steps)
    return Trained({"rows": found}, {"rows": ("the decoder in the limit of long sequences", COLUMNS)})
