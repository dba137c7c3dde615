"""The report's first sentence: how many statements fail, are proved, are open, and how badly they fail."""

from collections.abc import Sequence
from typing import Any

from marginaudit.orders import counted
from marginaudit.reports.page.theorems import PRINTED, RECONSTRUCTED
from marginaudit.reports.standing import Severity, Status
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


def failures(source: str, claims: Sequence[dict[str, Any]]) -> str:
    """How many of a paper's printed statements fail on a dataset here, and how badly; "" where none was audited.

    What has a reconstructed constant is counted apart.
    """
    printed, reconstructed = ([claim for claim in claims if claim["form"] == form] for form in (PRINTED, RECONSTRUCTED))
    if not printed:
        return ""
    failing = [claim["standing"].severity for claim in printed if claim["violated"]]
    how = ", ".join(f"{one}: {failing.count(one)}" for one in Severity if one in failing)
    fail = "fails" if len(failing) == 1 else "fail"
    parts = [f"{len(failing)} of {counted(len(printed), 'printed statement')} {fail} here{f' ({how})' if how else ''}"]
    if more := sum(claim["standing"].status is Status.REFUTED and not claim["violated"] for claim in printed):
        parts.append(f"{counted(more, 'more is', 'more are')} refuted by other data")
    if unread := sum(claim["standing"].status is Status.REFUTED for claim in reconstructed):
        parts.append(f"{counted(unread, 'is', 'are')} refuted with a constant that is reconstructed")
    return f"{source}: {'; '.join(parts)}."
