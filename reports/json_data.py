"""Plain JSON data."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def finite(value: Any) -> Any:
    """Plain JSON data: numbers that are not finite become None, NumPy scalars and arrays Python ones.

    >>> finite({"a": [np.float64("nan"), np.int64(2)]})
    {'a': [None, 2]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
