"""Iterates of a user's step, in rational arithmetic, in balls, or in 128 bits beside 256.

A run in balls encloses the iterates. The balls grow by a share at each step, so it is tried in 128 bits, and the step
at which they are too wide tells how many bits all steps need. If these are too many, or a comparison of balls is
undecided, the step is run twice on numbers without radii, in 128 and in 256 bits. The values are those in 256 bits.
Their bar is the largest relative distance of the two runs so far: errors of both runs grow alike, so it is the error of
the run in 128 bits, and that of the other is smaller by a factor 2^128. If all 128 bits are lost the bar is as large as
the values.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from marginaudit.orders.balls import rounded
from marginaudit.training.digits import Digits, Enclosed, Undecided
from marginaudit.training.schedule import NEIGHBOURS, log_spaced

if TYPE_CHECKING:
    import flint

BITS = 128
"""Bits of the first run; the second has twice as many."""

MOST_BITS = 2048
"""Most bits of a run in balls."""

LONGEST = 20_000
"""Most bits of the numerators and denominators of a state; beyond them rational arithmetic takes too long."""

NARROW, NEGLIGIBLE = 2.0**-40, 2.0**-80
"""Relative radius up to which a ball is narrow; and its radius, relative to the largest value."""

STATE_BITS = 20
"""Bits that the balls of a state keep."""

REPEATED = 3
"""Steps run twice, to see whether the step depends on its arguments alone."""

Step = Callable[..., Any]

Kind = Literal["exact", "rigorous", "measured"]


@dataclass(frozen=True)
class Iterates:
    """Measured numbers along the iterates.

    Attributes
    ----------
    value : of each recorded step, the entries: Fractions if exact, balls if rigorous, else floats
    error : bar of the entries of each recorded step, 0 unless measured
    """

    step: list[int]
    value: list[list[Any]]
    error: list[float]
    kind: Kind


def iterated(step: Step, start: Any, at: int | Iterable[int], measure: Step | None = None) -> Iterates:
    """Iterate a step and measure the states at chosen steps, by default their entries; see `marginaudit.iterate`.

    Raises
    ------
    ValueError
        A step is negative, the step remembers an earlier run, a state changes its shape, or a value is not finite.
    TypeError
        The step's or the measure's code does not take numbers in more digits.
    """
    marks = recorded(at)
    entries = _entries(start)
    run = _Run(with_time(step), with_time(measure or (lambda state: state)), start, marks)
    if number := next((type(entry) for entry in entries if isinstance(entry, Digits)), None):
        return Iterates(marks, run.values(number, number), [0.0] * len(marks), "measured")
    if all(map(_is_rational, entries)):
        exact = run.exact()
        if exact is not None:
            return Iterates(marks, exact, [0.0] * len(marks), "exact")
    given = not all(isinstance(entry, float | int | np.number | Rational) for entry in entries)
    run.require_repeatable()
    enclosed = run.enclosed(given=given)
    if enclosed is not None:
        return Iterates(marks, enclosed, [0.0] * len(marks), "rigorous")
    value, error = run.measured()
    return Iterates(marks, value, error, "measured")


def recorded(at: int | Iterable[int]) -> list[int]:
    """Recorded steps in order; a number stands for the last of about 20 a decade.

    >>> recorded([10, 1e3, 1]), recorded(4)
    ([1, 10, 1000], [1, 2, 3, 4])

    Raises
    ------
    ValueError
        A step is no whole number from 0 on, or there is none.
    """
    if not isinstance(at, Iterable):
        found = [0]
        for t in log_spaced(_whole(at))[1:]:
            while t > max(found[-1] + 1, NEIGHBOURS * found[-1]):
                found.append(max(found[-1] + 1, int(NEIGHBOURS * found[-1])))
            found.append(t)
        return found[1:] or [0]
    found = sorted({_whole(t) for t in at})
    if not found:
        raise ValueError("at: got no step, expected one or more")
    return found


def _whole(t: Any) -> int:
    if not t >= 0 or int(t) != t:
        raise ValueError(f"at: got {t}, expected whole numbers from 0 on")
    return int(t)


def with_time(function: Step) -> Step:
    """The function with a second argument, the step's number, if it does not take one.

    >>> with_time(lambda x: x + 1)(1, 5), with_time(lambda x, t: x + t)(1, 5)
    (2, 6)
    """
    try:
        taken = inspect.signature(function).parameters.values()
    except ValueError:  # a builtin without a signature
        return lambda x, _: function(x)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in taken if one.kind in positional and one.default is inspect.Parameter.empty]
    return function if len(needed) > 1 else lambda x, _: function(x)


@dataclass(frozen=True)
class _Run:
    """A step with its start, a measure, and the recorded steps."""

    step: Step
    measure: Step
    start: Any
    marks: Sequence[int]

    def states(
        self, convert: Callable[[Any], Any], of_time: Callable[[int], Any], marks: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """States at marks; every entry is converted before each step."""
        state, t = _each(convert, np.array(self.start, dtype=object)), 0
        shape = np.shape(state)
        for mark in marks:
            while t < mark:
                state = _each(convert, np.asarray(self.step(state, of_time(t)), dtype=object))
                t += 1
                if np.shape(state) != shape:
                    raise ValueError(f"step {t} returned shape {np.shape(state)}, expected {shape} as at the start")
            yield t, state

    def values(self, convert: Callable[[Any], Any], of_time: Callable[[int], Any]) -> list[list[Any]]:
        """Measured values at the recorded steps."""
        return [_entries(self.measure(state, of_time(t))) for t, state in self.states(convert, of_time, self.marks)]

    def exact(self) -> list[list[Fraction]] | None:
        """Values in rational arithmetic; None if the step leaves it, or its numbers become too long."""

        def rational(entry: Any) -> Fraction:
            if not _is_rational(entry):
                raise _Left
            found = Fraction(entry)
            if found.numerator.bit_length() + found.denominator.bit_length() > LONGEST:
                raise _Left
            return found

        try:
            return [[*map(rational, values)] for values in self.values(rational, int)]
        except (_Left, TypeError, AttributeError):  # a function of NumPy does not take Fractions
            return None

    def require_repeatable(self) -> None:
        """Raise unless the first steps from the same start are the same twice."""
        import flint

        with flint.ctx.workprec(BITS):
            first, again = (
                [_balls(state) for _, state in self.states(Digits, Digits, range(1, min(REPEATED, self.marks[-1]) + 1))]
                for _ in range(2)
            )
        for t, (one, other) in enumerate(zip(first, again, strict=True), 1):
            if any((a.mid() - b.mid()) != 0 for a, b in zip(one, other, strict=True)):
                raise ValueError(
                    f"step {t} from the same start is another one the second time, expected a function of the state: "
                    "momentum or a random generator belongs into the state"
                )

    def enclosed(self, *, given: bool) -> "list[list[flint.arb]] | None":
        """Values in balls; None if a comparison is undecided or the balls are too wide.

        A start ``given`` in balls may be wide: its first run counts, and an undecided comparison is an error.
        """
        import flint

        bits = BITS
        while bits <= MOST_BITS:
            with flint.ctx.workprec(bits):
                try:
                    found, reached = self._in_balls(wide=given)
                except Undecided:
                    if given:
                        raise
                    return None
            if reached == self.marks[-1]:
                return found
            needed = STATE_BITS + (bits - STATE_BITS) * self.marks[-1] / max(reached, 1)
            bits = max(2 * bits, int(1.1 * needed))
        return None

    def _in_balls(self, *, wide: bool) -> "tuple[list[list[flint.arb]], int]":
        """Values up to the last step, or the step at which balls are too wide."""
        found: list[list[flint.arb]] = []
        last, largest, marks = self.marks[-1], 0.0, set(self.marks)
        for t, state in self.states(Enclosed, Enclosed, sorted({*marks, *log_spaced(last)})):
            if not wide and _bits_kept(state) < STATE_BITS:
                return found, min(t, last - 1)
            if t not in marks:
                continue
            balls = [Enclosed(value).ball for value in _entries(self.measure(state, Enclosed(t)))]
            largest = max([largest, *(abs(float(ball.mid())) for ball in balls)])
            narrow = [float(ball.rad()) <= max(NARROW * abs(float(ball.mid())), NEGLIGIBLE * largest) for ball in balls]
            if not wide and not all(narrow):
                return found, min(t, last - 1)
            found.append(balls)
        return found, last

    def measured(self) -> tuple[list[list[float]], list[float]]:
        """Values in 256 bits, and their bars by a run in 128 bits."""
        import flint

        runs = []
        for bits in (BITS, 2 * BITS):
            with flint.ctx.workprec(bits):
                runs.append([[Digits(value).ball for value in values] for values in self.values(_centred, Digits)])
        found, error, apart = [], [], 0.0
        with flint.ctx.workprec(2 * BITS):
            for t, rough, fine in zip(self.marks, *runs, strict=True):
                if not all(ball.is_finite() for ball in fine):
                    raise ValueError(f"step {t}: got a measured value that is no finite number")
                distance = max(abs(one - other).abs_upper() for one, other in zip(rough, fine, strict=True))
                size = max(abs(ball.mid()) for ball in fine)
                apart = max(apart, float(distance / size)) if size > 0 else apart
                near = [rounded(ball) for ball in fine]
                found.append([value for value, _ in near])
                error.append(max(rounding for _, rounding in near) + max(float(distance), apart * float(size)))
        return found, error


class _Left(Exception):  # noqa: N818  (a signal)
    """A number that is not rational, or too long."""


def _each(convert: Callable[[Any], Any], state: Any) -> Any:
    """Convert every entry of a state; a single number stays one."""
    if not state.shape:
        return convert(state.item())
    found = np.empty(state.shape, dtype=object)
    found.ravel()[:] = [convert(entry) for entry in state.ravel().tolist()]
    return found


def _is_rational(entry: object) -> bool:
    """Whether a number is a Fraction or a Python integer; numpy's integers overflow."""
    return isinstance(entry, Rational) and not isinstance(entry, (bool, np.generic))


def _entries(found: Any) -> list[Any]:
    return list(np.asarray(found, dtype=object).ravel().tolist())


def _centred(entry: Any) -> Digits:
    return Digits(entry).centred()


def _balls(state: Any) -> "list[flint.arb]":
    return [entry.ball for entry in _entries(state)]


def _bits_kept(state: Any) -> float:
    """Bits to which all entries are known, relative to the largest."""
    balls = _balls(state)
    if not all(ball.is_finite() for ball in balls):
        return 0.0
    radius = max((ball.rad() for ball in balls), key=float)
    size = max((abs(ball.mid()) for ball in balls), key=float)
    if radius == 0:
        return np.inf
    return 0.0 if size == 0 else float(-(radius / size).mid().log().mid()) / np.log(2)
