"""Algorithm 1 as a whole: its invariances, records, edges and refusals."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import CASES, CollocationError, Dataset, Sample, broken, free_dataset
from marginaudit.training import log_spaced
from marginaudit.training.ntp import (
    log_probabilities,
    loss_gradient,
    predict,
    sample_classes,
    sample_probabilities,
    stage1,
    stage2_loss,
    train,
)
from marginaudit.training.ntp.records import Stage1, Stage2
from marginaudit.training.ntp.stage2 import not_reduced
from marginaudit.training.ntp.start import ov_unit
from marginaudit.training.ntp.steps.descent import Descent, _reporter, descend
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.loss import Gradient, Row
from marginaudit.training.ntp.steps.spaces import EmbeddedKQ, EmbeddedOV, TokenOV
from tests.solutions import inexact, known

FREE = free_dataset(V=6, N=14, L=5, seed=1, max_count=3)


def reference(data: Dataset, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(data.V, data.V))


def assert_same_records(one: Stage1 | Stage2, two: Stage1 | Stage2, tolerance: float) -> None:
    for name in one.columns():
        if name in ("error", "distance_error", "method"):
            continue
        np.testing.assert_allclose(
            one.columns()[name], two.columns()[name], rtol=tolerance, atol=tolerance, err_msg=name
        )


def rotation(V: int, d: int, seed: int = 0) -> NDArray[np.float64]:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, V)))[0].T


def test_orthonormal_embeddings_of_any_kind_give_one_trajectory() -> None:
    rotated = replace(FREE, embedding=rotation(6, 8))
    R1, R2 = reference(FREE, 1), reference(FREE, 2)
    plain = train(FREE, ov_reference=R1, kq_reference=R2)
    other = train(rotated, ov_reference=R1, kq_reference=R2)
    assert_same_records(plain.stage1, other.stage1, 1e-10)
    assert_same_records(plain.stage2, other.stage2, 1e-10)
    E = rotated.embeddings
    np.testing.assert_allclose(other.W_kq, E.T @ plain.W_kq @ E, atol=1e-12)
    np.testing.assert_allclose(other.W_ov, plain.W_ov @ E, atol=1e-12)
    np.testing.assert_allclose(E @ other.W_kq @ E.T, other.S, atol=1e-12)


def test_the_general_form_on_a_scaled_rotation() -> None:
    """With E = c Q a step in W_ov moves B by c lr, a step in W_kq moves S by c^2 lr."""
    c, Q = 1.3, rotation(6, 6)
    scaled = replace(FREE, embedding=c * Q)
    R1, R2 = reference(FREE, 1), reference(FREE, 2)
    plain = train(FREE, steps1=200, steps2=500, ov_reference=R1, kq_reference=restricted(FREE, R2))
    general = train(
        scaled,
        steps1=200,
        steps2=500,
        lr1=0.2 / np.sqrt(6) / c,
        lr2=0.05 / np.sqrt(6) / c**2,
        ov_reference=R1 @ Q,
        kq_reference=Q.T @ restricted(FREE, R2) @ Q,
    )
    np.testing.assert_allclose(general.B, plain.B, atol=1e-11)
    np.testing.assert_allclose(general.S, plain.S, atol=1e-11)
    for name in ("one_minus_cos", "distance", "loss", "log_loss", "min_optimal_weight"):
        np.testing.assert_allclose(
            general.stage2.columns()[name], plain.stage2.columns()[name], rtol=1e-10, err_msg=name
        )
        if name != "min_optimal_weight":
            np.testing.assert_allclose(
                general.stage1.columns()[name], plain.stage1.columns()[name], rtol=1e-10, err_msg=name
            )
    np.testing.assert_allclose(general.stage2.norm * c**2, plain.stage2.norm, rtol=1e-11)
    later = plain.stage2.log_gradient_norm + 2 * np.log(c)
    np.testing.assert_allclose(general.stage2.log_gradient_norm, later, rtol=1e-11)
    np.testing.assert_allclose(general.stage2.score_matrix(-1, 6), general.S, atol=1e-13)


def restricted(data: Dataset, R: NDArray[np.float64]) -> NDArray[np.float64]:
    classes = sample_classes(data)
    kept = np.zeros_like(R)
    kept[classes.key, classes.pair_query] = R[classes.key, classes.pair_query]
    return kept


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


@given(st.integers(0, 50))
@settings(max_examples=12)
def test_every_step_has_length_lr(seed: int) -> None:
    data = free_dataset(V=4, N=6, L=4, seed=seed)
    stage = train(data, steps1=20, steps2=60, at=range(61), kq_reference=reference(data)).stage2
    moved = np.linalg.norm(np.diff(stage.scores, axis=0), axis=1)
    np.testing.assert_allclose(moved, 0.025, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(stage.scores, axis=1), stage.norm, rtol=1e-13)


def test_the_reference_does_not_change_the_trajectory() -> None:
    one = train(FREE, kq_reference=reference(FREE), ov_reference=reference(FREE))
    two = train(FREE)
    np.testing.assert_allclose(one.S, two.S, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(one.B, two.B, rtol=1e-13, atol=1e-13)
    for stage in (two.stage1, two.stage2):
        assert np.isnan([stage.one_minus_cos, stage.distance, stage.error, stage.distance_error]).all()
    direct = two.S / np.linalg.norm(two.S) - reference(FREE) / np.linalg.norm(reference(FREE))
    assert one.stage2.distance[-1] == pytest.approx(np.linalg.norm(direct), rel=1e-13, abs=0)
    assert one.stage2.one_minus_cos[-1] == pytest.approx(np.sum(direct**2) / 2, rel=1e-13, abs=0)


@pytest.mark.parametrize("embedding", [None, rotation(6, 8), np.random.default_rng(0).normal(size=(6, 8))])
def test_a_solution_is_a_reference_in_the_space_of_the_weights(embedding: NDArray[np.float64] | None) -> None:
    """As scores of tokens for orthonormal embeddings, as weights for others."""
    data = replace(FREE, embedding=embedding)
    ov, kq = solve_ov(data).optimal(), solve_kq(data).optimal()
    orthonormal = embedding is None or np.allclose(embedding @ embedding.T, np.eye(6))
    one = train(data, steps1=20, steps2=20, ov_reference=ov, kq_reference=kq)
    arrays = (ov.scores, kq.scores) if orthonormal else (ov.matrix, kq.matrix)
    two = train(data, steps1=20, steps2=20, ov_reference=arrays[0], kq_reference=arrays[1])
    np.testing.assert_allclose(one.stage1.distance[2:], two.stage1.distance[2:], atol=1e-14)
    np.testing.assert_allclose(one.stage2.distance[2:], two.stage2.distance[2:], rtol=1e-12)
    assert one.stage2.distance[-1] > 1e-3


def test_an_exact_solution_is_a_reference_to_twice_the_digits() -> None:
    space, ov = TokenOV(6), solve_ov(FREE)
    unit = known(ov_unit(FREE, space, ov))
    assert np.abs(unit.low).max() > 1e-18
    n = FREE.collocation.require_function()
    with flint.ctx.workprec(200):
        root = flint.arb(5).sqrt()
        for i, v in enumerate(FREE.vocabulary):
            for j, x in enumerate(FREE.vocabulary):
                exact = (int(v == n[x]) - flint.arb(1) / 6) / root
                off = exact - flint.arb(float(unit.high[i, j])) - flint.arb(float(unit.low[i, j]))
                assert abs(float(off)) < 1e-32
    floats = known(ov_unit(FREE, space, inexact(ov)))
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
    trained = train(FREE, steps1=0, steps2=50, kq_reference=reference(FREE))
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
    train(FREE, steps1=steps1, steps2=0, at=[])
    assert asked[0] == true_steps


def test_why_stage_2_has_no_reduced_model() -> None:
    """Margins of orthonormal tokens are one A but for overflow, so nothing is trained here."""
    classes = sample_classes(FREE)
    assert not_reduced(classes, orthonormal=True, common=True) == ""
    assert not_reduced(classes, orthonormal=False, common=True) == "the embeddings are not orthonormal"
    assert not_reduced(classes, orthonormal=True, common=False) == "the margins of W_ov are not one A"


@pytest.mark.parametrize(("apart", "common"), [(0.9e-12, True), (1.1e-12, False)])
def test_how_far_apart_margins_count_as_one(apart: float, common: bool) -> None:
    """After one step the margin of a token is in proportion to the square of its embedding's length."""
    data = Dataset.from_sentences("two", ["aba", "bab"])
    data = replace(data, embedding=np.diag([1 + apart, 1.0]))
    trained = train(data, steps1=1, steps2=0)
    assert trained.margin_spread == pytest.approx(apart * trained.margin, rel=1e-2, abs=0)
    assert trained.common_margin is common


def test_records() -> None:
    trained = train(FREE, steps1=5, steps2=9, at=[9, 0, 3, 3])
    assert trained.stage1.step.tolist() == [0, 3]
    assert trained.stage2.step.tolist() == [0, 3, 9]
    assert len(trained.stage2) == 3
    columns = trained.stage2.columns()
    assert next(iter(columns)) == "step"
    assert columns["method"].tolist() == ["steps"] * 3
    assert all(len(column) == 3 for column in columns.values())
    assert train(FREE, steps1=30, steps2=0).stage1.step.tolist() == list(log_spaced(30))
    assert len(train(FREE, steps1=3, steps2=9, at=[7]).stage1) == 0


@given(st.integers(0, 10**18))
def test_log_spaced(steps: int) -> None:
    found = log_spaced(steps)
    assert found[0] == 0
    assert found[-1] == steps
    assert found == tuple(sorted(set(found)))
    assert set(range(min(steps, 8))) <= set(found)
    assert len(found) <= 20 * max(1, np.log10(max(steps, 1))) + 3


def test_log_spaced_steps_are_twenty_a_decade() -> None:
    assert log_spaced(1000) == tuple(sorted({0, *(round(10 ** (k / 20)) for k in range(61))}))
    np.testing.assert_allclose(log_spaced(10**18)[-21:], 10 ** (np.arange(340, 361) / 20), rtol=1e-12)
    assert log_spaced(1) == (0, 1)
    with pytest.raises(ValueError, match="steps: got -1, expected at least 0"):
        log_spaced(-1)


@pytest.mark.parametrize(
    ("steps", "expected"), [(1000, range(5, 1001, 5)), (3, [1, 2, 3]), (201, [*range(2, 202, 2), 201])]
)
def test_progress_comes_two_hundred_times_a_stage(steps: int, expected: Sequence[int]) -> None:
    seen: list[int] = []
    report = _reporter(seen.append, 70, steps)
    for t in range(1, steps + 1):
        report(t)
    assert seen == [70 + t for t in expected]


def test_progress_of_steps_taken_many_at_a_time() -> None:
    seen: list[int] = []
    report = _reporter(seen.append, 0, 1000)
    for t in (3, 4, 7, 9, 10, 503, 504, 506, 1000):
        report(t)
    assert seen == [7, 10, 503, 506, 1000]
    _reporter(None, 0, 10)(10)


def test_progress_counts_both_stages() -> None:
    seen: list[int] = []
    train(FREE, steps1=450, steps2=1000, at=[], progress=seen.append)
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
        train(FREE, **arguments)


def test_n_has_to_be_a_function() -> None:
    with pytest.raises(CollocationError, match="'c'"):
        train(Dataset.from_sentences("partial", ["abc", "ba"]))


@pytest.mark.parametrize("general", [False, True])
def test_forward_pass(general: bool) -> None:
    embedding = np.random.default_rng(0).normal(size=(6, 5)) if general else rotation(6, 6)
    data = replace(FREE, embedding=embedding)
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


def test_optimal_weights() -> None:
    trained = train(FREE, steps1=50, steps2=80)
    weights = {}
    for sample in FREE.samples:
        tokens = [FREE.index[x] for x in sample.tokens]
        e = np.exp(trained.S[tokens, tokens[-1]])
        optimal = [FREE.collocation.maps(x, sample.next) for x in sample.tokens]
        weights[sample] = e[optimal].sum() / e.sum()
    smallest = min(weights.values())
    assert trained.stage2.min_optimal_weight[-1] == pytest.approx(smallest, rel=1e-13, abs=0)
    assert trained.stage2.log_other_weight[-1] == pytest.approx(np.log(1 - smallest), rel=1e-11, abs=0)


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
        (FREE, "compiled", ""),
        (replace(FREE, embedding=rotation(6, 8)), "compiled", ""),
        (replace(FREE, embedding=2 * rotation(6, 8)), "embedding space", "the embeddings are not orthonormal"),
        (
            broken(FREE, "next_from_sentence"),
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
    R = reference(FREE, 2)
    for data in (FREE, replace(FREE, embedding=np.random.default_rng(0).normal(size=(6, 7)))):
        space = data is FREE
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
        inside = unit if not space else restricted(FREE, unit)
        assert stage.descent_reference[-1] == pytest.approx(-np.sum(G * inside) / np.linalg.norm(G), rel=1e-9, abs=0)


def test_a_gradient_at_rounding_level_is_hidden() -> None:
    assert Gradient(np.array([1e-16]), 1e-16, 0.0, 2e-16, 0.0, 0.0).hidden
    assert Gradient(np.array([1e-16]), 1e-16, 0.0, 2e-16, 0.0, 0.0).log_norm == -np.inf
    assert not Gradient(np.array([1e-16]), 1e-16, 0.0, 5e-17, 0.0, 0.0).hidden


def test_curvature_stretches_with_the_embedding() -> None:
    pairs = np.array([0, 1]), np.array([1, 0])
    assert EmbeddedKQ(3 * np.eye(2), *pairs).stretch == pytest.approx(81)
    assert EmbeddedOV(3 * np.eye(2)).stretch == pytest.approx(9)


def test_log_probabilities_refuses_an_empty_sentence() -> None:
    with pytest.raises(ValueError, match="no token"):
        log_probabilities(np.zeros(2), np.eye(2), np.zeros(2, dtype=int))
    with pytest.raises(ValueError, match="no token"):
        predict(FREE, train(FREE, steps1=1, steps2=0), ())


def test_large_margins_keep_every_column_finite() -> None:
    data = CASES["free-20"]()
    trained = train(data, steps1=3, steps2=300, lr1=4e4, lr2=40.0, kq_reference=reference(data))
    assert trained.margin > 5000
    stage = trained.stage2
    assert stage.norm[-1] == pytest.approx(np.linalg.norm(trained.S), rel=1e-12, abs=0)
    for name in ("log_loss", "log_gradient_norm", "log_excess", "log_other_weight", "loss"):
        assert np.isfinite(getattr(stage, name)).all(), name
