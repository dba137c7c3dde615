"""Boxes of parameters: ranges of integers, rational numbers and vectors, to draw, enumerate and simplify values."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice, product
from math import ceil, floor
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from marginaudit.orders import InputError, shown

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T")

Values: TypeAlias = dict[str, Any]

DRAWN = (1, 1, 2, 3, 4, 5, 6, 8, 10, 12, 1000, 10**6, 10**6)
"""Denominators of drawn numbers."""

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 50, 100, 1000, 10**4, 10**5)
"""Denominators tried to simplify a number."""

MOST_ENUMERATED = 5_000
"""Most values of a box that are enumerated, simplest first."""

MOST_VALUES = 8
"""Simplest values of each parameter in the enumeration."""


class Parameter(ABC):
    """Range of a parameter."""

    @abstractmethod
    def drawn(self, draw: "DrawFn", values: Values, box: "Box") -> Any:
        """A random value, given those of the parameters before it."""

    @abstractmethod
    def simplest(self, values: Values, box: "Box") -> list[Any]:
        """Some simple values."""

    @abstractmethod
    def simpler(self, value: Any) -> Iterator[Any]:
        """Simpler values than one, simplest first."""


Box: TypeAlias = Mapping[str, Parameter]


def complexity(value: Any) -> int:
    """Size of a value for the search of the smallest: numerators plus denominators, plus 1 an entry.

    >>> complexity(Fraction(-7, 2)), complexity(3), complexity((Fraction(1, 2), 0))
    (9, 3, 5)
    """
    if isinstance(value, Mapping):
        return sum(map(complexity, value.values()))
    if isinstance(value, list | tuple):
        return sum(1 + complexity(entry) for entry in value)
    if isinstance(value, Fraction) and value.denominator > 1:
        return abs(value.numerator) + value.denominator
    return abs(int(value)) if isinstance(value, int | float | Fraction) else 0


@cache
def _integers(low: int, high: int) -> "SearchStrategy[int]":
    """Whole numbers; strategies are slow to make."""
    from hypothesis import strategies as st

    return st.integers(low, high)


@dataclass(frozen=True, eq=False)
class Integers(Parameter):
    """Whole numbers in a range."""

    low: int
    high: int

    def drawn(self, draw: "DrawFn", values: Values, box: Box) -> int:
        """Any of them."""
        return draw(_integers(self.low, self.high))

    def simplest(self, values: Values, box: Box) -> list[Any]:
        """Those nearest to 0, and the ends."""
        near = sorted(range(self.low, self.high + 1)[:100], key=abs)[: MOST_VALUES - 1]
        return sorted({*near, self.low, self.high}, key=complexity)

    def simpler(self, value: int) -> Iterator[int]:
        """Those nearer to 0, by halves, then by one."""
        tried = (int(value / 2), value - 1 if value > 0 else value + 1)
        yield from (one for one in dict.fromkeys((0, 1, self.low, *tried)) if self._smaller(one, value))

    def _smaller(self, one: int, value: int) -> bool:
        return self.low <= one <= self.high and complexity(one) < complexity(value)


@dataclass(frozen=True, eq=False)
class Floats(Parameter):
    """Rational numbers in a range."""

    low: Fraction
    high: Fraction

    def drawn(self, draw: "DrawFn", values: Values, box: Box) -> Fraction:
        """A fraction with a small or a large denominator."""
        denominator = DRAWN[draw(_integers(0, len(DRAWN) - 1))]
        low, high = ceil(self.low * denominator), floor(self.high * denominator)
        if low > high:  # the denominators of the ends do
            denominator = self.low.denominator * self.high.denominator
            low, high = int(self.low * denominator), int(self.high * denominator)
        return Fraction(draw(_integers(low, high)), denominator)

    def simplest(self, values: Values, box: Box) -> list[Any]:
        """Both ends, whole numbers and halves."""
        first = ceil(2 * self.low)
        halves = (Fraction(k, 2) for k in range(first, min(floor(2 * self.high), first + 40) + 1))
        near = sorted((one for one in halves if self.low <= one <= self.high), key=complexity)[: MOST_VALUES - 2]
        return sorted({*near, self.low, self.high}, key=complexity)

    def simpler(self, value: Fraction) -> Iterator[Fraction]:
        """Neighbours with small denominators, and whole numbers nearer to 0."""
        value = Fraction(value)
        tried: list[Fraction] = [Fraction(0), Fraction(1), self.low, self.high, Fraction(int(value / 2))]
        for denominator in DENOMINATORS:
            scaled = value * denominator
            tried += [Fraction(whole, denominator) for whole in (floor(scaled), ceil(scaled), floor(scaled) - 1)]
        fits = {one for one in tried if self.low <= one <= self.high and complexity(one) < complexity(value)}
        yield from sorted(fits, key=complexity)


@dataclass(frozen=True, eq=False)
class Vectors(Parameter):
    """Tuples of rational numbers; their length is a number, or a parameter of the box."""

    length: int | str | Integers
    entries: Floats

    def of_length(self, values: Values, box: Box) -> int:
        """Length for given values of the parameters before it."""
        if isinstance(self.length, int):
            return self.length
        return int(values[self.tied(box)])

    def tied(self, box: Box) -> str:
        """Name of the parameter that is the length; "" for a number."""
        if isinstance(self.length, int):
            return ""
        return self.length if isinstance(self.length, str) else next(k for k, one in box.items() if one is self.length)

    def drawn(self, draw: "DrawFn", values: Values, box: Box) -> tuple[Fraction, ...]:
        """A tuple of drawn numbers."""
        return tuple(self.entries.drawn(draw, values, box) for _ in range(self.of_length(values, box)))

    def simplest(self, values: Values, box: Box) -> list[Any]:
        """Constant vectors, and those with one entry apart."""
        n, simple = self.of_length(values, box), self.entries.simplest(values, box)
        found = [(one,) * n for one in simple[:3]]
        found += [(first, *(rest,) * (n - 1)) for first, rest in product(simple[:3], repeat=2) if n > 1]
        return list(dict.fromkeys(found))

    def simpler(self, value: tuple[Fraction, ...]) -> Iterator[tuple[Fraction, ...]]:
        """The same vector with one entry simpler."""
        for at, entry in enumerate(value):
            yield from ((*value[:at], one, *value[at + 1 :]) for one in islice(self.entries.simpler(entry), 12))


def integers(low: int, high: int) -> Integers:
    """Whole numbers from ``low`` to ``high``, as a parameter of a box."""
    if {type(low), type(high)} != {int} or low > high:
        raise InputError("integers", got=f"{shown(low)} to {shown(high)}", expected="whole numbers in order")
    return Integers(low, high)


def floats(low: Any, high: Any) -> Floats:
    """Rational numbers from ``low`` to ``high``, as a parameter of a box; ends are taken exactly."""
    with suppress(TypeError, ValueError, OverflowError):
        least, most = Fraction(low), Fraction(high)
        if least <= most:
            return Floats(least, most)
    raise InputError("floats", got=f"{shown(low)} to {shown(high)}", expected="finite numbers in order")


def vectors(length: int | str | Integers, low: Any = -10, high: Any = 10) -> Vectors:
    """Tuples of rational numbers, as a parameter of a box.

    Parameters
    ----------
    length : a number, or a parameter before it in the box, by name or as the `integers` themselves
    """
    if type(length) not in (int, str, Integers) or (isinstance(length, int) and length < 0):
        raise InputError("vectors", got=shown(length), expected="a length, or integers of the same box")
    return Vectors(length, floats(low, high))


def require_box(box: Any) -> None:
    """Check a box: parameters by name, lengths before the vectors that have them.

    Raises
    ------
    ValueError
    """
    before: list[str] = []
    if not isinstance(box, Mapping):
        raise ValueError(f"got {shown(box)} as box, expected parameters by name")
    for name, one in box.items():
        if not isinstance(one, Parameter):
            raise ValueError(f"got {shown(one)} as {name} of the box, expected integers, floats or vectors")
        if isinstance(one, Vectors) and not isinstance(one.length, int):
            names = {key for key in before if isinstance(box[key], Integers)}
            if one.length not in names and not any(box[key] is one.length for key in names):
                got = f"the length {shown(one.length)} of {name} of the box"
                raise ValueError(f"got {got}, expected integers before it")
        before.append(name)


def drawn(box: Box) -> "SearchStrategy[Values]":
    """Random values of a box, by name."""
    from hypothesis import strategies as st

    @st.composite
    def values(draw: "DrawFn") -> Values:
        found: Values = {}
        for name, one in box.items():
            found[name] = one.drawn(draw, found, box)
        return found

    return values()


def sampled(box: Box, count: int, seed: int) -> list[Values]:
    """Up to ``count`` random values of a box."""
    found: list[Values] = []

    def keep(values: Values) -> bool:
        found.append(values)
        return False

    with no_folder_left():
        some_drawn(drawn(box), keep, count, Random(seed))
    return found


def some_drawn(strategy: "SearchStrategy[T]", condition: Callable[[T], bool], count: int, random: Random) -> bool:
    """Draw up to ``count`` values by hypothesis until one meets a condition; whether one did."""
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis.errors import NoSuchExample

    profile = settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    try:
        find(strategy, condition, settings=profile, random=random)
    except NoSuchExample:
        return False
    return True


@contextmanager
def no_folder_left() -> Iterator[None]:
    """Context that redirects hypothesis's files from the working directory to a temporary folder."""
    from hypothesis.configuration import set_hypothesis_home_dir

    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


def smallest(box: Box) -> list[Values]:
    """Simple values of a box, simplest first."""
    found: list[Values] = [{}]
    for name, one in box.items():
        several = [{**values, name: value} for values in found for value in one.simplest(values, box)]
        found = sorted(several, key=complexity)[:MOST_ENUMERATED]
    return found


def simpler(box: Box, values: Values) -> Iterator[Values]:
    """Values with one parameter simpler; a shorter length shortens its vectors."""
    sized = {key: one.tied(box) for key, one in box.items() if isinstance(one, Vectors)}
    tied = {name: [key for key, length in sized.items() if length == name] for name in box}
    for name, one in box.items():
        for value in one.simpler(values[name]):
            if not tied[name]:
                yield {**values, name: value}
            elif 0 <= value <= values[name]:
                yield {**values, name: value, **{key: values[key][:value] for key in tied[name]}}
