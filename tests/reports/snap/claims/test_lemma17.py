"""Lemma 17: the tie of signs on which its refutation rests."""

import pytest

from marginaudit.orders.snap import SequenceClasses
from marginaudit.reports.snap import ClassRun
from marginaudit.reports.snap.claims.lemma17 import lambda_1_is_minus_one


@pytest.mark.parametrize(("names", "found"), [("lm", True), ("lmn", False)])
def test_minus_one_is_the_largest_eigenvalue_of_two_classes_alone(names: str, found: bool) -> None:
    """Of three the eigenvalues are 2, -1 and -1."""
    alike = SequenceClasses.from_weights("alike", None, [(name, "q", {"a": 1}) for name in names])
    assert lambda_1_is_minus_one(ClassRun(alike)) is found
