"""Error bars of a run's measured quantities, from the error of its weights."""

from typing import Literal

import numpy as np

from marginaudit.claims.ntp.run import Run
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import FORMULA_ROUNDING
from marginaudit.orders.arrays import Floats
from marginaudit.training.ntp import StageRecord
from marginaudit.training.ntp.steps.underflow import TINY, longest

EPS = float(np.finfo(float).eps)


def state_error(stage: StageRecord) -> Floats:
    """Bound on the distance of each recorded W from the exact trajectory, shape (records,).

    ``distance_error`` is at least that distance over ||W||, and 2 or NaN if unknown. The start is exact.
    """
    known = stage.distance_error < 2
    error = np.where(known, np.where(known, stage.distance_error, 0.0) * stage.norm, np.inf)
    return np.where(stage.step == 0, 0.0, error)


def _carried(run: Run, stage: StageRecord, tokens: Literal[1, 2]) -> Floats:
    """Bound on the error of products of W with one or two tokens: 0 if all tokens are zero."""
    size = 1.0 if run.dataset.embedding is None else longest(run.dataset.embedding)
    return max(size**tokens, TINY) * state_error(stage) if size > 0 else np.zeros(len(stage))


def margin_error(run: Run, stage: StageRecord) -> Floats:
    """Bound on the error of each (e_{n(x)} - e_v)^T W x of a record of stage 1, shape (records,)."""
    return np.asarray(np.sqrt(2) * _carried(run, stage, 1) + FORMULA_ROUNDING * stage.norm)


@once_a_run
def score_error(run: Run) -> Floats:
    """Bound on the error of each difference (x - z)^T W q of two scores of one query of stage 2, shape (records,).

    The error of W times |x - z| |q|, and the rounding of s What + rho and of their differences; 0 at the start.
    """
    stage = run.training.stage2
    largest = np.maximum(stage.rest.max(axis=1, initial=0.0), -stage.rest.min(axis=1, initial=0.0))
    size = stage.along * np.abs(stage.reference).max(initial=0.0) + largest
    error = 2 * _carried(run, stage, 2) + EPS * (16 * size + 64)
    return np.where(stage.step == 0, 0.0, error)


def moved_attention(error: Floats, log_other: Floats) -> Floats:
    """Bound on the error of a difference Phi_z - Phi_y of two labels' attention in one sentence.

    An ``error`` of score differences changes the weight of labels other than y, exp(``log_other``), by a factor of at
    most exp(error), and Phi by the integral of Phi (1 - Phi) <= 1/4. 16 EPS cover the sum of Phi.

    >>> moved_attention(np.array([1e-9, np.inf]), np.array([-40.0, -40.0])).round(12).tolist()
    [0.0, 2.0]
    """
    with np.errstate(over="ignore"):
        other = np.exp(np.minimum(log_other + error, 0.0))
    return np.asarray(np.minimum(error / 2, 2 * other * np.minimum(error, 1.0)) + 16 * EPS)


def log_excess_error(run: Run) -> Floats:
    """Bound on the error of log(Loss - infimum) at each record of stage 2; the margins of W_ov are one A.

    A sample's excess is log(1 + Q), Q proportional to sum_v (exp(A x_v) - 1) with x_v = 1 - Phi_y + Phi_v, at most
    twice the other tokens' weight w. An error e of score differences is an error e of log x_v, and of at most e A x /
    (1 - exp(-A x)) <= (1 + A x) e of log(exp(A x) - 1), which bounds that of the log excess. An error of A adds at most
    2 + 2 w + 1/A times as much.
    """
    training, stage = run.training, run.training.stage2
    error = score_error(run)
    with np.errstate(over="ignore"):
        w = np.exp(np.minimum(stage.log_other_weight + error, 0.0))
    of_scores = (error + 16 * EPS) * (1 + 2 * training.margin * w)
    of_margin = training.margin_error * (2 + 2 * w + 1 / training.margin)
    finite = np.where(np.isfinite(stage.log_excess), stage.log_excess, 0.0)
    return np.asarray(of_scores + of_margin + log_rounding(finite))


def log_rounding(value: Floats) -> Floats:
    """Rounding of the logarithm of a sum over samples and tokens of positive terms, each from a few operations."""
    return FORMULA_ROUNDING * np.maximum(1, np.abs(value))
