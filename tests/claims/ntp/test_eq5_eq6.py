"""Printed gradients at random weights, and the part of a large problem that is looked at."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.ntp import Run, random_part
from marginaudit.claims.ntp.appendix_a_gradients import eq5_eq6
from marginaudit.orders.ntp import Dataset, free_dataset
from marginaudit.training.ntp import loss_gradient, stage1_loss_gradient

EPS = float(np.finfo(float).eps)


LENGTH_1 = 0.6 * np.eye(5, 6) + 0.8 * np.eye(5, 6, 1)


@pytest.mark.parametrize("stage", [1, 2])
@pytest.mark.parametrize("size", [1.0, 3e200])
def test_the_gradients_are_compared_at_random_weights(stage: Any, size: float) -> None:
    """Of tokens that are scaled to length 1."""
    data = replace(free_dataset(V=5, N=7, L=4, seed=2), embedding=LENGTH_1)
    found = eq5_eq6.compare(Run(replace(data, embedding=size * LENGTH_1)), stage)
    rng = np.random.default_rng(2409_17335)
    expected: list[float] = []
    sizes: list[float] = []
    for scale in (0.0, 1.0, 3.0):
        weights = [scale * rng.standard_normal(shape) for shape in [(5, 6), (6, 6)][:stage]]
        G: Any = stage1_loss_gradient(data, weights[0]) if stage == 1 else loss_gradient(data, *weights)
        for _ in range(6):
            D = rng.standard_normal(weights[-1].shape)
            expected.append(float(np.vdot(G, D) / np.linalg.norm(D)))
            sizes.append(max(float(np.linalg.norm(G)), 0.01))
    np.testing.assert_allclose(found.printed.value, expected, rtol=1e-12)
    np.testing.assert_allclose(found.derivative.value, expected, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.size, sizes, rtol=1e-12)
    radius = EPS * (data.N + data.L_max + 5 + 6) * 16 * np.maximum(sizes, 1)
    np.testing.assert_allclose(found.printed.radius, radius, rtol=1e-12)
    assert found.derivative.radius.tolist() == found.printed.radius.tolist()
    assert found.printed.label[7] == "logits of deviation 1, direction 2"
    assert found.part == ""


def test_the_collocation_is_that_of_all_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the part that is looked at has no sample of length 1."""
    monkeypatch.setattr(random_part, "MOST_TERMS", 1)
    data = Dataset.from_sentences("x", [list("ab"), list("ba"), list("abab")])
    found = eq5_eq6.compare(Run(data), 1)
    np.testing.assert_allclose(found.printed.value, found.derivative.value, rtol=1e-9, atol=1e-13)


def test_tokens_of_zeros_have_no_gradient() -> None:
    data = free_dataset(V=3, N=3, L=3, seed=0)
    assert not eq5_eq6.compare(Run(replace(data, embedding=np.zeros((3, 2)))), 2).printed.value.any()


def test_how_much_of_a_large_problem_is_looked_at() -> None:
    rng = np.random.default_rng(0)
    for number, entries, taken in (
        (100, 1, 100),
        (101, 1, 100),
        (50, 1_000_000, 20),
        (20, 1_000_000, 20),
        (9, 10**9, 1),
    ):
        found, said = random_part.some(number, "tokens", entries, rng)
        assert len(set(found.tolist())) == len(found) == taken
        assert found.tolist() == sorted(found.tolist())
        assert bool(said) == (taken < number)
    assert random_part.in_part(3, 3, "samples") == ""
    assert random_part.in_part(2, 3, "samples").startswith("2 of 3 samples")
