"""One kept number, and when another one is worse; those of a finding."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

from marginaudit.reports.judgements import ALLOWANCE
from marginaudit.reports.verdict import Finding


@dataclass(frozen=True)
class Constant:
    """A number that should not get worse.

    Two numbers are compared by their ratio only, on one side, with no absolute floor.

    Attributes
    ----------
    value : float or int
        At least 0.
    better : "larger" or "smaller"
        Which way is better.
    tolerance : float
        Worse by a factor of up to 1 + tolerance counts as the same.

    Raises
    ------
    ValueError
        One of them is none of these.

    >>> kept = Constant(1e-9, "smaller", 0.01)
    >>> kept.is_worse(Constant(5e-9, "smaller", 0.01)), kept.is_worse(Constant(1.005e-9, "smaller", 0.01))
    (True, False)
    """

    value: float
    better: Literal["larger", "smaller"]
    tolerance: float

    def __post_init__(self) -> None:
        for name in ("value", "tolerance"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < math.inf:
                raise ValueError(f"got {number!r} as {name}, expected a finite number that is not negative")
        if self.better not in ("larger", "smaller"):
            raise ValueError(f"got {self.better!r} as better, expected 'larger' or 'smaller'")

    @property
    def room(self) -> float:
        """The number's logarithm, turned so that more is better."""
        log = math.log(self.value) if self.value else -math.inf
        return log if self.better == "larger" else -log

    @property
    def least(self) -> float:
        """The least room that counts as the same."""
        return self.room - math.log1p(self.tolerance)

    def is_worse(self, new: "Constant") -> bool:
        """Whether the new number is worse than this one beyond this one's tolerance."""
        return new.room < self.least

    def is_better(self, new: "Constant") -> bool:
        """Whether the new number is better than this one beyond this one's tolerance."""
        return new.room > self.room + math.log1p(self.tolerance)

    def change(self, new: "Constant") -> str:
        """Old and new value, and by what factor they differ, in words.

        >>> Constant(4.0, "larger", 1e-9).change(Constant(2.0, "larger", 1e-9))
        '4 -> 2, worse by a factor of 2 (tolerance 1e-09)'
        """
        word = "better" if new.room > self.room else "worse"
        try:
            more = math.expm1(abs(new.room - self.room))
        except OverflowError:
            more = math.inf
        factor = f"{1 + more:.4g}" if more >= 0.001 else f"1 + {more:.2g}"
        before, after = told_apart(self.value, new.value)
        return f"{before} -> {after}, {word} by a factor of {factor} (tolerance {self.tolerance:.3g})"

    def as_document(self) -> dict[str, Any]:
        """As the file has it."""
        return {"value": self.value, "better": self.better, "tolerance": self.tolerance}


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers in as few digits, of four and more, as tell them apart.

    >>> told_apart(329248769.16739386, 162749816.48000562), told_apart(1.00003, 1.00004), told_apart(2, 2)
    (('3.292e+08', '1.627e+08'), ('1.00003', '1.00004'), ('2', '2'))
    """
    texts = ((f"{one:.{digits}g}", f"{other:.{digits}g}") for digits in range(4, 18))
    return next((pair for pair in texts if pair[0] != pair[1]), (f"{one:.4g}", f"{other:.4g}"))


def constants_of(finding: Finding, tolerance: float | None) -> dict[str, Constant]:
    """The numbers of a finding that can get worse, each with its direction and the tolerance.

    The slack bound / measured of an upper bound gets worse downwards, that of a lower bound upwards, and the
    other way round where both sides are negative. Where their signs differ it is no measure of room, and an
    equality or a limit has no room: their verdict says all. The default tolerance of slack and constant is what
    the error bars of two runs allow, of the informative step what counts as equal in a verdict, and never less.

    >>> from marginaudit.reports import Finding, Verdict
    >>> constants_of(Finding(Verdict.HOLDS, slack=3.0, measured=1.0, side="upper", repeats_within=1e-6), None)
    {'slack': Constant(value=3.0, better='larger', tolerance=1e-06)}
    """
    found = {}
    within = ALLOWANCE if finding.repeats_within is None else max(ALLOWANCE, finding.repeats_within)
    upper = finding.side == "upper"
    negative = finding.measured is not None and finding.measured < 0
    if finding.side is not None and (tolerance is not None or within < math.inf):
        if _finite(finding.slack) and finding.slack > 0:
            found["slack"] = Constant(finding.slack, _better(larger=upper is not negative), _given(tolerance, within))
        if _finite(finding.constant):
            found["constant"] = Constant(finding.constant, _better(larger=not upper), _given(tolerance, within))
    if finding.informative_from is not None:
        found["informative_step"] = Constant(
            finding.informative_from, _better(larger=False), _given(tolerance, ALLOWANCE)
        )
    return found


def _finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _better(larger: bool) -> Literal["larger", "smaller"]:
    return "larger" if larger else "smaller"


def _given(tolerance: float | None, derived: float) -> float:
    return derived if tolerance is None else tolerance
