"""Eq. 6 of arXiv 2409.17335: the gradient of stage 2."""

from marginaudit.reports.claim import Claim
from marginaudit.reports.ntp.derivatives import agreement, compare
from marginaudit.reports.source_words import quoted
from marginaudit.reports.standing import proved

GRADIENT_KQ = Claim(
    id="ntp.gradient.kq",
    source="arXiv 2409.17335, eq. 6",
    source_words=quoted(
        "appendix A, eq. 6",
        "grad_{W_kq} L(theta) = sum pi^(n) X^(n) (diag(phi(X^(n))) - phi(X^(n)) phi(X^(n))^T) (X^(n))^T W_ov^T "
        "(T(X^(n)) - p^(n)) (X_{-1}^(n))^T",
        "At any W_ov and W_kq, on any data.",
    ),
    statement=(
        "grad Loss = sum_n pi_n X_n (diag(phi) - phi phi^T) X_n^T W_ov^T (P - e_y) q^T, at any W_ov, W_kq and on any "
        "data; compared with the loss's derivative at random W_ov, W_kq."
    ),
    formula=(
        r"\nabla_{W_{kq}}\mathcal L=\sum_n\pi_n X_n\left(\mathrm{diag}(\varphi)-\varphi\varphi^\top\right)"
        r"X_n^\top W_{ov}^\top\left(P-e_y\right)q^\top"
    ),
    assumptions=(),
    judgement=agreement(lambda run: compare(run, 2)),
    standing=proved("docs/proofs.md#122-ntpgradientkq", hunted=1312),
)

CLAIMS = (GRADIENT_KQ,)
