"""Lemma 7: gaps and lags of the recursion in many digits."""

from marginaudit.reports.snap.claims import lemma7
from tests.reports.snap.growth_runs import small


def test_no_step_before_the_scan_ends() -> None:
    assert lemma7.largest_lag(1000, 7.0) is None
    assert lemma7.lags_by_vocabulary(small(50, lr_y=7.0)).step is not None
    assert len(lemma7.lags_by_vocabulary(small(50, lr_y=7.0))) == 13 - 1  # ln 1000 < 7 < ln 10000
