"""Stage 2 of a run that trains other matrices than W_kq, such as W_K and W_Q of W_kq = W_K^T W_Q / sqrt(d).

The weights are then the trained tensors, in one row, and their gradient follows from that in W_kq by the chain rule.
"""

from dataclasses import dataclass, field, fields

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.training.ntp.recorded.gradients import Stage2Loss, TextbookGradient
from marginaudit.training.ntp.recorded.rules import Rule, Stage, unit
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.weight_files.mapped import MappedRecord
from marginaudit.training.weight_files.operations import Gradient, Value


@dataclass(frozen=True, eq=False)
class FactoredStage(Stage):
    """Stage 2 on the trained parts of tensors, flattened into one row.

    Attributes
    ----------
    record : MappedRecord
        W_kq by a rule.
    parts : tuple of str
        The trained parts, in the order of the row.
    """

    record: MappedRecord = field(kw_only=True)
    parts: tuple[str, ...] = field(kw_only=True)

    def gradient(self, W: Floats, weights: Floats | None = None) -> TextbookGradient:
        """The gradient at the parts W, shape (1, numbers)."""
        if not isinstance(self.loss, Stage2Loss):
            raise TypeError("no parts of W_kq")
        given, parsed = self.record.first_parts, self.record.rule.parsed
        terms = 2 + max(max(one.shape, default=1) for one in given.values())
        own = dict(zip(self.parts, self.split(W), strict=True))
        found: dict[str, Gradient] = {}

        def part(key: str) -> Value:
            value = own.get(key, given[key])
            return Value(value, terms * self.u * np.abs(value), lambda of: self._add(found, key, of))

        value, off, back = parsed.of_parts(part)
        inner, weights = self.now(weights)
        back(Gradient(*self.loss.gradient(inner, value, self.u, weights, self.distance, off), self.u))
        both = zip(*(found[key][:2] for key in self.parts), strict=True)
        return TextbookGradient(*(np.concatenate([one.ravel() for one in arrays])[np.newaxis] for arrays in both))

    @staticmethod
    def _add(found: dict[str, Gradient], key: str, of: Gradient) -> None:
        """Add to the gradient in a part, which a rule may name twice."""
        if key in found:
            value, rounding, u = found[key]
            of = Gradient(value + of.value, rounding + of.rounding + u * np.abs(value + of.value), u)
        found[key] = of

    def split(self, row: Floats) -> list[Floats]:
        """The parts in a row."""
        shapes = [self.record.first_parts[key].shape for key in self.parts]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
        return [one.reshape(shape) for one, shape in zip(np.split(row.ravel(), ends), shapes, strict=True)]

    def place(self, apart: Floats) -> str:
        """The part that deviates most."""
        sizes = [float(np.linalg.norm(one)) for one in self.split(apart)]
        return self.parts[int(np.argmax(sizes))]


def factored(stage: Stage, record: Recorded) -> tuple[FactoredStage, Recorded, str] | None:
    """Stage 2 on the tensors that a run trains, their records, and the rule in words; None where it trains W_kq."""
    if not isinstance(record, MappedRecord) or (trained := record.trained_parts()) is None:
        return None
    given = {one.name: getattr(stage, one.name) for one in fields(Stage)}
    found = FactoredStage(**given, record=record, parts=tuple(trained.rule.parsed.parts))
    return found, trained, f"trained as {record.rule.text.partition('=')[2].strip()}"


def by_part(stage: FactoredStage, lr: float) -> Rule:
    """W <- W - lr grad / ||grad||, part by part."""

    def step(W: Floats) -> tuple[Floats, float]:
        value, rounding = stage.gradient(W)
        both = zip(stage.split(value), stage.split(rounding), strict=True)
        units = [unit(TextbookGradient(*one), stage.u, stage.least) for one in both]
        change = np.concatenate([-lr * one.ravel() for one, _ in units])[np.newaxis]
        return change, lr * sum(off for _, off in units)

    return step
