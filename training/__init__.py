"""Training dynamics of the papers, a sub-package for each, and of users' own steps and flows."""

from marginaudit.training.log_time import NotIntegrated, integrated
from marginaudit.training.schedule import log_spaced

__all__ = ["NotIntegrated", "integrated", "log_spaced"]
