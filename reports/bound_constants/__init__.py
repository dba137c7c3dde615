"""Regression on bound constants: a pytest fixture that keeps what an audit measured and refuses what is worse."""

from marginaudit.reports.bound_constants.plugin import BoundConstants

__all__ = ["BoundConstants"]
