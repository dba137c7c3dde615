"""Read .npz files, memory-mapped unless compressed."""

import math
import mmap
import struct
import warnings
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError, printable, shown_path
from marginaudit.training.weight_files.tensors import Tensor

EXPECTED = (
    "an .npz file, as marginaudit.record.Recorder writes it, a .safetensors or .pth file, or a folder of checkpoints"
)

DAMAGED = "no .npz file, or a damaged one"

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

LOCAL_HEADER = struct.Struct("<26xHH")
"""Header of a .zip member before its name: the lengths of the name and of the extra field."""


def read_npz(path: Path, file: BinaryIO) -> dict[str, Tensor]:
    """The arrays of an .npz file by name, read without unpickling.

    Raises
    ------
    InputError
        The file is no .npz file or is damaged.
    """
    where = shown_path(path)
    try:
        with zipfile.ZipFile(file) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy's, of headers that Python 2 wrote
            found = {}
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                found[name] = _array(f"{where}: {name}", file, archive, member)
            return {name: _tensor(one) for name, one in found.items()}
    except (InputError, MemoryError):
        raise
    except zipfile.BadZipFile:
        raise InputError(where, got=DAMAGED, expected=EXPECTED) from None
    except Exception as error:  # of damaged bytes, as zipfile, zlib, tokenize and numpy find them
        got = f"a damaged file ({printable(type(error).__name__)})"
        raise InputError(where, got=got, expected=EXPECTED) from None


def _tensor(array: NDArray[Any]) -> Tensor:
    return Tensor(array.shape, array.dtype.name, lambda: array)


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
