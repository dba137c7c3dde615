"""Training: the dynamics of which the statements speak; each paper's own lie in the room of its name."""

from marginaudit.training.schedule import log_spaced

__all__ = ["log_spaced"]
