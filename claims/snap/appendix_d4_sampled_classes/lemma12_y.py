"""Lemma 12's formula for Y in arXiv 2305.16380.

F' = [F, F°] is any invertible completion of F. One column of F° leans on a feature, f_n/2 + u with u orthogonal to all;
the others are orthogonal to F, and Y and W vanish along them. So Y = [F, u] A, and with G = F^T F
F'^T Y = T^T diag(G, 1) A, where T is the identity but for its last column, 1/2 at n.
"""

import math

import flint
import numpy as np
from flint import arb, arb_mat

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series
from marginaudit.claims.snap.appendix_d4_sampled_classes.decoder import counts, entries, sequence, size_of
from marginaudit.claims.snap.conditions import RANGE_R, first_of, no_growth, no_inverse, outside_range_r
from marginaudit.claims.snap.readings import IN_RANGE_R, PAGE, ROUNDED, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.orders.balls import ball_around
from marginaudit.training.snap.balls.coefficients import (
    BITS,
    bits_a_step,
    descended,
    enclosures,
    errors,
    gram_rows,
    rows_of,
)
from marginaudit.training.snap.limit.fluctuation import fluctuation

PROOF = PAGE + "84-snaplemma12y-and-eq-26"


def transposed(run: ClassRun) -> arb_mat:
    """F'^T [F, u], with F° leaning on the class drawn most often. For K = M there is no F°."""
    rows = [row.tolist()[0] for row in gram_rows(run.overlap)]
    part = 0.5 if run.M > run.K else 0.0
    last = [x * part for x in rows[int(np.argmax(counts(run)))]]
    return arb_mat([*([*row, arb(0)] for row in rows), [*last, arb(1)]])


@once_a_run
def by_rows(run: ClassRun) -> Series:
    """A after SGD on W', W' <- W' + eta_Y e_n (e_n - alpha_n)^T (eq. 24), with Y = F'^-T W'."""
    drawn, K = sequence(run), run.K
    bits = BITS + math.ceil(len(drawn) * bits_a_step(run.overlap, run.eta_Y))
    with flint.ctx.workprec(bits):
        # the first rows of F'^T [F, u] are f_n^T [F, u]
        to_rows = transposed(run)
        back, A = to_rows.inv(), arb_mat(K + 1, K + 1)
        for n in drawn.tolist():
            [logits] = (arb_mat([to_rows.tolist()[n]]) * A).tolist()
            step = arb_mat([[back[k, n] * ball_around(run.eta_Y)] for k in range(K + 1)])
            A += step * arb_mat([errors(logits, n, run.M)])
        return entries(run, A, "u")


@once_a_run
def by_features(run: ClassRun) -> Series:
    """A after SGD by eq. 26, which keeps Y in the span of F."""
    A = descended(run.overlap, sequence(run), run.M, run.eta_Y)
    return entries(run, arb_mat([*A.tolist(), [arb(0)] * (run.K + 1)]), "u")


@once_a_run
def closed_form(run: ClassRun) -> Series:
    """A of F'^-T (I+Theta') W-bar', theta_n from the rows of SGD."""
    at = fluctuation(counts(run), run.M, run.eta_Y)
    with flint.ctx.workprec(2 * BITS):
        [h] = enclosures(at.mean.h)
        rows = rows_of([(1 + theta) * h for theta in enclosures(at.theta)], run.M).tolist()
        return entries(run, transposed(run).inv() * arb_mat([*rows, [arb(0)] * (run.K + 1)]), "u")


LEMMA12_Y = Claim(
    id="snap.lemma12.Y",
    source=f"{SOURCE}, Lemma 12, its formula for Y",
    statement=(
        "F' = [F, F°] invertible, steps on W' = F'^T Y from zero (eq. 24), which leave its last M-K rows 0: Y = F'^-T "
        "(I+Theta') W-bar'(N), Theta' of the rows of SGD, whose size is snap.lemma12's. Audited with one column of F° "
        "that leans on a feature, at N >> K^2."
    ),
    formula=r"Y=(F')^{-\top}(I+\Theta')\overline W'(N)",
    assumptions=("uniform_classes", RANGE_R),
    judgement=Equal(measure=by_rows, expected=closed_form, scale=size_of(closed_form)),
    absent=lambda run: outside_range_r(run) or no_inverse(run),
    standing=proved(PROOF, "snap.lemma5", hunted=636),
    source_words=quoted(
        "appendix D.4, Lemma 12; D.2, eqs. 24 and 25",
        "Y = (F')^{-T} (I + Theta') W'(N) where Theta' := diag(theta_1, .., theta_K, 0, .., 0)",
        f"Epochs are steps. {IN_RANGE_R} (Remark 3); N >= 10 K^2. W'(N) in the formula is W-bar'(N), as in the "
        "proof. Steps are on W', as in eq. 24; theta is what the rows of SGD make it.",
    ),
)

LEMMA12_Y_EQ26 = variant(
    LEMMA12_Y,
    "eq26",
    "Steps of eq. 26 on Y in place of steps on W', at any step size.",
    source=f"{SOURCE}, Lemma 12, its formula for Y, under eq. 26",
    statement=(
        "The same formula for Y after steps of eq. 26 on Y, which Lemma 3 has in the place of steps on W', whatever F° "
        "completes F. Audited with one column of F° that leans on a feature, at N >> K^2."
    ),
    assumptions=("uniform_classes",),
    judgement=Equal(measure=by_features, expected=closed_form, scale=size_of(closed_form)),
    absent=lambda run: "K = M, and F' is F." if run.K == run.M else first_of(no_inverse, no_growth)(run),
    instead=(
        r"Eq. 26 leaves the columns of $Y$ in the span of $F$, so that $F^{\circ\top}Y=0$ takes $F^\circ$ orthogonal "
        "to $F$, which Theorem 5's proof asks for and Lemma 12 does not; then it is Theorem 5's formula."
    ),
    standing=refuted(
        PROOF,
        "snap.lemma3",
        "snap.lemma5",
        severity=Severity.ORDINARY,
        wrong="With eq. 26 in the place of eq. 24, Lemma 12's formula for Y needs columns orthogonal to F.",
        hunted=1,
        weakest="F° orthogonal to F, as Theorem 5's proof asks, or K = M",
        relied_on_by=("snap.theorem5",),
        remains="Its proof asks for F° orthogonal to F, where the formula is true.",
    ),
    implications=(
        contradicts(
            "snap.theorem5.rederived",
            condition="F° may lean on a feature",
            proof=PROOF,
            unseen=ROUNDED,
        ),
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA12_Y, LEMMA12_Y_EQ26)
