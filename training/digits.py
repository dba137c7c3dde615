"""Numbers in many digits, for a user's code written with Python's operators and NumPy's functions."""

import operator
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

if TYPE_CHECKING:
    import flint

DOUBLE = 8
"""Bytes of float64; longer floats do not convert to it exactly."""


SERIES = "marginaudit.claims.series"
"""Module whose conversions to float64 are those of error bars."""


class Undecided(ArithmeticError):  # noqa: N818  (no error of the caller)
    """The balls of a comparison overlap."""


def ball_of(number: Any) -> "flint.arb | None":
    """Ball around a number, exact up to the precision of a Fraction; None for other types."""
    import flint

    if isinstance(number, Digits):
        return number.ball
    if isinstance(number, flint.arb):
        return number
    if isinstance(number, int | np.integer | np.bool_):
        return flint.arb(int(number))
    if isinstance(number, Fraction):
        return flint.arb(flint.fmpq(number.numerator, number.denominator))
    if isinstance(number, float) or (isinstance(number, np.floating) and number.itemsize <= DOUBLE):
        return flint.arb(float(number))
    return None


def _binary(name: str) -> Any:
    apply: Callable[[Any, Any], Any] = getattr(operator, name)

    def forward(self: "Digits", other: Any) -> Any:
        ball = other.ball if isinstance(other, Digits) else ball_of(other)
        return NotImplemented if ball is None else type(self)(apply(self.ball, ball))

    def backward(self: "Digits", other: Any) -> Any:
        ball = ball_of(other)
        return NotImplemented if ball is None else type(self)(apply(ball, self.ball))

    return forward, backward


def _comparison(name: str, opposite: str) -> Any:
    compare, contrary = getattr(operator, name), getattr(operator, opposite)

    def compared(self: "Digits", other: Any) -> Any:
        ball = ball_of(other)
        if ball is None:
            return NotImplemented
        if compare(self.ball, ball):
            return True
        return False if contrary(self.ball, ball) else self.overlapping(compare, ball)

    return compared


def _function(name: str) -> Any:
    return lambda self: type(self)(getattr(self.ball, name)())


def _to_base(base: int) -> Any:
    return lambda self: type(self)(self.ball.log() / type(self.ball)(base).log())


class Digits:
    """A number in the digits of flint's context: its ball's centre is the value.

    Comparisons of overlapping balls compare the centres. It does not convert to float64, which would lose the digits.

    Attributes
    ----------
    ball : flint.arb

    >>> import flint
    >>> with flint.ctx.workprec(200):
    ...     third = np.array([Digits(1.0), Digits(2.0)]) / 3
    ...     (np.exp(np.log(third))[0] * 3 - 1).ball.abs_upper() < 1e-50
    True
    """

    __slots__ = ("ball",)

    def __init__(self, number: Any) -> None:
        ball = ball_of(number)
        if ball is None:
            raise TypeError(f"got a number of type {type(number).__name__}, expected a float, an int or a Fraction")
        self.ball = ball

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("sub")
    __mul__, __rmul__ = _binary("mul")
    __truediv__, __rtruediv__ = _binary("truediv")
    __pow__, __rpow__ = _binary("pow")
    __lt__, __ge__ = _comparison("lt", "ge"), _comparison("ge", "lt")
    __gt__, __le__ = _comparison("gt", "le"), _comparison("le", "gt")
    __eq__, __ne__ = _comparison("eq", "ne"), _comparison("ne", "eq")
    __hash__ = None  # type: ignore[assignment]

    exp, expm1, log, log1p, sqrt = map(_function, ("exp", "expm1", "log", "log1p", "sqrt"))
    sin, cos, tan, sinh, cosh, tanh = map(_function, ("sin", "cos", "tan", "sinh", "cosh", "tanh"))
    arcsin, arccos, arctan = map(_function, ("asin", "acos", "atan"))
    arcsinh, arccosh, arctanh = map(_function, ("asinh", "acosh", "atanh"))
    log2, log10 = _to_base(2), _to_base(10)

    def overlapping(self, compare: Callable[[Any, Any], bool], other: "flint.arb") -> bool:
        """Decide a comparison of overlapping balls."""
        return bool(compare(self.ball.mid(), other.mid()))

    def centred(self) -> "Digits":
        """The number without the radius of its ball."""
        return type(self)(self.ball.mid())

    def conjugate(self) -> "Digits":
        """The number itself, which is real."""
        return self

    def __neg__(self) -> "Digits":
        return type(self)(-self.ball)

    def __pos__(self) -> "Digits":
        return self

    def __abs__(self) -> "Digits":
        return type(self)(abs(self.ball))

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __float__(self) -> float:
        raise TypeError("converts a number to float64, which loses its digits")

    def __index__(self) -> int:
        """The whole number of a step, as an index."""
        whole = self.ball.unique_fmpz() if self.ball.is_exact() else None
        if whole is None:
            raise TypeError("converts a number to an integer, which loses its digits")
        return int(whole)

    def __mod__(self, other: Any) -> int:
        return operator.index(self) % operator.index(other)

    def __floordiv__(self, other: Any) -> int:
        return operator.index(self) // operator.index(other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.ball.str(20)})"


class Enclosed(Digits):
    """A number enclosed in a ball; a comparison of overlapping balls is `Undecided`."""

    __slots__ = ()

    def overlapping(self, compare: Callable[[Any, Any], bool], other: "flint.arb") -> Literal[False]:
        """Refuse to decide."""
        raise Undecided("the balls of a comparison overlap")


class Tracked(Digits):
    """A number of code that is run a second time: where the code converts it to float64, the place is kept.

    Attributes
    ----------
    lost : list of str
        Places of the conversions so far, of all such numbers; but not those of error bars, by a `Series`.
    """

    __slots__ = ()
    lost: ClassVar[list[str]] = []

    def __float__(self) -> float:
        frame = sys._getframe(1)  # noqa: SLF001  (the caller's line)
        if frame.f_globals.get("__name__") != SERIES:
            self.lost.append(f"{Path(frame.f_code.co_filename).name} line {frame.f_lineno}")
        return float(self.ball.mid())
