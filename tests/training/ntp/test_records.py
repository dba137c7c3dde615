"""What training records, refuses and reports on the way."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.ntp import Dataset, Sample, broken
from marginaudit.training import log_spaced
from marginaudit.training.ntp import loss_gradient, train
from tests.training.ntp.problems import SMALL, dense, rotation


@pytest.mark.parametrize(("apart", "common"), [(0.9e-12, True), (1.1e-12, False)])
def test_how_far_apart_margins_count_as_one(apart: float, common: bool) -> None:
    """After one step the margin of a token is in proportion to the square of its embedding's length."""
    data = Dataset.from_sentences("two", ["aba", "bab"])
    data = replace(data, embedding=np.diag([1 + apart, 1.0]))
    trained = train(data, steps1=1, steps2=0)
    assert trained.margin_spread == pytest.approx(apart * trained.margin, rel=1e-2, abs=0)
    assert trained.common_margin is common


def test_records() -> None:
    trained = train(SMALL, steps1=5, steps2=9, at=[9, 0, 3, 3])
    assert trained.stage1.step.tolist() == [0, 3]
    assert trained.stage2.step.tolist() == [0, 3, 9]
    assert len(trained.stage2) == 3
    columns = trained.stage2.columns()
    assert next(iter(columns)) == "step"
    assert columns["method"].tolist() == ["steps"] * 3
    assert all(len(column) == 3 for column in columns.values())
    assert train(SMALL, steps1=30, steps2=0).stage1.step.tolist() == list(log_spaced(30))
    assert len(train(SMALL, steps1=3, steps2=9, at=[7]).stage1) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"at": [3, 901]}, "at: got step 901, expected steps from 0 to 900"),
        ({"at": [-1]}, "at: got step -1"),
        ({"optimizer": "adam"}, "optimizer: got 'adam', expected 'ngd' or 'gd'"),
        ({"steps1": -1}, "steps1: got -1"),
        ({"steps2": -5}, "steps2: got -5"),
        ({"lr1": 0.0}, "lr1: got 0.0"),
        ({"lr2": float("nan")}, "lr2: got nan"),
        ({"ov_reference": np.ones((2, 2))}, r"ov_reference: got shape \(2, 2\), expected \(6, 6\)"),
        ({"kq_reference": np.full((6, 6), np.inf)}, "kq_reference: got an entry that is not finite"),
    ],
)
def test_refusals(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        train(SMALL, **arguments)


@pytest.mark.parametrize(
    ("data", "form", "reason"),
    [
        (SMALL, "compiled", ""),
        (replace(SMALL, embedding=rotation(6, 8)), "compiled", ""),
        (replace(SMALL, embedding=2 * rotation(6, 8)), "embedding space", "the embeddings are not orthonormal"),
        (
            broken(SMALL, "next_from_sentence"),
            "token space",
            "the next token of a sample is n(x) of no token of its sentence",
        ),
        (
            Dataset("twice", tuple("abc"), (Sample(("a", "b"), "c"),), (1,), next_token={"a": "c", "b": "c", "c": "a"}),
            "token space",
            "two tokens of one sentence have the same next token under n",
        ),
    ],
    ids=["one-hot", "rotated", "scaled", "next elsewhere", "one label twice"],
)
def test_how_the_steps_were_computed(data: Dataset, form: str, reason: str) -> None:
    trained = train(data, steps1=20, steps2=20)
    assert (trained.optimizer, trained.form, trained.form_reason) == ("ngd", form, reason)


def test_the_recorded_split() -> None:
    """W = s What + rho, and -<grad, W> / ||grad|| from its parts."""
    for data in (SMALL, replace(SMALL, embedding=np.random.default_rng(0).normal(size=(6, 7)))):
        space = data is SMALL
        kq = np.random.default_rng(1).normal(size=(6, 6) if space else (7, 7))
        trained = train(data, steps1=20, steps2=40, at=[0, 3, 40], kq_reference=kq)
        stage = trained.stage2
        np.testing.assert_allclose(stage.along, 0.05 / np.sqrt(6) * np.array([0, 3, 40]), rtol=1e-15)
        unit = kq / np.linalg.norm(kq)
        E = np.eye(6) if space else data.embeddings
        what = (E @ unit @ E.T)[stage.key, stage.query]
        np.testing.assert_allclose(stage.reference, what, rtol=1e-13, atol=1e-14)
        off = 1 - np.sum(unit * trained.W_kq) / np.linalg.norm(trained.W_kq)
        assert stage.one_minus_cos[-1] == pytest.approx(off, rel=1e-12, abs=0)
        np.testing.assert_allclose(stage.score_matrix(-1, 6), trained.S, atol=1e-14)
        np.testing.assert_allclose(stage.scores[-1], trained.S[stage.key, stage.query], atol=1e-14)
        key, query = int(stage.key[1]), int(stage.query[1])
        np.testing.assert_allclose(stage.score(key, query), stage.scores[:, 1], atol=1e-15)
        G = loss_gradient(data, trained.W_ov, trained.W_kq)
        slope = stage.along[-1] * stage.descent_reference[-1] + stage.descent_rest[-1]
        assert slope == pytest.approx(-np.sum(G * trained.W_kq) / np.linalg.norm(G), rel=1e-9, abs=0)
        inside = dense(data, 0.0, unit[stage.key, stage.query])[1] if space else unit
        assert stage.descent_reference[-1] == pytest.approx(-np.sum(G * inside) / np.linalg.norm(G), rel=1e-9, abs=0)
