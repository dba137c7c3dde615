"""A relative comparison."""

from typing import Any

import numpy as np
import pytest


def near(value: float | np.floating[Any] | tuple[float, float], rel: float) -> Any:
    """Relatively: `pytest.approx` alone takes everything below 1e-12 as equal."""
    return pytest.approx(value, rel=rel, abs=0)
