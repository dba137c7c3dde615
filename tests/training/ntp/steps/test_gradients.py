"""Gradients: closed forms against complex steps, finite differences, mpmath and dense reference."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset, prefix_closed_dataset
from marginaudit.training.ntp import loss_gradient, sample_classes, stage1_loss, stage1_loss_gradient, stage2_loss
from marginaudit.training.ntp.steps.iterate import Iterate
from tests.training.ntp.naive import exact_gradient, hessian
from tests.training.ntp.problems import REDUCED, at_scores, dense, near, reduced, unreduced


def any_dataset(seed: int, V: int = 4, N: int = 9, L: int = 5) -> Dataset:
    """Random samples: n not injective, next tokens from anywhere, repeated tokens, queries of all kinds."""
    rng = np.random.default_rng(seed)
    names = tuple("abcdefgh"[:V])
    n = {x: names[rng.integers(V)] for x in names}
    counts: dict[Sample, int] = {}
    while len(counts) < N:
        tokens = tuple(names[i] for i in rng.integers(V, size=rng.integers(2, L + 1)))
        counts[Sample(tokens, names[rng.integers(V)])] = int(rng.integers(1, 4))
    return Dataset("any", names, tuple(counts), tuple(counts.values()), next_token=n)


DATASETS = [
    *(any_dataset(seed) for seed in range(4)),
    free_dataset(V=5, N=12, L=5, seed=3, max_count=3),
    prefix_closed_dataset(V=4, N=9, L=5, seed=2),
]


def derivative(f: Callable[..., Any], W: NDArray[np.float64], D: NDArray[np.float64]) -> float:
    """Complex step."""
    return float(np.imag(f(W + 1e-150j * D)) / 1e-150)


@pytest.mark.parametrize("data", DATASETS)
def test_eq_5_and_eq_6_against_complex_steps_and_finite_differences(data: Dataset) -> None:
    data = replace(data, embedding=np.random.default_rng(0).normal(size=(data.V, 3)))
    rng = np.random.default_rng(1)
    W_ov, W_kq = rng.normal(size=(data.V, 3)), rng.normal(size=(3, 3))
    first, second = stage1_loss_gradient(data, W_ov), loss_gradient(data, W_ov, W_kq)
    for _ in range(3):
        D, F = rng.normal(size=W_ov.shape), rng.normal(size=W_kq.shape)
        slope = derivative(lambda W: stage1_loss(data, W), W_ov, D)
        assert np.sum(first * D) == pytest.approx(slope, rel=1e-12, abs=1e-13)

        def loss(W: NDArray[np.complex128] | NDArray[np.float64]) -> Any:
            return stage2_loss(data, W_ov, W)

        assert np.sum(second * F) == pytest.approx(derivative(loss, W_kq, F), rel=1e-12, abs=1e-13)
        h = 1e-5
        difference = (loss(W_kq + h * F) - loss(W_kq - h * F)) / (2 * h)
        assert np.sum(second * F) == pytest.approx(difference, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("data", DATASETS)
@pytest.mark.parametrize("A", [0.3, 6.0])
@pytest.mark.parametrize("form", ["common", "general"])
def test_stage_2_in_token_space_with_one_margin(data: Dataset, A: float, form: str) -> None:
    classes = sample_classes(data)
    s = 2 * np.random.default_rng(4).normal(size=len(classes.key))
    B, S = dense(data, A, s)
    what = np.random.default_rng(9).normal(size=s.shape)
    problem, iterate = unreduced(data, A, form, what), Iterate(s.shape, 1.0, what).placed(1, s - what)
    found = problem.gradient(iterate)
    expected = loss_gradient(data, B, S)[classes.key, classes.pair_query]
    np.testing.assert_allclose(found.value * np.exp(found.log_scale), expected, rtol=1e-11, atol=1e-15)
    measured, loss = problem.measure(iterate), stage2_loss(data, B, S)
    assert measured["loss"] == near(loss, rel=1e-13)
    if form == "common":
        assert np.exp(measured["log_excess"]) == near(loss - np.log1p((data.V - 1) * np.exp(-A)), rel=1e-11)
    else:
        assert np.isnan(measured["log_excess"])


@pytest.mark.parametrize(("A", "spread"), [(5000.0, 1.0), (9.0, 1e4), (5000.0, 1e4), (1e4, 0.0)])
@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("form", ["common", "general"])
def test_nothing_underflows(A: float, spread: float, seed: int, form: str) -> None:
    """Margins of thousands, in W_ov, in the scores, or both; also where wrong tokens lead."""
    data = any_dataset(seed, V=4, N=5, L=4)
    pairs = len(sample_classes(data).key)
    s = np.rint(spread * np.random.default_rng(seed).normal(size=pairs) * 64) / 64
    B, S = dense(data, A, s)
    if form == "general":
        B = np.rint(64 * B * (1 + 0.1 * np.random.default_rng(seed).normal(size=B.shape))) / 64
    problem = unreduced(data, A, form, B=B)
    found = problem.gradient(at_scores(problem, s))
    log_norm, unit = exact_gradient(data, B, S)
    assert found.log_norm == pytest.approx(log_norm, rel=1e-12, abs=1e-10)
    np.testing.assert_allclose(found.value / found.norm, unit, atol=1e-10)
    assert np.linalg.norm(found.value / found.norm - unit) <= found.rounding / found.norm
    assert found.rounding / found.norm < 1e-6


def test_hessian_bounds() -> None:
    """The largest and smallest eigenvalues of the token-space Hessian, by complex steps, against the bounds."""
    for seed, data in enumerate(DATASETS):
        classes = sample_classes(data)
        for A, scale in ((0.5, 0.0), (6.0, 0.0), (6.0, 2.0), (30.0, 1.0)):
            s = scale * np.random.default_rng(seed).normal(size=len(classes.key))
            problem = unreduced(data, A, "common")
            token = problem.token_gradient(at_scores(problem, s))
            eigenvalues = np.linalg.eigvalsh(hessian(data, classes, dense(data, A, s)[0], s)) / np.exp(token.log_scale)
            assert eigenvalues[-1] <= token.curvature * (1 + 1e-9)
            assert -eigenvalues[0] <= token.concavity + 1e-12


def test_the_rounding_of_a_flux_between_two_labels_is_that_of_its_terms() -> None:
    """They differ by 1e-9 of themselves, and each is off by its own rounding."""
    data = Dataset("x", tuple("abcd"), (Sample(tuple("abc"), "d"),), (1,), dict(zip("abcd", "abdc", strict=True)))
    phi = np.array([0.3, 0.3 * (1 + 1e-9), 0.4])
    found = unreduced(data, 2.5, "common").fluxes(np.log(phi))
    z = 2.5 * np.append(phi, 0)
    assert found.log_magnitude[-1] == pytest.approx(np.log(2.5) + z[1] - np.log(np.exp(z).sum()), abs=1e-6)


TIE = Dataset(
    "tie",
    tuple("abcd"),
    (Sample(tuple("bbccda"), "b"), Sample(tuple("dca"), "a")),
    (1, 1),
    next_token=dict(zip("abcd", "bcda", strict=True)),
)
"""Two other tokens lead, by as much."""


def log_losses(data: Dataset, A: float, scores: NDArray[np.float64]) -> list[float]:
    """log Loss, and log(Loss - log(1 + (V-1) exp(-A))), sample by sample in 60 digits."""
    with mpmath.workdps(60):
        n, classes, loss, excess = data.collocation.require_function(), sample_classes(data), 0, 0
        floor = (data.V - 1) * mpmath.exp(-mpmath.mpf(A))
        pairs = zip(classes.key.tolist(), classes.pair_query.tolist(), strict=True)
        weight = {pair: mpmath.exp(mpmath.mpf(float(s))) for pair, s in zip(pairs, scores, strict=True)}
        for sample, count in zip(data.samples, data.counts, strict=True):
            attended = {x: c * weight[data.index[x], data.index[sample.query]] for x, c in sample.bag.items()}
            Phi = dict.fromkeys(data.vocabulary, mpmath.mpf(0))
            for x, f in attended.items():
                Phi[n[x]] += f / sum(attended.values())
            behind = [A * (Phi[v] - Phi[sample.next]) for v in data.vocabulary if v != sample.next]
            beyond = sum(mpmath.expm1(lead + A) for lead in behind) * mpmath.exp(-mpmath.mpf(A))
            share = mpmath.mpf(count) / sum(data.counts)
            loss += share * mpmath.log1p(sum(mpmath.exp(lead) for lead in behind))
            excess += share * mpmath.log1p(beyond / (1 + floor))
        return [float(mpmath.log(loss)), float(mpmath.log(excess))]


@pytest.mark.parametrize("A", [1.0, 30.0, 1e3, 1e6, 1e10, 1e14, 1e18, 1e22])
@pytest.mark.parametrize("data", [CASES["example-1"](), TIE, REDUCED["free"], *DATASETS[:2]], ids=lambda d: d.name)
def test_no_difference_of_numbers_of_the_size_of_A(data: Dataset, A: float) -> None:
    common = unreduced(data, A, "common")
    forms = [common] if data in DATASETS else [common, reduced(data, A, exact=False)[0]]
    noise = np.random.default_rng(0).normal(size=common.space.shape)
    for problem in forms:
        for scores in (0 * noise, noise, 30 * noise):
            found = problem.measure(at_scores(problem, scores))
            expected = log_losses(data, A, scores)
            assert [found["log_loss"], found["log_excess"]] == pytest.approx(expected, rel=2e-14, abs=2e-15)
    log_norm, unit = exact_gradient(data, *dense(data, A, 0 * noise))
    for problem in (*forms, unreduced(data, A, "general")):
        gradient = problem.gradient(at_scores(problem, 0 * noise))
        assert gradient.log_norm == near(log_norm, rel=1e-14)
        np.testing.assert_allclose(gradient.value / gradient.norm, unit, atol=1e-14)
