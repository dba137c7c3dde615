"""Recorded weights: the arrays of an .npz file, memory-mapped unless compressed."""

import math
import mmap
import struct
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError, counted, printable, shown, shown_path
from marginaudit.orders.files import open_file

EXPECTED = "an .npz file, as marginaudit.record.Recorder writes it"

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

LOCAL_HEADER = struct.Struct("<26xHH")
"""Header of a .zip member before its name: the lengths of the name and of the extra field."""

PRECISIONS = {"bfloat16": (8, -126), "float16": (11, -14), "float32": (24, -126), "float64": (53, -1022)}
"""Binary digits and least normal exponent of each precision."""

SINGLE = 24
"""Digits of float32."""

LAST_STEP = 10**18

LEAST_SIZE, LARGEST_SIZE = 1e-100, 1e100
"""Range of step sizes."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """Weights at recorded steps.

    Attributes
    ----------
    step : (n,) integer array
        Increasing.
    weights : (n, rows, columns) array of float32 or float64
    """

    step: NDArray[np.int64]
    weights: NDArray[Any]

    @cached_property
    def precision(self) -> str:
        """Precision of the training: the lowest that represents all weights, whatever their type in the file.

        Weights of fewer digits than half precision has, such as 0 and 1, do not count as half precision.
        """
        for name, (digits, _) in PRECISIONS.items():
            if self._held_by(digits) and (digits >= SINGLE or not self._held_by(digits - 1)):
                return name
        raise TypeError("weights have more digits than float64")

    def _held_by(self, digits: int) -> bool:
        """Whether ``digits`` binary digits represent every weight."""
        scaled = (np.ldexp(np.frexp(one.astype(np.float64))[0], digits) for one in self.weights)
        return all(np.array_equal(one, np.rint(one)) for one in scaled)

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


def read_arrays(path: Path, known: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Read the arrays of an .npz file by name, without unpickling.

    Raises
    ------
    InputError
        The file cannot be read, is no .npz file, is damaged, or holds an array not among the ``known``.
    """
    where = shown_path(path)
    with open_file(path, EXPECTED) as file:
        try:
            with zipfile.ZipFile(file) as archive, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # numpy's, of headers that Python 2 wrote
                found = {}
                for member in archive.infolist():
                    name = member.filename.removesuffix(".npy")
                    if name not in known:
                        raise InputError(where, got=f"an array {shown(name)}", expected=f"only {', '.join(known)}")
                    found[name] = _array(f"{where}: {name}", file, archive, member)
                return found
        except (InputError, MemoryError):
            raise
        except zipfile.BadZipFile:
            raise InputError(where, got="no .npz file, or a damaged one", expected=EXPECTED) from None
        except Exception as error:  # of damaged bytes, as zipfile, zlib, tokenize and numpy find them
            got = f"a damaged file ({printable(type(error).__name__)})"
            raise InputError(where, got=got, expected=EXPECTED) from None


def _array(where: str, file: BinaryIO, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as content:
        shape, fortran, dtype = HEADERS[np.lib.format.read_magic(content)](content)
        if dtype.hasobject:
            raise InputError(where, got="pickled objects", expected="numbers")
        start, size = content.tell(), math.prod(shape) * dtype.itemsize
        if start + size != member.file_size:
            got = f"{member.file_size - start} bytes"
            raise InputError(where, got=got, expected=f"{size}, for its shape {shape} of {dtype}")
        order: Literal["C", "F"] = "F" if fortran else "C"
        if member.compress_type != zipfile.ZIP_STORED:
            return np.ndarray(shape, dtype, content.read(), order=order)
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start += member.header_offset + LOCAL_HEADER.size + sum(LOCAL_HEADER.unpack_from(mapped, member.header_offset))
    return np.ndarray(shape, dtype, mapped, start, order=order)


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
    if weights.dtype.kind != "f" or weights.dtype.itemsize not in (4, 8):
        raise InputError(f"{where}: {name}", got=f"{weights.dtype}", expected="float32 or float64")
    if weights.ndim < 1 or weights.shape[1:] not in shapes or len(weights) == 0:
        known = " or ".join(f"(n, {', '.join(map(str, shape))})" for shape in shapes)
        expected = f"{known} with n >= 1 for this dataset"
        raise InputError(f"{where}: {name}", got=f"shape {weights.shape}", expected=expected)
    return Recorded(_steps(f"{where}: {steps}", step, len(weights)), _finite(f"{where}: {name}", weights))


def _steps(where: str, step: NDArray[Any], count: int) -> NDArray[np.int64]:
    if step.shape != (count,) or step.dtype.kind not in "iu":
        expected = f"{counted(count, 'integer')}, one for each record"
        raise InputError(where, got=f"{step.dtype} of shape {step.shape}", expected=expected)
    for t, later in zip([-1, *step.tolist()], step.tolist(), strict=False):
        if not t < later <= LAST_STEP:
            got = f"step {later}" if t < 0 else f"step {later} after step {t}"
            raise InputError(where, got=got, expected="steps from 0 to 1e18 that increase")
    return step.astype(np.int64)


def _finite(where: str, weights: NDArray[Any]) -> NDArray[Any]:
    for i, one in enumerate(weights):
        if not np.isfinite(one).all():
            raise InputError(f"{where}[{i}]", got="NaN or infinity", expected="finite numbers")
    return weights


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
