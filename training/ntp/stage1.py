"""Stage 1 of Algorithm 1, W_ov on L_0: by steps, and in closed form for orthonormal tokens."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from marginaudit.margins.ntp import Exact, MaxMargin, next_indices
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.edges import Indices
from marginaudit.training.ntp.model.losses import infimum
from marginaudit.training.ntp.records import Stage1
from marginaudit.training.ntp.start import (
    Reference,
    TrainingSettings,
    Unit,
    closed_form_unit,
    ov_unit,
    require_closed_form,
    start,
)
from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate
from marginaudit.training.ntp.steps.loss import Row, rows_at
from marginaudit.training.ntp.steps.ov_loss import OV
from marginaudit.training.ntp.steps.shadow import Lockstep, Perturbed, perturbed, unlike
from marginaudit.training.ntp.steps.spaces import EmbeddedOV, TokenOV, WeightSpace
from marginaudit.training.ntp.steps.stepper import Stepper, descend

SPREAD_TOLERANCE = 1e-12
"""Largest spread of the margins of W_ov, relative to their mean, to count as one margin A."""

LAW_ROUNDING = 64 * EPS
"""Relative rounding of a recorded norm or direction."""

STAGE1_STEPS = 100_000
"""Most true steps of stage 1, followed by its closed form where that is proved."""

STAGE1_WORK = 10_000_000
"""The same in entries of W_ov, half a second; fewer steps are left to many tokens, but at least one."""


class Shadow(NamedTuple):
    """B and A with an error as large as rounding may cause; ``lost`` if that error is unbounded."""

    B: Floats
    margin: float
    lost: bool


class Stage1Result(NamedTuple):
    """Result of stage 1: W_ov as B = W_ov E^T, and its margins, all A if ``common``; no shadow with a closed form."""

    eta0: float
    rows: list[Row]
    B: Floats
    weights: Floats
    margin: float
    spread: float
    margin_error: float
    common: bool
    shadow: Shadow | None


def first_stage(
    run: TrainingSettings, eta0: float, steps1: int, at: Sequence[int], reference: Reference
) -> Stage1Result:
    """Run the steps of stage 1; for orthonormal tokens only the first ones, as the closed form gives the rest."""
    ov, iterate, unit = stage1_start(run, eta0, reference)
    space, V = ov.space, run.dataset.V
    shadow = None
    if run.orthonormal and run.normalised and V > 1:
        rows, iterate = _along_the_ray(run, ov, iterate, steps1, at, reference)
    else:
        beside = start(space, eta0, unit, normalised=run.normalised)
        rows = descend(Lockstep(ov, Perturbed(ov), beside), iterate, steps1, at, run.progress, 0)
        shadow = Shadow(
            perturbed(_scores(space, beside), space.rounding(beside)),
            _mean(ov.other_margins(beside)),
            lost=bool(np.isinf(iterate.local_error)) or unlike(iterate.weights, beside.weights),
        )
    return first_of(run, ov, iterate, rows, shadow)


def stage1_start(run: TrainingSettings, eta0: float, reference: Reference) -> tuple[OV, Iterate, Unit | None]:
    """The loss of stage 1, W_ov = 0, and the direction of W*_ov."""
    dataset = run.dataset
    space: WeightSpace = TokenOV(dataset.V) if run.orthonormal else EmbeddedOV(dataset.embeddings)
    unit = ov_unit(dataset, space, reference)
    iterate = start(space, eta0, unit, normalised=run.normalised)
    return OV(space, next_indices(dataset), iterate.reference), iterate, unit


def first_of(run: TrainingSettings, ov: OV, iterate: Iterate, rows: list[Row], shadow: Shadow | None) -> Stage1Result:
    """Result of stage 1: the last weights and their margins."""
    V, E = run.dataset.V, run.dataset.embedding
    B, margins = _scores(ov.space, iterate), ov.other_margins(iterate)
    A = _mean(margins)
    spread = float(np.abs(margins - A).max(initial=0.0))
    return Stage1Result(
        eta0=iterate.lr,
        rows=rows,
        B=B,
        weights=iterate.weights if not run.orthonormal else B if E is None else B @ E,
        margin=A,
        spread=spread,
        margin_error=_margin_error(iterate, E, A, V),
        common=A >= 0 and spread <= SPREAD_TOLERANCE * A,
        shadow=shadow,
    )


def steps_before_the_law(V: int) -> int:
    """Most true steps of a stage 1 with a closed form.

    >>> steps_before_the_law(10), steps_before_the_law(1000)
    (100000, 10)
    """
    return min(STAGE1_STEPS, max(1, STAGE1_WORK // V**2))


def _along_the_ray(
    run: TrainingSettings, ov: OV, iterate: Iterate, steps1: int, at: Sequence[int], reference: Reference
) -> tuple[list[Row], Iterate]:
    """Records and last state: by the closed form after `steps_before_the_law`, or once rounding stops the steps."""
    stepped = min(steps1, steps_before_the_law(run.dataset.V))
    rows = descend(Stepper(ov), iterate, stepped, [t for t in at if t <= stepped], run.progress, 0)
    # fewer if the steps are so long that rounding hides the next gradient
    rows = [row for row in rows if row["step"] <= iterate.moves]
    later = at[len(rows) :]
    if isinstance(reference, Exact):
        law = stage1_law(run.dataset, iterate.lr, later, reference).columns()
        rows += [{name: column[i] for name, column in law.items()} for i in range(len(later))]
    else:
        for t in later:
            rows += rows_at(ov, iterate, [(t, on_the_law(iterate, ov.answer, t), 0.0, 0.0)], "law")
    if run.progress is not None:
        run.progress(steps1)
    last = iterate.placed(steps1, on_the_law(iterate, ov.answer, steps1))
    return [_known_by_law(row, iterate.lr) for row in rows], last


def _scores(space: WeightSpace, iterate: Iterate) -> Floats:
    return iterate.along * space.scores(iterate.reference) + space.scores(iterate.rest)


def _mean(margins: Floats) -> float:
    return float(margins.mean()) if len(margins) else 0.0


def on_the_law(iterate: Iterate, answer: Indices, t: int) -> Floats:
    """rho after t steps of stage 1 on its closed form: t eta0 W*_ov / ||W*_ov|| - s What."""
    return np.asarray(iterate.lr * t * (closed_form_unit(answer).high - iterate.reference))


def _known_by_law(row: Row, eta0: float) -> Row:
    """A record of stage 1; where the rounding bound is useless, its distance from the closed form is the error."""
    t = row["step"]
    if not (t and row["distance_error"] >= 2):
        return row
    off = row["distance"] + abs(row["norm"] / (t * eta0) - 1) + LAW_ROUNDING
    if not off < 2:
        return row
    relative = off / row["distance"] if row["distance"] > 0 else np.inf
    return {**row, "distance_error": off, "error": (1 + relative) ** 2 - 1}


def _margin_error(iterate: Iterate, embedding: Floats | None, A: float, V: int) -> float:
    """Error of A = <B, C>, |C| = 1/sqrt(V-1), from that of B = W E^T, at most |E| times that of W."""
    if V == 1:
        return 0.0
    size = 1.0 if embedding is None else np.linalg.norm(embedding, 2)
    return float(size * iterate.state_error / np.sqrt(V - 1)) + V * EPS * abs(A)


def stage1_law(dataset: Dataset, eta0: float, steps: Sequence[int], ov_solution: MaxMargin) -> Stage1:
    """The record of stage 1 of normalised descent at any steps, however large.

    W*_ov has the columns e_{n(x)} - 1/V. For W a multiple of it, softmax is equal on all labels but n(x), so
    the descent direction, with columns e_{n(x)} - P(x), is a multiple of W*_ov too; from zero on,
    each step is eta0 W*_ov / ||W*_ov||. With V tokens ||W*_ov||^2 = V - 1, all margins are
    M = t eta0 / ||W*_ov||, L0 = V log(1 + (V-1) exp(-M)) and ||grad|| = V root(V-1) / (exp(M) + V - 1).

    Parameters
    ----------
    dataset : Dataset
        Of two tokens or more, its embeddings orthonormal.
    steps : sequence of int
        The recorded t, increasing.
    ov_solution : MaxMargin
        W*_ov, exact; its columns are checked.

    Raises
    ------
    ValueError
        The solution is not the exact closed form.

    >>> from marginaudit.margins.ntp import solve_ov
    >>> from marginaudit.orders.ntp import CASES
    >>> data = CASES["example-1"]()
    >>> law = stage1_law(data, 0.1, [900, 10**18], solve_ov(data))
    >>> [f"{x:.12g}" for x in (*law.norm, *law.log_loss)]
    ['90', '1e+17', '-49.4766175773', '-5.7735026919e+16']
    """
    require_closed_form(dataset, ov_solution)
    V = dataset.V
    t = np.asarray(steps, dtype=np.int64)
    norm = t.astype(np.float64) * eta0
    margin = norm / np.sqrt(V - 1)
    log_Z = infimum(V, margin)  # of Z = 1 + (V-1) exp(-M)
    with np.errstate(divide="ignore"):
        log_log_Z = np.where(log_Z > EPS, np.log(log_Z), np.log(V - 1.0) - margin)
    log_gradient = np.log(V) + np.log(V - 1.0) / 2 - margin - log_Z
    log_loss = np.log(V) + log_log_Z
    moved = norm > 0
    return Stage1(
        step=t,
        loss=np.exp(log_loss),
        log_loss=log_loss,
        norm=norm,
        one_minus_cos=np.where(moved, 0.0, np.nan),
        distance=np.where(moved, 0.0, np.nan),
        error=np.where(moved, np.inf, np.nan),
        distance_error=np.where(moved, 0.0, np.nan),
        gradient_norm=np.exp(log_gradient),
        log_gradient_norm=log_gradient,
        method=np.full(len(t), "law"),
        min_margin=margin,
        max_margin=margin,
        label_spread=np.zeros(len(t)),
    )
