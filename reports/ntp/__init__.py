"""The audit of arXiv 2409.17335: its statements, measured quantities, figures and tables."""

from typing import TYPE_CHECKING, Any

from marginaudit.reports.ntp.config import Config

if TYPE_CHECKING:
    from marginaudit.reports.ntp.run import Run

__all__ = ["Config", "Run"]


def __getattr__(name: str) -> Any:
    """Import the run when it is first asked for: with it come the compiler and training."""
    if name == "Run":
        from marginaudit.reports.ntp.run import Run

        return Run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
