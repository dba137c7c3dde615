"""The orders that statements name, as the paper prints them, and quantities just beyond what a statement allows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from marginaudit.claims import Series, Verdict
from marginaudit.claims.series import by_formula, exact_series
from marginaudit.claims.snap import ClassRun
from marginaudit.claims.snap.appendix_d3_growth.lemma8 import LOG_VOCABULARIES
from marginaudit.claims.snap.appendix_d4_sampled_classes.corollary1_steps import LARGE_M
from marginaudit.reports import LEDGER
from tests.claims.snap.samples import on, run
from tests.twins import part, scaled, twin

K, M, ETA_Y, ETA_Z, X = 2, 5000, 0.5, 0.05, np.array([20.0, 300.0, 1e5])
"""Of snap-single, and positions on each clock."""

ORDERS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("snap.lemma8", "omega_1 from above", lambda L: np.log(L) / L),
    ("snap.lemma8", "omega_1 from below", lambda L: np.log(L) / L),
    ("snap.lemma8", "omega_0 from above", lambda L: np.log(1 / L) - 0.99 * L),
    ("snap.lemma9.scan", "h along t", lambda t: ETA_Y * t / (M * K)),
    ("snap.lemma9.scan", "gamma along t", lambda t: ETA_Y * t / K),
    ("snap.lemma9.snap", "h along t", lambda t: np.log(M * ETA_Y * t / K) / M),
    ("snap.lemma9.snap", "gamma along t", lambda t: K * np.log(M * ETA_Y * t / K) / (ETA_Y * t)),
    ("snap.theorem1.b", "Before, along t", lambda t: ETA_Y * t / K),
    ("snap.theorem1.b", "After, along t", lambda t: K * np.log(ETA_Y * t / K) / (ETA_Y * t)),
    ("snap.theorem5", "Theta, delta = 0.01", lambda N: K * np.sqrt(np.log(K / 0.01) / N)),
    ("snap.corollary1", "Sigma, delta = 0.01", lambda N: ETA_Y * np.sqrt(N * np.log(100))),
    ("snap.corollary1", "Late sigma, delta = 0.1", lambda N: K * np.sqrt(np.log(10) / N)),
    ("snap.corollary1", "Steps along epsilon", lambda x: K * x / ETA_Y * np.log(M * x)),
    ("snap.corollary1", "Steps along M", lambda x: K * 1000 / ETA_Y * np.log(x * 1000)),
    ("snap.corollary1", "Steps along eta_Y", lambda x: K * 1000 * x * np.log(LARGE_M * 1000)),
    ("snap.theorem4.scan", "B = O(ln t)", lambda L: 0 * L + 1),  # of B/ln t
    ("snap.theorem4.snap", "B = O(lnln t)", lambda t: np.log(np.log(t))),
    ("snap.theorem4.snap", "exp(2B) = O(ln t)", np.log),
    ("snap.theorem4.growth", "exp(2B) = O(t)", np.log),  # in logarithms
    ("snap.eq133", "From above", lambda u: u - np.log(ETA_Y / ETA_Z / K)),
    ("snap.eq133", "From below", lambda u: u - np.log(ETA_Y / ETA_Z / K)),
)


@pytest.mark.parametrize(("claim", "name", "order"), ORDERS, ids=[f"{claim} {name}" for claim, name, _ in ORDERS])
def test_an_order_is_the_one_that_is_printed(claim: str, name: str, order: Callable[[Any], Any]) -> None:
    assert part(LEDGER[claim], name).shape(run("snap-single"), X) == pytest.approx(order(X), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("claim", "name", "side", "bound"),
    [
        ("snap.remark3", "omega_0 <<", "upper", 0.01 / 10),
        ("snap.remark3", "eta_Y >>", "lower", 10 * brentq(lambda x: np.exp(x) - (M - 1) * x, 0, 1, xtol=1e-18)),
        ("snap.remark3.rederived", "h(1) from below", "lower", 0.99),
    ],
)
def test_much_greater_is_ten_times(claim: str, name: str, side: str, bound: float) -> None:
    found = getattr(part(LEDGER[claim], name), side)(run("snap-single"), X)
    assert found == pytest.approx(bound, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("claim", "name", "measure"),
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
def test_what_is_just_beyond_does_not_hold(claim: str, name: str, measure: Callable[[ClassRun], Series]) -> None:
    assert twin(LEDGER[claim], name, measure=measure).judge(run("snap-symmetric")).verdict is not Verdict.HOLDS


def test_the_size_of_eq_64_is_attained_where_h_is_ln_of_others_over_m() -> None:
    """There eta_Y s = (M-2 + (M-1) ln(M-1))/M = 9.5 at M = 5000, as e^x - 1 + (M-1) x = M eta_Y s at x = M h."""
    at = on(run("snap-symmetric").dataset, at=(19,))
    for factor, holds in ((1.0, True), (0.99, False)):
        found = scaled(LEDGER["snap.eq64.rederived"], "Its size", "upper", factor).judge(at)
        assert (found.verdict is Verdict.HOLDS) == holds
