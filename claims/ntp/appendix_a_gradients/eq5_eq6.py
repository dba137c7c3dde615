"""Eqs. 5 and 6 of arXiv 2409.17335: printed gradients against the derivative of the loss.

Along random directions at random weights.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.ntp.random_part import SEED, in_part, some, some_samples
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, series
from marginaudit.claims.standing import proved
from marginaudit.orders.ntp import Dataset
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.training.ntp import loss_gradient, stage1_loss, stage1_loss_gradient, stage2_loss

SCALES = (0.0, 1.0, 3.0)
"""Largest standard deviations of the logits at the random weights of the comparison."""

DIRECTIONS = 6

COMPLEX_STEP = 1e-30
"""Im f(W + i h D)/h is the derivative along D to rounding, without cancellation."""


@dataclass(frozen=True)
class Comparison:
    """A printed gradient and the derivative of the loss, along random directions at random weights.

    Attributes
    ----------
    printed, derivative : series of the same entries
    size : (entries,) array
        Scale of rounding: ||gradient||, or the sum of absolute terms, at least about a hundredth of its largest
        possible value.
    part : str
        Description of the sampled part of the sum; "" for the whole sum.
    """

    printed: Series
    derivative: Series
    size: NDArray[np.float64]
    part: str


def agreement(sides: Callable[[Run], Comparison]) -> Equal:
    """Judgement that both sides are equal."""
    return Equal(
        measure=lambda run: sides(run).printed,
        expected=lambda run: sides(run).derivative,
        scale=lambda run: sides(run).size,
        note=lambda run: sides(run).part,
    )


@once_a_run
def compare(run: Run, stage: Literal[1, 2]) -> Comparison:
    """Both sides of eq. 5 (stage 1) or eq. 6 (stage 2), with embeddings scaled to norm at most 1."""
    run.require_dense()
    rng = np.random.default_rng(SEED)
    data = _manageable(run.dataset, rng)
    V, d = data.embeddings.shape
    loss: Callable[..., Any]
    gradient: Callable[..., Any]
    if stage == 1:
        tokens, part = some(V, "tokens", V * d, rng)
        loss, gradient = partial(stage1_loss, tokens=tokens), partial(stage1_loss_gradient, tokens=tokens)
    else:
        loss, gradient, part = stage2_loss, loss_gradient, in_part(data.N, run.dataset.N, "samples")
    shapes = [(V, d)] if stage == 1 else [(V, d), (d, d)]
    operations = data.N + data.L_max + V + d
    printed, derivative, size, labels = [], [], [], []
    for scale in SCALES:
        weights = [scale * rng.standard_normal(shape) for shape in shapes]
        G = gradient(data, *weights)
        for number in range(1, DIRECTIONS + 1):
            D = rng.standard_normal(shapes[-1])
            D /= np.linalg.norm(D)
            printed.append(float(np.vdot(G, D)))
            moved = [*weights[:-1], weights[-1] + 1j * COMPLEX_STEP * D]
            derivative.append(float(np.imag(loss(data, *moved))) / COMPLEX_STEP)
            size.append(max(float(np.linalg.norm(G)), 1e-2))
            labels.append(f"logits of deviation {scale:g}, direction {number}")
    logits = 1 + 5 * max(SCALES)
    radius = np.finfo(float).eps * operations * logits * np.maximum(size, 1.0)
    return Comparison(
        series(printed, radius=radius, label=tuple(labels)), series(derivative, radius=radius), np.array(size), part
    )


def _manageable(dataset: Dataset, rng: np.random.Generator) -> Dataset:
    embedding = dataset.embeddings / (float(np.abs(dataset.embeddings).max()) or 1.0)
    embedding = embedding / (float(np.linalg.norm(embedding, axis=1).max()) or 1.0)
    n = dataset.next_token or dataset.collocation.function
    return replace(some_samples(dataset, rng), next_token=n, embedding=embedding)


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

CLAIMS = (GRADIENT_OV, GRADIENT_KQ)
