"""Functions compiled with numba on first call."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

F = TypeVar("F", bound=Callable[..., Any])


class Cache(FunctionCache):
    """numba's disk cache, which discards damaged files and tolerates failed writes."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load from numba's cache; None if the file is damaged."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # whatever unpickling raises
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write to numba's cache if the folder is writable."""
        with suppress(Exception):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


def compiled(function: F, **options: Any) -> F:
    """Compile the function on first call, and cache it on disk if a folder is writable."""
    result: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if result is not function:  # equal if the user switched the compiler off
        with suppress(RuntimeError):  # no writable folder
            result._cache = Cache(function)  # type: ignore[no-untyped-call]  # noqa: SLF001  (numba takes it nowhere else)
    return cast(F, result)


def compiled_contracted(function: F) -> F:
    """`compiled`, with contraction: a * b + c may be rounded once."""
    return compiled(function, fastmath={"contract"})
