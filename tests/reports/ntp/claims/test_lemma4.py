"""Lemma 4 against the gradient as eq. 6 prints it, and its error bars."""

from dataclasses import replace

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, free_dataset, gram_deviation
from marginaudit.reports.ntp import Run
from marginaudit.reports.ntp.claims.lemma4 import lemma4, lemma4_sides
from marginaudit.training.ntp import loss_gradient

EPS = float(np.finfo(float).eps)


def test_lemma_4_agrees_with_the_gradient_as_eq_6_prints_it() -> None:
    data = free_dataset(V=6, N=14, L=5, seed=0, max_count=3)
    n = data.collocation.require_function()
    rng = np.random.default_rng(0)
    one = np.zeros((6, 6))
    one[[data.index[n[x]] for x in data.vocabulary], range(6)] = 1
    for A in (0.1, 3.0, 20.0):
        # one margin A whatever is added to all labels of a token
        W_ov = A * one + rng.standard_normal(6)
        W_kq, W = rng.standard_normal((2, 6, 6))
        value, size = lemma4(data, n, W_ov, W_kq, W, A)
        assert value == pytest.approx(np.vdot(loss_gradient(data, W_ov, W_kq), W), rel=1e-11, abs=1e-13 * size)
        assert size >= abs(value)


def test_the_bars_of_lemma_4_hold_rounding_and_the_gram_matrix() -> None:
    data = CASES["example-1"]()
    sides = lemma4_sides(Run(data))
    operations = data.N + data.L_max + 2 * data.V
    np.testing.assert_allclose(sides.printed.radius, EPS * operations * (1 + 15 + 8) * sides.size, rtol=1e-12)
    assert sides.derivative.radius.tolist() == sides.printed.radius.tolist()
    assert len(sides.size) == 2 * 3 * 6
    assert (np.abs(sides.derivative.value - sides.printed.value) <= 2 * sides.printed.radius).all()
    assert sides.printed.label[-1] == "A = 8, scores of deviation 3, direction 6"
    size = sides.size / np.repeat([0.5, 8.0], 18)
    assert size.min() >= 0.01
    assert size.max() < 1
    near = replace(data, embedding=(1 + 3e-13) * np.eye(4))
    wide = lemma4_sides(Run(near))
    per = wide.printed.radius / wide.size
    np.testing.assert_allclose(per, EPS * operations * 24 + 4 * gram_deviation(near), rtol=1e-12)
