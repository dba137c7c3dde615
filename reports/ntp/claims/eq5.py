"""Eq. 5 of arXiv 2409.17335: the gradient of stage 1."""

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.reports.claim import Claim
from marginaudit.reports.ntp.derivatives import agreement, compare
from marginaudit.reports.source_words import quoted
from marginaudit.reports.standing import proved

GRADIENT_OV = Claim(
    id="ntp.gradient.ov",
    source="arXiv 2409.17335, eq. 5",
    source_words=quoted(
        "appendix A, eq. 5",
        "grad_{W_ov} L_0(W_ov) = sum (T_0(x) - e_In(x)) x^T",
        "At any W_ov, whatever the embedding.",
    ),
    statement="grad L0 = sum_x (P(x) - e_{n(x)}) x^T, at any W_ov; compared with the loss's derivative at random W_ov.",
    formula=r"\nabla_{W_{ov}}L_0=\sum_{x\in\mathcal V}\left(P(x)-e_{n(x)}\right)x^\top",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=agreement(lambda run: compare(run, 1)),
    standing=proved("docs/proofs.md#121-ntpgradientov", hunted=1138),
)

CLAIMS = (GRADIENT_OV,)
