"""Counts of statements: printed ones by standing and cause, other forms separately."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from marginaudit.claims.claim import Claim
from marginaudit.claims.quotation import Form
from marginaudit.claims.standing import Fault, Standing, Status
from marginaudit.orders import counted

PLURAL = {
    Form.REDERIVED: ("re-derivation", "re-derivations"),
    Form.VARIANT: ("variant", "variants"),
    Form.OWN: ("own statement", "own statements"),
    Form.CONTROL: ("control", "controls"),
}
"""Singular and plural of the forms of unprinted statements."""


def cause(claim: Claim) -> str:
    """Id of the claim with the underlying fault; the claim's own id by default."""
    return claim.standing.cause or claim.id


def counts(statements: Iterable[tuple[Claim, Standing]]) -> dict[str, Any]:
    """Counts as plain data: ``printed``, each `Fault`, ``causes``, ``proved``, ``open``, and ``others`` by form.

    >>> from marginaudit.reports.audit.ledger import LEDGER
    >>> ids = ("ntp.theorem1.direction", "ntp.theorem2.weight", "ntp.lemma6", "ntp.theorem1.direction.any-step")
    >>> found = counts((LEDGER[name], LEDGER[name].standing) for name in ids)
    >>> found["printed"], found["false under every reading"], found["causes"], found["proved"], found["others"]
    (3, 2, 1, 1, {'variant': 1})
    """
    known = list(statements)
    printed = [(claim, standing) for claim, standing in known if claim.form is Form.PRINTED]
    refuted = [(claim, standing) for claim, standing in printed if standing.status is Status.REFUTED]
    faults = Counter(standing.fault for _, standing in refuted)
    others = Counter(claim.form for claim, _ in known)
    return {
        "printed": len(printed),
        **{fault.value: faults[fault] for fault in Fault},
        "causes": len({cause(claim) for claim, _ in refuted}),
        **{status.value: sum(s.status is status for _, s in printed) for status in (Status.PROVED, Status.OPEN)},
        "others": {form.value: others[form] for form in PLURAL if others[form]},
    }


def in_words(found: dict[str, Any]) -> str:
    """Summary of the printed statements by standing.

    >>> in_words({
    ...     "printed": 9, "false under every reading": 2, "false as printed, the constant alone": 1, "a slip": 0,
    ...     "false, severity not stated": 0, "causes": 2, "proved": 6, "open": 0, "others": {"variant": 4},
    ... })
    '9 printed statements: 2 false under every reading, 1 false as printed, the constant alone (2 causes); 6 proved'
    """
    false = ", ".join(f"{found[fault.value]} {fault.value}" for fault in Fault if found[fault.value])
    parts = [f"{false} ({counted(found['causes'], 'cause')})"] if false else []
    parts += [f"{found[status.value]} {status.value}" for status in (Status.PROVED, Status.OPEN) if found[status.value]]
    return f"{counted(found['printed'], 'printed statement')}: {'; '.join(parts)}"


def others_in_words(found: dict[str, Any]) -> str:
    """Summary of the unprinted statements by form; "" without any.

    >>> others_in_words({"others": {"rederived": 1, "variant": 4}})
    '1 re-derivation, 4 variants'
    """
    return ", ".join(counted(found["others"][form.value], *PLURAL[form]) for form in PLURAL if form in found["others"])
