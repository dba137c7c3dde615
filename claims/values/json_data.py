"""Plain JSON data."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def finite(value: Any) -> Any:
    """Convert to plain JSON data: non-finite numbers become None, NumPy scalars and arrays Python ones.

    >>> finite({"a": [np.float64("nan"), np.int64(2)]})
    {'a': [None, 2]}
    """
    if isinstance(value, str):  # the common case; checking `Mapping` is slow
        return value
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict | Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def witness_text(witness: Any, indent: int | None = None) -> str:
    """A witness for a reader, as JSON: floats in at most eight digits, whole numbers and fractions in full.

    >>> witness_text({"bound": 44807.850000000006, "largest": 1 / 3, "T": 1792314, "y": "1/3"})
    '{"bound": 44807.85, "largest": 0.33333333, "T": 1792314, "y": "1/3"}'
    """
    return json.dumps(_rounded(witness), ensure_ascii=False, indent=indent)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.8g}")
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
