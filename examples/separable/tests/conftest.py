"""The package as `make install` has installed it, in a folder that only these tests look into."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from separable.run import DescentRun

SITE = Path(__file__).parents[3] / "build" / "separable"

if not (SITE / "separable").is_dir():
    raise pytest.UsageError(f"{SITE}: got no package separable, expected one: make install")

sys.path.insert(0, str(SITE))
import separable.claims  # noqa: E402, F401  (its path is known from here on)

sys.path.remove(str(SITE))


@pytest.fixture(scope="session")
def run() -> "Callable[..., DescentRun]":
    """A run on a built-in dataset, by its name and settings, once for all tests."""
    from separable.points import CASES
    from separable.run import DescentConfig, DescentRun

    @cache
    def of(name: str, true_steps: int = 10**5, loss: str = "logistic") -> DescentRun:
        return DescentRun(CASES[name](), DescentConfig(loss=loss, true_steps=true_steps))

    return of
