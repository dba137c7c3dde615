"""One kept number, and when another one is worse."""

import math
from dataclasses import dataclass
from typing import Any, Literal


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
        '4.0 -> 2.0, worse by a factor of 2 (tolerance 1e-09)'
        """
        word = "better" if new.room > self.room else "worse"
        try:
            more = math.expm1(abs(new.room - self.room))
        except OverflowError:
            more = math.inf
        factor = f"{1 + more:.4g}" if more >= 0.001 else f"1 + {more:.2g}"
        return f"{self.value!r} -> {new.value!r}, {word} by a factor of {factor} (tolerance {self.tolerance:.3g})"

    def as_document(self) -> dict[str, Any]:
        """As the file has it."""
        return {"value": self.value, "better": self.better, "tolerance": self.tolerance}
