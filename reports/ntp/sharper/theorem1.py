"""A sharper Theorem 1: a bound of the order of log t/t, for steps of any size."""

from functools import partial

from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.ntp import guarantees
from marginaudit.reports.ntp.quantities import no_stage2, stage2_direction
from marginaudit.reports.source_words import corrected
from marginaudit.reports.standing import proved

THEOREM1 = Claim(
    id="sharp.theorem1",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 1",
    source_words=corrected("ntp.theorem1.direction", "A bound of the order of log t/t, for steps of any size."),
    statement=(
        "For t >= 1: 1 - cos(W_kq^(t), W*_kq) <= [2 ||W*_kq||^3 log(2 L_max^3 / pi_min) (1 + log t) + "
        "eta ||W*_kq||^2 (1 + log t) + sqrt 2 eta ||W*_kq||] / (t eta)."
    ),
    formula=(
        r"1-\cos\left(W_{kq}^{(t)},W^*_{kq}\right)\le\frac{2\lVert W^*_{kq}\rVert^3\log(2L_{\max}^3/\pi_{\min})"
        r"(1+\log t)+\eta\lVert W^*_{kq}\rVert^2(1+\log t)+\sqrt2\,\eta\lVert W^*_{kq}\rVert}{t\eta}"
    ),
    assumptions=guarantees.ASSUMPTIONS,
    judgement=Bounded(
        measure=partial(stage2_direction, first=1),
        upper=guarantees.direction_bound,
        largest=2.0,
    ),
    absent=no_stage2,
    standing=proved("docs/proofs.md#7-sharptheorem1", "sharp.lemma6", "sharp.lemma7", hunted=6),
)

CLAIMS = (THEOREM1,)
