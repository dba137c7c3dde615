"""Records of descent: a state that steps reached, or one that was found otherwise."""

from collections.abc import Sequence

import numpy as np

from marginaudit.training.ntp.steps.iterate import Floats, Iterate
from marginaudit.training.ntp.steps.loss import Gradient, Loss, Row


def rows(loss: Loss, states: Sequence[tuple[int, Iterate]]) -> list[Row]:
    """The records of states that steps reached, each with its t."""
    looked = loss.looked_at([iterate for _, iterate in states])
    return [_row(iterate, t, *found) for (t, iterate), found in zip(states, looked, strict=True)]


def row(loss: Loss, iterate: Iterate, t: int) -> Row:
    """The record of a state that steps reached."""
    return rows(loss, [(t, iterate)])[0]


def _row(iterate: Iterate, t: int, gradient: Gradient, own: Row) -> Row:
    direction = iterate.direction()
    rest = iterate.rest
    downhill = np.full_like(rest, np.nan) if gradient.hidden else -gradient.value / gradient.norm
    return {
        "step": t,
        "norm": direction.norm,
        "one_minus_cos": direction.one_minus_cos,
        "distance": direction.distance,
        "error": direction.error,
        "distance_error": direction.distance_error,
        "gradient_norm": float(np.exp(gradient.log_norm)),
        "log_gradient_norm": gradient.log_norm,
        "descent_reference": float(np.sum(downhill * iterate.reference) + np.sum(downhill * iterate.reference_low)),
        "descent_rest": float(np.sum(downhill * rest)),
        "method": "steps",
        **own,
    }


def rows_at(loss: Loss, iterate: Iterate, states: Sequence[tuple[int, Floats, float]], method: str) -> list[Row]:
    """The records of states that no steps reached: W = s What + rho, s = lr t.

    Parameters
    ----------
    loss : Loss
    iterate : Iterate
        Any iterate of the same run.
    states : sequence
        Of each its t; rho, an array of the iterate's shape; and a bound on the relative error of ``one_minus_cos``, to
        which the rounding of the record itself is added.
    method : str
        What the column ``method`` says.
    """
    found = []
    for first in range(0, len(states), loss.together):
        some = states[first : first + loss.together]
        placed = rows(loss, [(t, iterate.placed(t, rest)) for t, rest, _ in some])
        found += [_put(record, method, error) for record, (_, _, error) in zip(placed, some, strict=True)]
    return found


def _put(found: Row, method: str, error: float) -> Row:
    found["method"] = method
    found["error"] = error + found["error"] * (1 + error)
    # |sqrt(1 +- e) - 1| <= e
    off = error * found["distance"] + found["distance_error"] * (1 + error) if np.isfinite(error) else np.inf
    found["distance_error"] = min(2.0, float(off))
    return found
