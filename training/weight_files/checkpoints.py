"""Weights of a training at its steps: a folder of checkpoints, one file, or arrays with a step axis."""

import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError, counted, printable, shown, shown_path
from marginaudit.orders.arrays import Floats
from marginaudit.orders.files import open_file
from marginaudit.training.weight_files.checkpoint import is_checkpoint, read_checkpoint
from marginaudit.training.weight_files.npz import DAMAGED, EXPECTED, read_npz
from marginaudit.training.weight_files.safetensors import is_safetensors, read_safetensors
from marginaudit.training.weight_files.tensors import Tensor, decoded

SUFFIXES = (".safetensors", ".pth", ".pt", ".ckpt", ".bin", ".npz")

STEP = re.compile(r"(?:step|iter|iteration|checkpoint|ckpt|model)s?[-_=.]?(\d+)", re.IGNORECASE)
"""A step in a name; a name without such a word has its step in its last number."""

MOST_NAMES = 12
"""Tensors listed in an error."""


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of an .npz, .safetensors or PyTorch file by name, not yet read.

    Raises
    ------
    InputError
        The file is none of these, is damaged, or holds more than data.
    """
    with open_file(path, EXPECTED) as file:
        if is_safetensors(file):
            return read_safetensors(path, file)
        try:
            with zipfile.ZipFile(file) as archive:
                of_torch = is_checkpoint(archive)
        except Exception:
            raise InputError(shown_path(path), got=DAMAGED, expected=EXPECTED) from None
        return read_checkpoint(path) if of_torch else read_npz(path, file)


class Checkpoint(NamedTuple):
    """The files of the weights at a step."""

    step: int
    files: tuple[Path, ...]


def checkpoints(path: Path) -> list[Checkpoint]:
    """The checkpoints of a folder by step; or one file, with the step in its name.

    A checkpoint is a weight file in the folder, or a folder with ``.safetensors`` files, with ``pytorch_model*.bin``,
    or with one weight file. Names without a number, such as ``last.pth``, are left out.

    Raises
    ------
    InputError
        There is none, or two are of one step.
    """
    where, of_folder = shown_path(path), path.is_dir()
    found: dict[int, tuple[Path, ...]] = {}
    for entry in sorted(path.iterdir()) if of_folder else [path]:
        files = _weight_files(entry)
        step = _step(entry.name if entry.is_dir() else entry.name.removesuffix(entry.suffix))
        if not files or step is None:
            continue
        if step in found:
            got = f"{printable(entry.name)} beside {printable(found[step][0].relative_to(path).parts[0])}"
            raise InputError(where, got=got, expected="one checkpoint of each step")
        found[step] = files
    if not found:
        got = "no checkpoint" if of_folder else "no step, in the file or its name"
        expected = "names with a step, such as iter-100.pth, or checkpoint-100/model.safetensors"
        raise InputError(where, got=got, expected=expected)
    return [Checkpoint(step, files) for step, files in sorted(found.items())]


def _step(name: str) -> int | None:
    found = STEP.findall(name) or re.findall(r"\d+", name)
    return int(found[-1][-19:]) if found else None


def _weight_files(entry: Path) -> tuple[Path, ...]:
    if not entry.is_dir():
        return (entry,) if entry.suffix in SUFFIXES else ()
    inside = sorted(one for one in entry.iterdir() if one.suffix in SUFFIXES)
    for chosen in (
        [one for one in inside if one.suffix == ".safetensors"],
        [one for one in inside if one.name.startswith("pytorch_model")],
    ):
        if chosen:
            return tuple(chosen)
    if len(inside) > 1:
        got = f"{inside[0].name} and {counted(len(inside) - 1, 'other weight file')}"
        raise InputError(shown_path(entry), got=printable(got), expected="one weight file, or .safetensors")
    return tuple(inside)


def listed(tensors: Mapping[str, Tensor]) -> str:
    """Names and shapes, for an error.

    >>> listed({"q": Tensor((8, 4), "float32", lambda: np.zeros((8, 4)))})
    'q 8x4'
    """
    names = [f"{printable(name)} {tensor}" for name, tensor in list(tensors.items())[:MOST_NAMES]]
    more = len(tensors) - len(names)
    return ", ".join(names or ["no tensor"]) + (f" and {more} more" if more else "")


def full_name(where: str, name: str, names: Iterable[str]) -> str:
    """The tensor of a name, or the only one of that name in a model: ``q.weight`` for ``model.q.weight``.

    Raises
    ------
    InputError
        There is none, or several.
    """
    known = list(names)
    if name in known:
        return name
    found = [one for one in known if one.endswith(f".{name}")]
    if len(found) == 1:
        return found[0]
    got = f"{shown(name)}, which is {' and '.join(map(printable, found[:3]))}" if found else f"no tensor {shown(name)}"
    listing = ", ".join(map(printable, known[:MOST_NAMES])) + (" .." if len(known) > MOST_NAMES else "")
    raise InputError(where, got=got, expected="one of its tensors in full" if found else f"one of {listing}")


class Sources:
    """Base class for what holds the weights at several steps."""

    where: str
    step: NDArray[np.int64]

    def values(self, i: int, name: str) -> tuple[Floats, str]:
        """The tensor of a name at record ``i``, and its type."""
        raise NotImplementedError

    def place(self, i: int) -> str:
        """Place of record ``i``, in errors."""
        raise NotImplementedError


@dataclass(eq=False)
class Folder(Sources):
    """Checkpoints, opened one after the other."""

    where: str
    entries: Sequence[Checkpoint]
    _open: tuple[int, dict[str, Tensor]] = field(default=(-1, {}), init=False)

    def __post_init__(self) -> None:
        self.step = np.array([one.step for one in self.entries], dtype=np.int64)

    def first(self) -> Mapping[str, Tensor]:
        """The tensors of the first checkpoint."""
        return self._tensors(0)

    def values(self, i: int, name: str) -> tuple[Floats, str]:
        """Read a tensor of checkpoint ``i``."""
        tensors = self._tensors(i)
        found = tensors[full_name(self.place(i), name, tensors)]
        return decoded(found.stored(), found.dtype), found.dtype

    def place(self, i: int) -> str:
        """The first file of the checkpoint."""
        return shown_path(self.entries[i].files[0])

    def _tensors(self, i: int) -> dict[str, Tensor]:
        if self._open[0] != i:
            found = {}
            for file in self.entries[i].files:
                found.update(read_tensors(file))
            self._open = i, found
        return self._open[1]


@dataclass(eq=False)
class Stacked(Sources):
    """Arrays of one file whose first axis is that of the steps; other arrays are the same at every step.

    Attributes
    ----------
    of_all : bool
        Whether all arrays have that axis; else those of three axes or more with as many entries along the first.
    """

    where: str
    tensors: Mapping[str, Tensor]
    step: NDArray[np.int64]
    of_all: bool = False

    def __post_init__(self) -> None:
        self._stored: dict[str, NDArray[np.generic]] = {}

    def values(self, i: int, name: str) -> tuple[Floats, str]:
        """Read a part of an array."""
        full = full_name(self.where, name, self.tensors)
        found = self.tensors[full]
        if full not in self._stored:
            self._stored[full] = found.stored()
        stored = self._stored[full]
        return decoded(stored[i] if self._steps(found) else stored, found.dtype), found.dtype

    def place(self, i: int) -> str:
        """The file."""
        return self.where

    def _steps(self, tensor: Tensor) -> bool:
        return self.of_all or (len(tensor.shape) > 2 and tensor.shape[0] == len(self.step))
