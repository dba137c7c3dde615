"""Corollary 8: the loss of a held-out point on the wrong side grows."""

from marginaudit import Claim, HiddenConstant, Limit
from marginaudit.reports.source_words import corrected
from marginaudit.reports.standing import proved
from separable.claims.words import ALL, GENERIC, PAGE, SOURCE, cited
from separable.quantities import held_out_loss, times, wrong_side
from separable.run import DescentRun


def no_such_point(run: DescentRun) -> str | None:
    """Why there is nothing of which the corollary speaks."""
    if run.config.loss != "logistic":
        return "the statement is about the logistic loss"
    held = run.dataset.held
    return None if len(held) and (held @ run.what).min() < 0 else "no held-out point has x.w^ < 0"


PROOF = proved(f"{PAGE}7-rates", "separable.theorem3.direction", hunted=0)

PRINTED = Claim(
    id="separable.corollary8",
    source=f"{SOURCE}, Corollary 8",
    statement="The logistic loss of a held-out point with x.w^ < 0 is Omega(log t).",
    formula=r"\ell(x^\top w(t))=\Omega(\log t)",
    assumptions=ALL,
    judgement=HiddenConstant(held_out_loss, lambda run, s: s, side="lower", regime=lambda run: run.regime),
    absent=no_such_point,
    standing=PROOF,
    source_words=cited("Corollary 8", "Of several such points the one furthest on the wrong side is judged."),
)

CONSTANT = Claim(
    id="separable.corollary8.rederived",
    source="this project, on arXiv 1710.10345, Corollary 8",
    statement="That loss over log t tends to |x.w^|.",
    formula=r"\frac{\ell(x^\top w(t))}{\log t}\to\lvert x^\top\hat w\rvert",
    assumptions=GENERIC,
    judgement=Limit(
        times(held_out_loss, -1),
        predicted=lambda run: -float(wrong_side(run) @ run.what),
        regime=lambda run: run.regime,
    ),
    absent=no_such_point,
    standing=proved(f"{PAGE}7-rates", "separable.theorem3.bounded", hunted=0),
    source_words=corrected("separable.corollary8", "With the constant."),
)

CLAIMS = (PRINTED, CONSTANT)
