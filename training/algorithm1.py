"""Algorithm 1 of arXiv 2409.17335: two-stage normalised gradient descent."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.orders import Dataset, check_assumption
from marginaudit.training.classes import sample_classes
from marginaudit.training.descent import Row, descend
from marginaudit.training.iterate import EPS, Floats, Iterate
from marginaudit.training.kq import KQ, CommonMargin, GeneralB
from marginaudit.training.ov import OV
from marginaudit.training.records import Progress, Stage1, Stage2, Training
from marginaudit.training.schedule import recorded_steps
from marginaudit.training.spaces import EmbeddedKQ, EmbeddedOV, Space, TokenKQ, TokenOV

SPREAD_TOLERANCE = 1e-9
"""Margins of W_ov that spread by no more than this, relative to their mean, count as one margin A."""


def train(
    dataset: Dataset,
    *,
    steps1: int = 900,
    steps2: int = 900,
    lr1: float | None = None,
    lr2: float | None = None,
    at: Iterable[int] | None = None,
    ov_reference: ArrayLike | None = None,
    kq_reference: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Training:
    """Two-stage normalised gradient descent, recorded against reference directions.

    From zero, W <- W - lr grad / ||grad||: ``steps1`` steps of W_ov on L0, then ``steps2`` steps of W_kq on
    Loss (eq. 1) with W_ov frozen. Where a gradient is zero or at rounding level (no sample holds two
    distinct tokens; symmetric data whose terms cancel), W stays where it is.

    Parameters
    ----------
    dataset : Dataset
        n has to be a function on the whole vocabulary; no other assumption is needed.
    steps1, steps2 : int
        T, and the length of stage 2.
    lr1, lr2 : float or None
        eta0 and eta; None for the paper's 0.2 / sqrt(V) and 0.05 / sqrt(V).
    at : iterable of int or None
        Recorded steps; each stage leaves out those beyond its own length. None: `log_spaced`.
    ov_reference, kq_reference : arrays or None
        W*_ov and W*_kq, of any norm. For orthonormal embeddings in token space, both (V, V):
        [label, token] and [key, query]; otherwise in embedding space, (V, d) and (d, d). Without one, or
        where it is 0, the directions are NaN.
    progress : callable or None
        Called with the number of steps done, both stages together.

    Returns
    -------
    Training

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    ValueError
        A step of ``at`` beyond both stages or negative; a negative number of steps; a step size that is not
        positive and finite; a reference of another shape, or not finite.

    Source: arXiv 2409.17335, Algorithm 1.

    >>> from marginaudit.orders import CASES
    >>> trained = train(CASES["example-1"](), steps1=100, steps2=3, at=[1, 2, 3])
    >>> trained.stage2.step.tolist(), trained.stage1.norm.round(12).tolist()
    ([1, 2, 3], [0.1, 0.2, 0.3])
    """
    n = dataset.collocation.require_function()
    for name, steps in (("steps1", steps1), ("steps2", steps2)):
        if steps < 0:
            raise ValueError(f"{name}: got {steps}, expected at least 0")
    eta0 = _step_size("lr1", lr1, 0.2 / np.sqrt(dataset.V))
    eta = _step_size("lr2", lr2, 0.05 / np.sqrt(dataset.V))
    at1, at2 = recorded_steps(at, steps1, steps2)
    V, E = dataset.V, dataset.embeddings
    orthonormal = check_assumption(dataset, "orthonormal").holds

    ov_space: Space = TokenOV(V) if orthonormal else EmbeddedOV(E)
    ov_iterate = _start(ov_space, eta0, "ov_reference", ov_reference)
    answer = np.array([dataset.index[n[x]] for x in dataset.vocabulary])
    ov = OV(ov_space, answer, ov_iterate.reference)
    rows1 = descend(ov, ov_iterate, steps1, at1, progress, 0)
    B = ov_iterate.along * ov_space.scores(ov_iterate.reference) + ov_space.scores(ov_iterate.rest)

    margins = ov.other_margins(ov_iterate)
    A = float(margins.mean()) if V > 1 else 0.0
    spread = float(np.abs(margins - A).max(initial=0.0))
    common = A >= 0 and spread <= SPREAD_TOLERANCE * A

    classes = sample_classes(dataset)
    pairs = classes.key, classes.pair_query
    kq_space = TokenKQ(V, *pairs) if orthonormal else EmbeddedKQ(E, *pairs)
    kq_iterate = _start(kq_space, eta, "kq_reference", kq_reference)
    what = kq_iterate.reference
    kq: KQ = CommonMargin(kq_space, classes, V, what, A) if common else GeneralB(kq_space, classes, V, what, B)
    rows2 = descend(kq, kq_iterate, steps2, at2, progress, steps1)

    S = np.zeros((V, V))
    S[kq_space.recorded_key, kq_space.recorded_query] = kq_iterate.along * kq_space.recorded(what) + kq_space.recorded(
        kq_iterate.rest
    )
    return Training(
        stage1=Stage1(**_columns(rows1, OV_COLUMNS)),
        stage2=Stage2(
            **_columns(rows2, KQ_COLUMNS),
            method=np.array([row["method"] for row in rows2], dtype=np.str_),
            scores=np.array([row["scores"] for row in rows2]).reshape(-1, len(kq_space.recorded_key)),
            key=kq_space.recorded_key,
            query=kq_space.recorded_query,
        ),
        B=B,
        S=S,
        W_ov=B @ E if orthonormal else ov_iterate.weights,
        W_kq=E.T @ S @ E if orthonormal else kq_iterate.weights,
        margin=A,
        margin_spread=spread,
        margin_error=_margin_error(ov_iterate, E, A, V),
        common_margin=common,
        classes=classes,
    )


COLUMNS = (
    "step",
    "loss",
    "log_loss",
    "norm",
    "one_minus_cos",
    "distance",
    "error",
    "distance_error",
    "gradient_norm",
    "log_gradient_norm",
)
OV_COLUMNS = (*COLUMNS, "min_margin", "max_margin", "label_spread")
KQ_COLUMNS = (*COLUMNS, "min_optimal_weight", "log_other_weight", "log_excess")


def _columns(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Any]:
    return {
        name: np.array([row[name] for row in rows], dtype=np.int64 if name == "step" else np.float64) for name in names
    }


def _step_size(name: str, given: float | None, default: float) -> float:
    size = default if given is None else given
    if not (np.isfinite(size) and size > 0):
        raise ValueError(f"{name}: got {size}, expected a positive finite step size")
    return float(size)


def _start(space: Space, lr: float, name: str, reference: ArrayLike | None) -> Iterate:
    """The zero initialisation, ready to be compared with the reference."""
    if reference is None:
        return Iterate(space.shape, lr, None)
    given = np.asarray(reference, dtype=np.float64)
    if given.shape != space.reference_shape:
        raise ValueError(f"{name}: got shape {given.shape}, expected {space.reference_shape}")
    if not np.isfinite(given).all():
        raise ValueError(f"{name}: got an entry that is not finite, expected finite numbers")
    largest = np.abs(given).max(initial=0.0)
    if largest == 0:
        return Iterate(space.shape, lr, None)
    scaled = given / largest
    inside, outside = space.enter(scaled / np.linalg.norm(scaled))
    return Iterate(space.shape, lr, inside, outside)


def _margin_error(iterate: Iterate, E: Floats, A: float, V: int) -> float:
    """A = <B, C> with |C| = 1/sqrt(V-1), and B = W E^T is off by at most |E| times the error of W."""
    if V == 1:
        return 0.0
    return float(np.linalg.norm(E, 2) * iterate.state_error / np.sqrt(V - 1)) + V * EPS * abs(A)
