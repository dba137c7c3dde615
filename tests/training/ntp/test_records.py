"""What training records, refuses and reports on the way."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import CollocationError, Dataset, Sample, broken
from marginaudit.training import log_spaced
from marginaudit.training.ntp import (
    loss_gradient,
    predict,
    sample_classes,
    sample_probabilities,
    train,
)
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.spaces import EmbeddedKQ, EmbeddedOV
from tests.training.ntp.problems import SMALL, reference, rotation


def restricted(data: Dataset, R: NDArray[np.float64]) -> NDArray[np.float64]:
    classes = sample_classes(data)
    kept = np.zeros_like(R)
    kept[classes.key, classes.pair_query] = R[classes.key, classes.pair_query]
    return kept


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


def test_log_spaced_steps_are_twenty_a_decade() -> None:
    assert log_spaced(1000) == tuple(sorted({0, *(round(10 ** (k / 20)) for k in range(61))}))
    np.testing.assert_allclose(log_spaced(10**18)[-21:], 10 ** (np.arange(340, 361) / 20), rtol=1e-12)
    assert log_spaced(1) == (0, 1)
    with pytest.raises(ValueError, match="steps: got -1, expected at least 0"):
        log_spaced(-1)


def test_progress_counts_both_stages() -> None:
    seen: list[int] = []
    train(SMALL, steps1=450, steps2=1000, at=[], progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1450
    assert 450 in seen
    assert 100 < len(seen) <= 420


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


def test_n_has_to_be_a_function() -> None:
    with pytest.raises(CollocationError, match="'c'"):
        train(Dataset.from_sentences("partial", ["abc", "ba"]))


@pytest.mark.parametrize("general", [False, True])
def test_forward_pass(general: bool) -> None:
    embedding = np.random.default_rng(0).normal(size=(6, 5)) if general else rotation(6, 6)
    data = replace(SMALL, embedding=embedding)
    trained = train(data, steps1=40, steps2=40)
    assert trained.common_margin is not general
    dense = sample_probabilities(data, trained.W_ov, trained.W_kq)
    for sample, P in zip(data.samples, dense, strict=True):
        np.testing.assert_allclose(np.exp(predict(data, trained, sample.tokens)), P, rtol=1e-10)
    unseen = (data.vocabulary[0], data.vocabulary[3], data.vocabulary[0], data.vocabulary[5])
    as_sample = replace(data, samples=(Sample(unseen, data.vocabulary[0]),), counts=(1,))
    expected = sample_probabilities(as_sample, trained.W_ov, trained.W_kq)[0]
    np.testing.assert_allclose(np.exp(predict(data, trained, unseen)), expected, rtol=1e-10)
    start = predict(data, trained, unseen, record=0)
    flat = sample_probabilities(as_sample, trained.W_ov, 0 * trained.W_kq)[0]
    np.testing.assert_allclose(np.exp(start), flat, rtol=1e-10)


def test_sums_are_compensated() -> None:
    """One large step and many small ones, against the exact rational sum."""
    iterate, exact = Iterate((1,), 1.0, None), Fraction(0)
    for i in range(20_000):
        move = np.array([1e-9 * (i % 7) if i else 1e6 / 3])
        iterate.step(move, log_norm=0.0, rounding=0.0, curvature=0.0, concavity=0.0)
        exact -= Fraction(float(move[0]))
    assert iterate.rest[0] == pytest.approx(float(exact), rel=1e-15, abs=0)


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
    R = reference(SMALL, 2)
    for data in (SMALL, replace(SMALL, embedding=np.random.default_rng(0).normal(size=(6, 7)))):
        space = data is SMALL
        kq = R if space else np.random.default_rng(1).normal(size=(7, 7))
        stage = train(data, steps1=20, steps2=40, at=[0, 3, 40], kq_reference=kq).stage2
        np.testing.assert_allclose(stage.along, 0.05 / np.sqrt(6) * np.array([0, 3, 40]), rtol=1e-15)
        unit = kq / np.linalg.norm(kq)
        E = np.eye(6) if space else data.embeddings
        what = (E @ unit @ E.T)[stage.key, stage.query]
        np.testing.assert_allclose(stage.reference, what, rtol=1e-13, atol=1e-14)
        trained = train(data, steps1=20, steps2=40, at=[40], kq_reference=kq)
        np.testing.assert_allclose(stage.score_matrix(-1, 6), trained.S, atol=1e-14)
        np.testing.assert_allclose(stage.scores[-1], trained.S[stage.key, stage.query], atol=1e-14)
        key, query = int(stage.key[1]), int(stage.query[1])
        np.testing.assert_allclose(stage.score(key, query), stage.scores[:, 1], atol=1e-15)
        G = loss_gradient(data, trained.W_ov, trained.W_kq)
        slope = stage.along[-1] * stage.descent_reference[-1] + stage.descent_rest[-1]
        assert slope == pytest.approx(-np.sum(G * trained.W_kq) / np.linalg.norm(G), rel=1e-9, abs=0)
        inside = unit if not space else restricted(SMALL, unit)
        assert stage.descent_reference[-1] == pytest.approx(-np.sum(G * inside) / np.linalg.norm(G), rel=1e-9, abs=0)


def test_curvature_stretches_with_the_embedding() -> None:
    pairs = np.array([0, 1]), np.array([1, 0])
    assert EmbeddedKQ(3 * np.eye(2), *pairs).stretch == pytest.approx(81)
    assert EmbeddedOV(3 * np.eye(2)).stretch == pytest.approx(9)
