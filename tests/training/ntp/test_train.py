"""Algorithm 1 as a whole: its invariances and edges."""

from collections.abc import Sequence
from dataclasses import replace

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import CASES, Dataset
from marginaudit.training.ntp import (
    sample_classes,
    stage1,
    train,
)
from marginaudit.training.ntp.stage2 import not_reduced
from marginaudit.training.ntp.start import ov_unit
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.loss import Row
from marginaudit.training.ntp.steps.spaces import TokenOV
from marginaudit.training.ntp.steps.stepper import Stepper, descend
from tests.solutions import inexact, known
from tests.training.ntp.naive import descent
from tests.training.ntp.problems import SMALL, rotation


@pytest.mark.parametrize("embedding", [None, rotation(6, 8), np.random.default_rng(0).normal(size=(6, 8))])
def test_a_solution_is_a_reference_in_the_space_of_the_weights(embedding: NDArray[np.float64] | None) -> None:
    """As scores of tokens for orthonormal embeddings, as weights for others."""
    data = replace(SMALL, embedding=embedding)
    ov, kq = solve_ov(data).optimal(), solve_kq(data).optimal()
    orthonormal = embedding is None or np.allclose(embedding @ embedding.T, np.eye(6))
    one = train(data, steps1=20, steps2=20, ov_reference=ov, kq_reference=kq)
    arrays = (ov.scores, kq.scores) if orthonormal else (ov.matrix, kq.matrix)
    two = train(data, steps1=20, steps2=20, ov_reference=arrays[0], kq_reference=arrays[1])
    np.testing.assert_allclose(one.stage1.distance[2:], two.stage1.distance[2:], atol=1e-14)
    np.testing.assert_allclose(one.stage2.distance[2:], two.stage2.distance[2:], rtol=1e-12)
    assert one.stage2.distance[-1] > 1e-3


def test_an_exact_solution_is_a_reference_to_twice_the_digits() -> None:
    space, ov = TokenOV(6), solve_ov(SMALL)
    unit = known(ov_unit(SMALL, space, ov))
    assert np.abs(unit.low).max() > 1e-18
    n = SMALL.collocation.require_function()
    with flint.ctx.workprec(200):
        root = flint.arb(5).sqrt()
        for i, v in enumerate(SMALL.vocabulary):
            for j, x in enumerate(SMALL.vocabulary):
                exact = (int(v == n[x]) - flint.arb(1) / 6) / root
                off = exact - flint.arb(float(unit.high[i, j])) - flint.arb(float(unit.low[i, j]))
                assert abs(float(off)) < 1e-32
    floats = known(ov_unit(SMALL, space, inexact(ov)))
    np.testing.assert_allclose(floats.high, unit.high, rtol=0, atol=1e-15)
    assert not floats.low.any()
    one = Dataset.from_sentences("one", ["aaa"])
    assert ov_unit(one, TokenOV(1), solve_ov(one)) is None


@pytest.mark.parametrize(("steps1", "true_steps"), [(99_999, 99_999), (100_001, 100_000), (10**9, 100_000)])
def test_the_true_steps_of_stage_1(steps1: int, true_steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def few(stepper: Stepper, iterate: Iterate, steps: int, at: Sequence[int], progress: None, done: int) -> list[Row]:
        asked.append(steps)
        return descend(stepper, iterate, min(steps, 5), at, progress, done)

    monkeypatch.setattr(stage1, "descend", few)
    train(SMALL, steps1=steps1, steps2=0, at=[])
    assert asked[0] == true_steps


def test_margins_that_are_not_one_have_no_reduced_model() -> None:
    """Margins of orthonormal tokens are one A but for overflow, so nothing is trained here."""
    found = not_reduced(sample_classes(SMALL), orthonormal=True, common=False)
    assert "margins of W_ov" in str(found)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_size_of_a_reference_says_nothing(size: float) -> None:
    data = CASES["example-1"]()
    star = solve_kq(data).optimal().matrix
    errors = [train(data, steps1=5, steps2=5, kq_reference=c * star).stage2.one_minus_cos for c in (1.0, size)]
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    ("embedding", "form"), [(None, "compiled"), (rotation(6, 6) + 0.2, "embedding space")], ids=["compiled", "embedded"]
)
def test_plain_descent_is_that_of_the_textbook(embedding: NDArray[np.float64] | None, form: str) -> None:
    data = replace(SMALL, embedding=embedding)
    trained = train(data, steps1=300, steps2=400, lr1=0.5, lr2=2.0, at=range(401), optimizer="gd")
    W_ov, W_kq, norms = descent(data, (300, 400), (0.5, 2.0))
    assert (trained.optimizer, trained.form) == ("gd", form)
    np.testing.assert_allclose(trained.W_ov, W_ov, atol=1e-12)
    np.testing.assert_allclose(trained.W_kq, W_kq, atol=1e-12)
    np.testing.assert_allclose(trained.stage2.gradient_norm[:-1], norms, rtol=1e-9)
    assert not trained.stage2.along.any()
    np.testing.assert_allclose(trained.stage2.norm[-1], np.linalg.norm(W_kq), rtol=1e-12)
