"""Bounds with two hidden constants: measured <= C1 f(t) + C2 g(t) for some C1, C2 > 0, or >=."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.judgements.hidden_constant import HiddenConstant
from marginaudit.claims.series import Series, as_series, real
from marginaudit.claims.verdict import Finding
from marginaudit.orders.arrays import Floats


@dataclass(frozen=True)
class TwoConstants:
    """Some constants C1, C2 > 0 make C1 f(t) + C2 g(t) a bound.

    That is so if and only if one constant does with the shape f + g: the larger of both for an upper bound, the smaller
    for a lower one. So the verdict is that of `HiddenConstant` with f + g. The detail has the pair of least sum, of
    largest sum for a lower bound, that is valid at every step.

    Attributes
    ----------
    measure, side, regime, late : as of `HiddenConstant`
        The series is on its natural scale.
    shapes : two functions from a run and float steps to f(t) >= 0 and g(t) >= 0
    """

    measure: Callable[[Any], Series]
    shapes: tuple[Callable[[Any, Steps], ArrayLike], Callable[[Any, Steps], ArrayLike]]
    side: Literal["upper", "lower"] = "upper"
    regime: "Callable[[Any], float] | None" = None
    late: bool = False

    quantifier = "two constants"

    @property
    def kind(self) -> str:
        """Name of the kind of statement for reports."""
        return f"{self.side} bound with two hidden constants"

    def judge(self, run: Any) -> Finding:
        """Verdict on a run, with the two constants."""
        measured = as_series(self.measure(run), "measure").in_float64
        if measured.log:
            raise ValueError("two constants are for a series on its natural scale, got logarithms")

        def both(_: Any, step: Steps) -> Floats:
            return sum(self._shapes(run, step), start=np.zeros(len(step)))

        found = HiddenConstant(lambda _: measured, both, self.side, self.regime, self.late).judge(run)
        if not len(measured):
            return found
        step = measured.along("two hidden constants are fitted")
        pair = _pair(measured.value, self._shapes(run, step), self.side)
        valid = "No pair is valid" if pair is None else f"C1 = {pair[0]:.4g} and C2 = {pair[1]:.4g} are valid"
        return replace(found, detail=f"{valid} on what was run. For f + g: {found.detail}")

    def _shapes(self, run: Any, step: Steps) -> list[Floats]:
        return [np.array(np.broadcast_to(real(shape(run, step)), step.shape)) for shape in self.shapes]


def _pair(value: Floats, shapes: list[Floats], side: str) -> tuple[float, float] | None:
    """The constants of least sum that bound the values from above, or of largest sum from below.

    >>> _pair(np.array([3.0, 2.0]), [np.array([1.0, 0.5]), np.array([1.0, 1.0])], "upper")
    (2.0, 1.0)
    """
    from scipy.optimize import linprog  # slow import

    sign = -1.0 if side == "upper" else 1.0
    rows = np.column_stack(shapes)
    size = rows.sum(axis=0)
    size = np.where(size > 0, size, 1.0)
    found = linprog(-sign * np.ones(2) * size / size.max(), A_ub=sign * rows, b_ub=sign * value, bounds=(0, None))
    return (float(found.x[0]), float(found.x[1])) if found.x is not None else None
