"""The thirteen assumptions on sequence classes, each from its words in the interface and the paper."""

import math
from fractions import Fraction

from tests.oracle.snap.problem import Problem

UNSURE = 1e-11
"""An eigenvalue that is so near, relative, to what it is compared with leaves it open in float64."""

SAME, OTHER = Fraction(1, 2**51), Fraction(1, 2**48)
"""Probabilities are one number up to here, and different from there on; between, either may be said."""

OVERLAPS = 1e-13
"""The same of overlaps, in which roundings add up."""


def assumptions(p: Problem) -> dict[str, bool | None]:
    """Whether each holds; None where float64 leaves it open."""
    sizes = [abs(x) for x in p.eigenvalues]
    own = [sorted((c.P[l] for l in p.distinct(c)), reverse=True) for c in p.classes]  # noqa: E741
    overlaps = [float(p.E[i][j]) for i in range(p.K) for j in range(i)]
    return {
        "uniform_classes": len(set(p.frequencies)) == 1,
        "wide_vocabulary": p.M >= 10 * p.K**2,
        "large_vocabulary": p.M >= 1000,
        "small_overlap": below(max(sizes), 1 / p.K),
        "overlap_below_one": below(max(sizes), 1.0),
        "spread_overlap": below(6 / math.sqrt(p.M), min(sizes)),
        "single_common": len(p.common) == 1,
        "symmetric_classes": every(alike(a, b) for a in own for b in own),
        "shared_common": every(
            alike([a.P.get(l, Fraction(0))], [b.P.get(l, Fraction(0))])
            for l in p.common  # noqa: E741
            for a in p.classes
            for b in p.classes
        ),
        "single_query": len({c.query for c in p.classes}) == 1,
        "distinct_beside_common": not p.common
        or any(p.common & a.P.keys() and p.distinct(b) for a in p.classes for b in p.classes if a.query == b.query),
        "dominant_distinct": not any(own) or negated(every(negated(dominates(one)) for one in own if one)),
        "equal_overlaps": None
        if overlaps and 0 < max(overlaps) - min(overlaps) <= OVERLAPS * max(overlaps)
        else len(set(overlaps)) < 2,
    }


def below(small: float, large: float) -> bool | None:
    return None if abs(small - large) <= UNSURE * max(small, large) else small < large


def alike(a: list[Fraction], b: list[Fraction]) -> bool | None:
    if len(a) != len(b):
        return False
    off = [abs(x - y) / max(x, y) for x, y in zip(a, b, strict=True) if max(x, y)]
    if all(one <= SAME for one in off):
        return True
    return False if any(one >= OTHER for one in off) else None


def every(found: object) -> bool | None:
    """All of them; None where one is open and none is false."""
    seen = list(found)  # type: ignore[call-overload]
    return False if False in seen else None if None in seen else True


def dominates(probabilities: list[Fraction]) -> bool | None:
    """Whether the first of a class's distinct tokens is more probable than the next."""
    return len(probabilities) < 2 or negated(alike(probabilities[:1], probabilities[1:2]))


def negated(found: bool | None) -> bool | None:
    return None if found is None else not found
