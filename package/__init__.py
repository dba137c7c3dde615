"""Numerical audits of theorems on how transformers train.

`audit` judges datasets by the statements of papers, as the command ``marginaudit audit`` does.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginaudit.reports import (
        Bounded,
        Claim,
        Decided,
        Equal,
        Evidence,
        Finding,
        HiddenConstant,
        Limit,
        Report,
        Series,
        Verdict,
    )
    from marginaudit.reports.audit.sources import dataset
    from marginaudit.reports.page.latex import to_latex
    from marginaudit.reports.paper import Paper
    from marginaudit.reports.python import audit, conform

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
    "Paper": ".paper",
    "audit": ".python",
    "conform": ".python",
    "dataset": ".audit.sources",
    "to_latex": ".page.latex",
}
"""The module of a public name, within `marginaudit.reports`, which has the others itself."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that the command line starts fast."""
    if name == "__version__":
        from importlib.metadata import version

        return version("marginaudit")
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"marginaudit.reports{_HOME.get(name, '')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, those that were not asked for yet among them."""
    return __all__
