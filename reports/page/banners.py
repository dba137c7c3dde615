"""Banners for a failed assumption that makes most of a dataset's statements not applicable."""

from collections import Counter
from dataclasses import dataclass
from inspect import getdoc
from typing import Any

from marginaudit.reports.audit.auditing import Audit
from marginaudit.reports.paper import Paper
from marginaudit.reports.verdict import Verdict

LEAST_SHARE = 1 / 3
"""Smallest share of a dataset's statements that is worth a banner."""


@dataclass(frozen=True)
class Banner:
    """A failed assumption and the statements that it makes not applicable.

    Attributes
    ----------
    dataset, assumption : str
    asks : str
        What the assumption asks of a dataset, in words.
    witness : what breaks it
    kept, statements : int
        So many statements are not applicable for it, of so many.
    """

    dataset: str
    assumption: str
    asks: str
    witness: Any
    kept: int
    statements: int


def banners(audit: Audit) -> list[Banner]:
    """At most one banner a dataset: the failed assumption behind most not-applicable rows."""
    known, found = {claim.id: claim for claim in audit.claims}, []
    for one in audit.audited:
        silent = [known[i] for i, finding in one.findings.items() if finding.verdict is Verdict.NOT_APPLICABLE]
        failed = {
            name: judged["witness"] for name, judged in one.document["assumptions"].items() if not judged["holds"]
        }
        lacking = Counter(name for claim in silent for name in failed if name in claim.assumptions)
        for name, kept in lacking.most_common(1):
            if len(silent) >= LEAST_SHARE * len(one.findings) and kept >= len(silent) / 2:
                asks = in_words(one.source.paper, name)
                found.append(Banner(one.name, name, asks, failed[name], kept, len(one.findings)))
    return found


def in_words(paper: Paper, assumption: str) -> str:
    """The assumption in words: its predicate's docstring without the witness.

    >>> from marginaudit.reports.audit.ledger import PAPERS
    >>> in_words(PAPERS[1], "wide_vocabulary")
    'M >> K^2: the vocabulary has at least 10 K^2 tokens for K classes'
    """
    text = (getdoc(paper.kind.assumptions[assumption]) or assumption).partition("\n\n")[0]
    return " ".join(text.split()).partition("; the witness")[0].rstrip(".")
