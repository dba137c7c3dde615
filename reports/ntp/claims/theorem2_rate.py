"""Theorem 2 of arXiv 2409.17335: the loss of stage 2 converges to its infimum at a geometric rate."""

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Limit
from marginaudit.reports.ntp.quantities import asymptotic_from, excess_rate, no_common_margin
from marginaudit.reports.source_words import quoted
from marginaudit.reports.standing import proved

RATE = Claim(
    id="ntp.theorem2.rate",
    source="arXiv 2409.17335, Theorem 2",
    source_words=quoted(
        "section 5.2, after Theorem 2",
        "the training loss converges to its minimum value at a linear convergence rate",
        "Linear is geometric in t: the log of the excess over the infimum, whatever that is, falls by a constant a "
        "step.",
    ),
    statement=(
        "Loss converges linearly (geometrically in t) to its infimum over W_kq; audited against the rate "
        "eta/||W*_kq|| a step of `sharp.floor`."
    ),
    formula=r"-\frac{d}{dt}\log\left(\mathcal L-\inf\mathcal L\right)\to\frac{\eta}{\lVert W^*_{kq}\rVert}>0",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Limit(
        measure=excess_rate,
        predicted=lambda run: run.eta / run.norm_kq,
        regime=asymptotic_from,
        positive=True,
    ),
    absent=no_common_margin,
    standing=proved("docs/proofs.md#161-ntptheorem2rate", "sharp.lemma6", "sharp.theorem1", hunted=1),
)

CLAIMS = (RATE,)
