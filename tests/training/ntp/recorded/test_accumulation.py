"""Causes in trainers: means of unequal means, in micro-batches and processes; autocast; clipping."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset
from marginaudit.training.departure import StageComparison
from marginaudit.training.ntp.recorded.comparison import compared
from marginaudit.training.ntp.recorded.trajectory import read_trajectory
from tests.training.ntp.recorded.program import Mistake, run

DATA = CASES["example-1"]()
SENTENCES = ["SVOP", "VOP", "OPP", "PSV"]


def stage2(folder: Path, mistake: Mistake, dtype: Any = np.float64, data: Dataset = DATA) -> StageComparison:
    run(data, dtype, mistake=mistake).save(folder / "run.npz")
    return compared(data, read_trajectory(folder / "run.npz", data))[1]


def cause(folder: Path, mistake: Mistake, dtype: Any = np.float64, data: Dataset = DATA) -> str:
    found = stage2(folder, mistake, dtype, data).departs_at
    assert found is not None
    return str(found.cause)


def means_of(parts: list[list[int]]) -> tuple[float, ...]:
    """Weights of samples in the mean over parts of their means, as a loop of a trainer has them."""
    found = [0.0] * DATA.N
    for part in parts:
        for n in part:
            found[n] += 1 / len(part) / len(parts)
    return tuple(found)


def chunks(of: list[Any], size: int) -> list[list[Any]]:
    return [of[k : k + size] for k in range(0, len(of), size)]


def of_sentences(sentences: list[str]) -> list[int]:
    """Numbers of the samples that are prefixes of sentences."""
    place = {sample.tokens: n for n, sample in enumerate(DATA.samples)}
    return [place[tuple(one[:k])] for one in sentences for k in range(1, len(one))]


EVERY = list(range(DATA.N))
SPLITS: dict[str, Callable[[], list[list[int]]]] = {
    "means of 2 samples accumulated": lambda: chunks(EVERY, 2),
    "means of 4 samples accumulated": lambda: chunks(EVERY, 4),
    "means of 1 sentences accumulated": lambda: [of_sentences([one]) for one in SENTENCES],
    "means of 3 sentences accumulated": lambda: [of_sentences(some) for some in chunks(SENTENCES, 3)],
    "2 processes averaged": lambda: [EVERY[k::2] for k in range(2)],
    "4 processes averaged": lambda: [EVERY[k::4] for k in range(4)],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("words", SPLITS)
def test_a_mean_of_unequal_means_is_named(words: str, normalised: bool, dtype: Any, tmp_path: Path) -> None:
    weights = means_of(SPLITS[words]())
    found = cause(tmp_path, Mistake(weights=weights, normalised=normalised), dtype)
    assert f"a mean of unequal means ({words})" in found
    assert found.endswith(")" if normalised else "gradient not normalised, and step size 0.05")


def test_equal_parts_are_no_mistake(tmp_path: Path) -> None:
    """Nine samples in three parts: the mean of their means is the mean."""
    for parts in (chunks(EVERY, 3), [EVERY[k::3] for k in range(3)], chunks(EVERY, 1)):
        found = stage2(tmp_path, Mistake(weights=means_of(parts)))
        assert (found.departs_at, found.decided) == (None, 21)


def test_means_over_repeated_samples(tmp_path: Path) -> None:
    """Each sentence twice: parts are of samples with their repetitions."""
    data = Dataset.from_sentences("twice", [*SENTENCES, *SENTENCES], vocabulary="SVOP")
    sizes = np.bincount(np.arange(18) // 4)
    weights = np.bincount(np.repeat(EVERY, 2), 1 / sizes[np.arange(18) // 4] / 5)
    found = cause(tmp_path, Mistake(weights=tuple(weights.tolist())), data=data)
    assert found.startswith("a mean of unequal means (means of 4 samples accumulated)")


@pytest.mark.parametrize("data", ["example-1", "section-7"])
def test_products_under_autocast_are_half_precision(data: str, tmp_path: Path) -> None:
    """Weights and the softmax are of float32, products of bfloat16."""
    found = cause(tmp_path, Mistake(half="autocast"), np.float32, CASES[data]())
    assert found.startswith("half precision (bfloat16")


def test_a_clipped_gradient_is_named(tmp_path: Path) -> None:
    found = cause(tmp_path, Mistake(clipped=0.03, normalised=False))
    assert "gradient clipped at norm 0.03, not normalised" in found
