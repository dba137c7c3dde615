"""Numbers with error bars along an index: the only form in which a quantity enters a verdict."""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.claims.values.reportable import FARTHEST_STEP, unreportable
from marginaudit.claims.verdict import Evidence
from marginaudit.orders.balls import rounded

if TYPE_CHECKING:
    import flint

FORMULA_ROUNDING = 64 * np.finfo(float).eps
"""Relative rounding of a closed formula of a few dozen operations in float64."""


@dataclass(frozen=True)
class Series:
    """A measured quantity, or a bound, entry by entry.

    Attributes
    ----------
    value : (entries,) array of floats, or of Fractions, integers and flint's balls (dtype object)
    radius : (entries,) array, or one number for all entries
        Error bar: the true value lies in [value - radius, value + radius]; where it is infinite, anywhere.
    step : (entries,) array or None
        The position of each entry on the clock.
    label : tuple of str
        What each entry is about, where it is not only a step; empty, or one an entry.
    log : bool
        Whether value and radius are natural logarithms of the quantity.
    evidence : Evidence
        Exact is a series of Fractions and integers alone, without error bars; certified one whose bars are rigorous.
    clock : str
        What positions count: "t", a training step, unless the statement is swept along something else, as "M".

    Raises
    ------
    ValueError
        A value is NaN, an error bar is NaN or negative, there are more or fewer bars, steps or labels than values, or
        the evidence is not what the values can give.

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
        if self.evidence is Evidence.EXACT:
            value = np.array(value.tolist(), dtype=object)  # numpy's integers overflow without a word
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
        if self.evidence is Evidence.PROVED:
            raise ValueError("got numbers with the evidence proved, expected exact, certified or float64")
        if self.evidence is Evidence.EXACT:
            inexact = [not is_exact(number) or bar != 0 for number, bar in zip(self.value, self.radius, strict=True)]
            _refuse(np.array(inexact, dtype=bool), "entry {} is no Fraction or integer without error bar")
        _refuse(np.isnan(as_floats(self.value)), "entry {} is not a number")
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
        return np.where(self.bounded, as_floats(self.value), np.nan)

    @property
    def in_float64(self) -> "Series":
        """The series in float64, with error bars for this rounding; infinite is what is beyond float64's range."""
        if self.value.dtype == np.float64:
            return self if self.evidence is Evidence.FLOAT64 else replace(self, evidence=Evidence.FLOAT64)
        numbers = zip(self.value.tolist(), self.radius.tolist(), strict=True)
        found = [_nearest(value, float(bar)) for value, bar in numbers]
        value, radius = np.array(found, dtype=float).reshape(-1, 2).T
        return replace(self, value=value, radius=radius, evidence=Evidence.FLOAT64)

    @property
    def natural(self) -> "Series":
        """The series on its natural scale, unknown where float64 overflows.

        >>> series([0.0, 1e3], radius=0.1, log=True).natural.known.tolist()
        [1.0, nan]
        """
        if not self.log:
            return self
        known = self.in_float64
        with np.errstate(over="ignore", invalid="ignore"):
            value, upper = np.exp(known.value), np.exp(known.upper)
            radius = np.where(np.isfinite(upper), upper - value + FORMULA_ROUNDING * upper, np.inf)
        return replace(known, value=np.where(np.isfinite(value), value, 0.0), radius=radius, log=False)

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
        """The entry as a finite float on its natural scale, see `natural`; None where its error bar is infinite."""
        if not math.isfinite(self.radius[entry]):
            return None
        value = float(as_floats(self.value[entry : entry + 1])[0])
        found = natural(value) if self.log else value
        return found if math.isfinite(found) else None


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


def natural(logarithm: float) -> float:
    """What has this logarithm: infinite beyond float64, and 5e-324 for all that is smaller but not 0.

    >>> natural(0.0), natural(1e3), natural(-1e9), natural(-np.inf)
    (1.0, inf, 5e-324, 0.0)
    """
    with np.errstate(over="ignore"):
        return float(np.exp(logarithm)) or (0.0 if logarithm == -math.inf else math.ulp(0.0))


def is_exact(number: object) -> bool:
    """Whether it is a Fraction or one of Python's integers; numpy's overflow without a word.

    >>> is_exact(3), is_exact(0.5), is_exact(np.int64(3))
    (True, False, False)
    """
    return isinstance(number, Rational) and not isinstance(number, np.generic)


def is_ball(number: object) -> bool:
    """Whether it is one of flint's real balls."""
    if isinstance(number, (float, Rational)):
        return False
    import flint

    return isinstance(number, flint.arb)


def as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """The float64 numbers nearest to them, infinite beyond float64's range."""
    if values.dtype != object:
        return values.astype(float)
    return np.array([_nearest(value)[0] for value in values.tolist()], dtype=float)


def _nearest(value: Any, bar: float = 0.0) -> tuple[float, float]:
    """A number in float64, and an error bar around it that holds the number's own."""
    if is_ball(value):
        if not value.is_finite():
            return (math.nan if value.is_nan() else 0.0), math.inf
        near = float(value.mid())
        if math.isinf(near):
            return (near, 0.0) if value.abs_lower() > sys.float_info.max else (0.0, math.inf)
        return near, _up(rounded(value)[1] + bar)
    if not is_exact(value):
        return float(value), bar
    try:
        near = float(value)
    except OverflowError:
        return (math.inf if value > 0 else -math.inf), 0.0
    if value and not near:
        near = math.copysign(math.ulp(0.0), value)
    off = abs(Fraction(near) - Fraction(value))
    return near, _up(float(off)) if off else 0.0


def _up(number: float) -> float:
    return math.nextafter(number, math.inf)


def exactly(values: Any, shape: tuple[int, ...], *, log: bool = False) -> Series | None:
    """A series, of this shape, of numbers that are exact or balls; None if one of them is of float64.

    >>> exactly([1, Fraction(1, 3)], (2,)).evidence.value, exactly(0.5, (2,))
    ('exact', None)
    """
    if isinstance(values, np.ndarray) and values.dtype != object:
        return None
    found = np.array(values, dtype=object)
    kinds = {is_exact(number) or is_ball(number) for number in found.ravel().tolist()}
    if kinds != {True}:
        return None
    value = np.broadcast_to(found, shape)
    evidence = Evidence.EXACT if all(map(is_exact, found.ravel().tolist())) else Evidence.CERTIFIED
    return Series(value, np.zeros(shape, dtype=int), log=log, evidence=evidence)


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


def real(values: Any) -> NDArray[np.float64]:
    """The values in float64, infinite beyond its range.

    Raises
    ------
    ValueError
        They are complex, if only of imaginary part 0.
    """
    _refuse_complex(values)
    try:
        return np.asarray(values, dtype=float)
    except OverflowError:  # of Python's integers and Fractions
        return as_floats(np.asarray(values, dtype=object))


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
    """A series of Fractions or integers, without error bars.

    Raises
    ------
    ValueError
        A value is another number.
    """
    values = np.empty(len(value), dtype=object)
    values[:] = value
    return Series(values, np.zeros(len(value), dtype=int).astype(object), None, label, False, Evidence.EXACT)


def enclosing(balls: "Iterable[flint.arb]", **more: Any) -> Series:
    """`series` of balls at the context's precision: each error bar contains its ball, and is infinite if it is."""
    ends = [rounded(ball) for ball in balls]
    return series([value for value, _ in ends], radius=[radius for _, radius in ends], **more)


def certified(balls: "Iterable[flint.arb]", **more: Any) -> Series:
    """`enclosing` of balls in which nothing is of float64.

    >>> import flint
    >>> found = certified([flint.arb(1)], label=("one",))
    >>> found.value.tolist(), str(found.evidence)
    ([1.0], 'certified')
    """
    return replace(enclosing(balls, **more), evidence=Evidence.CERTIFIED)
