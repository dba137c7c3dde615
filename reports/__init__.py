"""Reports: claims, the rules that judge them, the audit and its files.

Whoever writes a claim finds here what it is made of: `Claim`, the `Series` that it measures, and the judgements. What
is measured of a run is in the paper's room, such as `marginaudit.reports.ntp.quantities`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginaudit.reports.audit.auditing import Audit
    from marginaudit.reports.audit.ledger import LEDGER
    from marginaudit.reports.audit.sources import Source
    from marginaudit.reports.claim import Claim, Ledger, NotFollowed, ProofCondition
    from marginaudit.reports.judgements import Bounded, Decided, Equal, HiddenConstant, Limit, Parts, Threshold
    from marginaudit.reports.python import Report
    from marginaudit.reports.run import once_a_run
    from marginaudit.reports.series import Series, exact_series
    from marginaudit.reports.verdict import Evidence, Finding, Verdict

__all__ = [
    "LEDGER",
    "Audit",
    "Bounded",
    "Claim",
    "Decided",
    "Equal",
    "Evidence",
    "Finding",
    "HiddenConstant",
    "Ledger",
    "Limit",
    "NotFollowed",
    "Parts",
    "ProofCondition",
    "Report",
    "Series",
    "Source",
    "Threshold",
    "Verdict",
    "exact_series",
    "once_a_run",
]

_HOME = {
    "audit.auditing": ("Audit",),
    "audit.sources": ("Source",),
    "audit.ledger": ("LEDGER",),
    "claim": ("Claim", "Ledger", "NotFollowed", "ProofCondition"),
    "judgements": ("Bounded", "Decided", "Equal", "HiddenConstant", "Limit", "Parts", "Threshold"),
    "python": ("Report",),
    "run": ("once_a_run",),
    "series": ("Series", "exact_series"),
    "verdict": ("Evidence", "Finding", "Verdict"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that the command line starts fast."""
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"marginaudit.reports.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, those that were not asked for yet among them."""
    return __all__
