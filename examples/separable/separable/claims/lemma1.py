"""Lemma 1: the loss vanishes, all margins and the norm grow without bound."""

from marginaudit.claims import Parts
from marginaudit.claims.standing import proved
from separable.claims.words import PAGE, printed, tends
from separable.quantities import inverse, least_margin, minus_log_loss, norm

UNBOUNDED = {"1/-log L": minus_log_loss, "1/min x_n.w": least_margin, "1/|w|": norm}

CLAIMS = (
    printed(
        "lemma1",
        "Lemma 1",
        "L(w(t)) -> 0, min_n x_n.w(t) -> infinity and |w(t)| -> infinity.",
        r"\mathcal{L}(w(t))\to 0,\quad \min_n x_n^\top w(t)\to\infty,\quad \lVert w(t)\rVert\to\infty",
        Parts({name: tends(inverse(of), lambda run: 1.0) for name, of in UNBOUNDED.items()}),
        "Judged as 1 plus the inverse of -log L, the least margin and the norm, which tend to 1.",
        "The exponential loss has no global beta: here it is that of the set L <= L(w(0)).",
        quote="we have: (1) lim L(w(t)) = 0, (2) lim ‖w(t)‖ = ∞, and (3) ∀n: lim w(t)ᵀx_n = ∞",
        standing=proved(f"{PAGE}1-separablelemma1"),
    ),
)
