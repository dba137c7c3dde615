"""Optimizers and directions of examples/, by second ways: `conform`, loss by samples, bisection, exact W*_kq."""

import importlib
import warnings
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType

import cvxpy as cp
import numpy as np
import pytest

import marginaudit
from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import Dataset
from marginaudit.record import Recorder
from marginaudit.training.ntp import train
from tests.pages import ROOT

CAUSES = {
    "normalised": "conforms on",
    "plain": "cause: gradient not normalised, and another step size (1)",
    "momentum": "cause: momentum (0.9), gradient not normalised, and another step size (1)",
    "sam": "cause: none",
    "adam": "cause: Adam (step size",
    "adamw": "cause: AdamW (step size 0.01118, weight decay 0.01)",
    "adagrad": "cause: Adagrad (step size",
    "rmsprop": "cause: RMSprop (step size",
    "sign": "cause: sign descent (step size",
    "muon": "cause: Muon (step size",
    "factored": "cause: another start than zero",
}


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "examples")
    return importlib.import_module("your_own_training")


@pytest.fixture
def directions(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "examples")
    return importlib.import_module("which_direction")


@pytest.fixture
def small(directions: ModuleType) -> Dataset:
    data: Dataset = next(directions.random_datasets(1))
    return data


@cache
def stage1(data: Dataset) -> np.ndarray:
    """W_ov after 900 steps."""
    return np.asarray(train(data, steps1=900, steps2=0).W_ov)


def loss(data: Dataset, W: np.ndarray) -> float:
    """Eq. 1, a sample at a time."""
    W_ov, total = stage1(data), 0.0
    for sample, share in zip(data.samples, data.frequencies, strict=True):
        at = [data.index[x] for x in sample.tokens]
        weights = np.exp([W[x, at[-1]] for x in at])
        logits = sum(weight * W_ov[:, x] for weight, x in zip(weights / weights.sum(), at, strict=True))
        total += share * (np.log(np.exp(logits).sum()) - logits[data.index[sample.next]])
    return float(total)


@pytest.mark.parametrize("name", CAUSES)
def test_conform_names_each_optimizer(name: str, training: ModuleType, tmp_path: Path) -> None:
    data, steps = marginaudit.dataset("section-7"), 200
    recorder = Recorder(lr2=0.05 / data.V**0.5)
    for t, W in enumerate(islice(dict(training.trained(data))[name], steps + 1)):
        recorder.stage2(t, W)
    recorder.save(tmp_path / "run.npz")
    assert CAUSES[name] in marginaudit.conform(data, tmp_path / "run.npz").line


def powers(G: np.ndarray, beta: float) -> np.ndarray:
    """sum beta^(t-k) G_k at each t, term by term."""
    return np.array([sum(beta ** (t - k) * G[k] for k in range(t + 1)) for t in range(len(G))])


def unit(G: np.ndarray) -> np.ndarray:
    """Each matrix over its Frobenius norm."""
    return np.asarray(G / np.linalg.norm(G, axis=(1, 2), keepdims=True))


def adam(G: np.ndarray) -> np.ndarray:
    """Algorithm 1 of arXiv 1412.6980 without its recursion."""
    t = np.arange(1, len(G) + 1)[:, None, None]
    mean, square = 0.1 * powers(G, 0.9) / (1 - 0.9**t), 0.001 * powers(G**2, 0.999) / (1 - 0.999**t)
    return np.asarray(mean / (np.sqrt(square) + 1e-8))


STEP: dict[str, Callable[[np.ndarray, np.ndarray, float], np.ndarray]] = {
    "normalised": lambda G, W, lr: lr * unit(G),
    "plain": lambda G, W, lr: G,
    "momentum": lambda G, W, lr: powers(G, 0.9),
    "adam": lambda G, W, lr: lr * adam(G),
    "adamw": lambda G, W, lr: lr * adam(G) + lr * 0.01 * W,
    "adagrad": lambda G, W, lr: lr * G / (np.sqrt(np.cumsum(G**2, axis=0)) + 1e-10),
    "rmsprop": lambda G, W, lr: lr * G / (np.sqrt(0.01 * powers(G**2, 0.99)) + 1e-8),
    "sign": lambda G, W, lr: lr * ((G > 0).astype(float) - (G < 0)),
}
"""W_t - W_(t+1) by gradients G_0 .. G_t, in closed form."""


def descended(training: ModuleType, name: str, lr: float) -> tuple[np.ndarray, np.ndarray]:
    """W_0 .. W_40 on a quadratic function, and its gradients."""
    A, B = np.random.default_rng(7).standard_normal((2, 6, 6))

    def gradient(W: np.ndarray) -> np.ndarray:
        return np.asarray(A**2 * W * 0.05 - B)

    W = np.array([*islice(getattr(training, name)(gradient, np.zeros((6, 6)), lr), 41)])
    return W, np.array([gradient(w) for w in W])


@pytest.mark.parametrize("name", STEP)
def test_each_step_is_that_of_the_closed_form(name: str, training: ModuleType) -> None:
    W, G = descended(training, name, 0.3)
    np.testing.assert_allclose(W[:-1] - W[1:], STEP[name](G, W, 0.3)[:-1], rtol=1e-9, atol=1e-12)


def test_muon_steps_near_the_polar_factor(training: ModuleType) -> None:
    W, G = descended(training, "muon", 0.3)
    means = 0.05 * powers(G, 0.95)
    for t, X in enumerate((0.95 * means + 0.05 * G)[:-1]):
        left, values, right = np.linalg.svd(X / np.linalg.norm(X))
        large = values > 0.03
        for _ in range(5):
            values = 3.4445 * values - 4.775 * values**3 + 2.0315 * values**5
        np.testing.assert_allclose((W[t] - W[t + 1]) / 0.3, left * values @ right, atol=1e-9)
        assert large.any()
        assert abs(values[large] - 1).max() < 0.4  # left @ right is the exact polar factor


def test_separate_matrices_step_along_the_gradient_of_their_product(training: ModuleType, small: Dataset) -> None:
    gradient = training.gradient_of(small)
    before, after = islice(training.factored(gradient, np.zeros((small.V, small.V)), 0.1), 2)
    K, Q = 0.01 * np.random.default_rng(0).standard_normal((2, small.V, small.V))
    np.testing.assert_allclose(before, K.T @ Q)
    G = gradient(before)
    of_K, of_Q = np.einsum("ij,aj->ai", G, Q), np.einsum("ij,ai->aj", G, K)  # dL = sum G_ij d(sum_a K_ai Q_aj)
    step = 0.1 / np.sqrt((of_K**2).sum() + (of_Q**2).sum())
    np.testing.assert_allclose(after, (K - step * of_K).T @ (Q - step * of_Q))


def test_gradients_keep_their_sign_near_one_hot_attention(training: ModuleType, small: Dataset) -> None:
    run = [*islice(dict(training.trained(small))["sign"], 2001)]
    np.testing.assert_allclose(run[-1], 2000 * run[1], atol=1e-9)  # its gradient is 1e-34 of the first


def test_sam_steps_along_the_gradient_uphill(training: ModuleType, small: Dataset) -> None:
    _, W, after = islice(training.sam(training.gradient_of(small), np.zeros((small.V, small.V)), 1.0), 3)
    h = 1e-5
    units = np.eye(small.V**2).reshape(-1, small.V, small.V)

    def slope(at: np.ndarray) -> np.ndarray:
        return np.array([loss(small, at + h * e) - loss(small, at - h * e) for e in units]).reshape(W.shape) / (2 * h)

    G = slope(W)
    np.testing.assert_allclose(W - after, slope(W + 0.05 * G / np.linalg.norm(G)), atol=1e-8)
    assert abs(W - after - G).max() > 1e-4  # not plain descent


@pytest.fixture
def some(training: ModuleType, small: Dataset) -> np.ndarray:
    """W_kq of Adam after 50 steps."""
    *_, last = islice(dict(training.trained(small))["adam"], 51)
    return np.asarray(last)


@pytest.mark.parametrize("norm", ["largest entry", "nuclear", "spectral"])
def test_the_cosine_is_the_largest_by_bisection(
    norm: str, directions: ModuleType, small: Dataset, some: np.ndarray
) -> None:
    least = directions.solution(small, norm).upper
    found = directions.cosine(small, some, norm, least)
    unit = some / np.linalg.norm(some)

    def reached(cosine: float) -> bool:
        """Some solution has this cosine or a larger one."""
        U = cp.Variable(some.shape)
        feasible = [directions.margins(small, U) >= 1, directions.NORMS[norm].convex(U) <= least * (1 + 1e-6)]
        over = cp.norm(U, "fro") * cosine - cp.sum(cp.multiply(U, unit))
        problem = cp.Problem(cp.Minimize(over), feasible)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            if norm == "nuclear":  # Clarabel fails
                return float(problem.solve(solver=cp.SCS, eps=1e-7, max_iters=100_000)) <= 1e-7
            return float(problem.solve(solver=cp.CLARABEL)) <= 0

    low, high = 0.0, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    assert found == pytest.approx(low, abs=1e-3)


def test_the_cosine_in_the_frobenius_norm_is_that_with_the_exact_solution(
    directions: ModuleType, small: Dataset, some: np.ndarray
) -> None:
    exact = np.asarray(solve_kq(small).optimal().matrix)
    found = directions.solution(small, "Frobenius")
    assert found.upper == pytest.approx(np.linalg.norm(exact), rel=1e-12, abs=0)
    assert directions.cosine_of(some, found.w) == pytest.approx(directions.cosine_of(some, exact), abs=1e-6)
    assert directions.cosine(small, some, "Frobenius", found.upper) == pytest.approx(
        directions.cosine_of(some, exact), abs=1e-3
    )


@pytest.mark.parametrize("norm", ["Frobenius", "largest entry", "nuclear", "spectral"])
def test_a_solution_has_the_whole_margin(norm: str, directions: ModuleType, small: Dataset) -> None:
    found = directions.solution(small, norm)
    W = found.w.reshape(small.V, small.V)
    assert directions.share(small, W, norm, found.upper) == pytest.approx(1, abs=1e-7)
    assert directions.share(small, 3 * W.T, norm, found.upper) < 1


def test_a_wrong_least_norm_is_refused(directions: ModuleType, small: Dataset, some: np.ndarray) -> None:
    least = directions.solution(small, "nuclear").upper
    with pytest.raises(ValueError, match="no solution in the nuclear norm"):
        directions.cosine(small, some, "nuclear", 0.99 * least)


def test_a_cosine_below_its_upper_bound_is_refused(
    directions: ModuleType, small: Dataset, some: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directions, "largest_cosine", lambda *_: 1.5)
    with pytest.raises(ValueError, match=r"to 1\.5"):
        directions.cosine(small, some, "spectral", directions.solution(small, "spectral").upper)


def test_spreads_are_medians_with_the_range(directions: ModuleType) -> None:
    assert directions.spread([0.5]) == "0.500"
    assert directions.spread([0.1, 0.9, 0.2]) == "0.200 [0.100, 0.900]"
