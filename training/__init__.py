"""Training dynamics of the papers, a sub-package for each."""

from marginaudit.training.schedule import log_spaced

__all__ = ["log_spaced"]
