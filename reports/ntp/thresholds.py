"""Steps from which t is at least a multiple of a power of log t."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import flint


def last_crossing(factor: float, power: int) -> float:
    """The t >= 2 from which on t >= factor log^power t.

    >>> round(last_crossing(10, 1), 6)
    35.771521
    >>> last_crossing(0.1, 2)
    2.0
    """
    from scipy.optimize import brentq

    def excess(log_t: float) -> float:
        return log_t - float(np.log(factor)) - power * float(np.log(log_t))

    if excess(power) >= 0:
        return 2.0
    beyond = 2.0 * power
    while excess(beyond) <= 0:
        beyond *= 2
    return max(2.0, float(np.exp(brentq(excess, power, beyond, xtol=1e-13, rtol=1e-13))))


def least_log_t(kappa: "flint.arb") -> "flint.arb | None":
    """A lower bound on log t wherever t >= kappa log^2 t, t >= 2, or None: docs/proofs.md, section 16.4, step 1."""
    import flint

    if not kappa >= 5:
        return None
    log_t = flint.arb(2)
    for _ in range(3):
        log_t = kappa.log() + 2 * log_t.log()
    return log_t
