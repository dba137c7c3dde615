"""One constant over all instances: measured(x) <= C shape(x) for some C and every instance x, whatever its size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from marginaudit.claims.judgements.hidden_constant import HiddenConstant
from marginaudit.claims.series import Series, as_series, natural, real
from marginaudit.claims.verdict import Finding, Verdict
from marginaudit.orders import counted

CLOCK = "size"

FEWEST = 4
"""Fewest sizes to fit a constant on some and test it on others."""


@dataclass(frozen=True)
class AllInstances:
    """A hidden constant that all instances of a file share, judged in a row above theirs.

    Instances are ordered by size, such as a dimension. The constant is fitted on the smaller half of the sizes'
    logarithms and tested, unchanged, on the larger ones, as by `HiddenConstant`; of instances of one size the one that
    needs the largest constant counts.

    Attributes
    ----------
    measure : from an instance to one measured number
    shape : from an instance to a number > 0
    size : from an instance to its size > 0
    side : "upper" or "lower"
    """

    measure: Callable[[Any], Any]
    shape: Callable[[Any], Any]
    size: Callable[[Any], float]
    side: Literal["upper", "lower"] = "upper"

    across: ClassVar[bool] = True
    quantifier = "all instances"

    @property
    def kind(self) -> str:
        """Name of the kind of statement for reports."""
        return f"{self.side} bound with one constant over all instances"

    def judge(self, instances: Sequence[Any]) -> Finding:
        """Verdict on all instances together."""
        of_size: dict[float, tuple[float, Series, float]] = {}
        for x in instances:
            one, size = as_series(self.measure(x), "measure").in_float64, float(self.size(x))
            shape = float(real(self.shape(x)))
            if len(one) != 1:
                raise ValueError(f"measure: got {len(one)} numbers of one instance, expected one")
            if not (size > 0 and shape > 0):
                raise ValueError(f"got the size {size:g} and the shape {shape:g}, expected positive numbers")
            value = natural(float(one.value[0])) if one.log else float(one.value[0])
            needed = value / shape if self.side == "upper" else -value / shape
            if size not in of_size or needed > of_size[size][0]:
                of_size[size] = needed, one.natural, shape
        sizes = sorted(of_size)
        if len(sizes) < FEWEST:
            detail = f"Instances of {counted(len(sizes), 'size')}, expected {FEWEST}, to fit a constant and test it."
            return Finding(Verdict.INCONCLUSIVE, detail=detail)
        rows = [of_size[size] for size in sizes]
        series = Series(
            np.array([one.value[0] for _, one, _ in rows], dtype=float),
            np.array([one.radius[0] for _, one, _ in rows], dtype=float),
            np.array(sizes),
            clock=CLOCK,
        )
        shapes = np.array([shape for _, _, shape in rows])
        found = HiddenConstant(lambda _: series, lambda _run, _step: shapes, self.side).judge(instances)
        return replace(found, detail=f"{len(instances)} instances of {len(sizes)} sizes. {found.detail}")
