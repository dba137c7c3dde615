"""Quantities just beyond what a statement allows are told from those within."""

from collections.abc import Callable

import pytest

from marginaudit.reports import LEDGER, Series, Verdict
from marginaudit.reports.series import by_formula, exact_series
from marginaudit.reports.snap import ClassRun
from marginaudit.reports.snap.claims.lemma8 import LOG_VOCABULARIES
from tests.reports.snap.samples import on, run
from tests.twins import scaled, twin


@pytest.mark.parametrize(
    ("claim", "part", "measure"),
    [
        # omega_0 of the order of M^-0.99, without the factor 1/ln M
        (
            "snap.lemma8",
            "omega_0 from above",
            lambda _: by_formula(-0.99 * LOG_VOCABULARIES, step=LOG_VOCABULARIES, log=True, clock="ln M"),
        ),
        # 0.01 is to be much larger
        ("snap.remark3", "omega_0 <<", lambda _: by_formula([0.005], label=("omega_0",))),
        # E'_nn = 0 of classes that overlap
        ("snap.lemma16", "", lambda at: exact_series([0] * at.K, label=at.dataset.next_tokens)),
    ],
)
def test_what_is_just_beyond_does_not_hold(claim: str, part: str, measure: Callable[[ClassRun], Series]) -> None:
    assert twin(LEDGER[claim], part, measure=measure).judge(run("snap-symmetric")).verdict is not Verdict.HOLDS


def test_the_size_of_eq_64_is_attained_where_h_is_ln_of_others_over_m() -> None:
    """There eta_Y s = (M-2 + (M-1) ln(M-1))/M = 9.5 at M = 5000, as e^x - 1 + (M-1) x = M eta_Y s at x = M h."""
    at = on(run("snap-symmetric").dataset, at=(19,))
    for factor, holds in ((1.0, True), (0.99, False)):
        found = scaled(LEDGER["snap.eq64.rederived"], "Its size", "upper", factor).judge(at)
        assert (found.verdict is Verdict.HOLDS) == holds
