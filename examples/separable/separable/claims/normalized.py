"""Normalised descent with eta_t = 1/sqrt(t+1) closes the margin gap faster (Nacson et al., arXiv 1803.01905)."""

import numpy as np

from marginaudit import HiddenConstant
from marginaudit.claims.standing import unsettled
from separable.claims.words import SEPARABLE, printed
from separable.quantities import normalized_gap
from separable.run import DescentRun


def regime(run: DescentRun) -> float:
    """The t by which 2 sqrt(t), the length of all steps together, is what |w^| log t is of descent in its regime."""
    length = run.regime * run.norm / 2
    return length * length


CLAIMS = (
    printed(
        "normalized",
        "abstract",
        "Normalised descent on the exponential loss, eta_t = 1/sqrt(t+1): the margin gap is O(log t/sqrt t).",
        r"\frac1{\lVert\hat w\rVert}-\frac{\min_nx_n^\top w(t)}{\lVert w(t)\rVert}"
        r"=O\Bigl(\frac{\log t}{\sqrt t}\Bigr)",
        HiddenConstant(normalized_gap, lambda run, t: np.log(t) / np.sqrt(t), regime=regime),
        "The gradient is divided by its length: w <- w - grad L/(|grad L| sqrt(t+1)). Rounding is estimated.",
        source="arXiv 1803.01905, abstract and the theorem on normalised descent",
        assumptions=SEPARABLE,
        standing=unsettled("a proof here; the source has one"),
    ),
)
