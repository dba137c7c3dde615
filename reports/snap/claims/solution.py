"""Lemma 12's formula for Y and the first equality of eq. 71 in arXiv 2305.16380.

F' = [F, F°] is any invertible completion of F. One column of F° leans on a feature, f_n/2 + u with u orthogonal to all;
the others are orthogonal to F, and neither Y nor W has anything there. So Y = [F, u] A, and with G = F^T F
F'^T Y = T^T diag(G, 1) A, where T is the identity but for its last column, 1/2 at n.
"""

import math
from dataclasses import replace

import flint
import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Equal
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import Series, rounded, series
from marginaudit.reports.snap.ball_sgd import (
    BITS,
    ball,
    bits_a_step,
    descended,
    errors,
    features,
    of,
    rows_of,
)
from marginaudit.reports.snap.claims.decoder import residuals, sequence
from marginaudit.reports.snap.conditions import RANGE_R, THEOREM_5, no_growth, no_inverse, outside_range_r
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit import continuous_fluctuation, fluctuation

SOURCE = "arXiv 2305.16380"


def counts(run: ClassRun) -> NDArray[np.int64]:
    """N_n of `sequence`."""
    return np.bincount(sequence(run), minlength=run.K)


def transposed(run: ClassRun) -> arb_mat:
    """F'^T [F, u]; F° leans on the class drawn most often. For K = M there is no F°."""
    rows = [row.tolist()[0] for row in features(run.overlap)]
    part = 0.5 if run.M > run.K else 0.0
    last = [x * part for x in rows[int(np.argmax(counts(run)))]]
    return arb_mat([*([*row, arb(0)] for row in rows), [*last, arb(1)]])


def _entries(run: ClassRun, matrix: arb_mat) -> Series:
    columns = (*run.dataset.next_tokens, "any other token")[: run.M]  # for K = M there is no other
    values = [rounded(x) for row in matrix.tolist() for x in row[: len(columns)]]
    label = tuple(f"{n}, {column}" for n in (*run.dataset.next_tokens, "u") for column in columns)
    return series([value for value, _ in values], radius=[bar for _, bar in values], label=label)


@once_a_run
def by_rows(run: ClassRun) -> Series:
    """A after steps of W' itself, W' <- W' + eta_Y e_n (e_n - alpha_n)^T (eq. 24), Y = F'^-T W'."""
    drawn, K = sequence(run), run.K
    bits = BITS + math.ceil(len(drawn) * bits_a_step(run.overlap, run.eta_Y))
    with flint.ctx.workprec(bits):
        # the first rows of F'^T [F, u] are f_n^T [F, u]
        to_rows = transposed(run)
        back, A = to_rows.inv(), arb_mat(K + 1, K + 1)
        for n in drawn.tolist():
            [logits] = (arb_mat([to_rows.tolist()[n]]) * A).tolist()
            step = arb_mat([[back[k, n] * ball(run.eta_Y)] for k in range(K + 1)])
            A += step * arb_mat([errors(logits, n, run.M)])
        return _entries(run, A)


@once_a_run
def by_features(run: ClassRun) -> Series:
    """A after steps of eq. 26, which leave Y in the span of F."""
    A = descended(run.overlap, sequence(run), run.M, run.eta_Y)
    return _entries(run, arb_mat([*A.tolist(), [arb(0)] * (run.K + 1)]))


@once_a_run
def closed_form(run: ClassRun) -> Series:
    """A of F'^-T (I+Theta') W-bar', theta_n that of the rows of SGD."""
    at = fluctuation(counts(run), run.M, run.eta_Y)
    with flint.ctx.workprec(2 * BITS):
        [h] = of(at.mean.h)
        rows = rows_of([(1 + theta) * h for theta in of(at.theta)], run.M).tolist()
        return _entries(run, transposed(run).inv() * arb_mat([*rows, [arb(0)] * (run.K + 1)]))


def _largest(run: ClassRun) -> NDArray[np.float64]:
    return np.asarray(np.abs(closed_form(run).value).max())


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
    judgement=Equal(measure=by_rows, expected=closed_form, scale=_largest),
    absent=lambda run: outside_range_r(run) or no_inverse(run),
)

LEMMA12_Y_EQ26 = replace(
    LEMMA12_Y,
    id="snap.lemma12.Y.eq26",
    source=f"{SOURCE}, Lemma 12, its formula for Y, under eq. 26",
    statement=(
        "The same formula for Y after steps of eq. 26 on Y, which Lemma 3 has in the place of steps on W', whatever F° "
        "completes F. Audited with one column of F° that leans on a feature, at N >> K^2."
    ),
    assumptions=("uniform_classes",),
    judgement=Equal(measure=by_features, expected=closed_form, scale=_largest),
    absent=lambda run: "K = M, and F' is F." if run.K == run.M else no_inverse(run) or no_growth(run),
    instead=(
        r"Eq. 26 leaves the columns of $Y$ in the span of $F$, so that $F^{\circ\top}Y=0$ takes $F^\circ$ orthogonal "
        "to $F$, which Theorem 5's proof asks for and Lemma 12 does not; then it is Theorem 5's formula."
    ),
)


def _residual_size(run: ClassRun) -> NDArray[np.float64]:
    return np.asarray(np.abs(residuals(run).value).max())


def _eq71(*, continuous: bool) -> Equal:
    return Equal(measure=residuals, expected=lambda run: with_shares(run, continuous=continuous), scale=_residual_size)


def with_shares(run: ClassRun, *, continuous: bool) -> Series:
    """(M-1)/(M-1+exp(M h(N_n))) zeta_n of each class, h the recursion's or the continuous one."""
    law = continuous_fluctuation if continuous else fluctuation
    left = rows_of(of(law(counts(run), run.M, run.eta_Y).rows.share), run.M)
    values = [rounded(x) for row in left.tolist() for x in row[: min(run.K + 1, run.M)]]
    return series([value for value, _ in values], radius=[bar for _, bar in values])


EQ71 = Claim(
    id="snap.eq71",
    source=f"{SOURCE}, Corollary 1, the first equality of eq. 71",
    statement=(
        "Range R, after N >> K^2 steps of eq. 26 from zero: e_n - alpha_n = (M-1)/(M-1+exp(M h(N_n))) zeta_n for every "
        "class n, h standing for the recursion's h*."
    ),
    formula=r"e_n-\alpha_n=\frac{M-1}{M-1+\exp(Mh(N_n))}\zeta_n",
    assumptions=(*THEOREM_5, RANGE_R),
    judgement=_eq71(continuous=False),
    absent=outside_range_r,
)

EQ71_CONTINUOUS = replace(
    EQ71,
    id="snap.eq71.continuous",
    source=f"{SOURCE}, Corollary 1, the first equality of eq. 71, with the continuous h",
    statement=EQ71.statement.replace("h standing for the recursion's h*", "with the continuous h of Lemma 6"),
    judgement=_eq71(continuous=True),
    instead="With $h^*$ for $h$ it is exact (snap.eq71): $h^*(s)>h(s)$ after every step.",
)

CLAIMS: tuple[Claim, ...] = (LEMMA12_Y, LEMMA12_Y_EQ26, EQ71, EQ71_CONTINUOUS)
