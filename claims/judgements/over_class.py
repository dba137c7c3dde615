"""Suprema over a class: a search refutes a bound on all members, and never proves it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from marginaudit.claims.box import Box, require_box, sampled, simpler, smallest
from marginaudit.claims.instances.instance import Parameters, plain
from marginaudit.claims.judgements.bounded import Bounded
from marginaudit.claims.verdict import Finding, Verdict

TRIED = 1_000
"""Default number of members drawn beside the enumerated ones."""


@dataclass(frozen=True)
class OverClass:
    """sup over a class of measured(x, member) <= upper(x), or inf >= lower.

    A member beyond the bound refutes the statement, and is simplified. Without one the verdict is inconclusive, with
    the largest value found, the smallest for a lower bound.

    Attributes
    ----------
    measure : from an instance and a member to one measured number
    box : parameters of a member, by name; it is passed to ``measure`` as a dict with attributes
    upper, lower : from an instance to the bound; exactly one
    tried : int
        Number of members drawn, beside the enumerated simple ones.
    seed : int
    """

    measure: Callable[[Any, Any], Any]
    box: Box
    upper: "Callable[[Any], Any] | None" = None
    lower: "Callable[[Any], Any] | None" = None
    tried: int = TRIED
    seed: int = 0

    quantifier = "supremum"

    def __post_init__(self) -> None:
        require_box(self.box)
        if (self.upper is None) == (self.lower is None):
            raise ValueError("OverClass: expected exactly one of upper and lower")

    @property
    def kind(self) -> str:
        """Name of the kind of statement for reports."""
        return "upper bound over a class" if self.upper else "lower bound over a class"

    def judge(self, given: Any) -> Finding:
        """Verdict on an instance, from the members of a search."""
        farthest, member, count = None, None, 0
        for count, candidate in enumerate(self._members(), start=1):
            found = self._at(given, candidate)
            if found.verdict is Verdict.VIOLATED:
                return self._refuted(given, candidate, found, count)
            if farthest is None or self._order(found) > self._order(farthest):
                farthest, member = found, candidate
        if farthest is None:
            return Finding(Verdict.INCONCLUSIVE, detail="The class has no member that the search can make.")
        which = "Largest" if self.upper else "Smallest"
        return replace(
            farthest,
            verdict=Verdict.INCONCLUSIVE,
            witness=plain(member),
            detail=f"{which} of {count} members, seed {self.seed}: {plain(member)}. A search does not prove a bound.",
        )

    def _members(self) -> Iterator[dict[str, Any]]:
        """Simple members, then random ones."""
        yield from smallest(self.box)
        yield from sampled(self.box, self.tried, self.seed)

    def _at(self, given: Any, member: dict[str, Any]) -> Finding:
        values, upper, lower = Parameters(member), self.upper, self.lower
        return Bounded(
            lambda _: self.measure(given, values),
            upper=None if upper is None else lambda x, _: upper(x),
            lower=None if lower is None else lambda x, _: lower(x),
        ).judge(given)

    def _order(self, found: Finding) -> float:
        measured = -inf if found.measured is None else found.measured
        return measured if self.upper else -measured

    def _refuted(self, given: Any, member: dict[str, Any], found: Finding, count: int) -> Finding:
        """The violation by the simplest member that shows it."""
        while True:
            for other in simpler(self.box, member):
                if (less := self._at(given, other)).verdict is Verdict.VIOLATED:
                    member, found = other, less
                    break
            else:
                detail = f"Member {plain(member)}, from the {count}. that was tried. {found.detail}"
                return replace(found, witness=plain(member), detail=detail)
