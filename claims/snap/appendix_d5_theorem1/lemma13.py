"""Lemma 13: no overlap is larger than the largest eigenvalue of E."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.readings import PAGE, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved


def entries(run: ClassRun) -> Series:
    """|E_nn'| of every pair of classes; exactly 0 for pairs without a shared token."""
    overlap, names = run.dataset.overlap, run.dataset.next_tokens
    n, other = np.triu_indices(run.K, 1)
    size = np.abs(overlap.E[n, other])
    bars = overlap.relative_error * size + overlap.norm_error + overlap.eigenvalue_error
    occurs = (run.dataset.P > 0).astype(float)
    share = (occurs @ occurs.T)[n, other] > 0
    label = tuple(f"{names[i]}, {names[j]}" for i, j in zip(n, other, strict=True))
    return series(size, radius=np.where(share, bars, 0.0), label=label)


LEMMA13 = Claim(
    id="snap.lemma13",
    source=f"{SOURCE}, Lemma 13",
    source_words=quoted(
        "appendix D.5, Lemma 13",
        "max_{i,j in [K]}(|E_ij|) <= |lambda_1|",
    ),
    statement="Every |E_nn'| is at most |lambda_1|, the largest absolute eigenvalue of E.",
    formula=r"\lvert E_{nn'}\rvert\le\lvert\lambda_1\rvert",
    assumptions=(),
    standing=proved(PAGE + "61-snaplemma13-snaplemma14-snaplemma15", hunted=1393),
    judgement=Bounded(
        measure=entries,
        upper=lambda run, _: np.full(run.K * (run.K - 1) // 2, run.dataset.overlap.largest),
    ),
    absent=lambda run: "There is one class, and no pair." if run.K == 1 else None,
)

CLAIMS: tuple[Claim, ...] = (LEMMA13,)
