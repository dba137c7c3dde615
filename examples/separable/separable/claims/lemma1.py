"""Lemma 1: the loss vanishes, all margins and the norm grow without bound."""

from marginaudit import Claim, Series
from marginaudit.reports import Parts
from marginaudit.reports.standing import proved
from separable.claims.words import ALL, PAGE, SOURCE, cited
from separable.growth import Growth
from separable.quantities import least_margin, loss, norm


def minus_log_loss(run: object) -> Series:
    """-log L, which grows without bound where L tends to 0."""
    found = loss(run)  # type: ignore[arg-type]
    return Series(-found.value, found.radius, found.step, clock=found.clock)


LEMMA_1 = Claim(
    id="separable.lemma1",
    source=f"{SOURCE}, Lemma 1",
    statement="L(w(t)) -> 0, min_n x_n.w(t) -> infinity and |w(t)| -> infinity.",
    formula=r"\mathcal{L}(w(t))\to 0,\quad \min_n x_n^\top w(t)\to\infty,\quad \lVert w(t)\rVert\to\infty",
    assumptions=ALL,
    judgement=Parts(
        {
            "-log L": Growth(minus_log_loss, unbounded=True, regime=lambda run: run.regime),
            "min x_n.w": Growth(least_margin, unbounded=True, regime=lambda run: run.regime),
            "|w|": Growth(norm, unbounded=True, regime=lambda run: run.regime),
        }
    ),
    standing=proved(f"{PAGE}1-separablelemma1", hunted=0),
    source_words=cited("Lemma 1", "The exponential loss has no global beta: here it is that of the set L <= L(w(0))."),
)

CLAIMS = (LEMMA_1,)
