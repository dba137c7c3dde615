"""Algorithm 1 by a `Config`: the recorded steps, training, the enclosure of stage 2."""

from typing import TYPE_CHECKING

import numpy as np

from marginaudit.claims.ntp.config import FARTHEST, PAPER_STEPS, Config
from marginaudit.margins.ntp import MaxMargin
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp import Progress, Training, train
from marginaudit.training.ntp.far.horizon import LATE_SWITCH
from marginaudit.training.ntp.stage1 import STAGE1_STEPS

if TYPE_CHECKING:
    from marginaudit.training.ntp.certified.enclosure import Enclosure

EVERY_STEP_TO = 2_000
"""Last step of dense recording. Longer stages continue at log-spaced steps."""

LISTED_STEPS = (2, 10, 100, 900, *(10**power for power in range(3, 19)))
"""Steps of the table of direction errors, recorded by default."""

MOST_SCORES = 20_000_000
"""Most scores x^T W_kq q of a recorded run. More pairs mean fewer consecutive steps."""

USUAL_STEPS, FEWER_STEPS = 50_000, 10_000
"""Single steps of stage 2 before a fast-forward, as of most texts, and fewer to ask for."""

SECONDS_BESIDE, SECONDS_A_SCORE = 15.0, 5e-9
"""Rough processor time of all but single steps, and of a step for each score."""


def recorded_steps(dataset: Dataset, config: Config, steps2: int) -> tuple[int, ...]:
    """The recorded steps of both stages, with a stage 2 of length ``steps2``.

    Stage 2 may end before the requested length.
    """
    last = max(config.steps1, steps2)
    if config.at is not None:
        return tuple(t for t in config.at if t <= last)
    every = min(EVERY_STEP_TO, max(100, MOST_SCORES // _scores(dataset)))
    return tuple(sorted({*dense_steps(last, every), config.steps1, steps2}))


def dense_steps(last: int, every: int = EVERY_STEP_TO) -> tuple[int, ...]:
    """Every step to ``every``, beyond it 100 a decade, beyond 1e6 20, the listed, the last.

    >>> len(dense_steps(900)), len(dense_steps(100_000)), len(dense_steps(10**18))
    (901, 2172, 2513)
    """
    found = set(range(min(last, every) + 1)) | {step for step in LISTED_STEPS if step <= last}
    for start, end, a_decade in ((every, LATE_SWITCH, 100), (LATE_SWITCH, FARTHEST, 20)):
        end = min(end, last)
        if start < end:
            count = int(np.ceil(a_decade * np.log10(end / start))) + 1
            found |= set(np.rint(np.geomspace(start, end, count)).astype(int).tolist())
    return tuple(sorted({*found, last}))


def true_steps(config: Config) -> int:
    """Upper bound on the single steps of both stages, which dominate the running time."""
    return min(config.steps1, STAGE1_STEPS) + min(FARTHEST if config.steps2 is None else config.steps2, LATE_SWITCH)


def expected_seconds(dataset: Dataset, config: Config) -> float:
    """Rough processor seconds of training: `USUAL_STEPS` of stage 2, or fewer, and a part that all long runs share.

    >>> from marginaudit.orders.ntp import CASES
    >>> round(expected_seconds(CASES["example-1"](), Config()))
    15
    """
    steps = USUAL_STEPS if config.steps2 is None else min(config.steps2, USUAL_STEPS)
    return SECONDS_BESIDE + SECONDS_A_SCORE * steps * _scores(dataset)


def _scores(dataset: Dataset) -> int:
    """Number of pairs of a sample and a token in it."""
    return sum(len(set(sample.tokens)) for sample in dataset.samples)


def train_against(
    dataset: Dataset, config: Config, ov: MaxMargin | None, kq: MaxMargin | None, progress: Progress | None = None
) -> Training:
    """Algorithm 1 with direction errors against the given solutions, if any."""
    return train(
        dataset,
        steps1=config.steps1,
        steps2=PAPER_STEPS if config.steps2 is None else config.steps2,
        lr1=config.lr1,
        lr2=config.lr2,
        at=config.at,
        optimizer=config.optimizer,
        ov_reference=ov,
        kq_reference=kq,
        progress=progress,
    )


def enclosed_steps(
    dataset: Dataset, config: Config, kq: MaxMargin | None, steps: int, at: list[int] | None
) -> "Enclosure | str":
    """A rigorous enclosure of the first steps of stage 2, or the reason for its absence."""
    if config.optimizer != "ngd":
        return "the run is plain gradient descent"
    if kq is None:
        return "W*_kq is not known"
    from marginaudit.training.ntp.certified.enclosure import NotEnclosable, enclose

    try:
        return enclose(dataset, kq, steps1=config.steps1, steps=steps, lr1=config.lr1, lr2=config.lr2, at=at)
    except NotEnclosable as reason:
        return str(reason)


def load() -> None:
    """Run training's deferred imports now."""
    import scipy.integrate  # noqa: F401

    from marginaudit.training.ntp.steps.compiled import root_of_squares

    root_of_squares(np.zeros(1))  # numba reads its tables at its first call
