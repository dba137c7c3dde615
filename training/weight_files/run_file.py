"""A recorded run as a user names it: a file or folder, a map, a head; and the weights that it holds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from hashlib import file_digest, sha256
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError, shown, shown_path
from marginaudit.orders.arrays import Floats
from marginaudit.training.recorded_weights import (
    PRECISIONS,
    Recorded,
    checked,
    checked_steps,
    positive,
    precision_of,
    recorded,
)
from marginaudit.training.weight_files.checkpoints import (
    Folder,
    Sources,
    Stacked,
    checkpoints,
    listed,
    read_tensors,
)
from marginaudit.training.weight_files.expressions import Leaf, Parsed, Value
from marginaudit.training.weight_files.maps import Rule, identity, map_file, parse_map, saved_lines, suggestion
from marginaudit.training.weight_files.tensors import Tensor, decoded

CLOCKS = ("step", "steps")
"""Names of the array of steps, if the algorithm's own name of it is not there."""


HALF = ("bfloat16", "float16")

MOST_HASHED = 2_000_000_000
"""Largest folder of which all contents are hashed, in bytes."""

NO_TENSOR = Tensor((), "float64", lambda: np.zeros(()))

KEPT = 4
"""Matrices kept of a run that is read checkpoint by checkpoint."""


class Target(NamedTuple):
    """A matrix of an algorithm: the name of its array of steps, and its possible shapes."""

    clock: str
    shapes: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RunFile(PathLike[str]):
    """A recorded run.

    Attributes
    ----------
    path : Path
        A file, or a folder of checkpoints.
    rules : tuple of str
        The map; () for the one saved beside the file, or none.
    head : {"", "trained", "given", "joint"}
        How W_ov was trained: by stage 1, not at all, or jointly with W_kq; "" for what the file shows.
    """

    path: Path
    rules: tuple[str, ...] = ()
    head: str = ""

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def where(self) -> str:
        """The path, in errors."""
        return shown_path(self.path)

    def digest(self) -> str:
        """SHA-256 of file and map; of a folder, of names with contents, or above 2 GB with sizes and times.

        Raises
        ------
        OSError
            A file cannot be read.
        """
        lines = [*(self.rules or saved_lines(self.path) or ()), *([f"--head {self.head}"] if self.head else [])]
        if self.path.is_file() and not lines:
            return _digest(self.path)
        files = [self.path] if self.path.is_file() else [one for each in checkpoints(self.path) for one in each.files]
        whole = sum(file.stat().st_size for file in files) <= MOST_HASHED
        stats = ((file, file.stat()) for file in files)
        contents = (_digest(file) if whole else f"{stat.st_size} {stat.st_mtime_ns}" for file, stat in stats)
        named = (f"{file.relative_to(self.path)} {content}" for file, content in zip(files, contents, strict=True))
        return sha256("\n".join([*lines, *named]).encode()).hexdigest()

    def save_map(self) -> Path | None:
        """Write the rules beside the file, where later runs find them; None if they are there, or none are given.

        Raises
        ------
        OSError
            They cannot be written.
        """
        if not self.rules or list(self.rules) == saved_lines(self.path):
            return None
        whole = map_file(self.path)
        part = whole.with_name(f".{whole.name}.{uuid4().hex[:12]}.part")
        try:
            part.write_text("".join(f"{rule}\n" for rule in self.rules), encoding="utf-8")
            part.replace(whole)
        finally:
            part.unlink(missing_ok=True)
        return whole

    def map(self, targets: Mapping[str, Target]) -> tuple[Rule, ...]:
        """The rules given, or those saved beside the file; () without any."""
        if self.rules:
            return parse_map("--map", self.rules, tuple(targets))
        lines = saved_lines(self.path)
        return () if lines is None else parse_map(shown_path(f"{self.path}.map"), lines, tuple(targets))


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()


def as_run_file(file: str | PathLike[str]) -> RunFile:
    """A path as a run without a map."""
    return file if isinstance(file, RunFile) else RunFile(Path(file))


class Weights(NamedTuple):
    """The weights of a run by target, scalars, other arrays, and whether all weights are of the same checkpoints."""

    records: dict[str, Recorded]
    scalars: dict[str, float | None]
    others: dict[str, NDArray[Any]]
    one_clock: bool


def read_weights(
    run: RunFile, targets: Mapping[str, Target], scalars: tuple[str, ...] = (), others: tuple[str, ...] = ()
) -> Weights:
    """Read the weights of an algorithm, by the map, or by their names; ``others`` are arrays that may be there.

    Raises
    ------
    InputError
        The file cannot be read, or holds no such weights, or not as the map says.
    """
    rules = run.map(targets)
    if run.path.is_dir():
        return _mapped(run, rules, targets, Folder(run.where, checkpoints(run.path)), {})
    tensors = read_tensors(run.path)
    known = (*dict.fromkeys(name for target, one in targets.items() for name in (one.clock, target)), *scalars)
    if not rules and set(known) & set(tensors):
        found = _by_name(run, tensors, targets, (*known, *others), scalars)
    else:
        found = _mapped(run, rules, targets, None, tensors)
    return found._replace(others={name: tensors[name].stored() for name in others if name in tensors})


def _by_name(
    run: RunFile,
    tensors: Mapping[str, Tensor],
    targets: Mapping[str, Target],
    known: tuple[str, ...],
    scalars: tuple[str, ...],
) -> Weights:
    """Arrays named as `marginaudit.record.Recorder` names them."""
    where = run.where
    for name in tensors:
        if name not in known:
            raise InputError(where, got=f"an array {shown(name)}", expected=f"only {', '.join(known)}")
    arrays = {name: _single(one) for name, one in tensors.items()}
    if run.head == "given" and len(tensors.get("W_ov", NO_TENSOR).shape) == 2:
        arrays |= {"W_ov": arrays["W_ov"][np.newaxis], "step1": np.array([0])}
    records = {}
    for name, one in targets.items():
        if {one.clock, name} & set(arrays):
            found = recorded(where, arrays, one.clock, name, *one.shapes)
            half = tensors[name].dtype if tensors[name].dtype in HALF else None
            records[name] = replace(found, declared=half)
    return Weights(records, {name: positive(where, arrays, name) for name in scalars}, {}, one_clock=False)


def _single(tensor: Tensor) -> NDArray[Any]:
    """The array, in float32 if it is of half precision."""
    stored = tensor.stored()
    return decoded(stored, tensor.dtype).astype(np.float32) if tensor.dtype in HALF else stored


class MappedRecord(Recorded):
    """Weights that a rule computes from a file's tensors, each when it is used."""

    weights: "MappedMatrices"  # type: ignore[assignment]  # of an array it has what is used: shape, length and items

    @cached_property
    def precision(self) -> str:
        """The lowest precision of the tensors."""
        return min(self.weights.precisions.values(), key=lambda name: PRECISIONS[name][0])

    def excess(self, i: int) -> Floats:
        """Rounding of the tensors, through the rule, beyond one rounding of each entry."""
        value, rounding, _ = self.weights.value(i)
        return np.maximum(rounding - self.roundoff * np.abs(value), 0.0)

    def trained_parts(self) -> "MappedRecord | None":
        """The parts of tensors that change during the run, in one row; None where the weights are one of them."""
        return self.weights.trained_parts(self.step)

    @property
    def rule(self) -> Rule:
        """How the weights are computed."""
        return self.weights.rule

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the parts of tensors, as the rule writes them."""
        return {key: self.weights.part(0, key).value.shape for key in self.rule.parsed.parts}

    def part(self, i: int, key: str) -> Floats:
        """A part of a tensor at record ``i``."""
        return self.weights.part(i, key).value


class MappedMatrices:
    """The matrices of a `MappedRecord`."""

    def __init__(self, rule: Rule, source: Sources) -> None:
        self.rule, self._source = rule, source
        self.value = lru_cache(maxsize=KEPT)(self._value)

    @cached_property
    def precisions(self) -> dict[str, str]:
        """Precision of each tensor: its type, or the lower one that its digits show; "" without a tensor."""
        found = {}
        for name in self.rule.parsed.names:
            _, dtype = self._source.values(0, name)
            found[name] = precision_of(partial(self._every, name), dtype, dtype) if dtype in PRECISIONS else "float64"
        return found or {"": "float64"}

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of steps, rows and columns."""
        return (len(self), *self.value(0).value.shape)

    def __len__(self) -> int:
        return len(self._source.step)

    def __iter__(self) -> Iterator[Floats]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> Floats:
        found = self.value(range(len(self))[i]).value
        if found.shape != self.shape[1:]:
            got, expected = (" x ".join(map(str, shape)) for shape in (found.shape, self.shape[1:]))
            raise InputError(self._source.place(i), got=got, expected=f"{expected}, as in the first checkpoint")
        return found

    def _value(self, i: int) -> Value:
        return self.rule.parsed.evaluate(lambda name: self._tensor(i, name))

    def _tensor(self, i: int, name: str) -> Value:
        found, dtype = self._source.values(i, name)
        if dtype not in PRECISIONS:
            return Value(found, np.zeros_like(found))
        return Value(found, 2.0 ** -PRECISIONS[self.precisions[name]][0] * np.abs(found))

    def part(self, i: int, key: str) -> Value:
        """A part of a tensor at record ``i``."""
        return self.rule.parsed.part(lambda name: self._tensor(i, name), key)

    def trained_parts(self, step: NDArray[np.int64]) -> MappedRecord | None:
        """See `MappedRecord.trained_parts`."""
        parsed = self.rule.parsed
        moving = {key: one for key, one in parsed.parts.items() if self._moves(key)}
        if parsed.plain or not moving:
            return None

        def row(part: Leaf) -> Value:
            found = [part(key) for key in moving]
            value = np.concatenate([one.value.ravel() for one in found])[np.newaxis]
            return Value(value, np.concatenate([one.rounding.ravel() for one in found])[np.newaxis])

        rule = replace(self.rule, parsed=Parsed(row, moving, plain=False), text=" and ".join(moving))
        return MappedRecord(step, MappedMatrices(rule, self._source))  # type: ignore[arg-type]

    def _moves(self, key: str) -> bool:
        first = self.part(0, key).value
        return any(not np.array_equal(first, self.part(i, key).value) for i in range(1, len(self)))

    def _every(self, name: str) -> Iterator[Floats]:
        return (self._source.values(i, name)[0] for i in range(len(self)))


def _mapped(
    run: RunFile,
    rules: tuple[Rule, ...],
    targets: Mapping[str, Target],
    source: Folder | None,
    tensors: Mapping[str, Tensor],
) -> Weights:
    """Weights by a map; without one, of tensors that bear the targets' names."""
    rules = rules or _unmapped(run.where, targets, source.first() if source else tensors)
    records = {}
    for rule in rules:
        clock, shapes = targets[rule.target]
        of = source or _stacked(run.where, tensors, clock) or Folder(run.where, checkpoints(run.path))
        record = MappedRecord(of.step, MappedMatrices(rule, of))  # type: ignore[arg-type]
        records[rule.target] = checked(run.where, record, clock, rule.target, *shapes)
    clocks = [record.step for record in records.values()]
    return Weights(records, {}, {}, one_clock=all(np.array_equal(clocks[0], step) for step in clocks))


def _stacked(where: str, tensors: Mapping[str, Tensor], clock: str) -> Stacked | None:
    """Arrays with a step axis, if there is an array of the steps."""
    for name in (clock, *CLOCKS):
        if name in tensors:
            step = tensors[name].stored()
            return Stacked(where, tensors, checked_steps(f"{where}: {name}", step, step.size))
    return None


def _unmapped(where: str, targets: Mapping[str, Target], tensors: Mapping[str, Tensor]) -> tuple[Rule, ...]:
    names = tuple(targets)
    if found := identity(tensors, names):
        return parse_map(where, found, names)
    rules = suggestion(tensors, {name: target.shapes[0] for name, target in targets.items()})
    example = " ".join(f'--map "{rule}"' for rule in rules) or f'--map "{names[-1]} = .."'
    raise InputError(where, got=listed(tensors), expected=f"{' or '.join(names)}, or a map such as {example}")
