"""Recorded weights of one matrix at increasing steps."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError, counted, shown
from marginaudit.orders.arrays import Floats

PRECISIONS = {"bfloat16": (8, -126), "float16": (11, -14), "float32": (24, -126), "float64": (53, -1022)}
"""Binary digits and least normal exponent of each precision."""

SINGLE = 24
"""Digits of float32."""

FEW = 7
"""Digits below those of any precision."""

LAST_STEP = 10**18

LEAST_SIZE, LARGEST_SIZE = 1e-100, 1e100
"""Range of step sizes."""


def precision_of(arrays: Callable[[], Iterable[NDArray[Any]]], dtype: str, few: str = "float32") -> str:
    """The lowest precision that represents all arrays of a type; half precision is taken as it is declared.

    Values of fewer digits than half precision has, such as 0 and 1, show no precision: they count as ``few``.
    """
    own, _ = PRECISIONS[dtype]
    if own < SINGLE:
        return dtype
    if _held_by(arrays(), FEW):
        return few
    for name, (digits, _) in PRECISIONS.items():
        if digits < own and _held_by(arrays(), digits) and (digits >= SINGLE or not _held_by(arrays(), digits - 1)):
            return name
    return dtype


def _held_by(arrays: Iterable[NDArray[Any]], digits: int) -> bool:
    """Whether ``digits`` binary digits represent every value."""
    scaled = (np.ldexp(np.frexp(one.astype(np.float64))[0], digits) for one in arrays)
    return all(np.array_equal(one, np.rint(one)) for one in scaled)


@dataclass(frozen=True, eq=False)
class Recorded:
    """Weights at recorded steps.

    Attributes
    ----------
    step : (n,) integer array
        Increasing.
    weights : (n, rows, columns) array of float32 or float64
    declared : str or None
        Precision of the file, if it is half precision and ``weights`` are not.
    """

    step: NDArray[np.int64]
    weights: NDArray[Any]
    declared: str | None = None

    @cached_property
    def precision(self) -> str:
        """Precision of the training: the lowest that represents all weights, whatever their type in the file."""
        return self.declared or precision_of(lambda: self.weights, self.weights.dtype.name)

    def excess(self, i: int) -> Floats:
        """Rounding of record ``i``, entry by entry, beyond one rounding of each entry; 0 unless it is a product."""
        return np.zeros(())

    @property
    def digits(self) -> int:
        """The binary digits of the weights' precision."""
        return PRECISIONS[self.precision][0]

    @property
    def roundoff(self) -> float:
        """The unit roundoff of the weights' precision."""
        return 2.0**-self.digits

    @property
    def least(self) -> float:
        """The least normal number of the weights' precision."""
        return 2.0 ** PRECISIONS[self.precision][1]


def recorded(
    where: str, arrays: Mapping[str, NDArray[Any]], steps: str, name: str, *shapes: tuple[int, ...]
) -> Recorded:
    """The array ``name`` as weights at the steps in array ``steps``, checked for one of the shapes.

    Raises
    ------
    InputError
        One of the two arrays is missing, has another shape or type, or holds NaN or infinity; or steps do not increase.
    """
    for one, other in ((steps, name), (name, steps)):
        if one not in arrays:
            raise InputError(where, got=f"{other} without {one}", expected="both")
    step, weights = arrays[steps], arrays[name]
    if weights.dtype.kind != "f" or weights.dtype.itemsize not in (2, 4, 8):
        raise InputError(f"{where}: {name}", got=f"{weights.dtype}", expected="float16, float32 or float64")
    return checked(where, Recorded(step, weights), steps, name, *shapes)


def checked(where: str, record: Recorded, steps: str, name: str, *shapes: tuple[int, ...]) -> Recorded:
    """The record, if its weights are finite, of one of the shapes, and at steps that increase.

    Raises
    ------
    InputError
        They are not.
    """
    shape = record.weights.shape
    if len(shape) < 1 or shape[1:] not in shapes or shape[0] == 0:
        known = " or ".join(f"(n, {', '.join(map(str, one))})" for one in shapes)
        raise InputError(f"{where}: {name}", got=f"shape {shape}", expected=f"{known} with n >= 1 for this dataset")
    step = checked_steps(f"{where}: {steps}", record.step, shape[0])
    for i in range(shape[0]):
        if not np.isfinite(record.weights[i]).all():
            raise InputError(f"{where}: {name}[{i}]", got="NaN or infinity", expected="finite numbers")
    return replace(record, step=step)


def checked_steps(where: str, step: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The steps of ``count`` records.

    Raises
    ------
    InputError
        They are no integers from 0 to 1e18 that increase, one for each record.
    """
    if step.shape != (count,) or step.dtype.kind not in "iu":
        expected = f"{counted(count, 'integer')}, one for each record"
        raise InputError(where, got=f"{step.dtype} of shape {step.shape}", expected=expected)
    for t, later in zip([-1, *step.tolist()], step.tolist(), strict=False):
        if not t < later <= LAST_STEP:
            got = f"step {later}" if t < 0 else f"step {later} after step {t}"
            raise InputError(where, got=got, expected="steps from 0 to 1e18 that increase")
    return step.astype(np.int64)


def positive(where: str, arrays: Mapping[str, NDArray[Any]], name: str) -> float | None:
    """Read the step size ``name``; None if the file has none.

    Raises
    ------
    InputError
        The step size is not a positive number.
    """
    if name not in arrays:
        return None
    found = arrays[name]
    if found.shape != () or found.dtype.kind not in "fiu" or not LEAST_SIZE <= float(found) <= LARGEST_SIZE:
        got = shown(found.tolist()) if found.size == 1 else f"shape {found.shape}"
        raise InputError(f"{where}: {name}", got=got, expected="one number, from 1e-100 to 1e100")
    return float(found)
