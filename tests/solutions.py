"""Solutions as tests need them."""

from dataclasses import fields, replace
from typing import Any, TypeVar

from marginaudit.margins import SolverFailure
from marginaudit.margins.certificate import Certified
from marginaudit.margins.ntp import MaxMargin, Optimal

Found = TypeVar("Found")


def known(found: Found | None) -> Found:
    """What was found, where something was."""
    assert found is not None
    return found


def certified(found: Certified | SolverFailure | None) -> Certified:
    """What was found, where it is proved."""
    assert isinstance(found, Certified), found
    return found


def inexact(solution: MaxMargin, **changes: Any) -> Optimal:
    """The solution as if it were known in float64 only, with changes."""
    found = solution.optimal()
    return replace(Optimal(**{field.name: getattr(found, field.name) for field in fields(Optimal)}), **changes)
