"""The audit of arXiv 2305.16380 (Scan and Snap): its statements on sequence classes, and what they measure."""

from marginaudit.reports.snap.run import ClassConfig, ClassRun

__all__ = ["ClassConfig", "ClassRun"]
