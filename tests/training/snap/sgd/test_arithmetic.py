"""The compiled sums, products and exponentials against NumPy, exact sums and mpmath."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit.training.snap.sgd.arithmetic import (
    LOWEST,
    add_product,
    exponentiate,
    padded,
)
from marginaudit.training.snap.sgd.kernel import losses

SIZES = (0, 1, 3, 4, 5, 8, 23)


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("k", SIZES)
def test_products_are_added(m: int, k: int) -> None:
    rng = np.random.default_rng(100 * m + k)
    left, right, total = rng.normal(size=(m, k)), rng.normal(size=(k, 7)), rng.normal(size=(m, 7))
    expected = total + left @ right
    add_product(left, right, total)
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-14)


def exp(values: Any) -> Any:
    found = np.array(values, dtype=float)
    exponentiate(found)
    return found


def test_exponentials_are_right_to_two_roundings() -> None:
    values = np.concatenate([-np.geomspace(1e-300, -LOWEST, 4000), -np.arange(1, 1000) * np.log(2) / 2, [0.0]])
    values = values[values >= LOWEST]
    found = exp(values)
    with mpmath.workdps(40):
        off = [
            abs(mpmath.mpf(y) / mpmath.exp(mpmath.mpf(x)) - 1)
            for x, y in zip(values.tolist(), found.tolist(), strict=True)
        ]
    assert float(max(off)) < 2 * 2.0**-53 * 1.5
    assert found[-1] == 1


def test_exponentials_far_below_and_of_no_number() -> None:
    least = float(np.exp(LOWEST))
    assert exp([-701.0, -1e9, -np.inf]).tolist() == pytest.approx([least] * 3, rel=1e-15, abs=0)
    assert np.isnan(exp([np.nan, -1.0])).tolist() == [True, False]


def test_padding_is_no_logit() -> None:
    logits = np.zeros((1, padded(2)))
    logits[0, :2] = -1000, -1001
    assert losses(logits, 2, 0, 1.0) == pytest.approx(np.log1p(np.exp(-1)))
    np.testing.assert_allclose(logits[0, :2], [-1 / (1 + math.e), 1 / (1 + math.e)], rtol=1e-7)
