"""Causes on dense and sparse records: each that is named includes the right one."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.training.ntp.recorded.comparison import compared
from marginaudit.training.ntp.recorded.trajectory import read_trajectory
from tests.training.ntp.recorded.program import Mistake, run
from tests.training.ntp.recorded.styles import EMBEDDINGS, random_dataset
from tests.training.ntp.recorded.test_styles import MISTAKES

EVERY = (1, 2, 3, 5, 10)
FLOATS = (np.float32, np.float64)

MORE = {
    "W_ov not frozen (both normalised together)": Mistake(together=True),
    "W_ov not frozen (descends on Loss, step size": Mistake(ov_moves=True),
    "W_ov not frozen (descends on Loss, not normalised": Mistake(ov_moves=True, ov_plainly=True),
    "momentum (0.5), and gradient not normalised": Mistake(momentum=0.5, normalised=False),
    "its spectral norm": Mistake(norm="spectral"),
    "the sum of its absolute values": Mistake(norm="sum"),
    "clipped at norm 0.01": Mistake(clipped=0.01, normalised=False),
    "each distinct token counts once": Mistake(keys="distinct"),
    "step size 0": Mistake(real_lr2=0.0),
}

FAST = ("float16", "half precision (bfloat16", "step 3 taken twice", "step 3 skipped", "clipped at norm 0.01")
"""Mistakes for which a wrong cause was named where steps are left out."""


def cause(mistake: Mistake, seed: int, every: int, dtype: Any, folder: Path, steps: int = 40) -> str | None:
    """Of a random dataset's run; None where no cause is named or none departs."""
    rng = np.random.default_rng(seed)
    V = int(rng.integers(5, 8))
    data = random_dataset(seed, V, EMBEDDINGS[rng.integers(3)], int(10 ** rng.integers(0, 4)))
    mistake = replace(mistake, scale=mistake.scale or data.embeddings.shape[1] ** -0.5)
    with np.errstate(all="ignore"):
        run(data, dtype, (30, steps), (0.1, 0.05), mistake, every).save(folder / "run.npz")
        found = compared(data, read_trajectory(folder / "run.npz", data))[1]
    return None if found.departs_at is None else found.departs_at.cause


def includes(named: str, words: str) -> bool:
    """Whether a cause that is named includes a mistake; of one step among several the range does.

    The length of a step alone is a measurement and names no cause.
    """
    if named.startswith("a step of length"):
        return True
    step = re.match(r"one of steps (\d+) to (\d+) (.*)", named)
    return words in named or bool(step and words == f"step 3 {step[3]}" and int(step[1]) <= 3 <= int(step[2]))


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize(
    ("words", "seed"),
    [
        *((words, 1) for words in FAST),
        *(pytest.param(words, seed, marks=pytest.mark.slow) for words in MISTAKES | MORE for seed in range(2, 7)),
    ],
)
def test_a_cause_that_is_named_on_sparse_records_includes_the_right_one(
    words: str, seed: int, every: int, tmp_path: Path
) -> None:
    named = cause((MISTAKES | MORE)[words], seed, every, FLOATS[seed % 2], tmp_path)
    assert named is None or includes(named, words)
    assert named is not None or words not in FAST or seed != 1


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("schedule", ["cosine to 0", "linear to 0", "warm-up from 0", "restarts", "rough"])
def test_lengths_along_the_gradient_that_change_are_a_schedule(schedule: str, dtype: Any, tmp_path: Path) -> None:
    named = cause(Mistake(schedule=schedule), 1, 1, dtype, tmp_path, 20)
    assert str(named).startswith("a schedule of step sizes (")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (Mistake(optimizer="rmsprop", alpha=0.9), "RMSprop (step size 0.05, alpha 0.9)"),
        (Mistake(optimizer="adam", small=1e-4), "Adam (step size 0.05, epsilon 0.0001)"),
        (Mistake(optimizer="adamw", betas=(0.8, 0.999)), "AdamW (step size 0.05, weight decay 0.01, beta1 0.8)"),
        (
            Mistake(optimizer="adamw", betas=(0.9, 0.95), decay=0.1),
            "AdamW (step size 0.05, weight decay 0.1, beta2 0.95)",
        ),
    ],
    ids=lambda value: value.split(" ")[0] if isinstance(value, str) else "",
)
def test_usual_constants_of_optimizers_are_named(mistake: Mistake, words: str, dtype: Any, tmp_path: Path) -> None:
    assert words in str(cause(mistake, 1, 1, dtype, tmp_path, 20))


@pytest.mark.parametrize("betas", [(0.9, 0.97), (0.9, 0.96)])
def test_a_decay_that_makes_up_for_wrong_constants_is_not_named_alone(
    betas: tuple[float, float], tmp_path: Path
) -> None:
    named = cause(Mistake(optimizer="adamw", betas=betas, decay=0.3), 1, 1, np.float32, tmp_path, 20)
    assert named is None or "AdamW with other constants (step size about 0.05)" in named
