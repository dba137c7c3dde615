"""Head of the page: counts of statements, and banners for failed assumptions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from inspect import getdoc
from typing import Any

from marginaudit.claims.paper import Paper
from marginaudit.claims.quotation import Form
from marginaudit.claims.standing import Fault, Status
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import counted
from marginaudit.reports.audit.auditing import Audit
from marginaudit.reports.tally import counts, others_in_words

STANDINGS = ("printed", *(fault.value for fault in Fault), Status.PROVED.value, Status.OPEN.value)
"""Columns of the table of printed statements, of which empty ones are left out."""


def headline(claims: Sequence[dict[str, Any]], controls: str = "") -> str:
    """Counts of statements that fail on some dataset, printed ones first, and of broken ones, without a verdict.

    A statement counts once, for any number of datasets. ``controls`` is the sentence on controls, which are no
    statements.
    """
    claims = [claim for claim in claims if claim["claim"].form is not Form.CONTROL]
    failing = [(claim["claim"], claim["standing"]) for claim in claims if claim["violated"]]
    found = counts(failing)
    printed = sum(claim["claim"].form is Form.PRINTED for claim in claims)
    fail = "fails" if found["printed"] == 1 else "fail"
    parts = [f"{found['printed']} of {counted(printed, 'printed statement')} {fail} here"] if printed else []
    if found["printed"]:
        parts[0] += f", from {counted(found['causes'], 'cause')}"
    if others := others_in_words(found):
        parts.append(f"others: {others}" if parts else f"failing here: {others}")
    elif not parts and (claims or not controls):
        parts.append(f"none of {counted(len(claims), 'statement')} fails here")
    if broken := sum(any(row["verdict"] == Verdict.BROKEN for row in claim["rows"]) for claim in claims):
        parts.append(f"{counted(broken, 'is', 'are')} broken")
    unchecked = sum(any(row["verdict"] == Verdict.NOT_CHECKED for row in claim["rows"]) for claim in claims)
    if unchecked:
        parts.append(f"{counted(unchecked, 'is', 'are')} not checked")
    if controls:
        parts.append(controls)
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def standings(claims: Sequence[dict[str, Any]]) -> dict[str, int] | None:
    """Counts of printed statements by standing over all datasets, with the keys of `STANDINGS`; None without any."""
    found = counts((claim["claim"], claim["standing"]) for claim in claims)
    return {name: found[name] for name in STANDINGS} if found["printed"] else None


def columns(papers: Iterable[Mapping[str, int] | None]) -> list[str]:
    """Keys of `STANDINGS` with a count in some paper."""
    known = [paper for paper in papers if paper]
    return [name for name in STANDINGS if any(paper[name] for paper in known)]


LEAST_SHARE = 1 / 3
"""Smallest share of a dataset's statements that is worth a banner."""


def banners(audit: Audit) -> list[dict[str, Any]]:
    """Template variables of at most one banner per dataset: the failed assumption behind most not-applicable rows.

    A banner has the assumption in words, the number of statements not applicable for it, and the number of all.
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
    """Assumption in words: docstring of the predicate, without the witness.

    >>> from marginaudit.reports.audit.ledger import PAPERS
    >>> in_words(PAPERS[1], "wide_vocabulary")
    'M >> K^2, read as M >= 10 K^2 for K classes'
    """
    text = (getdoc(paper.kind.assumptions[assumption]) or assumption).partition("\n\n")[0]
    return " ".join(text.split()).partition("; the witness")[0].rstrip(".")
