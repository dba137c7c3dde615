"""Plain gradient descent, in all three forms, against the textbook loop."""

from dataclasses import replace

import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import Dataset, free_dataset
from marginaudit.training.ntp import loss_gradient, train
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


def test_directions_and_their_errors() -> None:
    """Against the weights themselves; both optimizers end near the same direction."""
    ov, kq = solve_ov(DATA), solve_kq(DATA).optimal()
    plain = train(
        DATA, steps2=20_000, lr1=0.5, lr2=2.0, at=[1, 10, 20_000], ov_reference=ov, kq_reference=kq, optimizer="gd"
    )
    star = kq.scores / np.linalg.norm(kq.scores)
    for record in range(3):
        S = plain.stage2.score_matrix(record, 5)
        off = S / np.linalg.norm(S) - star
        assert plain.stage2.one_minus_cos[record] == pytest.approx(np.sum(off**2) / 2, rel=1e-12, abs=0)
        assert 0 < plain.stage2.error[record] < 1e-9
    slopes = plain.stage2.descent_rest[-1]
    G = loss_gradient(DATA, plain.W_ov, plain.W_kq)
    assert slopes == pytest.approx(-np.sum(G * plain.W_kq) / np.linalg.norm(G), rel=1e-7, abs=0)
    towards = plain.stage2.descent_reference[-1]
    assert towards == pytest.approx(-np.sum(G * star) / np.linalg.norm(G), rel=1e-7, abs=0)
