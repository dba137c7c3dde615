"""Corollary 8: the loss of a held-out point on the wrong side grows."""

import numpy as np

from marginaudit.claims.standing import proved
from separable.claims.words import GENERIC, PAGE, order, printed, rederived, tends
from separable.quantities import held_out_loss, late, times
from separable.run import DescentRun


def no_such_point(run: DescentRun) -> str | None:
    """Reason why the corollary does not apply, or None."""
    if run.config.loss != "logistic":
        return "the statement is about the logistic loss"
    return None if run.dataset.wrong_side[1] < 0 else "no held-out point has x.w^ < 0"


def regime(run: DescentRun) -> float:
    """From where x.w^ log t is beyond 40, and beyond 10 times the largest x.rho."""
    x, product = run.dataset.wrong_side
    return max(run.regime, (40 + 10 * float(np.abs(late(run).rho @ x).max())) / -product)


CLAIMS = (
    printed(
        "corollary8",
        "Corollary 8/section 3",
        "The logistic loss of a held-out point with x.w^ < 0 is Omega(log t).",
        r"\ell(x^\top w(t))=\Omega(\log t)",
        order(held_out_loss, lambda run, s: s, "lower", regime=regime),
        "Of several such points the one furthest on the wrong side is judged.",
        quote="the validation loss .. on an independent validation set V, will increase logarithmically with t",
        absent=no_such_point,
        standing=proved(f"{PAGE}7-rates", "separable.theorem3.direction"),
    ),
    rederived(
        "corollary8",
        "corollary8",
        ", Corollary 8",
        "That loss over log t tends to |x.w^|.",
        r"\frac{\ell(x^\top w(t))}{\log t}\to\lvert x^\top\hat w\rvert",
        tends(times(held_out_loss, -1), lambda run: -run.dataset.wrong_side[1], regime=regime),
        "With the constant.",
        assumptions=GENERIC,
        absent=no_such_point,
        standing=proved(f"{PAGE}7-rates", "separable.theorem3.bounded"),
    ),
)
