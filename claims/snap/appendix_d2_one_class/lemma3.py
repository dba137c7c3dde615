"""Lemma 3 of arXiv 2305.16380: the dynamics of W = F^T Y under the modified gradient."""

from dataclasses import dataclass

import flint
import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, certified
from marginaudit.claims.snap.conditions import no_inverse
from marginaudit.claims.snap.readings import PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.snap.some_classes import some_classes
from marginaudit.claims.standing import proved
from marginaudit.orders.balls import upper_end
from marginaudit.training.snap.balls.matrices import BITS, column, dual, features, softmax

MOST_CLASSES = 12
"""Most classes in Lemma 3's matrices. A random subset replaces a larger set, as Lemma 3 is about any set of classes."""

SPARE_COLUMNS = 2
"""Columns of Lemma 3's matrices for tokens other than next tokens."""


@dataclass(frozen=True)
class Moves:
    """Change of W in one step of the modified gradient, the printed change, and the longest F E' e_n."""

    found: Series
    stated: Series
    modification: float


@once_a_run
def moves(run: ClassRun) -> Moves:
    """W-dot/eta_Y at a random Y: F^T Y-dot of eq. 26 from whole matrices, and eq. 8."""
    rng = np.random.default_rng(2305_16380)
    classes = some_classes(run, MOST_CLASSES)
    names = [run.dataset.next_tokens[n] for n in classes]
    columns = min(run.M, len(classes) + SPARE_COLUMNS)
    heads = [*names, *(f"another token {j}" for j in range(1, columns - len(names) + 1))]
    found: list[flint.arb] = []
    stated: list[flint.arb] = []
    label, longest = [], 0.0
    with flint.ctx.workprec(BITS):
        F = features(run.dataset.P[classes])
        directions = dual(F)
        Y = flint.arb_mat(rng.standard_normal((F.nrows(), columns)).tolist())
        W = F.transpose() * Y
        for n, name in enumerate(names):
            direction, f = column(directions, n), column(F, n)
            change = (f - direction).entries()
            squared = sum((x * x for x in change), flint.arb(0))
            longest = max(longest, upper_end(squared.abs_upper().sqrt()))
            alpha = softmax((Y.transpose() * f).entries())
            error = flint.arb_mat(1, columns, [int(j == n) - share for j, share in enumerate(alpha)])
            moved = F.transpose() * (Y + direction * error) - W
            own = softmax([W[n, j] for j in range(columns)])
            for k, row in enumerate(names):
                found += [moved[k, j] for j in range(columns)]
                stated += [int(j == n) - own[j] if k == n else flint.arb(0) for j in range(columns)]
                label += [f"step on {name}, row of {row}, column of {head}" for head in heads]
        return Moves(certified(found, label=tuple(label)), certified(stated, label=tuple(label)), longest)


def _modification(run: ClassRun) -> str:
    taken = len(some_classes(run, MOST_CLASSES))
    part = f" {taken} of {run.K} classes, a random part, stand for all." if taken < run.K else ""
    return f"The modification F E' e_n has length {moves(run).modification:.4g} at most, beside |f_n| = 1.{part}"


LEMMA3 = Claim(
    id="snap.lemma3",
    source="arXiv 2305.16380, Lemma 3 (eqs. 8, 26)",
    statement=(
        "With the modified gradient Y-dot = eta_Y (f_n - F E' e_n) (e_n - alpha_n)^T for next token n, I - E' = "
        "(I+E)^{-1}, W = F^T Y moves by W-dot_j = eta_Y 1(j = n) (e_n - alpha_n), alpha_n = softmax(w_n). The source's "
        "list of notation has E' with the other sign, with which W-dot would be (I + 2E) e_n (e_n - alpha_n)^T eta_Y."
    ),
    formula=r"\dot w_j=\eta_Y\,\mathbb I(j=n)(e_n-\alpha_n)",
    assumptions=(),
    judgement=Equal(
        measure=lambda run: moves(run).found,
        expected=lambda run: moves(run).stated,
        scale=lambda run: np.ones(len(moves(run).found)),
        note=_modification,
    ),
    absent=no_inverse,
    standing=proved(PAGE + "52-snaplemma3", hunted=377),
    source_words=quoted(
        "section 4, Lemma 3, eq. 8; appendix D.2, eq. 26",
        "Given x_{T+1} = n, the dynamics of W is .. w-dot_j = eta_Y I(j=n)(e_n - alpha_n)",
        "E' is that of Lemma 14, I - E' = (I+E)^{-1}; the list of notation in appendix D.1 has the other sign.",
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA3,)
