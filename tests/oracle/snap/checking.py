"""One audit of sequence classes against the oracle: rows, assumptions, numbers with their error bars."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import flint

from tests.oracle.comparison import Disagreement
from tests.oracle.snap.assumptions import assumptions
from tests.oracle.snap.audited import Audited, Number
from tests.oracle.snap.numbers import BITS, Truth
from tests.oracle.snap.problem import Problem
from tests.oracle.snap.sides import TINY, Sides, place
from tests.oracle.snap.statements import STATEMENTS

ALLOWANCE = 1e-9
"""Sides that agree so well may be called equal."""

OF_STATES = ("z", "B", "z-dot", "xi")
"""Numbers that take eq. 10 followed."""

NARROWEST = {"z": 0.9e-12, "B": 0.9e-12, "B of eq. 13": 0.9e-12}
"""A solver with local errors of 1e-13 knows nothing to less than ten of them, whatever its runs say of each other."""

WIDEST = {
    "E": 1e-12,
    "eigenvalue": 1e-11,
    "E'": 1e-11,
    "count": 1e-8,
    "count, wide": 1e-8,
    "token": 1e-8,
    "M h(t/K)": 1e-14,
    "share": 1e-13,
    "gamma": 1e-13,
    "Gamma": 1e-13,
    "M h*(t)": 1e-9,
    "share*": 1e-6,
    "lag": 1e-6,
    "gap": 1e-4,
}
"""Beyond such a part of what it is about a bar is too wide to be of use."""

Found = tuple[str, Disagreement]

CERTIFIED = ("snap.lemma1", "snap.lemma3", "snap.remark1.rederived")
EXACTLY_VIOLATED = "snap.lemma17.literal"


def check(document: Mapping[str, Any], audit: Audited) -> list[Found]:
    """Everything in which the audit and the oracle differ, with the claim or the part that it is about."""
    T = truth(audit)
    with flint.ctx.workprec(BITS):
        known = assumptions(T.problem)
        rows = [(claim, one) for claim, row in audit.rows.items() for one in row_faults(claim, row, T, known)]
        return [*assumption_faults(known, audit), *rows, *number_faults(T, audit.numbers)]


def truth(audit: Audited) -> Truth:
    """What was audited, for the oracle, to be used at its precision."""
    asked: set[int] = {number.of[0] for number in audit.numbers if number.what in OF_STATES} | set(audit.steps[:1])
    for row in audit.rows.values():
        asked |= {row["worst_step"], _told_step(row)} & set(audit.steps)
    return Truth(Problem(audit.document), audit.settings, audit.steps, asked)


def _told_step(row: Mapping[str, Any]) -> int | None:
    found = re.search(r", t = (\d+)$", place(row).label)
    return int(found[1]) if found else None


def assumption_faults(known: Mapping[str, bool | None], audit: Audited) -> Iterator[Found]:
    for name, holds in known.items():
        if holds is not None and audit.assumptions[name] != holds:
            yield name, Disagreement("assumption", f"holds: {not holds}, and it is {holds}")


def row_faults(
    claim: str, row: Mapping[str, Any], T: Truth, known: Mapping[str, bool | None]
) -> Iterator[Disagreement]:
    verdict, statement = row["verdict"], STATEMENTS[claim]
    if verdict == "broken":
        yield Disagreement("broken", row["detail"])
        return
    yield from _evidence(claim, row)
    failing = [name for name in statement.needs if known[name] is False]
    outside = [known[name] for name in statement.setting if not known[name]]
    if outside and not failing:
        if verdict in ("not-applicable", "inconclusive"):
            return
        if False in outside and (verdict == "violated" or row["evidence"] != "proved"):
            yield Disagreement("verdict", f"{verdict} {row['evidence']} outside the setting")
    silent = [] if failing else [reason(T) for reason in statement.silent]
    reasons = failing or [reason for reason in silent if reason]
    if reasons:
        if verdict == "inconclusive" and not failing:
            yield Disagreement("undecided", f"inconclusive, and not so: {', '.join(reasons)}")
        elif verdict != "not-applicable":
            yield Disagreement("verdict", f"{verdict}, and not so: {', '.join(reasons)}")
        return
    if None in silent or any(known[name] is None for name in statement.needs):
        if verdict in ("not-applicable", "inconclusive"):
            return
    elif verdict == "not-applicable":
        yield Disagreement("verdict", f"not-applicable, and nothing is missing: {row['detail'][:120]}")
        return
    true = statement.true(T)
    if verdict == "inconclusive":
        if true is not None:
            yield Disagreement("undecided", f"inconclusive, and the statement is {str(true).lower()}")
    elif verdict == "violated" and true:
        yield Disagreement("verdict", f"violated, and the statement is proved: {row['detail'][:200]}")
    elif verdict != "violated" and true is False:
        yield Disagreement("verdict", f"{verdict}, and the statement is false: {row['detail'][:200]}")
    elif row["measured"] is not None:
        at = place(row)
        yield from _sides(row, at.bar, [one for one in statement.entries(T, at) if one.known])


def _sides(row: Mapping[str, Any], bar: float, there: list[Sides]) -> Iterator[Disagreement]:
    """The two sides at the worst step: the numbers shown, and what they make of the statement."""
    measured, bound, slack = row["measured"], row["bound"], row["slack"]
    if measured is None or bound is None:
        return
    large, small = (bound, measured) if (row["side"] == "upper") is (measured > 0) else (measured, bound)
    if slack is not None and (row["side"] is None or abs(slack * small - large) > ALLOWANCE * abs(large) + TINY):
        yield Disagreement("number", f"slack {slack!r} is not {large!r} over {small!r}")
    if not there:
        return
    fitting = [one for one in there if one.fit(measured, bound, bar)]
    if not fitting:
        yield Disagreement("number", f"measured {measured!r}, bound {bound!r}, and it is {'; '.join(map(str, there))}")
    elif row["verdict"] == "violated" and all(one.excess()[1] <= 0 for one in fitting):
        yield Disagreement("verdict", f"violated, and true at its worst step: {fitting[0]}")
    elif row["verdict"] != "violated" and all(one.excess()[0] > ALLOWANCE for one in fitting):
        yield Disagreement("verdict", f"{row['verdict']}, and false at its worst step: {fitting[0]}")


def _evidence(claim: str, row: Mapping[str, Any]) -> Iterator[Disagreement]:
    verdict, evidence = row["verdict"], row["evidence"]
    right = {
        "not-applicable": ("exact",),
        "inconclusive": ("float64", "certified"),
    }.get(verdict, ("certified",) if claim in CERTIFIED else ("float64",))
    if claim == EXACTLY_VIOLATED and verdict == "violated":
        right = ("exact", "float64")
    if verdict in ("holds", "violated"):
        right = (*right, "proved")  # whether it is true is judged apart
    if evidence not in right:
        yield Disagreement("evidence", f"{verdict} with evidence {evidence}")
    if row["informative_from"] is not None:  # no bound of the paper's has a largest value to be informative below
        yield Disagreement("number", f"informative_from {row['informative_from']}")


def number_faults(T: Truth, numbers: tuple[Number, ...]) -> Iterator[Found]:
    """Numbers beyond their error bars, and error bars that are too wide, the first of each quantity."""
    seen = set[str]()
    for one in numbers:
        if one.what in seen:
            continue
        true = T.value(one.what, one.of)
        if true is None or not true.is_finite() or max(abs(float(true)), abs(one.value)) < TINY:
            continue
        off = float((abs(true - one.value)).lower())
        if not off <= one.error:
            words = f"{one.of}: {one.value!r} with error {one.error:.3g}, and it is {true.str(20)}, off by {off:.3g}"
        elif one.error > WIDEST.get(one.what, math.inf) * one.scale:
            words = f"{one.of}: {one.value!r} with an error bar of {one.error:.3g}"
        elif one.error < NARROWEST.get(one.what, 0.0) * abs(one.value):
            words = f"{one.of}: {one.value!r} with an error bar of no more than {one.error:.3g}"
        else:
            continue
        seen.add(one.what)
        yield one.what, Disagreement("error bar", words)
