"""Theorem 3: w(t) = w^ log t + rho(t), and the direction of w^."""

import numpy as np

from marginaudit.claims.standing import proved, unsettled
from separable.claims.words import BY_BOUNDED, GENERIC, GENERIC_WORDS, PAGE, T, order, printed, rederived, tends
from separable.quantities import cosine, residual, residual_margin

CLAIMS = (
    printed(
        "theorem3.residual",
        "Theorem 3",
        "w(t) = w^ log t + rho(t) with |rho(t)| = O(log log t).",
        r"w(t)=\hat w\log t+\rho(t),\quad \lVert\rho(t)\rVert=O(\log\log t)",
        order(residual, lambda run, s: np.log(s)),
        T,
        standing=unsettled("a proof for data with a support vector of dual 0; for others a bounded rho is enough"),
        implications=(BY_BOUNDED,),
    ),
    printed(
        "theorem3.bounded",
        "Theorem 3",
        "rho(t) is bounded, for generic data.",
        r"\sup_t\lVert w(t)-\hat w\log t\rVert<\infty",
        order(residual_margin, lambda run, s: np.zeros_like(s)),
        "Judged as exp(R |rho|) = O(1), R the longest point.",
        GENERIC_WORDS,
        quote="For almost all datasets (i.e., except for a measure zero) which are strictly linearly separable .. "
        "the residual ρ(t) is bounded",
        assumptions=GENERIC,
        standing=proved(f"{PAGE}4-separabletheorem3bounded"),
    ),
    rederived(
        "theorem3.residual",
        "theorem3.residual",
        ", Theorem 3",
        "Where every dual solution is 0 on a support vector, rho(t) is unbounded, and |rho(t)| >= c log log t.",
        r"\lVert\rho(t)\rVert\ge c\log\log t",
        order(residual, lambda run, s: np.log(s), "lower"),
        "That O(log log t) cannot be less, where duals are 0.",
        absent=lambda run: None if run.dataset.svm.zero else "every support vector has a positive dual",
        standing=unsettled("the rate; that rho is unbounded is proved (docs/proofs-separable.md, section 6)"),
    ),
    printed(
        "theorem3.direction",
        "Theorem 3/section 3",
        "w(t)/|w(t)| -> w^/|w^|, judged as the cosine, which tends to 1.",
        r"\frac{w(t)}{\lVert w(t)\rVert}\to\frac{\hat w}{\lVert\hat w\rVert}",
        tends(cosine, lambda run: 1.0),
        standing=proved(f"{PAGE}3-separabletheorem3direction", "separable.theorem5.loss"),
        quote="w(t)/‖w(t)‖ converges to the normalized max margin vector ŵ/‖ŵ‖",
    ),
)
