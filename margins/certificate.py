"""Certificates of numerical solutions: repaired feasibility, duality gap, and a bound on the distance to W*."""

import math
from dataclasses import dataclass

import numpy as np

from marginaudit.margins.rows import Rows
from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats, gamma


@dataclass(frozen=True)
class Certificate:
    """Duality gap and violation of a solution of min ||W||^2 s.t. A w >= 1.

    Attributes
    ----------
    primal : float
        ||W||_F^2.
    dual : float
        2 sum(lam) - ||A^T lam||^2 with lam >= 0, a lower bound on the squared norm of any feasible W.
    gap : float
        primal - dual, computed without cancellation as ||W - A^T lam||^2 + 2 lam . (A w - 1).
    max_violation : float
        The largest of 1 - (A w)_r, or 0.
    """

    primal: float
    dual: float
    gap: float
    max_violation: float


@dataclass(frozen=True, eq=False)
class Certified:
    """A repaired W with its multipliers, certificate, and bounds that include rounding.

    Attributes
    ----------
    W : array of the shape of W
    multipliers : (rows,)
    relative_gap : float
        Upper bound on (P - D) / P, with P and D the primal and dual values.
    direction_radius, weight_radius : float
        Bounds on ||W/||W|| - W*/||W*||||_F and on ||W - W*||_F.
    """

    W: Floats
    multipliers: Floats
    certificate: Certificate
    relative_gap: float
    direction_radius: float
    weight_radius: float


def repaired(rows: Rows, W: Floats) -> Floats | None:
    """W scaled to meet all rows; None if a row's left-hand side is not positive beyond rounding."""
    margin, error = rows.margins(W)
    least = float(np.min(margin - error))
    return W / least if least > 0 else None


def certify(rows: Rows, W: Floats, multipliers: Floats) -> Certified | None:
    """Certify the repaired W with any multipliers, negative ones set to 0; None if it cannot be repaired.

    Some w = W/v with v near 1 is feasible. Let P = ||w||^2/2 and D be the dual value; by weak duality D <= ||w*||^2/2.
    As w* is the point of a convex set nearest to 0, <w, w*> >= ||w*||^2: hence cos(w, w*) >= ||w*||/||w|| >= sqrt(D/P),
    and ||w - w*||^2/2 <= P - D. With x = (P - D)/P the distance of the directions is at most sqrt(2 x / (1 + sqrt(1 -
    x))). The upper bound of x includes the rounding errors of every float64 sum.
    """
    scaled = repaired(rows, W)
    return None if scaled is None else enclose(rows, scaled, np.maximum(multipliers, 0.0))


def enclose(rows: Rows, scaled: Floats, lam: Floats) -> Certified | None:
    """Certify W with multipliers lam >= 0; None if a margin is not positive beyond rounding."""
    margin, margin_error = rows.margins(scaled)
    pulled, pulled_error = rows.adjoint(lam)
    residual = scaled - pulled
    slack = margin - 1
    primal = float(np.sum(scaled**2))
    gap = float(np.sum(residual**2) + 2 * (lam @ slack))
    certificate = Certificate(
        primal=primal,
        dual=float(2 * lam.sum() - np.sum(pulled**2)),
        gap=gap,
        max_violation=max(0.0, float(np.max(-slack))),
    )

    # Twice the values throughout: 2P = ||W||^2 / v^2. Each sum below has a relative error, with the rounding of its
    # terms, of at most `sums`: the residual and the slack add one rounding, of the eight allowed.
    sums = gamma(scaled.size + len(rows) + 8)
    distance = float(np.linalg.norm(np.abs(residual) + pulled_error)) * (1 + sums)
    complementarity = float(lam @ slack + lam @ margin_error)
    complementarity += sums * float(lam @ (np.abs(slack) + margin_error))
    v = min(1.0, float(np.min(margin - margin_error)))
    if v <= 0:
        return None
    shrink = (1 / v - 1) * (1 / v + 1) * (1 + sums)
    gap_bound = max(0.0, (distance**2 + 2 * complementarity + shrink * primal) * (1 + sums))
    relative = min(1.0, gap_bound / (primal * (1 - sums)) * (1 + sums))
    allowed = 1 + 16 * UNIT_ROUNDOFF
    return Certified(
        W=scaled,
        multipliers=lam,
        certificate=certificate,
        relative_gap=relative,
        direction_radius=allowed * math.sqrt(2 * relative / (1 + math.sqrt(1 - relative))),
        weight_radius=allowed * (math.sqrt(gap_bound) + (1 / v - 1) * math.sqrt(primal)),
    )
