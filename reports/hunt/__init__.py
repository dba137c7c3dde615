"""Hunting for the smallest dataset that violates a claim."""

from marginaudit.reports.hunt.search import Hunt, hunt, hunt_answer

__all__ = ["Hunt", "hunt", "hunt_answer"]
