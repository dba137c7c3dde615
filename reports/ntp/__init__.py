"""The audit of arXiv 2409.17335: its statements, what they measure, its figures and tables."""

from marginaudit.reports.ntp.config import Config
from marginaudit.reports.ntp.run import Run

__all__ = ["Config", "Run"]
