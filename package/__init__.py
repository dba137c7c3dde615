"""Numerical audits of theorems on how transformers train.

`audit` judges datasets by the statements of papers, as the command ``marginaudit audit`` does.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginaudit.reports.page.frames import to_latex
    from marginaudit.reports.python import Report, audit

    __version__: str

__all__ = ["Report", "__version__", "audit", "to_latex"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that the command line starts fast."""
    if name == "__version__":
        from importlib.metadata import version

        return version("marginaudit")
    if name in __all__:
        from marginaudit.reports import python
        from marginaudit.reports.page import frames

        return getattr(frames if name == "to_latex" else python, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that are there, those that were not asked for yet among them."""
    return sorted({*globals(), *__all__})
