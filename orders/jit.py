"""Functions compiled with numba when first called."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F, **options: Any) -> F:
    """The function compiled when first called, and kept on disk where a folder can be written."""
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        result: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no such folder
        result = numba.njit(**options)(function)
    return cast(F, result)


def compiled_contracted(function: F) -> F:
    """As `compiled`, and a * b + c may be rounded once."""
    return compiled(function, fastmath={"contract"})
