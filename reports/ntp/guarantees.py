"""Bounds at any step and any T from `sharp.lemma6` and `sharp.theorem1`, proved in docs/proofs.md."""

import math

import numpy as np

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.reports.judgements.bounded import Steps
from marginaudit.reports.ntp.run import Run

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3


def direction_bound(run: Run, t: Steps) -> Steps:
    """The bound of `sharp.theorem1` on 1 - cos(W_kq^(t), W*_kq); it falls with t."""
    data, norm, eta = run.dataset, run.norm_kq, run.eta
    logs = np.log(2.0) + 3 * np.log(data.L_max) + math.log(sum(data.counts)) - math.log(min(data.counts))
    whole = (2 * norm**3 * logs + eta * norm**2) * (1 + np.log(t)) + np.sqrt(2) * eta * norm
    return np.asarray(whole / (t * eta))


def _proved(run: Run) -> bool:
    return all(run.assumption(name).holds for name in ASSUMPTIONS)


def direction(run: Run, t: Steps) -> Steps:
    """An upper bound on 1 - cos(W_kq^(t), W*_kq): that of `sharp.theorem1`; inf where an assumption of it fails."""
    return direction_bound(run, t) if _proved(run) else np.full_like(t, np.inf)


def norm_bound(run: Run, t: Steps) -> Steps:
    """The bound of `sharp.lemma6` on ||W_kq^(t)|| from below."""
    return np.asarray(t * run.eta / (np.sqrt(2) * run.norm_kq))


def least_norm(run: Run, t: Steps) -> Steps:
    """A lower bound on ||W_kq^(t)||: that of `sharp.lemma6`; 0 where an assumption of it fails."""
    return np.asarray(norm_bound(run, t) * _proved(run))


def largest_norm(run: Run, t: Steps) -> Steps:
    """t eta, an upper bound on the norm of a sum of t steps of that length."""
    return np.asarray(t * run.eta)


def margin(run: Run, t: Steps) -> Steps:
    """A lower bound on every (o - x)^T W_kq^(t) q, o the optimal token of a sample and x another one of it.

    The direction is within sqrt(2 b) of What, b the bound on 1 - cos, and ||o - x|| = sqrt 2; so the margin is
    at least ||W|| (1/||W*|| - 2 sqrt b), with ||W|| >= t eta/(sqrt 2 ||W*||) (`sharp.lemma6`). Where b leaves
    less than half of 1/||W*||, and where an assumption of the two statements fails, -inf: no guarantee.
    """
    if not _proved(run):
        return np.full_like(t, -np.inf)
    norm = run.norm_kq
    near = 2 * np.sqrt(direction_bound(run, t)) <= 1 / (2 * norm)
    return np.asarray(np.where(near, t * run.eta / (2 * np.sqrt(2) * norm**2), -np.inf))


def log_other_weight(run: Run, t: Steps) -> Steps:
    """An upper bound on log(1 - summed optimal weight): at most L_max - 1 other positions, each exp(-margin)."""
    with np.errstate(divide="ignore"):
        odds = np.log(run.dataset.L_max - 1) - margin(run, t)
    return np.asarray(-np.logaddexp(0, -odds))


def log_loss(run: Run, t: Steps) -> Steps:
    """An upper bound on log Loss: (V - 1) exp(-A (2 weight - 1)), A = T eta0/||W*_ov||."""
    A = run.config.steps1 * run.eta0 / run.norm_ov
    weight = -np.expm1(log_other_weight(run, t))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(run.dataset.V - 1) - A * (2 * weight - 1))
