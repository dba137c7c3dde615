"""A recorded run as a user names it: a file or folder, a map, a head; and the weights that it holds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError, shown, shown_path
from marginaudit.training.recorded_weights import (
    Recorded,
    checked,
    checked_steps,
    positive,
    recorded,
)
from marginaudit.training.weight_files.checkpoints import (
    Folder,
    Stacked,
    checkpoints,
    listed,
    read_tensors,
)
from marginaudit.training.weight_files.mapped import MappedMatrices, MappedRecord
from marginaudit.training.weight_files.maps import (
    Rule,
    identity,
    map_file,
    parse_map,
    quantities,
    rules_of,
    saved_lines,
    split_rules,
    suggestion,
)
from marginaudit.training.weight_files.tensors import Tensor, decoded

CLOCKS = ("step", "steps")
"""Names of the array of steps, if the algorithm's own name of it is not there."""

ALL_STEPS = "step_of_all"
"""Array of steps in a file of `marginaudit.record.Recorder` with a map: the first axis of all tensors is theirs."""

HALF = ("bfloat16", "float16")

MOST_HASHED = 2_000_000_000
"""Largest folder of which all contents are hashed, in bytes."""


class Target(NamedTuple):
    """A matrix of an algorithm: the name of its array of steps, its possible shapes, and whether it may lack steps."""

    clock: str
    shapes: tuple[tuple[int, int], ...]
    fixed: bool = False


@dataclass(frozen=True)
class RunFile(PathLike[str]):
    """A recorded run.

    Attributes
    ----------
    path : Path
        A file, or a folder of checkpoints.
    rules : tuple of str
        The map, one rule a string or several separated by ``;``; () for the one saved beside the file, or none.
    head : {"", "trained", "given", "joint"}
        How W_ov was trained: by stage 1, not at all, or jointly with W_kq; "" for what the file shows.
    quantity : str
        One of several heads, ``W_kq[0]``, or ``W_ov``, the sum of theirs; "" without heads.
    """

    path: Path
    rules: tuple[str, ...] = ()
    head: str = ""
    quantity: str = ""

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def where(self) -> str:
        """The path, in errors."""
        return shown_path(self.path)

    @property
    def label(self) -> str:
        """The path and the head, in answers."""
        return f"{self.where} {self.quantity}".strip()

    def by_head(self) -> list["RunFile"]:
        """A run for each head of the map, and for the sum of the heads' W_ov; the run itself without heads."""
        return [replace(self, quantity=one) for one in quantities(self._lines())]

    def _lines(self) -> list[str]:
        """The rules of the map, given or saved beside the file; [] without any."""
        return [rule for line in self.rules or saved_lines(self.path) or () for rule in split_rules(line)]

    def digest(self) -> str:
        """SHA-256 of file and map; of a folder, of names with contents, or above 2 GB with sizes and times.

        Raises
        ------
        OSError
            A file cannot be read.
        """
        lines = self._lines()
        lines += [f"--head {self.head}"] * bool(self.head) + [self.quantity] * bool(self.quantity)
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
        rules = [rule for line in self.rules for rule in split_rules(line)]
        if not rules or rules == saved_lines(self.path):
            return None
        whole = map_file(self.path)
        part = whole.with_name(f".{whole.name}.{uuid4().hex[:12]}.part")
        try:
            part.write_text("".join(f"{rule}\n" for rule in rules), encoding="utf-8")
            part.replace(whole)
        finally:
            part.unlink(missing_ok=True)
        return whole

    def map(self, targets: Mapping[str, Target]) -> tuple[Rule, ...]:
        """The rules of the head, of those given or saved beside the file; () without any."""
        where = "--map" if self.rules else shown_path(map_file(self.path))
        lines = self.rules or saved_lines(self.path)
        return () if lines is None else tuple(rules_of(self.quantity, parse_map(where, lines, tuple(targets))))


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
        if ALL_STEPS in tensors:
            arrays = {name: tensors[name].stored() for name in scalars if name in tensors}
            found = found._replace(scalars={name: positive(run.where, arrays, name) for name in scalars})
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
    records = {}
    for name, one in targets.items():
        if one.fixed and name in arrays and arrays[name].ndim == 2:
            arrays |= {name: arrays[name][np.newaxis], one.clock: np.array([0])}
        if {one.clock, name} & set(arrays):
            found = recorded(where, arrays, one.clock, name, *one.shapes)
            half = tensors[name].dtype if tensors[name].dtype in HALF else None
            records[name] = replace(found, declared=half)
    return Weights(records, {name: positive(where, arrays, name) for name in scalars}, {}, one_clock=False)


def _single(tensor: Tensor) -> NDArray[Any]:
    """The array, in float32 if it is of half precision."""
    stored = tensor.stored()
    return decoded(stored, tensor.dtype).astype(np.float32) if tensor.dtype in HALF else stored


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
        target = targets[rule.target]
        of = source or _stacked(run.where, tensors, target.clock) or Folder(run.where, checkpoints(run.path))
        record = MappedRecord(of.step, MappedMatrices(rule, of))  # type: ignore[arg-type]
        records[rule.target] = checked(run.where, record, target.clock, rule.target, *target.shapes)
    clocks = [record.step for record in records.values()]
    return Weights(records, {}, {}, one_clock=all(np.array_equal(clocks[0], step) for step in clocks))


def _stacked(where: str, tensors: Mapping[str, Tensor], clock: str) -> Stacked | None:
    """Arrays with a step axis, if there is an array of the steps."""
    for name in (clock, *CLOCKS, ALL_STEPS):
        if name in tensors:
            step = tensors[name].stored()
            of_all = name == ALL_STEPS
            return Stacked(where, tensors, checked_steps(f"{where}: {name}", step, step.size), of_all)
    return None


def _unmapped(where: str, targets: Mapping[str, Target], tensors: Mapping[str, Tensor]) -> tuple[Rule, ...]:
    names = tuple(targets)
    if found := identity(tensors, names):
        return parse_map(where, found, names)
    rules = suggestion(tensors, {name: target.shapes[0] for name, target in targets.items()})
    example = f'--map "{"; ".join(rules) or f"{names[-1]} = .."}"'
    raise InputError(where, got=listed(tensors), expected=f"{' or '.join(names)}, or a map such as {example}")
