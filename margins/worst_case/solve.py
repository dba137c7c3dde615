"""The worst case of a performance estimation problem between two proved ends."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from marginaudit.margins.worst_case import lower, upper
from marginaudit.margins.worst_case.exact import Vectors, recognised
from marginaudit.margins.worst_case.faces import Face, smallest_face
from marginaudit.margins.worst_case.from_pepit import text
from marginaudit.margins.worst_case.optimum import Optimum, optimum
from marginaudit.margins.worst_case.polish import polished
from marginaudit.margins.worst_case.program import Program
from marginaudit.margins.worst_case.solution import Proof, WorstFunction
from marginaudit.margins.worst_case.verify import FORMAT, read_problem

NEAR = 1e-6
"""Relative distance of the optimum from an expected value that is tried as its exact value."""

CUTS = (None, 1e-4)
"""Thresholds for the range of the Gram matrix; see `Optimum.range`."""

SMALL_SLACK = 1e-4
"""Slack that may be 0 at the optimum although the row's multiplier is 0 too."""

LARGEST = 1e6
"""Largest worst case searched for."""


class Ends(NamedTuple):
    """A proof and a function, as far as known."""

    proof: Proof | None = None
    function: WorstFunction | None = None

    def with_missing(self, other: "Ends") -> "Ends":
        """These ends, completed by others."""
        return Ends(self.proof or other.proof, self.function or other.function)


@dataclass(frozen=True)
class WorstCase:
    """A problem's worst case: a proof that bounds it from above, and a function that bounds it from below."""

    problem: dict[str, Any]
    proof: Proof | None
    function: WorstFunction | None

    @property
    def upper(self) -> Fraction | None:
        """Proved upper bound."""
        return None if self.proof is None else self.proof.bound

    @property
    def lower(self) -> Fraction | None:
        """Performance of the function."""
        return None if self.function is None else self.function.value

    @property
    def enclosed(self) -> bool:
        """Whether both ends hold for all data in the problem's enclosures."""
        return read_problem(self.problem, "").enclosed

    @property
    def tight(self) -> bool:
        """Whether both ends are the same rational."""
        return self.upper is not None and self.upper == self.lower

    def certificate(self) -> dict[str, Any]:
        """JSON data that `verify.py` checks."""
        document: dict[str, Any] = {"format": FORMAT, "problem": self.problem}
        if self.proof is not None:
            document["proof"] = {
                "bound": text(self.proof.bound),
                "metrics": [text(c) for c in self.proof.metrics],
                "constraints": [text(c) for c in self.proof.constraints],
                "functions": [[[*place, text(c)] for *place, c in rows] for rows in self.proof.functions],
            }
        if self.function is not None:
            document["worst_case"] = {
                "value": text(self.function.value),
                "squared_lengths": [text(c) for c in self.function.squared_lengths],
                "points": {name: [text(c) for c in row] for name, row in self.function.points.items()},
                "values": {name: text(c) for name, c in self.function.values.items()},
            }
        return document


def worst_case(problem: dict[str, Any], expected: Fraction | None = None) -> WorstCase:
    """The worst case of a problem, exact if it is the expected value or a simple rational.

    Every end is checked in rational arithmetic; None for an end without a proof.
    """
    program = Program(read_problem(problem, ""))
    everything = Face(list(range(len(program.rows))))
    found = optimum(program, everything)
    ends = Ends() if found is None else tight_ends(program, found, expected)
    if ends.proof and ends.function:
        return WorstCase(problem, ends.proof, ends.function)
    face = smallest_face(program, LARGEST if found is None else 2 * abs(found.value) + 1e-3)
    if face != everything:
        found = optimum(program, face)
        ends = Ends() if found is None else ends.with_missing(tight_ends(program, found, expected))
    if found is not None:
        proof = ends.proof or upper.relaxed(program, found, face)
        ends = Ends(proof, ends.function or lower.relaxed(program, found))
    return WorstCase(problem, ends.proof, ends.function)


def tight_ends(program: Program, found: Optimum, expected: Fraction | None) -> Ends:
    """Ends at a rational near the float optimum: the expected value, a simple one, or that of a polished optimum.

    None for enclosed data: an exact end has no room for them.
    """
    if program.stated.enclosed:
        return Ends()
    known = expected if expected is not None and abs(expected - Fraction(found.value)) <= NEAR * abs(expected) else None
    simple = known if known is not None else recognised(Fraction(found.value), Fraction(1, 10**10))
    partial = Ends()
    for value, basis in _guesses(program, found, known, simple):
        ends = Ends(
            upper.tight(program, found, value, basis),
            lower.tight(program, found, value, basis, 0) or lower.tight(program, found, value, basis, SMALL_SLACK),
        )
        if ends.proof and ends.function:
            return ends
        partial = partial.with_missing(ends)
    return partial


def _guesses(
    program: Program, found: Optimum, known: Fraction | None, simple: Fraction | None
) -> Iterator[tuple[Fraction, Vectors]]:
    """Rationals that the optimum may be, with bases that the range of the Gram matrix may have."""
    for cut in CUTS:
        if simple is not None and (basis := found.basis(cut)) is not None:
            yield simple, basis
    for cut in CUTS:
        sharp = polished(program, found, cut)
        for value in dict.fromkeys((known, sharp.value)):
            if value is not None and sharp.basis is not None:
                yield value, sharp.basis
