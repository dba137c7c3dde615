"""Algorithm 1 as a whole: its invariances and edges."""

from collections.abc import Sequence
from dataclasses import replace

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import Dataset, Sample, free_dataset
from marginaudit.training.ntp import (
    predict,
    sample_classes,
    stage1,
    stage2_loss,
    train,
)
from marginaudit.training.ntp.records import Stage1, Stage2
from marginaudit.training.ntp.stage2 import not_reduced
from marginaudit.training.ntp.start import ov_unit
from marginaudit.training.ntp.steps.descent import Descent, descend
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.loss import Row
from marginaudit.training.ntp.steps.spaces import TokenOV
from tests.solutions import inexact, known
from tests.training.ntp.problems import SMALL, reference, rotation


def assert_same_records(one: Stage1 | Stage2, two: Stage1 | Stage2, tolerance: float) -> None:
    for name in one.columns():
        if name in ("error", "distance_error", "method"):
            continue
        np.testing.assert_allclose(
            one.columns()[name], two.columns()[name], rtol=tolerance, atol=tolerance, err_msg=name
        )


def test_orthonormal_embeddings_of_any_kind_give_one_trajectory() -> None:
    rotated = replace(SMALL, embedding=rotation(6, 8))
    R1, R2 = reference(SMALL, 1), reference(SMALL, 2)
    plain = train(SMALL, ov_reference=R1, kq_reference=R2)
    other = train(rotated, ov_reference=R1, kq_reference=R2)
    assert_same_records(plain.stage1, other.stage1, 1e-10)
    assert_same_records(plain.stage2, other.stage2, 1e-10)
    E = rotated.embeddings
    np.testing.assert_allclose(other.W_kq, E.T @ plain.W_kq @ E, atol=1e-12)
    np.testing.assert_allclose(other.W_ov, plain.W_ov @ E, atol=1e-12)
    np.testing.assert_allclose(E @ other.W_kq @ E.T, other.S, atol=1e-12)


def test_samples_that_the_loss_cannot_tell_apart_merge() -> None:
    n = {"a": "b", "b": "c", "c": "a"}
    apart = Dataset(
        "apart",
        ("a", "b", "c"),
        (Sample(("a", "b", "c"), "b"), Sample(("b", "a", "c"), "b"), Sample(("b", "b", "a"), "c")),
        (2, 1, 3),
        next_token=n,
    )
    merged = replace(apart, samples=(apart.samples[1], apart.samples[2]), counts=(3, 3))
    assert len(sample_classes(apart)) == len(sample_classes(merged)) == 2
    one, two = train(apart, kq_reference=reference(apart)), train(merged, kq_reference=reference(apart))
    assert_same_records(one.stage2, two.stage2, 1e-15)
    short = train(apart, steps1=30, steps2=20)
    assert stage2_loss(apart, short.W_ov, short.W_kq) == pytest.approx(short.stage2.loss[-1], rel=1e-12, abs=0)


def test_the_reference_does_not_change_the_trajectory() -> None:
    one = train(SMALL, kq_reference=reference(SMALL), ov_reference=reference(SMALL))
    two = train(SMALL)
    np.testing.assert_allclose(one.S, two.S, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(one.B, two.B, rtol=1e-13, atol=1e-13)
    for stage in (two.stage1, two.stage2):
        assert np.isnan([stage.one_minus_cos, stage.distance, stage.error, stage.distance_error]).all()
    direct = two.S / np.linalg.norm(two.S) - reference(SMALL) / np.linalg.norm(reference(SMALL))
    assert one.stage2.distance[-1] == pytest.approx(np.linalg.norm(direct), rel=1e-13, abs=0)
    assert one.stage2.one_minus_cos[-1] == pytest.approx(np.sum(direct**2) / 2, rel=1e-13, abs=0)


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


def test_without_two_distinct_tokens_in_a_sample_nothing_moves() -> None:
    data = Dataset.from_sentences("pairs", ["ab", "ba", "cc"], vocabulary="abc")
    data = replace(data, samples=(*data.samples, Sample(("a", "a"), "b")), counts=(*data.counts, 1))
    stage = train(data, steps2=10**9, at=[0, 5, 10**9], steps1=50, kq_reference=reference(data)).stage2
    assert stage.step.tolist() == [0, 5, 10**9]
    assert not stage.scores.any()
    assert not stage.norm.any()
    assert np.isnan(stage.one_minus_cos).all()
    assert np.isneginf(stage.log_gradient_norm).all()
    assert not stage.gradient_norm.any()
    assert np.isneginf(stage.log_excess).all()
    assert stage.min_optimal_weight.tolist() == [1, 1, 1]


def test_terms_that_cancel_exactly_leave_the_weights_where_they_are() -> None:
    """a and b win equally often against each other: symmetric, so no direction."""
    n = {"a": "b", "b": "a", "c": "c"}
    samples = (Sample(("a", "b"), "a"), Sample(("a", "b"), "b"))
    data = Dataset("tie", ("a", "b", "c"), samples, (1, 1), next_token=n)
    stage = train(data, steps1=100, steps2=300, kq_reference=reference(data)).stage2
    assert not stage.scores.any()
    assert np.isneginf(stage.log_gradient_norm).all()


def test_the_error_bound_gives_up_before_rounding_breaks_a_symmetry() -> None:
    """a and b win equally often over c and each other: equal scores, but steps of fixed length are unstable there."""
    n = {"a": "b", "b": "a", "c": "c"}
    samples = (Sample(("a", "b", "c"), "a"), Sample(("a", "b", "c"), "b"))
    data = Dataset("tie", ("a", "b", "c"), samples, (1, 1), next_token=n)
    stage = train(data, steps1=100, steps2=300, at=range(301), kq_reference=reference(data)).stage2
    apart = np.abs(stage.score(0, 2) - stage.score(1, 2))
    known = stage.error < 1e-6
    assert known.sum() > 20
    assert np.all(apart[known] < 1e-15)
    assert apart[-1] > 0.01
    assert np.isinf(stage.error[-1])


def test_stage_1_of_no_steps() -> None:
    trained = train(SMALL, steps1=0, steps2=50, kq_reference=reference(SMALL))
    assert trained.margin == 0
    assert trained.stage1.step.tolist() == [0]
    assert trained.stage1.loss[0] == pytest.approx(6 * np.log(6), rel=1e-15, abs=0)
    assert not trained.S.any()
    assert trained.stage2.loss == pytest.approx(np.log(6), rel=1e-15, abs=0)
    assert np.isneginf(trained.stage2.log_excess).all()
    assert np.isnan(trained.stage2.one_minus_cos).all()


def test_a_vocabulary_of_one_token() -> None:
    data = Dataset.from_sentences("one", ["aaa"])
    trained = train(data, ov_reference=[[1.0]], kq_reference=[[0.0]])
    assert not trained.stage1.loss.any()
    assert not trained.stage2.loss.any()
    assert not trained.W_ov.any()
    assert np.isnan(trained.stage1.min_margin).all()
    assert not trained.stage1.label_spread.any()
    assert predict(data, trained, ("a",)).tolist() == [0.0]


@pytest.mark.parametrize("V", [2, 5])
def test_a_common_margin_is_found_and_exact(V: int) -> None:
    data = free_dataset(V=V, N=2 if V == 2 else 8, L=3, seed=0, optimal=(1, 1), non_optimal=(1, 1))
    trained = train(data, steps1=900, steps2=0)
    exact = 900 * 0.2 / np.sqrt(V) / np.sqrt(V - 1)
    assert trained.common_margin
    assert trained.margin == pytest.approx(exact, rel=1e-13, abs=0)
    assert abs(trained.margin - exact) <= trained.margin_error
    assert trained.stage1.norm[-1] == pytest.approx(900 * 0.2 / np.sqrt(V), rel=1e-13, abs=0)
    assert trained.stage1.label_spread.max() <= 1e-12


@pytest.mark.parametrize(("steps1", "true_steps"), [(99_999, 99_999), (100_001, 100_000), (10**9, 100_000)])
def test_the_true_steps_of_stage_1(steps1: int, true_steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def few(descent: Descent, iterate: Iterate, steps: int, at: Sequence[int], progress: None, done: int) -> list[Row]:
        asked.append(steps)
        return descend(descent, iterate, min(steps, 5), at, progress, done)

    monkeypatch.setattr(stage1, "descend", few)
    train(SMALL, steps1=steps1, steps2=0, at=[])
    assert asked[0] == true_steps


def test_why_stage_2_has_no_reduced_model() -> None:
    """Margins of orthonormal tokens are one A but for overflow, so nothing is trained here."""
    classes = sample_classes(SMALL)
    assert not_reduced(classes, orthonormal=True, common=True) == ""
    assert not_reduced(classes, orthonormal=False, common=True) == "the embeddings are not orthonormal"
    assert not_reduced(classes, orthonormal=True, common=False) == "the margins of W_ov are not one A"
