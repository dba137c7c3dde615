"""Rates of stage 2's direction error by decade, compared with the asymptotic law."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.ntp.run import Run
from marginaudit.claims.values.json_data import finite
from marginaudit.orders.arrays import Floats

ABOVE_THE_FLOOR = 0.01
"""Largest relative error of an entry for the fits."""

NEAR_THE_LAW = 0.01
"""Relative distance from the law that defines the asymptotic regime."""

FEWEST = 5
"""Fewest entries for a decade's fit."""


def fitted_decades(step: NDArray[np.int64], gap: Floats, error: Floats, law: Floats) -> list[dict[str, Any]]:
    """Fit each decade that has at least `FEWEST` entries above the error floor.

    Parameters
    ----------
    step, gap, error, law : (records,) arrays
        t, 1 - cos, the bound on its relative error, and the law's 1 - cos (NaN if undefined).

    Returns
    -------
    list of dict
        One per decade [``start``, 10 start]: ``exponent``, the least-squares slope of log(1 - cos) against log t;
        ``exponent_without_log``, that of (1 - cos) / log^2 t, None where the decade starts at 1; ``predicted``, the
        exponent of the law at the same steps, None without a law.

    >>> t = np.array([10, 20, 30, 50, 70, 100])
    >>> [found] = fitted_decades(t, 5 / t**2, np.zeros(6), np.full(6, np.nan))
    >>> found["start"], round(found["exponent"], 9), found["predicted"]
    (10, -2.0, None)
    """
    kept = (step >= 1) & (gap > 0) & (error < ABOVE_THE_FLOOR)
    step, gap, law = step[kept].astype(float), gap[kept], law[kept]
    found = []
    for power in range(int(np.log10(step[-1])) if len(step) else 0):
        inside = (step >= 10.0**power) & (step <= 10.0 ** (power + 1))
        if inside.sum() < FEWEST:
            continue
        log_t, log_gap = np.log(step[inside]), np.log(gap[inside])
        falls = (law[inside] > 0).all()  # it is 0 on W*'s line
        found.append(
            {
                "start": 10**power,
                "exponent": _slope(log_t, log_gap),
                "exponent_without_log": _slope(log_t, log_gap - 2 * np.log(log_t)) if power else None,
                "predicted": _slope(log_t, np.log(law[inside])) if falls else None,
            }
        )
    return found


def asymptotic_from(step: NDArray[np.int64], gap: Floats, law: Floats) -> int | None:
    """The first recorded step from which on 1 - cos stays within 1 % of the law, or None.

    >>> asymptotic_from(np.array([1, 2, 3]), np.array([4.0, 1.0, 0.5]), np.array([np.nan, 1.0, 0.5]))
    2
    """
    near = np.abs(gap - law) < NEAR_THE_LAW * law
    far = np.flatnonzero(~near)
    first = int(far[-1]) + 1 if len(far) else 0
    return int(step[first]) if first < len(step) else None


def _slope(x: Floats, y: Floats) -> float:
    return float(np.polynomial.polynomial.polyfit(x, y, 1)[1])


def constants(
    step: NDArray[np.int64], norm: Floats, gap: Floats, off: Floats, eta: float, *, degenerate: bool
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Estimates of C in 1 - cos ~ C / t^2, or C log^2 t / t^2 if a tight constraint carries no multiplier.

    The first is t^2 (1 - cos). For the second, |u|^2 tends to a quadratic |X|^2 L^2 + .. in L = log t, with u the part
    of W orthogonal to W*, and C = |X|^2 / (2 eta^2). |X|^2 is estimated by the divided difference of |u|^2 over t, t/10
    and t/100, which converges like a power of 1/t; a ratio would converge like 1/log t. The records nearest to t/10 and
    t/100 are used; an entry needs three records.

    Parameters
    ----------
    step, norm, gap, off : (records,) arrays
        t >= 1, ||W||, 1 - cos and the bound on its error.

    Returns
    -------
    steps, constants, error bars : (entries,) arrays
    """
    t = step.astype(float)
    if not degenerate:
        return step, gap * t**2, off * t**2
    square, off = norm**2 * gap * (2 - gap), 2 * norm**2 * off
    later = np.flatnonzero(t >= 100 * t[0]) if len(t) else np.array([], dtype=np.int64)
    ten, hundred = (_nearest(t, t[later] / part) for part in (10, 100))
    apart = (hundred < ten) & (ten < later)
    later, ten, hundred = later[apart], ten[apart], hundred[apart]
    L0, L1, L2 = np.log(t[later]), np.log(t[ten]), np.log(t[hundred])
    first, second = (square[later] - square[ten]) / (L0 - L1), (square[ten] - square[hundred]) / (L1 - L2)
    bars = (off[later] + off[ten]) / (L0 - L1) + (off[ten] + off[hundred]) / (L1 - L2)
    scale = 2 * eta**2 * (L0 - L2)
    return step[later], (first - second) / scale, bars / scale


def _nearest(t: Floats, wanted: Floats) -> NDArray[np.int64]:
    """Index of the nearest entry by ratio, in increasing t, for each wanted t."""
    after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    return np.asarray(np.where(t[after] / wanted < wanted / t[after - 1], after, after - 1), dtype=np.int64)


def measured_constants(run: Run, *, degenerate: bool) -> tuple[NDArray[np.int64], Floats, Floats]:
    """`constants` of the run's stage 2 from its first step on."""
    stage = run.trained.stage2
    kept = stage.step >= 1
    return constants(
        stage.step[kept],
        stage.norm[kept],
        stage.one_minus_cos[kept],
        stage.distance_error[kept] * (stage.distance[kept] + stage.distance_error[kept] / 2),
        run.eta,
        degenerate=degenerate,
    )


def rates_answer(run: Run) -> dict[str, Any]:
    """The rate of stage 2's convergence in report.json: fitted exponents, law, constants, support."""
    stage, asymptotics = run.trained.stage2, run.trained.asymptotics
    decades = finite(fitted_decades(stage.step, stage.one_minus_cos, stage.error, stage.law))
    if asymptotics is None:
        missing = dict.fromkeys(("degenerate", "law", "constant_predicted", "constant_measured", "asymptotic_from"))
        return {"decades": decades, "without_multiplier": [], **missing}
    law = asymptotics.law
    _, measured, _ = measured_constants(run, degenerate=asymptotics.degenerate)
    return {
        "decades": decades,
        "degenerate": asymptotics.degenerate,
        "without_multiplier": [list(edge) for edge in asymptotics.without_multiplier],
        "law": "C log^2(t) / t^2" if asymptotics.degenerate else "C / t^2",
        "constant_predicted": None if law is None else law.constant,
        "constant_measured": finite(float(measured[-1])) if len(measured) and stage.known[-1] else None,
        "asymptotic_from": asymptotic_from(stage.step, stage.one_minus_cos, stage.law),
    }
