"""Theorem and form of a statement: printed, rederived, sharper."""

import re
from collections.abc import Mapping

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Paper
from marginaudit.claims.quotation import Form
from marginaudit.reports.audit.auditing import Audit

NUMBER = r"(?:[A-Z]\.?)?[0-9]+(?:\.[0-9]+)*(?:\([0-9A-Za-z]{1,4}\))?"
"""Number of a theorem: 4, 4.1(3), A.2."""

NAMED = re.compile(
    rf"\b(Theorem|Lemma|Proposition|Corollary|Remark|Example|[Ff]igure) ({NUMBER})|\beqs?\. \(?([0-9]+(?:\.[0-9]+)*)"
)

PRINTED, RECONSTRUCTED, REDERIVED = "as printed", "reconstructed", "re-derived"
SHARPER, VARIANT, OWN, CONTROL, BESIDE = "sharper", "varied", "your claim", "control", "beside the print"

FORMS = {
    PRINTED: "the source's statement, with its own constants",
    RECONSTRUCTED: "the source's statement, with an illegible constant reconstructed",
    REDERIVED: "the source's statement, corrected by the algebra where the print is false or has a gap",
    SHARPER: "a stronger statement of this project, proved from the same assumptions",
    VARIANT: "a printed statement beyond its printed conditions",
    OWN: "a statement of a file or an installed package",
    CONTROL: "a false twin, as a test of the audit",
    BESIDE: "a statement of the paper's author, not in the source",
}
"""Forms of a statement, with their meaning."""

WHOSE = dict.fromkeys((PRINTED, RECONSTRUCTED), "printed text") | {
    REDERIVED: "our correction",
    SHARPER: "our statement",
    VARIANT: "our variant",
    OWN: "your text",
    CONTROL: "a control",
    BESIDE: "own statement",
}
"""Source of a statement, by form."""

OF_OTHERS = {REDERIVED: "a correction", VARIANT: "a variant"}
"""The same for papers outside this project."""


def whose(claim: Claim, paper: Paper) -> str:
    """The text that a statement belongs to: the source's, this project's, its author's, or the reader's."""
    found = form(claim, paper)
    return WHOSE[found] if paper.ours and paper.has(claim) else OF_OTHERS.get(found, WHOSE[found])


def theorem(claim: Claim, known: Mapping[str, Claim]) -> str:
    """Theorem, lemma, .. of a statement; if its source names none, the source; without a source, the id.

    A statement derived from a printed one has the theorem of the latter.

    >>> from marginaudit.reports.audit.ledger import LEDGER
    >>> from dataclasses import replace
    >>> sources = "Theorem 4.1(3)", "a proof of Lemma A.2.", "eq. (4.1)", "Theorem 1's proof, eq. 90"
    >>> [theorem(replace(LEDGER["snap.lemma1"], source=source), {}) for source in sources]
    ['Theorem 4.1(3)', 'Lemma A.2', 'Equation 4.1', 'Theorem 1']
    """
    if claim.theorem:
        return claim.theorem
    beside = known.get(claim.control_of or claim.source_words.corrects)
    if beside is not None and beside is not claim:
        return theorem(beside, known)
    found = NAMED.search(claim.source)
    if found is None:
        return claim.source.strip() or claim.id
    return f"Equation {found[3]}" if found[3] else f"{found[1].capitalize()} {found[2]}"


def statement_name(claim: Claim, paper: Paper, known: Mapping[str, Claim]) -> str:
    """Display name of a statement; "" if neither it nor its source names a theorem.

    >>> from marginaudit.reports.audit.ledger import LEDGER, PAPERS
    >>> ids = ("ntp.theorem1.direction", "ntp.prop2.corollary", "sharp.theorem1.squared")
    >>> [statement_name(LEDGER[name], PAPERS[0], LEDGER) for name in ids]
    ['Theorem 1, direction', 'Proposition 4, corollary', 'Theorem 1, sharper, squared']
    >>> ids = ("snap.eq64.rederived", "snap.theorem1.a.any-t")
    >>> [statement_name(LEDGER[name], PAPERS[1], LEDGER) for name in ids]
    ['Lemma 11, eq. 64, re-derived', 'Theorem 1 (a), any t']
    """
    name = theorem(claim, known)
    if not re.fullmatch(rf"[A-Z][a-z]+ {NUMBER}", name):
        return claim.theorem
    whose, *parts = claim.id.split(".")
    kind = name.lower().partition(" ")[0]
    suffixes = ["sharper"] if form(claim, paper) == SHARPER else []
    for part in parts or [whose]:
        numbered = re.fullmatch(r"([a-z]+)([0-9]+)", part)
        if re.fullmatch("[a-z]", part):
            name = f"{name} ({part})"
        elif not numbered:
            suffixes.append(part.replace("-", " ").replace("rederived", REDERIVED))
        elif not kind.startswith(numbered[1]):  # else the id names this statement, or one restated by it
            suffixes.append(f"{numbered[1].replace('eq', 'eq.')} {numbered[2]}")
    return ", ".join([name, *suffixes])


def statement_names(audit: Audit) -> dict[str, str]:
    """`statement_name` of each claim of an audit, by id."""
    known = {claim.id: claim for paper in audit.papers for claim in paper.claims}
    audited = {row.claim.id: row for row in audit.rows}
    return {name: statement_name(row.claim, row.paper, known) for name, row in audited.items()}


def form(claim: Claim, paper: Paper) -> str:
    """Form of a claim, one of `FORMS`."""
    if claim.form is Form.PRINTED:
        return RECONSTRUCTED if claim.source_words.reconstructed else PRINTED
    if claim.form is Form.OWN:
        return OWN if not paper.has(claim) else SHARPER if paper.ours else BESIDE
    return {Form.REDERIVED: REDERIVED, Form.VARIANT: VARIANT, Form.CONTROL: CONTROL}[claim.form]


def accused(claim: Claim, paper: Paper) -> bool:
    """Whether a failure counts against an author: of a printed statement, or of the reader's own text; no control's."""
    return claim.form is Form.PRINTED or (not paper.has(claim) and claim.form is not Form.CONTROL)


def failing(claim: Claim, paper: Paper) -> str:
    """Label of a violated statement: its form, or "also false" with the mend if it is re-derived.

    >>> from marginaudit.reports.audit.ledger import LEDGER, PAPERS
    >>> failing(LEDGER["ntp.corollary1.upper.rederived"], PAPERS[0])
    'also false with the exponent mended'
    """
    found = form(claim, paper)
    return f"also false {claim.source_words.mended or 'as mended'}" if found == REDERIVED else found
