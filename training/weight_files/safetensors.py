"""Read .safetensors files: a JSON header, then the raw tensors."""

import json
import math
import mmap
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError, shown, shown_path
from marginaudit.training.weight_files.tensors import Tensor

DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}

LARGEST_HEADER = 100_000_000
"""Limit of the format, in bytes."""


def is_safetensors(file: BinaryIO) -> bool:
    """Whether a file begins like one of this format."""
    begin = file.read(9)
    file.seek(0)
    return len(begin) == 9 and begin[8:] == b"{" and int.from_bytes(begin[:8], "little") <= LARGEST_HEADER


def read_safetensors(path: Path, file: BinaryIO) -> dict[str, Tensor]:
    """The tensors of a file by name; they are memory-mapped.

    Raises
    ------
    InputError
        The file is damaged.
    """
    where = shown_path(path)
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = 8 + int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8:start])
        header.pop("__metadata__", None)
        return {name: _tensor(f"{where}: {name}", content, start, **entry) for name, entry in header.items()}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise InputError(where, got="a damaged header", expected="a .safetensors file") from None


def _tensor(
    where: str, content: mmap.mmap, start: int, dtype: str, shape: list[int], data_offsets: list[int]
) -> Tensor:
    if not all(isinstance(number, int) for number in (*shape, *data_offsets)):
        raise TypeError("no numbers")
    begin, end = data_offsets
    name = DTYPES.get(dtype, dtype)

    def stored() -> NDArray[Any]:
        if dtype not in DTYPES:
            raise InputError(where, got=f"tensors of {shown(dtype)}", expected=f"one of {', '.join(DTYPES)}")
        numpy_type = np.dtype("uint16" if dtype == "BF16" else name).newbyteorder("<")
        size = math.prod(shape) * numpy_type.itemsize
        if min(shape, default=0) < 0 or end - begin != size or not 0 <= begin <= end <= len(content) - start:
            got = f"bytes {begin} to {end} of {len(content) - start}"
            raise InputError(where, got=got, expected=f"{size} bytes, for its shape {tuple(shape)} of {name}")
        return np.ndarray(tuple(shape), numpy_type, content, start + begin)

    return Tensor(tuple(map(int, shape)), name, stored)
