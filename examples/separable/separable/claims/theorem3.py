"""Theorem 3: w(t) = w^ log t + rho(t), and the direction of w^."""

import numpy as np

from marginaudit import Claim, HiddenConstant, Limit
from marginaudit.reports.source_words import corrected, quoted
from marginaudit.reports.standing import proved
from separable.claims.words import ALL, GENERIC, GENERIC_WORDS, PAGE, SOURCE, T, not_settled
from separable.growth import Growth
from separable.quantities import cosine, residual

SECOND_HAND = "Words from a public rendering of the theorem, not from the source's own pages."

RESIDUAL = Claim(
    id="separable.theorem3.residual",
    source=f"{SOURCE}, Theorem 3",
    statement="w(t) = w^ log t + rho(t) with |rho(t)| = O(log log t).",
    formula=r"w(t)=\hat w\log t+\rho(t),\quad \lVert\rho(t)\rVert=O(\log\log t)",
    assumptions=ALL,
    judgement=HiddenConstant(residual, lambda run, s: np.log(s), regime=lambda run: run.regime),
    standing=not_settled(
        "a proof for data with a support vector of dual 0; for others it follows from the bounded rho"
    ),
    source_words=quoted("Theorem 3", "the residual grows at most as ‖ρ(t)‖ = O(log log(t))", f"{SECOND_HAND} {T}"),
)

BOUNDED = Claim(
    id="separable.theorem3.bounded",
    source=f"{SOURCE}, Theorem 3",
    statement="rho(t) is bounded, for generic data.",
    formula=r"\sup_t\lVert w(t)-\hat w\log t\rVert<\infty",
    assumptions=GENERIC,
    judgement=Growth(residual, unbounded=False, regime=lambda run: run.regime),
    standing=proved(f"{PAGE}4-separabletheorem3bounded", hunted=0),
    source_words=quoted(
        "Theorem 3",
        "for almost all data sets (all except measure zero), the residual ρ(t) is bounded",
        f"{SECOND_HAND} {GENERIC_WORDS}",
    ),
)

UNBOUNDED = Claim(
    id="separable.theorem3.residual.rederived",
    source="this project, on arXiv 1710.10345, Theorem 3",
    statement="Where every dual solution is 0 on a support vector, rho(t) is unbounded, and |rho(t)| >= c log log t.",
    formula=r"\lVert\rho(t)\rVert\ge c\log\log t",
    assumptions=ALL,
    judgement=HiddenConstant(residual, lambda run, s: np.log(s), side="lower", regime=lambda run: run.regime),
    absent=lambda run: None if run.dataset.svm.zero else "every support vector has a positive dual",
    standing=not_settled("the rate; that rho is unbounded is proved (docs/proofs-separable.md, section 6)"),
    source_words=corrected("separable.theorem3.residual", "That O(log log t) cannot be less, where duals are 0."),
)

DIRECTION = Claim(
    id="separable.theorem3.direction",
    source=f"{SOURCE}, Theorem 3",
    statement="w(t)/|w(t)| -> w^/|w^|, judged as the cosine, which tends to 1.",
    formula=r"\frac{w(t)}{\lVert w(t)\rVert}\to\frac{\hat w}{\lVert\hat w\rVert}",
    assumptions=ALL,
    judgement=Limit(cosine, predicted=lambda run: 1.0, regime=lambda run: run.regime),
    standing=proved(f"{PAGE}3-separabletheorem3direction", "separable.theorem5.loss", hunted=0),
    source_words=quoted("Theorem 3", "and so lim w(t)/‖w(t)‖ = ŵ/‖ŵ‖", SECOND_HAND),
)

CLAIMS = (RESIDUAL, BOUNDED, UNBOUNDED, DIRECTION)
