"""The audit of arXiv 2305.16380 (Scan and Snap): its statements on sequence classes, and their measured quantities."""

from typing import TYPE_CHECKING, Any

from marginaudit.reports.snap.config import ClassConfig

if TYPE_CHECKING:
    from marginaudit.reports.snap.run import ClassRun

__all__ = ["ClassConfig", "ClassRun"]


def __getattr__(name: str) -> Any:
    """Import the run when it is first asked for: with it come the compiler and training."""
    if name == "ClassRun":
        from marginaudit.reports.snap.run import ClassRun

        return ClassRun
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
