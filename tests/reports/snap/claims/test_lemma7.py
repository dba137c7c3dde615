"""Lemma 7: gaps and lags of the recursion in many digits."""

import numpy as np

from marginaudit.reports.snap.claims import lemma7
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star
from tests.measured import judgement
from tests.reports.snap.samples import small


def test_no_step_before_the_scan_ends() -> None:
    assert lemma7.largest_lag(1000, 7.0) is None
    assert lemma7.lags_by_vocabulary(small(50, lr_y=7.0)).step is not None
    assert len(lemma7.lags_by_vocabulary(small(50, lr_y=7.0))) == 13 - 1  # ln 1000 < 7 < ln 10000


def test_h_has_passed_the_first_step_of_the_recursion_where_the_limit_is_to_be_seen() -> None:
    for eta in (0.01, 1.0, 7.0, 30.0, 300.0):
        at = small(50, lr_y=eta)
        first, s = h_star(np.array([1]), at.M, eta).level.h, np.array([judgement("snap.lemma7.limit").regime(at)])
        assert continuous(s, at.M, eta).h.value > first.value
