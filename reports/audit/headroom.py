"""How far what was measured is from its bound: as a factor, and in powers of ten."""

import math
from collections.abc import Mapping
from typing import Any

from marginaudit.reports.json_data import finite
from marginaudit.reports.judgements.bounded import LEAST
from marginaudit.reports.verdict import Curve, Finding, Verdict


def slack(row: Mapping[str, Any]) -> float | None:
    """The slack of a row of report.json as readers see it: above 1 there is room, below 1 the bound is broken.

    bound / measured under an upper bound, measured / bound above a lower one, and the other way round for negative
    numbers; None of an equality or a limit, and where the two have different signs and there is room.

    >>> [slack({"slack": 0.5, "side": side, "measured": 4.0}) for side in ("upper", "lower", None)]
    [0.5, 2.0, None]
    >>> [slack({"slack": found, "side": "upper", "measured": -4.0}) for found in (0.5, -2.0)]
    [2.0, None]
    """
    found: float | None = row["slack"]
    if found is None or row["side"] is None:
        return None
    negative = row["measured"] is not None and row["measured"] < 0
    if (row["side"] == "upper") is not negative:
        return found
    turned: float | None = finite(1 / found) if found > 0 else None
    return turned


def headroom(finding: Finding) -> tuple[float, ...]:
    """Powers of ten between what was measured and its bound, positive where the bound is kept.

    Two of a bound along steps: where it first says something, and at the end. One of a bound that has a slack alone,
    none of a statement that is no bound or has no slack, nor of negative numbers, whose ratio is no such room.

    >>> from marginaudit.reports.verdict import Verdict
    >>> curve = Curve([1, 10, 100], [1e-3, 1e-4, 1e-5], upper=[9.0, 1.0, 1.0], vacuous_above=2.0)
    >>> headroom(Finding(Verdict.HOLDS, side="upper", slack=1e4, worst_step=10, informative_from=5, curve=curve))
    (4.0, 5.0)
    """
    if finding.verdict is Verdict.VACUOUS or finding.side is None or finding.slack is None:
        return ()
    curve = finding.curve
    if curve is not None and (curve.upper is not None or curve.lower is not None):
        found = [powers for at in range(len(curve.step)) if (powers := _powers(finding, curve, at)) is not None]
        return (found[0], found[-1]) if found else ()
    negative = any(number is not None and number < 0 for number in (finding.measured, finding.bound))
    if finding.slack <= 0 or negative:
        return ()
    return (math.log10(finding.slack) * (1 if finding.side == "upper" else -1),)


def _powers(finding: Finding, curve: Curve, at: int) -> float | None:
    """Powers of ten between an entry and the nearer of its bounds; None before the statement speaks, or not finite."""
    measured = curve.measured[at]
    pairs = []
    if curve.upper is not None:
        if curve.vacuous_above is not None and curve.upper[at] >= curve.vacuous_above:
            return None
        pairs.append((measured, curve.upper[at]))
    if curve.lower is not None:
        pairs.append((curve.lower[at], measured))
    speaks = finding.informative_from is None or curve.step[at] >= finding.informative_from
    if not speaks or any(not (LEAST < small < math.inf and LEAST < large < math.inf) for small, large in pairs):
        return None
    return min(math.log10(large) - math.log10(small) for small, large in pairs)
