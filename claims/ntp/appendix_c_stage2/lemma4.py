"""Lemma 4 of arXiv 2409.17335: the gradient of stage 2 if all margins of W_ov equal one A."""

from collections.abc import Mapping

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.ntp.appendix_a_gradients.eq5_eq6 import COMPLEX_STEP, DIRECTIONS, SCALES, Comparison, agreement
from marginaudit.claims.ntp.error_bars import EPS
from marginaudit.claims.ntp.random_part import SEED, in_part, some_samples
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import series
from marginaudit.claims.standing import proved
from marginaudit.margins.ntp import Infeasible
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import Dataset, gram_deviation
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.training.ntp import stage2_loss

MARGINS = (0.5, 8.0)
"""Common margins A of W_ov for comparing Lemma 4."""


def lemma4(data: Dataset, n: Mapping[str, str], W_ov: Floats, W_kq: Floats, W: Floats, A: float) -> tuple[float, float]:
    """The right-hand side of Lemma 4 along W, and A times the sum of pi_n phi_l |(x_l - X phi)^T W q|.

    W_ov, (labels, dimension), has all margins equal to A. W_kq and W are (dimension, dimension), and n is the
    collocation.
    """
    X = [data.embeddings[[data.index[x] for x in sample.tokens]] for sample in data.samples]
    queries = np.array([x[-1] for x in X])
    phi = [_softmax(x @ scores) for x, scores in zip(X, queries @ W_kq.T, strict=True)]
    logits = np.array([weight @ x for x, weight in zip(X, phi, strict=True)]) @ W_ov.T
    moved = queries @ W.T
    value = size = 0.0
    for k, (sample, pi) in enumerate(zip(data.samples, data.frequencies.tolist(), strict=True)):
        label = np.array([data.index[n[x]] for x in sample.tokens])
        y, P = data.index[sample.next], _softmax(logits[k])
        along = X[k] @ moved[k]
        centred = phi[k] * (along - phi[k] @ along)
        value += pi * float(np.where(label == y, P[y] - 1, P[label]) @ centred)
        size += pi * float(np.abs(centred).sum())
    return A * value, A * size


def _softmax(z: Floats) -> Floats:
    weight = np.exp(z - z.max())
    return np.asarray(weight / weight.sum())


@once_a_run
def lemma4_sides(run: Run) -> Comparison:
    """Lemma 4 and the derivative of the loss, with W_ov = A W*_ov.

    Its margins are A up to twice the deviation of the Gram matrix from I, as (e_y - e_v)^T W*_ov E^T has two nonzero
    entries, 1 and -1. The deviation enters the derivative, not the printed side.
    """
    rng = np.random.default_rng(SEED)
    data, n = some_samples(run.dataset, rng), run.dataset.collocation.require_function()
    d = data.embeddings.shape[1]
    printed, derivative, size, label = [], [], [], []
    for A in MARGINS:
        W_ov = A * run.ov.optimal().matrix
        for scale in SCALES:
            W_kq = scale * rng.standard_normal((d, d))
            for number in range(1, DIRECTIONS + 1):
                W = rng.standard_normal((d, d))
                value, most = lemma4(data, n, W_ov, W_kq, W, A)
                moved = W_kq + 1j * COMPLEX_STEP * W
                printed.append(value)
                derivative.append(float(np.imag(stage2_loss(data, W_ov, moved))) / COMPLEX_STEP)
                size.append(max(most, A / 100))
                label.append(f"A = {A:g}, scores of deviation {scale:g}, direction {number}")
    operations = data.N + data.L_max + data.V + d
    rounding = EPS * operations * (1 + 5 * max(SCALES) + max(MARGINS))
    radius = (rounding + 4 * gram_deviation(run.dataset)) * np.array(size)
    part = in_part(data.N, run.dataset.N, "samples")
    return Comparison(
        series(printed, radius=radius, label=tuple(label)), series(derivative, radius=radius), np.array(size), part
    )


def _no_common_margin(run: Run) -> str | None:
    if isinstance(run.ov, Infeasible):
        return "W*_ov does not exist: no W_ov has all margins positive."
    if run.norm_ov == 0:
        return "The vocabulary has one token, so W_ov has no margins."
    if not run.assumption("orthonormal").holds:
        return "The tokens are not orthonormal, so the margins of W*_ov are not one A."
    return None


LEMMA4 = Claim(
    id="ntp.lemma4",
    source="arXiv 2409.17335, Lemma 4",
    source_words=quoted(
        "appendix C.1, Lemma 4",
        "<grad L(theta), W'_kq> = sum pi^(n) A sum_{l in l(n)} ([T_theta]_In(X^(n)) - 1) phi_l (x_l - sum_l' "
        "phi_l' x_l')^T W'_kq X_{-1} + ..",
        "Optimal positions are those whose token's next token is the sample's own, here as in eq. 3.",
    ),
    statement=(
        "For any W_kq, W': <grad Loss, W'> = A sum_n pi_n { (P_y - 1) sum_{l opt} phi_l (x_l - X phi)^T W' q + "
        "sum_{l other} P_{n(x_l)} phi_l (x_l - X phi)^T W' q }; compared with the loss's derivative along random W' at "
        "random W_kq."
    ),
    formula=(
        r"\left\langle\nabla\mathcal L,W'\right\rangle=A\sum_n\pi_n\left\{(P_y-1)\sum_{l\in l(n)}\varphi_l"
        r"(x_l-X\varphi)^\top W'q+\sum_{l\notin l(n)}P_{n(x_l)}\varphi_l(x_l-X\varphi)^\top W'q\right\}"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=agreement(lemma4_sides),
    absent=_no_common_margin,
    standing=proved("docs/proofs.md#123-ntplemma4", "ntp.gradient.kq", hunted=37),
)

CLAIMS = (LEMMA4,)
