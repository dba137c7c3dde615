"""Lemma 5 of arXiv 2305.16380: the row w_n of W = F^T Y after steps on one class alone."""

import flint
import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, certified, series
from marginaudit.claims.snap.conditions import first_of, no_growth, no_inverse
from marginaudit.claims.snap.readings import PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.snap.some_classes import DENSE_CLASSES, DENSE_STEPS, DENSE_TOKENS, some_classes
from marginaudit.claims.standing import proved
from marginaudit.training.snap.balls.matrices import bits, column, features, sgd
from marginaudit.training.snap.limit.descent import descend
from marginaudit.training.snap.limit.overlap import overlap
from marginaudit.training.snap.limit.recursion import h_star

ALONE = 10_000
"""Most SGD steps on one class with the dataset's M."""


@once_a_run
def one_class(run: ClassRun) -> tuple[Series, Series]:
    """One-class SGD with the modified gradient of Lemma 3 from Y = 0, and eqs. 31 to 33, in ball arithmetic.

    Uses a few classes of the dataset, M' tokens and its eta_Y. Of the data only M is reduced.
    """
    classes = some_classes(run, DENSE_CLASSES)
    M = min(run.M, DENSE_TOKENS)
    names = [run.dataset.next_tokens[n] for n in classes]
    found: list[flint.arb] = []
    stated: list[flint.arb] = []
    label: list[str] = []
    with flint.ctx.workprec(bits(run.eta_Y)):
        F = features(run.dataset.P[classes])
        for n, name in enumerate(names):
            h = flint.arb(0)
            for s, (alpha, Y) in enumerate(sgd(F, [n] * DENSE_STEPS, M, run.eta_Y), start=1):
                power = (M * h).exp()
                h += flint.arb(run.eta_Y) / (M - 1 + power)
                found += [*(Y.transpose() * column(F, n)).entries(), *alpha]
                stated += [(M - 1) * h if j == n else -h for j in range(M)]
                stated += [(power if j == n else 1) / (M - 1 + power) for j in range(M)]
                for of in ("w", "alpha"):
                    label += [f"{of} of {name} at token {j} of {M}, s = {s}" for j in range(M)]
        return certified(found, label=tuple(label)), certified(stated, label=tuple(label))


@once_a_run
def alone(run: ClassRun) -> tuple[Series, Series]:
    """w_nn(s), at the dataset's M, of SGD as in eq. 7 on one class alone, where E = 0; and (M-1) h*(s)."""
    at = np.unique(np.rint(np.geomspace(1, ALONE, 41)).astype(np.int64))
    column = np.asarray(run.dataset.overlap.F[:, :1])
    went = descend(overlap(column), np.zeros((1, ALONE), dtype=np.int64), at.tolist(), run.M, run.eta_Y)
    h = h_star(at, run.M, run.eta_Y).level.h * (run.M - 1.0)
    found = series(went.W[0, :, 0, 0], radius=went.error[0], step=at, clock="s")
    return found, series(h.value, radius=h.error, step=at, clock="s")


LEMMA5 = Claim(
    id="snap.lemma5",
    source="arXiv 2305.16380, Lemma 5 (eqs. 31-33)",
    statement=(
        "Y(0) = 0, Z fixed, s steps of the modified gradient (Lemma 3), all on class n: w_n(s) = (M-1) h*(s) zeta_n, "
        "alpha_nn(s) = exp(M h*(s-1))/(M-1+exp(M h*(s-1))), alpha_nj(s) = 1/(M-1+exp(M h*(s-1))) for j != n. Compared "
        "with "
        f"SGD on whole matrices with at most {DENSE_TOKENS} tokens, and with SGD on one class at the dataset's M."
    ),
    formula=(
        r"w_n(s)=(M-1)h^*(s)\zeta_n,\quad \alpha_{nn}(s)=\frac{\exp(Mh^*(s-1))}{M-1+\exp(Mh^*(s-1))},\quad "
        r"\alpha_{nj}(s)=\frac{1}{M-1+\exp(Mh^*(s-1))}"
    ),
    assumptions=(),
    judgement=Parts(
        {
            f"{DENSE_STEPS} steps on whole matrices": Equal(
                measure=lambda run: one_class(run)[0],
                expected=lambda run: one_class(run)[1],
                scale=lambda run: np.maximum(np.abs(one_class(run)[1].value), 1e-3 * min(1.0, run.eta_Y)),
            ),
            f"{ALONE} steps at the dataset's M": Equal(
                measure=lambda run: alone(run)[0], expected=lambda run: alone(run)[1]
            ),
        }
    ),
    absent=first_of(no_inverse, no_growth),
    standing=proved(PAGE + "54-snaplemma5", "snap.lemma3", hunted=63),
    source_words=quoted(
        "appendix D.2, Lemma 5, eqs. 31 to 33",
        "if event x_{T+1} = n always holds at s step (s >= 1) we have w_n(s) = (M-1)h*(s)zeta_n",
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA5,)
