"""The head of the page: counts of statements, and banners for assumptions that fail."""

from collections import Counter
from collections.abc import Sequence
from inspect import getdoc
from typing import Any

from marginaudit.orders import counted
from marginaudit.reports.audit.auditing import Audit
from marginaudit.reports.page.theorems import PRINTED, RECONSTRUCTED
from marginaudit.reports.paper import Paper
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


LEAST_SHARE = 1 / 3
"""Smallest share of a dataset's statements that is worth a banner."""


def banners(audit: Audit) -> list[dict[str, Any]]:
    """At most one banner a dataset: the failed assumption behind most not-applicable rows, as the template takes it.

    It has what the assumption asks in words, how many statements it makes not applicable, and how many there are.
    """
    known, found = {claim.id: claim for claim in audit.claims}, []
    for one in audit.audited:
        silent = [known[i] for i, finding in one.findings.items() if finding.verdict is Verdict.NOT_APPLICABLE]
        failed = {
            name: judged["witness"] for name, judged in one.document["assumptions"].items() if not judged["holds"]
        }
        lacking = Counter(name for claim in silent for name in failed if name in claim.assumptions)
        for name, kept in lacking.most_common(1):
            if len(silent) >= LEAST_SHARE * len(one.findings) and kept >= len(silent) / 2:
                banner = {"dataset": one.name, "assumption": name, "asks": in_words(one.source.paper, name)}
                found.append(banner | {"witness": failed[name], "kept": kept, "statements": len(one.findings)})
    return found


def in_words(paper: Paper, assumption: str) -> str:
    """The assumption in words: its predicate's docstring without the witness.

    >>> from marginaudit.reports.audit.ledger import PAPERS
    >>> in_words(PAPERS[1], "wide_vocabulary")
    'M >> K^2: the vocabulary has at least 10 K^2 tokens for K classes'
    """
    text = (getdoc(paper.kind.assumptions[assumption]) or assumption).partition("\n\n")[0]
    return " ".join(text.split()).partition("; the witness")[0].rstrip(".")
