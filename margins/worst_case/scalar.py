"""Floats that carry an exact rational number, or an enclosure of an irrational one."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isqrt
from operator import add, mul, sub, truediv
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from flint import arb

V = TypeVar("V")

LARGEST_DENOMINATOR = 2**20
"""Largest denominator of a float accepted as exact, such as 0.5; 1/3 has 2^54."""

HALF = Fraction(1, 2)


class _CarryingFloat(float):
    """A float with arithmetic on the number that it carries, by `_with`."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return self._with(other, add)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, sub)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, mul)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, truediv)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    def _with(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        raise NotImplementedError

    __radd__ = __add__
    __rmul__ = __mul__


class RationalFloat(_CarryingFloat):
    """A float for libraries that want floats, with arithmetic on the rational number that it carries.

    With a float that is no simple rational the result is a float.

    >>> (1 / RationalFloat("3") + 1) * 3
    RationalFloat('4')
    """

    __slots__ = ("fraction",)
    fraction: Fraction

    def __new__(cls, value: "str | Fraction | int") -> "RationalFloat":
        """From a rational number."""
        fraction = Fraction(value)
        made = super().__new__(cls, float(fraction))
        made.fraction = fraction
        return made

    def __repr__(self) -> str:
        return f"RationalFloat('{self.fraction}')"

    def _with(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        """The operation on rationals, or, with a float that is none, on floats."""
        if not isinstance(other, int | float) or isinstance(other, EnclosedFloat):
            return NotImplemented
        exact = meant(other)
        return operation(float(self), float(other)) if exact is None else RationalFloat(operation(self.fraction, exact))

    def __neg__(self) -> "RationalFloat":
        return RationalFloat(-self.fraction)

    def __pos__(self) -> "RationalFloat":
        return self

    def __abs__(self) -> "RationalFloat":
        return RationalFloat(abs(self.fraction))

    def __pow__(self, power: Any, modulo: None = None) -> Any:
        if not isinstance(power, int | float):
            return NotImplemented
        exact = meant(power)
        if exact is not None and exact.denominator == 1:
            return RationalFloat(self.fraction ** int(exact))
        return root(self.fraction) if exact == HALF and self.fraction > 0 else float(self) ** float(power)


class EnclosedFloat(_CarryingFloat):
    """A float that carries a ball around an irrational number, such as a step 1/sqrt(2).

    >>> step = 1 / RationalFloat(2) ** 0.5
    >>> (step * step * 2).ball.contains(1)
    True
    """

    __slots__ = ("ball",)
    ball: "arb"

    def __new__(cls, ball: "arb") -> "EnclosedFloat":
        """From a ball of flint."""
        made = super().__new__(cls, float(ball.mid()))
        made.ball = ball
        return made

    def __repr__(self) -> str:
        return f"EnclosedFloat({self.ball!r})"

    def __pow__(self, other: Any, modulo: None = None) -> Any:
        return self._with(other, lambda a, b: a**b)

    def _with(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        """The operation on balls, or, with a float that is no rational, on floats."""
        if not isinstance(other, int | float):
            return NotImplemented
        ball = _ball(other)
        return operation(float(self), float(other)) if ball is None else EnclosedFloat(operation(self.ball, ball))

    def __neg__(self) -> "EnclosedFloat":
        return EnclosedFloat(-self.ball)


def _ball(value: float) -> "arb | None":
    """The ball of an `EnclosedFloat` or of a rational; None for another float."""
    import flint

    if isinstance(value, EnclosedFloat):
        return value.ball
    exact = meant(value)
    return None if exact is None else flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def root(value: Fraction) -> RationalFloat | EnclosedFloat:
    """The square root, exact if it is rational.

    >>> root(Fraction(4, 9))
    RationalFloat('2/3')
    """
    import flint

    p, q = isqrt(value.numerator), isqrt(value.denominator)
    if (p * p, q * q) == (value.numerator, value.denominator):
        return RationalFloat(Fraction(p, q))
    return EnclosedFloat(flint.arb(flint.fmpq(value.numerator, value.denominator)).sqrt())


def exactly(of: V) -> V:
    """Values of a method's parameters for PEPit's points: rationals and balls as floats that carry them.

    ``of`` is a mapping, a dataclass or a namespace.

    >>> exactly({"n": 3, "L": Fraction(1, 2)})
    {'n': 3, 'L': RationalFloat('1/2')}
    """
    from flint import arb

    known = dict(of) if isinstance(of, Mapping) else vars(of)
    kinds = {Fraction: RationalFloat, arb: EnclosedFloat}
    values = {name: kinds.get(type(value), lambda same: same)(value) for name, value in known.items()}
    made: Any = type(of)
    return made(values) if isinstance(of, Mapping) else made(**values)  # type: ignore[no-any-return]


def meant(value: float) -> Fraction | None:
    """The rational number meant by a `RationalFloat`, an int, or a float of few binary digits; else None."""
    if isinstance(value, RationalFloat):
        return value.fraction
    if isinstance(value, EnclosedFloat):
        return None
    exact = Fraction(value) if isinstance(value, int) or abs(value) < float("inf") else None
    return None if exact is None or exact.denominator > LARGEST_DENOMINATOR else exact


def rational(value: float) -> Fraction:
    """The rational number that is `meant`.

    >>> rational(0.1)
    Traceback (most recent call last):
    ValueError: got the float 0.1, expected an exact rational such as RationalFloat('1/10')
    """
    exact = meant(value)
    if exact is None:
        raise ValueError(f"got the float {float(value)!r}, expected an exact rational such as RationalFloat('1/10')")
    return exact


def enclosure(ball: "arb") -> tuple[Fraction, Fraction]:
    """The ends of a ball."""
    middle, radius = (Fraction(int(part.p), int(part.q)) for part in (ball.mid().fmpq(), ball.rad().fmpq()))
    return middle - radius, middle + radius


def dyadic(value: float) -> Fraction:
    """The rational number of a `RationalFloat`, or that of a float.

    >>> dyadic(0.1) == Fraction(1, 10), dyadic(RationalFloat("1/10")) == Fraction(1, 10)
    (False, True)
    """
    return value.fraction if isinstance(value, RationalFloat) else Fraction(value)
