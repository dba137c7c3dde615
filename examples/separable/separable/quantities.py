"""Measured quantities along s = log t, from t = 16 on, with error bars; formulas without cancellation at large s.

The bar r of w carries over: norms by r, x_n.w by R r, a unit vector by 2 r/|w|, the rest by the rules of products.
"""

from collections.abc import Callable

import numpy as np

from marginaudit.claims import NotFollowed
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from separable.descent import Floats, log_loss
from separable.run import FIRST, DescentPath, DescentRun, normalized, polynomial

Measure = Callable[[DescentRun], Series]

CLOCK = "log t"


def late(run: DescentRun) -> DescentPath:
    """The path from t = 16 on."""
    if run.ended:
        raise NotFollowed(run.ended)
    return run.path.since(np.log(FIRST) - 1e-9)


def _series(run: DescentRun, value: Floats, radius: Floats, *, log: bool = False) -> Series:
    return series(value, radius=radius + FORMULA_ROUNDING * np.abs(value), step=late(run).s, log=log, clock=CLOCK)


def changed(
    measure: Measure, change: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]], log: bool = False
) -> Measure:
    """A quantity whose values, with their bars, are made of those of another one and of log t."""

    def of(run: DescentRun) -> Series:
        found = measure(run)
        with np.errstate(over="ignore", divide="ignore"):
            return _series(run, *change(found.value, found.radius, late(run).s), log=log)

    return of


def inverse(measure: Measure) -> Measure:
    """1 + the inverse of a quantity, which tends to 1 as that tends to infinity."""
    return changed(measure, lambda x, r, s: (1 + 1 / x, np.where(x > r, r / (x * (x - r)), np.inf)))


def times(measure: Measure, power: int = 1) -> Measure:
    """A quantity times (log t)^power."""
    return changed(measure, lambda x, r, s: (x * s**power, r * s**power))


@once_a_run
def parts(run: DescentRun) -> tuple[Floats, Floats, Floats]:
    """rho along w^/|w^|, the length of the rest of rho, and |w|."""
    found = late(run)
    along = found.rho @ run.what / run.norm
    across = np.linalg.norm(found.rho - np.outer(along, run.what) / run.norm, axis=1)
    return along, across, np.hypot(run.norm * found.s + along, across)


def margins(run: DescentRun) -> Floats:
    """x_n.w - s, shape (entries, N)."""
    found = late(run)
    return np.outer(found.s, run.slack) + found.rho @ run.dataset.signed.T


def measured(formula: Callable[[DescentRun, DescentPath], tuple[Floats, Floats]], *, log: bool = False) -> Measure:
    """A quantity whose formula answers values and bars along the late path."""
    return lambda run: _series(run, *formula(run, late(run)), log=log)


residual = measured(lambda run, path: (np.linalg.norm(path.rho, axis=1), path.radius))
"""|rho|."""

residual_margin = measured(lambda run, path: (run.R * np.linalg.norm(path.rho, axis=1), run.R * path.radius), log=True)
"""exp(R |rho|), as a logarithm: bounded with rho, and of order log t or more where rho is not."""

norm = measured(lambda run, path: (parts(run)[2], path.radius))
"""|w|."""

least_margin = measured(lambda run, path: (path.s + margins(run).min(axis=1), run.R * path.radius))
"""min_n x_n.w."""


def loss(run: DescentRun) -> Series:
    """L, as a logarithm: it changes by the factor exp(R r) at most."""
    found = late(run)
    each = log_loss(margins(run) + found.s[:, None], run.config.loss)
    top = each.max(axis=1)
    total = top + np.log(np.exp(each - top[:, None]).sum(axis=1))
    return _series(run, total, run.R * found.radius, log=True)


minus_log_loss = changed(loss, lambda x, r, s: (-x, r))
"""-log L."""

loss_times_t = changed(loss, lambda x, r, s: (x + s, r), log=True)
"""t L, as a logarithm."""


def direction(run: DescentRun) -> Series:
    """|w/|w| - w^/|w^||, = 2 sin(angle/2)."""
    along, across, length = parts(run)
    angle = np.arctan2(across, run.norm * late(run).s + along)
    return _series(run, 2 * np.sin(angle / 2), 2 * late(run).radius / length)


angle = changed(direction, lambda x, r, s: (x**2 / 2, r * (x + r / 2)))
"""1 - cos of the angle, = |w/|w| - w^/|w^||^2 / 2."""

cosine = changed(angle, lambda x, r, s: (1 - x, r))
"""The cosine of the angle."""


def margin_gap(run: DescentRun) -> Series:
    """1/|w^| - min_n x_n.w/|w|."""
    (along, across, length), found = parts(run), late(run)
    ahead = run.norm * found.s + along
    more = np.where(ahead > 0, across**2 / (length + np.abs(ahead)), length - ahead)
    gap = ((along + more) / run.norm - margins(run).min(axis=1)) / length
    return _series(run, gap, (run.R + 2 / run.norm) * found.radius / length + FORMULA_ROUNDING / length)


def to_limit(run: DescentRun, *, inside: bool = False) -> Series:
    """1 + |rho - w~|/|w^|, which tends to 1; or that within the span of the support vectors."""
    apart = late(run).rho - run.limit
    apart = apart - run.outside(apart) if inside else apart
    return _series(run, 1 + np.linalg.norm(apart, axis=1) / run.norm, late(run).radius / run.norm)


def held_out_loss(run: DescentRun) -> Series:
    """The logistic loss of the held-out point furthest on the wrong side."""
    found, (x, product) = late(run), run.dataset.wrong_side
    return _series(run, np.logaddexp(0.0, -found.s * product - found.rho @ x), np.linalg.norm(x) * found.radius)


def polynomial_cosine(run: DescentRun) -> Series:
    """Cosine between w under the polynomial tail and w^; the bar of q carries over as 2 r/|q|."""
    if not np.isfinite(run.norm):
        raise NotFollowed("w^ is beyond float64")
    found = polynomial(run).since(np.log(FIRST) - 1e-9)
    length = np.linalg.norm(found.rho, axis=1)
    apart = np.linalg.norm(found.rho / length[:, None] - run.what / run.norm, axis=1)
    bar = 2 * found.radius / length
    return series(1 - apart**2 / 2, radius=bar * (apart + bar / 2) + FORMULA_ROUNDING, step=found.s, clock=CLOCK)


def normalized_gap(run: DescentRun) -> Series:
    """The margin gap of normalised descent, along t."""
    t, w, radius = normalized(run)
    keep = t >= FIRST
    t, w, radius = t[keep], w[keep], radius[keep]
    length = np.linalg.norm(w, axis=1)
    gap = 1 / run.norm - (w @ run.dataset.signed.T).min(axis=1) / length
    return series(gap, radius=2 * run.R * radius / length + FORMULA_ROUNDING * (1 / run.norm + run.R), step=t)
