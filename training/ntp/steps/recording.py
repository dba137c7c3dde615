"""Records of descent: a state that steps reached, or one that was found otherwise."""

import numpy as np

from marginaudit.training.ntp.steps.iterate import Floats, Iterate
from marginaudit.training.ntp.steps.loss import Loss, Row


def row(loss: Loss, iterate: Iterate, t: int) -> Row:
    """The record of a state that steps reached."""
    direction = iterate.direction()
    gradient = loss.gradient(iterate)
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
        **loss.measure(iterate),
    }


def row_at(loss: Loss, iterate: Iterate, t: int, rest: Floats, method: str, error: float) -> Row:
    """The record of a state that no steps reached: W = s What + rest, s = lr t.

    Parameters
    ----------
    loss : Loss
    iterate : Iterate
        Any iterate of the same run.
    t : int
    rest : array of the iterate's shape
        rho.
    method : str
        What the column ``method`` says.
    error : float
        Bound on the relative error of ``one_minus_cos``; rounding of the record itself is added.
    """
    found = row(loss, iterate.placed(t, rest), t)
    found["method"] = method
    found["error"] = error + found["error"] * (1 + error)
    # |sqrt(1 +- e) - 1| <= e
    off = error * found["distance"] + found["distance_error"] * (1 + error) if np.isfinite(error) else np.inf
    found["distance_error"] = min(2.0, float(off))
    return found
