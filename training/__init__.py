"""Training dynamics that the statements are about; each paper's lie in the room of its name."""

from marginaudit.training.schedule import log_spaced

__all__ = ["log_spaced"]
