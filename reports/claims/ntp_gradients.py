"""Appendix A of arXiv 2409.17335: the closed forms of both gradients."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.claim import ASSUMPTION_1, ASSUMPTION_2, Claim
from marginaudit.reports.judgements import Equal
from marginaudit.reports.run import Run
from marginaudit.reports.series import Series, series
from marginaudit.training import loss_gradient, stage1_loss, stage1_loss_gradient, stage2_loss

Matrix: TypeAlias = NDArray[np.float64]

SCALES = (0.0, 1.0, 3.0)
"""Standard deviations of the entries of the random weights at which the gradients are compared."""

DIRECTIONS = 6
COMPLEX_STEP = 1e-30
"""Im f(W + i h D)/h is the derivative along D to rounding: nothing is subtracted."""


def _points(run: Run, *shapes: tuple[int, int]) -> Iterator[tuple[float, list[Matrix], Matrix]]:
    """Random weights of the given shapes, with a direction of the last one's shape and norm 1."""
    rng = np.random.default_rng(2409_17335)
    for scale in SCALES:
        weights = [scale * rng.standard_normal(shape) for shape in shapes]
        for _ in range(DIRECTIONS):
            direction = rng.standard_normal(shapes[-1])
            yield scale, weights, direction / np.linalg.norm(direction)


def _ov_points(run: Run) -> list[tuple[float, list[Matrix], Matrix]]:
    return list(_points(run, (run.dataset.V, run.dataset.embeddings.shape[1])))


def _kq_points(run: Run) -> list[tuple[float, list[Matrix], Matrix]]:
    V, d = run.dataset.embeddings.shape
    return list(_points(run, (V, d), (d, d)))


def _printed(run: Run, points: list[tuple[float, list[Matrix], Matrix]], gradient: Callable[..., Matrix]) -> Series:
    """The printed gradient along each direction."""
    values = [np.vdot(gradient(run.dataset, *weights), direction) for _, weights, direction in points]
    return series(values, radius=_rounding(run, points, gradient), label=_labels(points))


def _derivative(
    run: Run,
    points: list[tuple[float, list[Matrix], Matrix]],
    loss: Callable[..., complex],
    gradient: Callable[..., Matrix],
) -> Series:
    """The loss's own derivative along each direction, by complex step."""
    values = [
        np.imag(loss(run.dataset, *weights[:-1], weights[-1] + 1j * COMPLEX_STEP * direction)) / COMPLEX_STEP
        for _, weights, direction in points
    ]
    return series(values, radius=_rounding(run, points, gradient))


def _sizes(
    run: Run, points: list[tuple[float, list[Matrix], Matrix]], gradient: Callable[..., Matrix]
) -> NDArray[np.float64]:
    return np.array([np.linalg.norm(gradient(run.dataset, *weights)) for _, weights, _ in points])


def _rounding(
    run: Run, points: list[tuple[float, list[Matrix], Matrix]], gradient: Callable[..., Matrix]
) -> NDArray[np.float64]:
    """Rounding of sums over samples, positions and labels, relative to the largest logit and the gradient."""
    data = run.dataset
    operations = data.N + data.L_max + data.V + data.embeddings.shape[1]
    size = float(np.abs(data.embeddings).max())
    logits = np.array([1 + np.abs(weights[0]).max() * size for _, weights, _ in points])
    return np.asarray(np.finfo(float).eps * operations * logits * np.maximum(_sizes(run, points, gradient), size))


def _labels(points: list[tuple[float, list[Matrix], Matrix]]) -> tuple[str, ...]:
    return tuple(
        f"entries of deviation {scale:g}, direction {i % DIRECTIONS + 1}" for i, (scale, _, _) in enumerate(points)
    )


GRADIENT_OV = Claim(
    id="ntp.gradient.ov",
    source="arXiv 2409.17335, eq. 5",
    statement="grad L0 = sum_x (P(x) - e_{n(x)}) x^T, at any W_ov; compared with the loss's derivative at random W_ov.",
    formula=r"\nabla_{W_{ov}}L_0=\sum_{x\in\mathcal V}\left(P(x)-e_{n(x)}\right)x^\top",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Equal(
        measure=lambda run: _printed(run, _ov_points(run), stage1_loss_gradient),
        expected=lambda run: _derivative(run, _ov_points(run), stage1_loss, stage1_loss_gradient),
        scale=lambda run: np.maximum(_sizes(run, _ov_points(run), stage1_loss_gradient), 1e-3),
    ),
)

GRADIENT_KQ = Claim(
    id="ntp.gradient.kq",
    source="arXiv 2409.17335, eq. 6",
    statement=(
        "grad Loss = sum_n pi_n X_n (diag(phi) - phi phi^T) X_n^T W_ov^T (P - e_y) q^T, at any W_ov, W_kq and on any "
        "data; compared with the loss's derivative at random W_ov, W_kq."
    ),
    formula=(
        r"\nabla_{W_{kq}}\mathcal L=\sum_n\pi_n X_n\left(\mathrm{diag}(\varphi)-\varphi\varphi^\top\right)"
        r"X_n^\top W_{ov}^\top\left(P-e_y\right)q^\top"
    ),
    assumptions=(),
    judgement=Equal(
        measure=lambda run: _printed(run, _kq_points(run), loss_gradient),
        expected=lambda run: _derivative(run, _kq_points(run), stage2_loss, loss_gradient),
        scale=lambda run: np.maximum(_sizes(run, _kq_points(run), loss_gradient), 1e-3),
    ),
)

CLAIMS = (GRADIENT_OV, GRADIENT_KQ)
