"""Functions compiled with numba when first called."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

F = TypeVar("F", bound=Callable[..., Any])


class Cache(FunctionCache):
    """numba's cache on disk that discards damaged files, and goes without where it cannot write."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """numba's, but None where a file is damaged."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # whatever unpickling raises
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """numba's, as far as the folder can be written."""
        with suppress(Exception):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


def compiled(function: F, **options: Any) -> F:
    """The function compiled when first called, and kept on disk where a folder can be written."""
    result: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if result is not function:  # it is where the user has the compiler switched off
        with suppress(RuntimeError):  # no such folder
            result._cache = Cache(function)  # type: ignore[no-untyped-call]  # noqa: SLF001  (numba takes it nowhere else)
    return cast(F, result)


def compiled_contracted(function: F) -> F:
    """`compiled`, where a * b + c may be rounded once."""
    return compiled(function, fastmath={"contract"})
