"""Numbers with error bars along an index: the only form in which a quantity enters a verdict."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.reports.reportable import FARTHEST_STEP, unreportable
from marginaudit.reports.verdict import Evidence

if TYPE_CHECKING:
    import flint

FORMULA_ROUNDING = 64 * np.finfo(float).eps
"""Relative rounding of a closed formula of a few dozen operations in float64."""


@dataclass(frozen=True)
class Series:
    """A measured quantity, or a bound, entry by entry.

    Attributes
    ----------
    value : (entries,) array of floats, or of Fractions (dtype object) where exact
    radius : (entries,) array, or one number for all entries
        Error bar: the true value lies in [value - radius, value + radius]; where it is infinite, anywhere.
    step : (entries,) array or None
        The position of each entry on the clock.
    label : tuple of str
        What each entry is about, where it is not only a step; empty, or one an entry.
    log : bool
        Whether value and radius are natural logarithms of the quantity.
    evidence : Evidence
    clock : str
        What positions count: "t", a training step, unless the statement is swept along something else, as "M".

    Raises
    ------
    ValueError
        A value is NaN, an error bar is NaN or negative, or there are more or fewer bars, steps or labels than values.

    >>> Series([1.0, 2.0], 0.5).upper.tolist()
    [1.5, 2.5]
    """

    value: NDArray[Any]
    radius: Any
    step: NDArray[Any] | None = None
    label: tuple[str, ...] = ()
    log: bool = False
    evidence: Evidence = Evidence.FLOAT64
    clock: str = "t"

    def __post_init__(self) -> None:
        value, radius = np.atleast_1d(np.asarray(self.value)), np.asarray(self.radius)
        step = None if self.step is None else np.asarray(self.step)
        _refuse_complex(value, radius)
        if value.ndim > 1:
            raise ValueError(f"got values of shape {value.shape}, expected a row of them")
        of = {"error bars": radius if radius.ndim else None, "steps": step, "labels": self.label or None}
        for name, given in of.items():
            if given is not None and np.shape(given) != value.shape:
                raise ValueError(f"got {name} of shape {np.shape(given)}, expected {value.shape}: one for each value")
        for name, array in {"value": value, "radius": np.broadcast_to(radius, value.shape), "step": step}.items():
            object.__setattr__(self, name, array)
        _refuse(np.isnan(self.value.astype(float)), "entry {} is not a number")
        _refuse(np.isnan(self.radius.astype(float)), "the error bar of entry {} is not a number")
        _refuse(self.radius.astype(float) < 0, "the error bar of entry {} is negative")

    def __len__(self) -> int:
        return len(self.value)

    @property
    def lower(self) -> NDArray[Any]:
        """Smallest value inside the error bars."""
        return self._end(-1)

    @property
    def upper(self) -> NDArray[Any]:
        """Largest value inside the error bars."""
        return self._end(1)

    @property
    def bounded(self) -> NDArray[np.bool_]:
        """Whether the error bar is finite, entry by entry."""
        return np.asarray(np.isfinite(self.radius.astype(float)))

    @property
    def known(self) -> NDArray[np.float64]:
        """The values, NaN where the error bar is infinite."""
        return np.where(self.bounded, self.value.astype(float), np.nan)

    @property
    def natural(self) -> "Series":
        """The series on its natural scale, unknown where float64 overflows.

        >>> series([0.0, 1e3], radius=0.1, log=True).natural.known.tolist()
        [1.0, nan]
        """
        if not self.log:
            return self
        with np.errstate(over="ignore", invalid="ignore"):
            value, upper = np.exp(self.value), np.exp(self.upper)
            radius = np.where(np.isfinite(upper), upper - value + FORMULA_ROUNDING * upper, np.inf)
        return replace(self, value=np.where(np.isfinite(value), value, 0.0), radius=radius, log=False)

    def along(self, statement: str) -> NDArray[np.float64]:
        """The positions of the entries, for a statement about their logarithms.

        Raises
        ------
        ValueError
            There are none, one is not positive, or they are not in order.
        """
        if self.step is None:
            raise ValueError(f"{statement} along steps, and the series has none")
        step = self.step.astype(float)
        back = np.flatnonzero(~((step > 0) & (np.diff(step, prepend=0.0) >= 0)))
        if len(back):
            at = int(back[0])
            expected = f"at least {position_text(step[at - 1])}" if at else "more than 0"
            raise ValueError(
                f"{statement} along steps: got {self.clock} = {position_text(step[at])}, expected {expected}"
            )
        return step

    def _end(self, sign: int) -> NDArray[Any]:
        """An end of the error bars; infinite, never NaN, where value and radius are infinite."""
        known = self.value + sign * np.where(self.bounded, self.radius, 0)
        return np.where(self.bounded, known, sign * np.inf)

    def taken(self, kept: NDArray[np.bool_]) -> "Series":
        """The series at some of its entries."""
        label = tuple(name for name, keep in zip(self.label, kept, strict=True) if keep) if self.label else ()
        step = None if self.step is None else self.step[kept]
        return replace(self, value=self.value[kept], radius=self.radius[kept], step=step, label=label)

    def at(self, entry: int) -> int | float | None:
        """The entry's position, an integer where it is whole; None without positions."""
        return None if self.step is None else position(self.step[entry])

    def first(self, chosen: NDArray[np.bool_]) -> int | float | None:
        """The least position of the chosen entries, in whatever order they are; None of none, or without positions.

        >>> Series([1.0, 2.0, 3.0], 0, np.array([9, 5, 7])).first(np.array([True, False, True]))
        7
        """
        return None if self.step is None or not chosen.any() else position(self.step[chosen].min())

    def shown(self, entry: int) -> float | None:
        """The entry as a finite float on its natural scale, or None, as where its error bar is infinite."""
        if not math.isfinite(self.radius[entry]):
            return None
        value = float(self.value[entry])
        with np.errstate(over="ignore"):
            natural = float(np.exp(value)) if self.log else value
        return natural if np.isfinite(natural) else None


def as_series(found: object, name: str) -> Series:
    """Check that a claim's function of that name returned a Series.

    Raises
    ------
    Unreportable
        It is no Series.
    """
    if not isinstance(found, Series):
        raise unreportable(found, name, "a Series")
    return found


def _refuse(wrong: NDArray[np.bool_], message: str) -> None:
    if wrong.any():
        raise ValueError(message.format(int(np.argmax(wrong))))


def position(value: Any) -> int | float:
    """A position on a clock: an integer where it is whole.

    >>> position(np.float64(1e18)), position(0.5)
    (1000000000000000000, 0.5)
    """
    return int(value) if int(value) == value else float(value)


def position_text(value: Any) -> str:
    """A position for a reader: whole ones in full, others in six digits.

    >>> position_text(np.float64(1e18)), position_text(166.01782333014663)
    ('1000000000000000000', '166.018')
    """
    found = position(value)
    return str(found) if isinstance(found, int) else f"{found:.6g}"


def step_from(value: float) -> int | float:
    """The first whole step at or after a position; a float beyond `FARTHEST_STEP`, where float64 knows the size alone.

    >>> step_from(2.5), step_from(3), step_from(2.5e101)
    (3, 3, 2.5e+101)
    """
    return math.ceil(value) if value <= FARTHEST_STEP else float(value)


def real(values: ArrayLike) -> NDArray[np.float64]:
    """The values in float64.

    Raises
    ------
    ValueError
        They are complex, if only of imaginary part 0.
    """
    _refuse_complex(values)
    return np.asarray(values, dtype=float)


def _refuse_complex(*given: ArrayLike) -> None:
    if any(map(np.iscomplexobj, given)):
        raise ValueError("got complex numbers, expected real ones")


def series(
    value: ArrayLike,
    *,
    radius: ArrayLike,
    step: NDArray[Any] | None = None,
    label: tuple[str, ...] = (),
    log: bool = False,
    clock: str = "t",
) -> Series:
    """A float64 series with its error bars, one for each entry or one for all.

    >>> series([1.0, 2.0], radius=0.5).upper.tolist()
    [1.5, 2.5]
    """
    values = np.atleast_1d(real(value))
    return Series(values, np.broadcast_to(real(radius), values.shape), step, label, log, clock=clock)


def by_formula(
    value: ArrayLike,
    *,
    step: NDArray[Any] | None = None,
    label: tuple[str, ...] = (),
    log: bool = False,
    clock: str = "t",
) -> Series:
    """The values of a closed formula in float64, with error bars for its rounding; none where it overflowed.

    The relative error of exp(x) is the rounding of x, so it grows with the logarithm of the value. The bars hold
    nothing else: a trained or solved quantity needs its error bars, and `series`.

    >>> found = by_formula([1.0, 2.0, np.exp(-600)])
    >>> (found.radius / found.value / FORMULA_ROUNDING).round(9).tolist()
    [1.0, 1.0, 600.0]
    """
    size = np.abs(np.nan_to_num(np.atleast_1d(np.asarray(value, dtype=float)), posinf=0.0, neginf=0.0))
    exponent = size if log else np.abs(np.log(np.where(size > 0, size, 1.0)))
    bars = FORMULA_ROUNDING * np.maximum(exponent, 1.0)
    return series(value, radius=bars if log else bars * size, step=step, label=label, log=log, clock=clock)


def exact_series(value: list[Any], *, label: tuple[str, ...] = ()) -> Series:
    """A series of Fractions or integers, without error bars."""
    values = np.empty(len(value), dtype=object)
    values[:] = value
    return Series(values, np.zeros(len(value), dtype=int).astype(object), None, label, False, Evidence.EXACT)


def rounded(ball: "flint.arb") -> tuple[float, float]:
    """A ball's middle in float64, and a radius around it that holds all of the ball: rounded up.

    >>> import flint
    >>> rounded(flint.arb(1))
    (1.0, 5e-324)
    """
    value = float(ball.mid())
    return value, math.nextafter(float((ball - value).abs_upper()), math.inf)


def enclosing(balls: "Iterable[flint.arb]", **more: Any) -> Series:
    """`series` of balls at the context's precision: each error bar contains its ball, and is infinite if it is."""
    ends = [rounded(ball) if ball.is_finite() else (0.0, math.inf) for ball in balls]
    return series([value for value, _ in ends], radius=[radius for _, radius in ends], **more)
