"""A sharper Lemma 6: sqrt 2 in place of 2 L_max."""

from functools import partial

from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.ntp import guarantees
from marginaudit.reports.ntp.quantities import no_stage2, stage2_norm
from marginaudit.reports.source_words import corrected
from marginaudit.reports.standing import proved

LEMMA6 = Claim(
    id="sharp.lemma6",
    source="marginaudit, a sharper form of arXiv 2409.17335, Lemma 6",
    source_words=corrected("ntp.lemma6", "sqrt 2 in place of 2 L_max."),
    statement="||W_kq^(t)|| >= t eta / (sqrt 2 ||W*_kq||).",
    formula=r"\lVert W_{kq}^{(t)}\rVert\ge\frac{t\eta}{\sqrt2\lVert W^*_{kq}\rVert}",
    assumptions=guarantees.ASSUMPTIONS,
    judgement=Bounded(measure=partial(stage2_norm, first=1), lower=guarantees.norm_bound),
    absent=no_stage2,
    standing=proved("docs/proofs.md#5-sharplemma6", "ntp.lemma5", hunted=4),
)

CLAIMS = (LEMMA6,)
