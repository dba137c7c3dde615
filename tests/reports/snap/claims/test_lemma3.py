"""Lemma 3: steps of W under the modified gradient."""

from typing import Any

import numpy as np
import pytest

from marginaudit.orders.snap import SequenceClasses
from marginaudit.reports.snap.claims.lemma3 import LEMMA3, moves
from marginaudit.reports.verdict import Verdict
from tests.reports.snap.samples import NAMES, on, run
from tests.training.snap import dense

sgd: Any = dense.sgd


@pytest.mark.parametrize("case", NAMES)
def test_a_step_on_whole_matrices_moves_w_as_eq_8_says(case: str) -> None:
    """By the plain dense SGD of the training tests, whose E' is of another making."""
    F = run(case).dataset.overlap.F
    M = max(len(F), F.shape[1]) + 2
    F = np.vstack([F, np.zeros((M - len(F), F.shape[1]))])
    Y = sgd(F, [0, 1, 0], M, 0.5, True)
    moved = F.T @ (Y[3] - Y[2])
    w = F.T @ Y[2]
    alpha = np.exp(w[0]) / np.exp(w[0]).sum()
    np.testing.assert_allclose(moved[0], 0.5 * (np.eye(M)[0] - alpha), atol=1e-13)
    np.testing.assert_allclose(moved[1:], 0, atol=1e-13)
    assert LEMMA3.judge(run(case)).verdict is Verdict.HOLDS


def test_columns_of_tokens_that_are_no_next_token_are_compared_too() -> None:
    labels = moves(run("snap-symmetric")).found.label
    assert {label.rsplit(" of ", 1)[1] for label in labels} > {"another token 1", "another token 2"}


def test_dependent_classes_have_no_e_prime() -> None:
    same = on(SequenceClasses.from_weights("same", 9, [("m", "q", {"a": 1}), ("n", "q", {"a": 1})]))
    found = LEMMA3.judge(same)
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert "linearly dependent" in found.detail
