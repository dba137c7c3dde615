"""Lemma 1: the loss vanishes, all margins and the norm grow without bound."""

from dataclasses import replace
from operator import attrgetter

from marginaudit import Series
from marginaudit.reports import Parts
from marginaudit.reports.standing import proved
from separable.claims.words import PAGE, printed
from separable.growth import Growth
from separable.quantities import least_margin, loss, norm
from separable.run import DescentRun


def minus_log_loss(run: DescentRun) -> Series:
    """-log L, which grows without bound where L tends to 0."""
    found = loss(run)
    return replace(found, value=-found.value, log=False)


UNBOUNDED = {"-log L": minus_log_loss, "min x_n.w": least_margin, "|w|": norm}

LEMMA_1 = printed(
    "lemma1",
    "Lemma 1",
    "L(w(t)) -> 0, min_n x_n.w(t) -> infinity and |w(t)| -> infinity.",
    r"\mathcal{L}(w(t))\to 0,\quad \min_n x_n^\top w(t)\to\infty,\quad \lVert w(t)\rVert\to\infty",
    Parts({name: Growth(of, unbounded=True, regime=attrgetter("regime")) for name, of in UNBOUNDED.items()}),
    "The exponential loss has no global beta: here it is that of the set L <= L(w(0)).",
    quote="we have: (1) lim L(w(t)) = 0, (2) lim ‖w(t)‖ = ∞, and (3) ∀n: lim w(t)ᵀx_n = ∞",
    standing=proved(f"{PAGE}1-separablelemma1", hunted=0),
)

CLAIMS = (LEMMA_1,)
