"""Zeros and lags of section 1 of docs/proofs-snap.md, in many digits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mpmath as mp
import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "proofs-snap.md").read_text(encoding="utf-8")


SIZES = pytest.mark.parametrize(("M", "eta"), [(2, 0.5), (3, 2.0), (50, 0.1), (5000, 0.5), (5000, 7.0)])


def zeros(M: int) -> tuple[Any, Any]:
    """x_0 < 1 < x_1 of e^x = (M-1) x."""
    return -mp.lambertw(-mp.mpf(1) / (M - 1), 0).real, -mp.lambertw(-mp.mpf(1) / (M - 1), -1).real


def lags(x: Sequence[Any], M: int, eta: float) -> list[Any]:
    """By Lemma 6, of x = M h*(s) for s = 0, 1, .."""
    return [(mp.expm1(value) + (M - 1) * value) / (M * mp.mpf(eta)) - s for s, value in enumerate(x)]
