"""Weights that a rule of a map computes from a file's tensors, each when it is used."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError
from marginaudit.orders.arrays import Floats
from marginaudit.training.recorded_weights import PRECISIONS, Recorded, precision_of
from marginaudit.training.weight_files.checkpoints import Sources
from marginaudit.training.weight_files.expressions import Parsed
from marginaudit.training.weight_files.maps import Rule
from marginaudit.training.weight_files.operations import Leaf, Value

KEPT = 4
"""Matrices kept of a run that is read checkpoint by checkpoint."""


class MappedRecord(Recorded):
    """Weights that a rule computes from a file's tensors, each when it is used."""

    weights: "MappedMatrices"  # type: ignore[assignment]  # of an array it has what is used: shape, length and items

    @cached_property
    def precision(self) -> str:
        """The lowest precision of the tensors."""
        return min(self.weights.precisions.values(), key=lambda name: PRECISIONS[name][0], default="float64")

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

    @cached_property
    def first_parts(self) -> dict[str, Floats]:
        """Parts of tensors at the first record, as the rule writes them."""
        return {key: self.weights.part(0, key) for key in self.rule.parsed.parts}


class MappedMatrices:
    """The matrices of a `MappedRecord`."""

    def __init__(self, rule: Rule, source: Sources) -> None:
        self.rule, self._source = rule, source
        self.value = lru_cache(maxsize=KEPT)(self._value)

    @cached_property
    def precisions(self) -> dict[str, str]:
        """Precision of each tensor: its type, or the lower one that its digits show."""
        found = {}
        for name in self.rule.parsed.names:
            _, dtype = self._source.values(0, name)
            found[name] = precision_of(partial(self._every, name), dtype, dtype) if dtype in PRECISIONS else "float64"
        return found

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

    def part(self, i: int, key: str) -> Floats:
        """A part of a tensor at record ``i``."""
        return self.rule.parsed.part(lambda name: self._tensor(i, name), key).value

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
        first = self.part(0, key)
        return any(not np.array_equal(first, self.part(i, key)) for i in range(1, len(self)))

    def _every(self, name: str) -> Iterator[Floats]:
        return (self._source.values(i, name)[0] for i in range(len(self)))
