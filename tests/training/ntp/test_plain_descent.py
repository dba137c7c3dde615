"""Plain gradient descent, in all three forms, against the textbook loop."""

from dataclasses import replace

import numpy as np
import pytest

from marginaudit.orders.ntp import Dataset, free_dataset
from marginaudit.training.ntp import train
from tests.training.ntp.naive import textbook

DATA = free_dataset(V=5, N=12, L=5, seed=3, max_count=3)


def embedded(data: Dataset) -> Dataset:
    return replace(data, embedding=np.eye(5, 6) + 0.2 * np.random.default_rng(0).normal(size=(5, 6)))


@pytest.mark.parametrize(
    ("data", "form", "reason"),
    [
        (DATA, "compiled", ""),
        (embedded(DATA), "embedding space", "the embeddings are not orthonormal"),
    ],
    ids=["compiled", "embedding space"],
)
def test_against_the_textbook_loop(data: Dataset, form: str, reason: str) -> None:
    trained = train(data, steps1=300, steps2=400, lr1=0.5, lr2=2.0, at=range(401), optimizer="gd")
    W_ov, W_kq, _, norms = textbook(data, (300, 400), (0.5, 2.0), normalised=False)
    assert (trained.optimizer, trained.form, trained.form_reason) == ("gd", form, reason)
    np.testing.assert_allclose(trained.W_ov, W_ov, atol=1e-12)
    np.testing.assert_allclose(trained.W_kq, W_kq, atol=1e-12)
    np.testing.assert_allclose(trained.stage2.gradient_norm[:-1], norms, rtol=1e-9)
    assert not trained.stage2.along.any()
    np.testing.assert_allclose(trained.stage2.norm[-1], np.linalg.norm(W_kq), rtol=1e-12)
