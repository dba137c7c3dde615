"""Normalised descent with eta_t = 1/sqrt(t+1) closes the margin gap faster (Nacson et al., arXiv 1803.01905)."""

import numpy as np

from marginaudit import Claim, HiddenConstant
from separable.claims.words import cited, not_settled
from separable.quantities import normalized_gap

NORMALIZED = Claim(
    id="separable.normalized",
    source="arXiv 1803.01905, abstract and the theorem on normalised descent",
    statement="Normalised descent on the exponential loss, eta_t = 1/sqrt(t+1): the margin gap is O(log t/sqrt t).",
    formula=r"\frac1{\lVert\hat w\rVert}-\frac{\min_nx_n^\top w(t)}{\lVert w(t)\rVert}"
    r"=O\Bigl(\frac{\log t}{\sqrt t}\Bigr)",
    assumptions=("separable",),
    judgement=HiddenConstant(normalized_gap, lambda run, t: np.log(t) / np.sqrt(t)),
    standing=not_settled("a proof here; the source has one"),
    source_words=cited("abstract", "The gradient is divided by its length: w <- w - grad L/(|grad L| sqrt(t+1))."),
)

CLAIMS = (NORMALIZED,)
