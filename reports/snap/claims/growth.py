r"""Lemmas 6 to 9 and Remark 2 of arXiv 2305.16380: the growth h of a class's row of W = F^T Y, and its speed gamma."""

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Equal
from marginaudit.reports.series import Series, series
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit import continuous


def small(run: ClassRun) -> str | None:
    """Why nothing is said of so small a vocabulary, or None."""
    return "M is below 2, and h is not defined." if run.M < 2 else None


def _times(run: ClassRun) -> NDArray[np.float64]:
    """s = t/K at the recorded steps: continuous time on one class."""
    return np.asarray(run.steps / run.K, dtype=np.float64)


def _both_sides(run: ClassRun) -> tuple[Series, Series]:
    """Lemma 6's two sides, each from the closed form of h with its error bar."""
    s = _times(run)
    x = continuous(s, run.M, run.eta_Y).logit
    exp = np.exp(x.value)
    left = exp + (run.M - 1) * x.value
    radius = (exp + run.M - 1) * x.error + 8 * np.finfo(float).eps * left
    right = run.M * run.eta_Y * s + 1
    return series(left, radius=radius, step=run.steps), series(right, step=run.steps)


LEMMA6 = Claim(
    id="snap.lemma6",
    source="arXiv 2305.16380, Lemma 6",
    statement="exp(M h) + (M-1) M h = M eta_Y t + 1 for the continuous growth h(t) with h(0) = 0.",
    formula=r"\exp(Mh)+(M-1)Mh=M\eta_Y t+1",
    assumptions=(),
    judgement=Equal(measure=lambda run: _both_sides(run)[0], expected=lambda run: _both_sides(run)[1]),
    absent=small,
)

CLAIMS: tuple[Claim, ...] = (LEMMA6,)
