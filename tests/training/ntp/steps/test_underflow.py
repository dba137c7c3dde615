"""Logarithms of sums against mpmath; tokens embedded as zeros beside others that underflow; very small weights."""

import math
from collections.abc import Callable
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import dataset_from_document
from marginaudit.training.ntp import sample_classes
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.kq_loss import GeneralB
from marginaudit.training.ntp.steps.loss import TokenGradient
from marginaudit.training.ntp.steps.ov_loss import OV
from marginaudit.training.ntp.steps.spaces import EmbeddedKQ, EmbeddedOV, TokenKQ, TokenOV, WeightSpace
from marginaudit.training.ntp.steps.stepper import Stepper
from marginaudit.training.ntp.steps.underflow import (
    TINY,
    log_expm1,
    log_softplus,
    log_sum_exp,
    norm,
    segment_log_sum_exp,
)
from tests.oracle import descent as oracle
from tests.oracle.problem import problem
from tests.training.ntp.problems import Fixed


def precise(function: Callable[..., Any], values: list[float]) -> NDArray[np.float64]:
    with mpmath.workdps(60):
        return np.array([float(function(mpmath.mpf(x))) for x in values])


@pytest.mark.parametrize("x", [-5000.0, -40.0, -37.1, -36.9, -30.0, -20.0, -1.0, 0.0, 1.0, 36.0, 38.0, 5000.0])
def test_log_softplus(x: float) -> None:
    expected = precise(lambda y: mpmath.log(mpmath.log1p(mpmath.exp(y))), [x])
    np.testing.assert_allclose(log_softplus(np.array([x])), expected, rtol=2e-16 if x < -37 else 1e-15, atol=2e-16)


@pytest.mark.parametrize("z", [1e-300, 1e-12, 0.99e-8, 1.01e-8, 1e-4, 0.9, 1.1, 20.0, 36.9, 37.1, 40.0, 600.0])
def test_log_expm1(z: float) -> None:
    expected = precise(lambda y: mpmath.log(mpmath.expm1(mpmath.exp(y))), [np.log(z)])
    np.testing.assert_allclose(log_expm1(np.log([z])), expected, rtol=3e-16 * max(1, np.log(z)), atol=3e-16)


@pytest.mark.parametrize("log_z", [-1e6, -746.0, -744.3, -735.0, -700.0])
def test_log_expm1_of_what_float64_cannot_hold(log_z: float) -> None:
    assert log_expm1(np.array([log_z]))[0] == pytest.approx(log_z, rel=1e-15, abs=0)


def test_log_sum_exp() -> None:
    a = np.array([[1.0, -np.inf, 1000.0], [-np.inf, -np.inf, 1001.0], [3.0, -np.inf, -np.inf]])
    expected = [np.log(np.exp(1) + np.exp(3)), -np.inf, 1001 + np.log1p(np.exp(-1))]
    np.testing.assert_allclose(log_sum_exp(a, axis=0), expected, rtol=1e-15)
    np.testing.assert_allclose(log_sum_exp(a.T, axis=1), expected, rtol=1e-15)
    assert log_sum_exp(np.zeros((0, 2)), axis=0).tolist() == [-np.inf, -np.inf]


def test_segment_log_sum_exp() -> None:
    a = np.array([-1000.0, -1001.0, -np.inf, -np.inf, 5.0, 800.0, 800.0, 800.0])
    first, owner = np.array([0, 2, 4, 5]), np.array([0, 0, 1, 1, 2, 3, 3, 3])
    expected = [-1000 + np.log1p(np.exp(-1)), -np.inf, 5.0, 800 + np.log(3)]
    np.testing.assert_allclose(segment_log_sum_exp(a, first, owner), expected, rtol=1e-15)
    alone = np.array([3.0, -np.inf])
    assert segment_log_sum_exp(alone, np.arange(2), np.arange(2)) is alone


E = np.array([[0.0, 0.0], [0.0, -2.0], [1.0, 0.5]])

KEY, QUERY = np.array([0, 1, 1, 2]), np.array([1, 1, 2, 2])


def document(*samples: tuple[str, str]) -> dict[str, Any]:
    """Samples of the tokens 0, a and b, of which 0 is embedded as zeros."""
    return {
        "name": "zeros",
        "vocabulary": ["0", "a", "b"],
        "next_token": {"0": "0", "a": "a", "b": "b"},
        "samples": [{"tokens": list(tokens), "next": following} for tokens, following in samples],
        "embedding": E.tolist(),
    }


def given(space: WeightSpace, value: NDArray[np.float64], log_scale: float = 0.0) -> Fixed:
    """A gradient of no rounding and no curvature."""
    return Fixed(space, TokenGradient(value, np.abs(value), log_scale, 0.0, 0.0, 0.0))


def test_how_much_may_have_become_0() -> None:
    ones = np.ones((3, 3))
    scattered = np.zeros((3, 3))
    scattered[KEY, QUERY] = 1
    assert EmbeddedOV(E).underflow == TINY * float((ones @ np.abs(E)).sum())
    assert EmbeddedKQ(E, KEY, QUERY).underflow == TINY * float((np.abs(E).T @ scattered @ np.abs(E)).sum())
    assert EmbeddedOV(1e-9 * E).underflow == EmbeddedKQ(1e-9 * E, KEY, QUERY).underflow == TINY
    assert EmbeddedOV(0 * E).underflow == EmbeddedKQ(0 * E, KEY, QUERY).underflow == 0
    assert TokenOV(3).underflow == TokenKQ(3, KEY, QUERY).underflow == 0


def test_a_gradient_of_which_the_rest_underflowed_is_not_known_to_be_0() -> None:
    token_of_zeros = np.zeros((3, 3))
    token_of_zeros[0, 0] = 1.0
    for space, value in ((EmbeddedOV(E), token_of_zeros), (EmbeddedKQ(E, KEY, QUERY), np.array([1.0, 0, 0, 0]))):
        iterate = Iterate(space.shape, 1.0, None)
        assert not Stepper(given(space, value)).step(iterate)
        assert iterate.state_error == math.inf
        iterate = Iterate(space.shape, 1.0, None)
        assert not Stepper(given(space, 0 * value, -math.inf)).step(iterate)
        assert iterate.state_error == 0


def test_stage_1_beside_a_token_of_zeros() -> None:
    """The other tokens' probabilities are below exp(-800), that of the token of zeros stays 2/3."""
    weights = np.array([[3.0, -1.0], [1.5, -900.0], [2000.0, 40.0]])
    found = OV(EmbeddedOV(E), np.arange(3), np.zeros((3, 2))).gradient(Iterate((3, 2), 1.0, None).placed(0, weights))
    with mpmath.workdps(60):
        B = mpmath.matrix(weights.tolist()) * mpmath.matrix(E.T.tolist())
        G = mpmath.zeros(3, 3)
        for x in range(3):
            total = sum(mpmath.exp(B[v, x]) for v in range(3))
            for v in range(3):
                G[v, x] = (
                    mpmath.exp(B[v, x]) / total
                    if v != x
                    else -sum(mpmath.exp(B[u, x]) for u in range(3) if u != x) / total
                )
        gradient = G * mpmath.matrix(E.tolist())
        norm = mpmath.sqrt(sum(a**2 for a in gradient))
        log_norm = float(mpmath.log(norm))
        unit = np.array((gradient / norm).tolist(), dtype=float)
    assert log_norm < -800
    assert found.log_norm == pytest.approx(log_norm, rel=1e-13, abs=0)
    np.testing.assert_allclose(found.value / found.norm, unit, atol=1e-11)


def test_stage_2_beside_a_query_of_zeros() -> None:
    """Attention is decided up to exp(-900) where the weights act; under the query of zeros it stays even."""
    samples = ("ab", "a"), ("aab", "b"), ("ab0", "a")
    data = dataset_from_document(document(*samples))
    classes = sample_classes(data)
    B = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]])
    space = EmbeddedKQ(E, classes.key, classes.pair_query)
    weights = np.array([[100.0, -7.0], [-380.0, 3.0]])
    found = GeneralB(space, classes, 3, np.zeros((2, 2)), B).gradient(Iterate((2, 2), 1.0, None).placed(0, weights))
    with flint.ctx.workprec(6000):
        exact = flint.arb_mat(E.tolist())
        S = (exact * flint.arb_mat(weights.tolist()) * exact.transpose()).tolist()
        D = oracle.downhill(problem(document(*samples)), S, flint.arb_mat(B.tolist()).tolist())
        gradient = (-1 * exact.transpose() * flint.arb_mat(D) * exact).tolist()
        norm = sum((a * a for row in gradient for a in row), flint.arb(0)).sqrt()
        log_norm, unit = float(norm.log()), np.array([[float(a / norm) for a in row] for row in gradient])
    assert log_norm < -600
    assert found.curvature < 1e4 * found.norm
    assert found.log_norm == pytest.approx(log_norm, rel=1e-12, abs=0)
    np.testing.assert_allclose(found.value / found.norm, unit, atol=1e-10)


def test_a_gradient_whose_squares_underflow_has_its_norm() -> None:
    found = given(TokenOV(2), np.array([[3e-170, 0.0], [0.0, 4e-170]])).gradient(Iterate((2, 2), 1.0, None))
    assert found.norm == pytest.approx(5e-170, rel=1e-15, abs=0)


def test_small_weights_have_their_direction_or_no_error_bound() -> None:
    what = np.array([[0.6, 0.8]])
    for size, known in ((1e-170, True), (1e-318, False)):
        iterate = Iterate((1, 2), 1.0, what, normalised=False)
        iterate.step(np.array([[-1.0, 0.0]]), log_norm=math.log(size), rounding=0.0, curvature=0.0, concavity=0.0)
        found = iterate.direction()
        assert found.norm == pytest.approx(size, rel=1e-3, abs=0)
        if known:
            assert found.one_minus_cos == pytest.approx(0.4, rel=1e-12, abs=0)
            assert found.distance_error < 1e-12
        else:
            assert found.distance_error == 2


def test_the_norm_of_what_is_infinite_is_infinite() -> None:
    assert norm(np.array([np.inf, 1.0])) == norm(np.array([[-np.inf]])) == np.inf
