"""Read checkpoints of PyTorch (`torch.save`), without PyTorch and without executing anything.

The file is a .zip archive with a pickle of the objects and a raw member for each storage. The pickle is read by an
unpickler that knows containers and tensors alone, the same that ``torch.load(.., weights_only=True)`` accepts.
"""

import math
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError, printable, shown_path
from marginaudit.training.weight_files.tensors import Tensor

EXPECTED = "a checkpoint of tensors, numbers and containers alone, as torch.load(.., weights_only=True) reads it"

STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
}
"""Types of tensors by the name of their storage."""

DEEPEST = 50
"""Deepest nesting of containers that is searched for tensors."""


class _StorageType(NamedTuple):
    """Class of a storage in the pickle."""

    dtype: str


class _Storage(NamedTuple):
    """A storage of the file, not yet read."""

    dtype: str
    read: Callable[[], bytes]


class _Unpickler(pickle.Unpickler):
    """Unpickler of tensors, numbers and containers."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, prefix: str, content: IO[bytes]) -> None:
        super().__init__(content)
        self._path, self._where, self._prefix = path, shown_path(path), prefix
        self._big = f"{prefix}byteorder" in archive.namelist() and archive.read(f"{prefix}byteorder") == b"big"

    def find_class(self, module: str, name: str) -> Any:
        """Refuse every class and function but those of tensors and containers.

        A pickle may set attributes of what it finds: of OrderedDict it cannot, and the others are made for it alone.
        """
        known: dict[tuple[str, str], Any] = {
            ("collections", "OrderedDict"): OrderedDict,
            ("collections", "Counter"): partial(dict),
            ("torch", "Size"): partial(_size),
            ("torch._utils", "_rebuild_tensor_v2"): partial(self._tensor),
            ("torch._utils", "_rebuild_parameter"): partial(_parameter),
        }
        if module == "torch" and name in STORAGES:
            return _StorageType(STORAGES[name])
        if (module, name) not in known:
            got = f"a pickle that calls {printable(f'{module}.{name}')}"
            raise InputError(self._where, got=got, expected=EXPECTED)
        return known[module, name]

    def persistent_load(self, pid: Any) -> _Storage:
        """A storage of the archive, by its key."""
        kind, of, key, *_ = pid
        if kind != "storage" or not isinstance(of, _StorageType):
            raise ValueError("no storage")
        return _Storage(of.dtype, partial(_member, self._path, f"{self._prefix}data/{key}"))

    def _tensor(
        self, storage: _Storage, offset: int, shape: tuple[int, ...], stride: tuple[int, ...], *_: Any
    ) -> Tensor:
        path, order, shape = self._path, ">" if self._big else "<", _size(shape)

        def stored() -> NDArray[Any]:
            with _damage(path):
                return _view(path, storage, order, int(offset), shape, _size(stride))

        return Tensor(shape, storage.dtype, stored)


def _view(
    path: Path, storage: _Storage, order: str, offset: int, shape: tuple[int, ...], stride: tuple[int, ...]
) -> NDArray[Any]:
    bits = "uint16" if storage.dtype == "bfloat16" else storage.dtype
    flat = np.frombuffer(storage.read(), np.dtype(order + np.dtype(bits).str[1:]))
    last = offset + sum((size - 1) * by for size, by in zip(shape, stride, strict=True))
    if not math.prod(shape):
        return np.zeros(shape, flat.dtype)
    if min((offset, *shape, *stride)) < 0 or last >= len(flat):
        got = f"a tensor of shape {shape} in {len(flat)} numbers"
        raise InputError(shown_path(path), got=got, expected="a tensor inside its storage")
    steps = [by * flat.itemsize for by in stride]
    return np.lib.stride_tricks.as_strided(flat[offset:], shape, steps, writeable=False)


def _size(shape: Any) -> tuple[int, ...]:
    return tuple(map(int, shape))


def _parameter(data: Any, *_: Any) -> Any:
    return data


def is_checkpoint(archive: zipfile.ZipFile) -> bool:
    """Whether a .zip archive is one of `torch.save`."""
    return any(name.endswith("/data.pkl") for name in archive.namelist())


def read_checkpoint(path: Path) -> dict[str, Tensor]:
    """The tensors of a file by name: keys of nested containers, joined by points.

    Raises
    ------
    InputError
        The pickle calls anything but the functions of tensors and containers, or is damaged.
    """
    found: dict[str, Tensor] = {}
    with _damage(path), zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        with archive.open(name) as content:
            value = _Unpickler(path, archive, name.removesuffix("data.pkl"), content).load()
        _collect(found, "", value, DEEPEST)
    return found


def _member(path: Path, name: str) -> bytes:
    with _damage(path), zipfile.ZipFile(path) as archive:
        return archive.read(name)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn the errors of pickle, zipfile and zlib on damaged bytes into one line."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        got = f"a damaged file ({printable(f'{type(error).__name__}: {error}')[:100]})"
        raise InputError(shown_path(path), got=got, expected=EXPECTED) from None


def _collect(found: dict[str, Tensor], name: str, value: Any, depth: int) -> None:
    if isinstance(value, Tensor):
        found[name] = value
    elif isinstance(value, Mapping | list | tuple) and depth:
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, one in items:
            _collect(found, f"{name}.{key}" if name else str(key), one, depth - 1)
