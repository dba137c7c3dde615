"""Y of a run in balls against whole matrices."""

import numpy as np
import pytest

from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_d4_sampled_classes.ball_sgd import bits_a_step, descended
from marginaudit.claims.snap.appendix_d4_sampled_classes.theorem5 import THEOREM5_REDERIVED, trained
from marginaudit.claims.verdict import Verdict
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.snap.limit.overlap import overlap
from tests.claims.snap.samples import run
from tests.training.snap.dense import features, padded, sgd


def test_y_is_that_of_the_whole_matrix() -> None:
    M, K, eta = 12, 3, 0.9
    F = features(seed=5, tokens=9, K=K)
    sequence = np.array([0, 1, 1, 2, 0, 1])
    A = descended(overlap(F), sequence, M, eta)
    dense = np.linalg.pinv(padded(F, M)) @ sgd(F, sequence, M, eta, modified=True)[-1]
    found = [[float(A[n, j].mid()) for j in range(K + 1)] for n in range(K)]
    np.testing.assert_allclose(found, dense[:, : K + 1], atol=1e-13)
    assert all(A[n, j].rad() < 1e-30 for n in range(K) for j in range(K + 1))


def test_nearly_dependent_classes_leave_balls_that_say_something() -> None:
    """A step widens balls by the condition of I + E: with overlaps of 1 - 1e-9, by 2e9 times what it does else."""
    near = SequenceClasses.from_weights("near", 18, [("m", "q", {"a": 1, "b": 1e-5}), ("n", "q", {"a": 1, "c": 1e-4})])
    at = ClassRun(near)
    assert trained(at).radius.max() < 1e-9 * np.abs(trained(at).value).max()
    E = 0.28193634710905369
    assert bits_a_step(run("snap-single", seeds=1000).overlap, 0.5) == pytest.approx(
        np.log2(2 + 2 * (1 + E) / (1 - E)), rel=1e-12, abs=0
    )


def test_without_another_token_there_is_no_column_for_it() -> None:
    full = SequenceClasses.from_weights("full", 2, [("a", "a", {"a": 1}), ("b", "a", {"a": 1, "b": 1})])
    assert trained(ClassRun(full)).label == ("a, a", "a, b", "b, a", "b, b")
    assert THEOREM5_REDERIVED.judge(ClassRun(full, ClassConfig(seeds=2000))).verdict is Verdict.HOLDS
