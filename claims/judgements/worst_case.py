"""Bounds on the worst case of a method over all functions of a class."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from marginaudit.claims.series import fraction_text, is_ball
from marginaudit.claims.verdict import Evidence, Finding, Verdict
from marginaudit.margins.worst_case.scalar import enclosure, exactly, rational

if TYPE_CHECKING:
    from marginaudit.margins.worst_case.solve import WorstCase as Solved

LONGEST = 24
"""Longest rational in a message, in characters."""


@dataclass(frozen=True)
class WorstCase:
    """performance <= bound for every function of the problem's classes.

    Both ends of the worst case are proved in rationals: the upper one by multipliers of the interpolation inequalities,
    the lower one by a function. Where the two are the same rational the bound's room is exact ("tight").

    Attributes
    ----------
    problem : from an instance to a PEPit ``PEP``; its rationals are given as `RationalFloat`, its balls as
        `EnclosedFloat`, for which both ends are proved for all numbers in the balls
    bound : from an instance to the bound, a rational or a ball
    """

    problem: Callable[[Any], Any]
    bound: Callable[[Any], Any]

    kind = "worst case"
    quantifier = "all"

    def judge(self, of: Any) -> Finding:
        """Verdict on an instance: by the proof, by the worst function, or inconclusive between both ends."""
        from marginaudit.margins.worst_case.verify import verify_document

        bound = self.bound(of)
        low, high, evidence = _ends(bound)
        found = self._solved(of, low)
        certificate = found.certificate()
        if found.proof or found.function:
            verify_document(certificate)
        upper, lower = found.upper, found.lower
        verdict, worst = Verdict.INCONCLUSIVE, lower
        if upper is not None and upper <= low:
            verdict, worst = Verdict.HOLDS, upper
        elif lower is not None and lower > high:
            verdict = Verdict.VIOLATED
        room = low / worst if worst is not None and worst > 0 and low > 0 else None
        return Finding(
            verdict=verdict,
            evidence=Evidence.CERTIFIED if found.enclosed else evidence,
            measured=None if worst is None else float(worst),
            bound=float(low),
            measured_exact="" if worst is None else fraction_text(worst),
            bound_exact=fraction_text(low) if low == high else "",
            slack=None if room is None else float(room),
            side="upper",
            detail=_detail(low, found),
            witness=certificate["worst_case"] if verdict is Verdict.VIOLATED else None,
        )

    def exact(self, of: Any) -> Fraction | None:
        """The exact worst case, the best constant in place of the bound; None where the two ends differ."""
        found = self._solved(of, _ends(self.bound(of))[0])
        return found.upper if found.tight else None

    def certificate(self, of: Any) -> Mapping[str, Any]:
        """JSON data of proof and worst function, which `marginaudit verify` checks."""
        return self._solved(of, _ends(self.bound(of))[0]).certificate()

    def _solved(self, of: Any, bound: Fraction) -> "Solved":
        from marginaudit.margins.worst_case.from_pepit import from_pepit
        from marginaudit.margins.worst_case.solve import worst_case

        return worst_case(from_pepit(self.problem(exactly(of))), bound)


def _ends(bound: Any) -> tuple[Fraction, Fraction, Evidence]:
    """Lower and upper end of a bound, and its evidence."""
    if is_ball(bound):
        return *enclosure(bound), Evidence.CERTIFIED
    exact = bound if isinstance(bound, Fraction) else rational(bound)
    return exact, exact, Evidence.EXACT


def _detail(bound: Fraction, found: "Solved") -> str:
    """The proved ends of the worst case."""
    from marginaudit.margins.worst_case.verify import classes, read_problem

    lower, upper = found.lower, found.upper
    if lower is None and upper is None:
        return "No worst case was found: neither a proof nor a function."
    of = classes(read_problem(found.problem, ""))
    if found.function is not None and found.tight:
        dimension = len(found.function.squared_lengths)
        return f"Tight: the worst case of {of} is {_short(upper)}, attained on R^{dimension}; bound {_short(bound)}."
    ends = " <= worst case <= ".join("?" if end is None else _short(end) for end in (lower, upper))
    gap = f", a gap of {float(upper / lower - 1):.1e}" if upper is not None and lower else ""
    return f"Of {of}: {ends}{gap}; bound {_short(bound)}."


def _short(value: Fraction | None) -> str:
    """A rational, as a decimal number if it is long."""
    text = str(value)
    return text if value is None or len(text) <= LONGEST else f"{float(value):.10g}"
