"""The report's first sentence: how many statements fail, are proved, are open."""

from collections.abc import Sequence
from typing import Any

from marginaudit.orders import counted
from marginaudit.reports.standing import Status
from marginaudit.reports.verdict import Verdict


def headline(claims: Sequence[dict[str, Any]]) -> str:
    """Counts of statements, not of statements and datasets; each statement is counted once.

    Those that fail on a dataset here, else by how they stand for every dataset, else broken ones.
    """
    failing = [claim for claim in claims if claim["violated"]]
    others = [claim for claim in claims if not claim["violated"]]
    broken = [c for c in others if any(row["verdict"] == Verdict.BROKEN for row in c["rows"])]
    standing = {status: sum(c["standing"].status is status and c not in broken for c in others) for status in Status}
    statements = counted(len(claims), "statement")
    fail = "fails" if len(failing) == 1 else "fail"
    parts = [f"none of {statements} fails on any dataset here"]
    if failing:
        parts = [f"{len(failing)} of {statements} {fail} on at least one dataset"]
    if count := standing[Status.PROVED]:
        parts.append(f"{counted(count, 'is', 'are')} proved for every t and every dataset that meets the assumptions")
    if count := standing[Status.REFUTED]:
        parts.append(f"{counted(count, 'is', 'are')} refuted by other data than these")
    if count := standing[Status.OPEN]:
        parts.append(f"{counted(count, 'is', 'are')} open")
    if broken:
        parts.append(f"{counted(len(broken), 'is', 'are')} broken")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."
