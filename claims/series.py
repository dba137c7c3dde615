"""Series of numbers with error bars, the input of all verdicts."""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.claims.values.reportable import FARTHEST_STEP, Unreportable, unreportable
from marginaudit.claims.verdict import Evidence
from marginaudit.orders.balls import rounded

if TYPE_CHECKING:
    import flint

Measured: TypeAlias = "Series | Fraction | int | flint.arb | Sequence[Fraction | int | flint.arb]"
"""What a claim measures: a series, or numbers that need no error bars."""

FORMULA_ROUNDING = 64 * np.finfo(float).eps
"""Relative rounding error of a closed formula with a few dozen operations in float64."""


@dataclass(frozen=True)
class Series:
    """Entries of a measured quantity or a bound, with error bars.

    Attributes
    ----------
    value : (entries,) array of floats, or of Fractions, integers and flint's balls (dtype object)
    radius : (entries,) array, or one number for all entries
        Error bar: the true value lies in [value - radius, value + radius]; an infinite one allows any value.
    step : (entries,) array or None
        Positions of the entries on the clock.
    label : tuple of str
        Labels of the entries in addition to steps; may be empty.
    log : bool
        Whether value and radius are natural logarithms of the quantity.
    evidence : Evidence
        Exact for Fractions and integers without error bars; certified for rigorous error bars.
    clock : str
        Unit of positions: "t" for training steps, or another swept variable, such as "M".

    Raises
    ------
    ValueError
        A value is NaN, an error bar is NaN or negative, lengths differ, or the evidence does not match the values.

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
        value, radius = in_balls(np.atleast_1d(np.asarray(self.value))), np.asarray(self.radius)
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
        """The values; NaN for infinite error bars."""
        return np.where(self.bounded, as_floats(self.value), np.nan)

    @property
    def in_float64(self) -> "Series":
        """The series rounded to float64, with error bars for the rounding; overflow gives infinity."""
        if self.value.dtype == np.float64:
            return self if self.evidence is Evidence.FLOAT64 else replace(self, evidence=Evidence.FLOAT64)
        numbers = zip(self.value.tolist(), self.radius.tolist(), strict=True)
        found = [_nearest(value, float(bar)) for value, bar in numbers]
        value, radius = np.array(found, dtype=float).reshape(-1, 2).T
        return replace(self, value=value, radius=radius, evidence=Evidence.FLOAT64)

    @property
    def natural(self) -> "Series":
        """The series on its natural scale; overflow gives infinite error bars.

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
        """Positions of the entries, for statements about their logarithms.

        Raises
        ------
        ValueError
            The series has no positions, or they are not positive and in order.
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
        """An end of the error bars; infinite, not NaN, for infinite value and radius."""
        known = self.value + sign * np.where(self.bounded, self.radius, 0)
        return np.where(self.bounded, known, sign * np.inf)

    def taken(self, kept: NDArray[np.bool_]) -> "Series":
        """Select entries by a mask."""
        label = tuple(name for name, keep in zip(self.label, kept, strict=True) if keep) if self.label else ()
        step = None if self.step is None else self.step[kept]
        return replace(self, value=self.value[kept], radius=self.radius[kept], step=step, label=label)

    def at(self, entry: int) -> int | float | None:
        """Position of an entry, an integer if whole; None without positions."""
        return None if self.step is None else position(self.step[entry])

    def first(self, chosen: NDArray[np.bool_]) -> int | float | None:
        """Least position of the chosen entries, in any order; None without entries or positions.

        >>> Series([1.0, 2.0, 3.0], 0, np.array([9, 5, 7])).first(np.array([True, False, True]))
        7
        """
        return None if self.step is None or not chosen.any() else position(self.step[chosen].min())

    def shown(self, entry: int) -> float | None:
        """An entry as a finite float on the natural scale; None for infinite error bars and overflow."""
        if not math.isfinite(self.radius[entry]):
            return None
        value = float(as_floats(self.value[entry : entry + 1])[0])
        found = natural(value) if self.log else value
        return found if math.isfinite(found) else None


LONGEST_FRACTION = 400
"""Most characters of a fraction in a report."""


def fraction_text(value: Fraction | int) -> str:
    """A rational as ``p/q``; "" if it is longer than `LONGEST_FRACTION`.

    >>> fraction_text(Fraction(1, 3)), fraction_text(Fraction(1, 7) ** 1000)
    ('1/3', '')
    """
    short = max(value.numerator.bit_length(), value.denominator.bit_length()) < 3 * LONGEST_FRACTION
    text = str(value) if short else ""
    return text if len(text) <= LONGEST_FRACTION else ""


def exact_entry(numbers: Series, at: int) -> str:
    """An entry of an exact series as `fraction_text`; "" for other evidence.

    >>> exact_entry(exact_series([Fraction(1, 3), 2]), 0), exact_entry(by_formula([0.5]), 0)
    ('1/3', '')
    """
    exact = numbers.evidence is Evidence.EXACT and not numbers.log
    return fraction_text(Fraction(numbers.value[at])) if exact else ""


def in_balls(values: NDArray[Any]) -> NDArray[Any]:
    """The values, with the balls of `Digits`, which code rerun in more digits returns, in their place."""
    if values.dtype != object:
        return values
    from marginaudit.training.digits import Digits  # `--help` does not need it

    found = np.empty(values.shape, dtype=object)
    found.ravel()[:] = [value.ball if isinstance(value, Digits) else value for value in values.ravel().tolist()]
    return found


def as_series(found: object, name: str) -> Series:
    """The Series that a claim's function ``name`` returned; Fractions, integers and balls need no error bars.

    Raises
    ------
    Unreportable

    >>> as_series([Fraction(1, 3), 2], "measure").evidence.value
    'exact'
    """
    if isinstance(found, Series):
        return found
    shape = np.shape(np.array(found, dtype=object)) or (1,)
    exact = None if isinstance(found, bool) or len(shape) > 1 else exactly(found, shape)
    if exact is None:
        if 0 in shape:
            raise Unreportable(f"returned no numbers as {name}, expected at least one; see `absent` of Claim")
        raise unreportable(found, name, "a Series, or Fractions, integers or balls; floats need error bars")
    return exact


def natural(logarithm: float) -> float:
    """Exponential in float64: infinite on overflow, 5e-324 on underflow, 0 only for -inf.

    >>> natural(0.0), natural(1e3), natural(-1e9), natural(-np.inf)
    (1.0, inf, 5e-324, 0.0)
    """
    with np.errstate(over="ignore"):
        return float(np.exp(logarithm)) or (0.0 if logarithm == -math.inf else math.ulp(0.0))


def is_exact(number: object) -> bool:
    """Whether a number is a Fraction or a Python integer; numpy's integers overflow silently.

    >>> is_exact(3), is_exact(0.5), is_exact(np.int64(3))
    (True, False, False)
    """
    return isinstance(number, Rational) and not isinstance(number, np.generic)


def is_ball(number: object) -> bool:
    """Whether a number is a real ball of flint."""
    if isinstance(number, (float, Rational)):
        return False
    import flint

    return isinstance(number, flint.arb)


def as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Nearest float64 numbers, infinite on overflow."""
    if values.dtype != object:
        return values.astype(float)
    return np.array([_nearest(value)[0] if is_ball(value) else _float(value) for value in values.tolist()], dtype=float)


def _nearest(value: Any, bar: float = 0.0) -> tuple[float, float]:
    """A number rounded to float64, and an error bar that includes the number's own."""
    if is_ball(value):
        if not value.is_finite():
            return (math.nan if value.is_nan() else 0.0), math.inf
        near = float(value.mid())
        if math.isinf(near):
            return (near, 0.0) if value.abs_lower() > sys.float_info.max else (0.0, math.inf)
        return near, _up(rounded(value)[1] + bar)
    if not is_exact(value):
        return float(value), bar
    near = _float(value)
    off = abs(Fraction(near) - Fraction(value)) if math.isfinite(near) else 0
    return near, _up(float(off)) if off else 0.0


def _float(value: Any) -> float:
    """A number rounded to float64: infinite on overflow, but not to 0."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return near if near or not value else math.copysign(math.ulp(0.0), value)


def _up(number: float) -> float:
    return math.nextafter(number, math.inf)


def exactly(values: Any, shape: tuple[int, ...], *, log: bool = False) -> Series | None:
    """Series of exact numbers or balls, broadcast to a shape; None if a number is of another type.

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
    """Position on a clock, an integer if whole.

    >>> position(np.float64(1e18)), position(0.5)
    (1000000000000000000, 0.5)
    """
    return int(value) if int(value) == value else float(value)


def position_text(value: Any) -> str:
    """Format a position: integers in full, other numbers with six digits.

    >>> position_text(np.float64(1e18)), position_text(166.01782333014663)
    ('1000000000000000000', '166.018')
    """
    found = position(value)
    return str(found) if isinstance(found, int) else f"{found:.6g}"


def step_from(value: float) -> int | float:
    """First whole step at or after a position; a float beyond `FARTHEST_STEP`, where float64 is coarser than 1.

    >>> step_from(2.5), step_from(3), step_from(2.5e101)
    (3, 3, 2.5e+101)
    """
    return math.ceil(value) if value <= FARTHEST_STEP else float(value)


def real(values: Any) -> NDArray[np.float64]:
    """Values in float64, infinite on overflow.

    Raises
    ------
    ValueError
        The type is complex, even with imaginary part 0.
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
    """Float64 series with error bars, one per entry or a common one.

    >>> series([1.0, 2.0], radius=0.5).upper.tolist()
    [1.5, 2.5]
    """
    values = in_balls(np.atleast_1d(np.asarray(value)))
    has_balls = values.dtype == object and any(map(is_ball, values.ravel().tolist()))
    values = values if has_balls else np.atleast_1d(real(value))
    return Series(values, np.broadcast_to(real(radius), values.shape), step, label, log, clock=clock)


def by_formula(
    value: ArrayLike,
    *,
    step: NDArray[Any] | None = None,
    label: tuple[str, ...] = (),
    log: bool = False,
    clock: str = "t",
) -> Series:
    """Series of a closed formula in float64, with error bars for its rounding only; 0 on overflow.

    The relative error of exp(x) is the rounding of x, so it grows with the logarithm of the value. Trained or solved
    quantities need their own error bars and `series`.

    >>> found = by_formula([1.0, 2.0, np.exp(-600)])
    >>> (found.radius / found.value / FORMULA_ROUNDING).round(9).tolist()
    [1.0, 1.0, 600.0]
    """
    value = in_balls(np.atleast_1d(np.asarray(value)))
    size = np.abs(np.nan_to_num(as_floats(value), posinf=0.0, neginf=0.0))
    exponent = size if log else np.abs(np.log(np.where(size > 0, size, 1.0)))
    bars = FORMULA_ROUNDING * np.maximum(exponent, 1.0)
    return series(value, radius=bars if log else bars * size, step=step, label=label, log=log, clock=clock)


def exact_series(value: list[Any], *, label: tuple[str, ...] = ()) -> Series:
    """Series of Fractions or integers, without error bars.

    Raises
    ------
    ValueError
        A value has another type.
    """
    values = np.empty(len(value), dtype=object)
    values[:] = value
    return Series(values, np.zeros(len(value), dtype=int).astype(object), None, label, False, Evidence.EXACT)


def enclosing(balls: "Iterable[flint.arb]", **more: Any) -> Series:
    """`series` of balls at the context's precision; error bars contain their balls, and may be infinite."""
    ends = [rounded(ball) for ball in balls]
    return series([value for value, _ in ends], radius=[radius for _, radius in ends], **more)


def certified(balls: "Iterable[flint.arb]", **more: Any) -> Series:
    """`enclosing` of balls computed without float64.

    >>> import flint
    >>> found = certified([flint.arb(1)], label=("one",))
    >>> found.value.tolist(), str(found.evidence)
    ([1.0], 'certified')
    """
    return replace(enclosing(balls, **more), evidence=Evidence.CERTIFIED)
