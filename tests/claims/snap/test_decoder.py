"""Y of a run in balls against whole matrices."""

import numpy as np

from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_d4_sampled_classes.theorem5 import THEOREM5_REDERIVED, trained
from marginaudit.claims.verdict import Verdict
from marginaudit.orders.snap import SequenceClasses


def test_nearly_dependent_classes_leave_balls_that_say_something() -> None:
    """A step widens balls by the condition of I + E: with overlaps of 1 - 1e-9, by 2e9 times what it does else."""
    near = SequenceClasses.from_weights("near", 18, [("m", "q", {"a": 1, "b": 1e-5}), ("n", "q", {"a": 1, "c": 1e-4})])
    at = ClassRun(near)
    assert trained(at).radius.max() < 1e-9 * np.abs(trained(at).value).max()


def test_without_another_token_there_is_no_column_for_it() -> None:
    full = SequenceClasses.from_weights("full", 2, [("a", "a", {"a": 1}), ("b", "a", {"a": 1, "b": 1})])
    assert trained(ClassRun(full)).label == ("a, a", "a, b", "b, a", "b, b")
    assert THEOREM5_REDERIVED.judge(ClassRun(full, ClassConfig(seeds=2000))).verdict is Verdict.HOLDS
