"""The package as `make install` has installed it, in a folder that only these tests look into."""

import sys
from pathlib import Path

import pytest

SITE = Path(__file__).parents[3] / "build" / "separable"

if not (SITE / "separable").is_dir():
    raise pytest.UsageError(f"{SITE}: got no package separable, expected one: make install")

sys.path.insert(0, str(SITE))
import separable.claims  # noqa: E402, F401  (its path is known from here on)

sys.path.remove(str(SITE))
