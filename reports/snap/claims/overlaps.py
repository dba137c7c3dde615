"""Lemmas 13 to 17 of arXiv 2305.16380: what overlaps of the classes' features do to each other."""

import numpy as np

from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.series import Series, series
from marginaudit.reports.snap.run import ClassRun


def entries(run: ClassRun) -> Series:
    """|E_nn'| of every pair of classes."""
    overlap, names = run.dataset.overlap, run.dataset.next_tokens
    n, other = np.triu_indices(run.K, 1)
    size = np.abs(overlap.E[n, other])
    label = tuple(f"{names[i]}, {names[j]}" for i, j in zip(n, other, strict=True))
    return series(size, radius=overlap.relative_error * size + overlap.norm_error, label=label)


LEMMA13 = Claim(
    id="snap.lemma13",
    source="arXiv 2305.16380, Lemma 13",
    statement="Every |E_nn'| is at most |lambda_1|, the largest absolute eigenvalue of E.",
    formula=r"\lvert E_{nn'}\rvert\le\lvert\lambda_1\rvert",
    assumptions=(),
    judgement=Bounded(
        measure=entries,
        upper=lambda run, _: np.full(run.K * (run.K - 1) // 2, run.dataset.overlap.largest),
    ),
    absent=lambda run: "There is one class, and no pair." if run.K == 1 else None,
)

CLAIMS: tuple[Claim, ...] = (LEMMA13,)
