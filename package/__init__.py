"""Numerical audits of theorems on how transformers train.

`audit` judges datasets by the statements of papers, as the command ``marginaudit audit`` does.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginaudit.reports.audit.sources import dataset
    from marginaudit.reports.claim import Claim
    from marginaudit.reports.judgements import Bounded, Decided, Equal, HiddenConstant, Limit
    from marginaudit.reports.page.latex import to_latex
    from marginaudit.reports.paper import Paper
    from marginaudit.reports.python import Report, audit, conform
    from marginaudit.reports.series import Series
    from marginaudit.reports.verdict import Evidence, Finding, Verdict

    __version__: str

__all__ = [
    "Bounded",
    "Claim",
    "Decided",
    "Equal",
    "Evidence",
    "Finding",
    "HiddenConstant",
    "Limit",
    "Paper",
    "Report",
    "Series",
    "Verdict",
    "__version__",
    "audit",
    "conform",
    "dataset",
    "to_latex",
]

_HOME = {
    "Bounded": "judgements",
    "Claim": "claim",
    "Decided": "judgements",
    "Equal": "judgements",
    "Evidence": "verdict",
    "Finding": "verdict",
    "HiddenConstant": "judgements",
    "Limit": "judgements",
    "Paper": "paper",
    "Report": "python",
    "Series": "series",
    "Verdict": "verdict",
    "audit": "python",
    "conform": "python",
    "dataset": "audit.sources",
    "to_latex": "page.latex",
}
"""The module of each public name, within `marginaudit.reports`."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that the command line starts fast."""
    if name == "__version__":
        from importlib.metadata import version

        return version("marginaudit")
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(f"marginaudit.reports.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, those that were not asked for yet among them."""
    return __all__
