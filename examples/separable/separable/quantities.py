"""What claims measure along s = log t, from t = 16 on, with error bars; formulas that cancel nothing at large s.

The bar r of w carries over: norms by r, x_n.w by R r, a unit vector by 2 r/|w|, the rest by the rules of products.
"""

from collections.abc import Callable

import numpy as np

from marginaudit.reports import NotFollowed
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import Series, series
from separable.descent import EPS, Floats, log_loss
from separable.run import FIRST, DescentRun, Path, normalized, polynomial

Measure = Callable[[DescentRun], Series]

CLOCK = "log t"

ROUNDING = 64 * EPS
"""Of a few dozen operations."""


def late(run: DescentRun) -> Path:
    """The path from t = 16 on."""
    if run.path.ended:
        raise NotFollowed(run.path.ended)
    return run.path.since(np.log(FIRST) - 1e-9)


def _series(run: DescentRun, value: Floats, radius: Floats, *, log: bool = False) -> Series:
    return series(value, radius=radius + ROUNDING * np.abs(value), step=late(run).s, log=log, clock=CLOCK)


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


def residual(run: DescentRun) -> Series:
    """|rho|."""
    found = late(run)
    return _series(run, np.linalg.norm(found.rho, axis=1), found.radius)


def residual_margin(run: DescentRun) -> Series:
    """exp(R |rho|), as a logarithm: bounded with rho, and of order log t or more where rho is not."""
    found = late(run)
    return _series(run, run.R * np.linalg.norm(found.rho, axis=1), run.R * found.radius, log=True)


def norm(run: DescentRun) -> Series:
    """|w|."""
    return _series(run, parts(run)[2], late(run).radius)


def least_margin(run: DescentRun) -> Series:
    """min_n x_n.w."""
    found = late(run)
    return _series(run, found.s + margins(run).min(axis=1), run.R * found.radius)


def loss(run: DescentRun) -> Series:
    """L, as a logarithm: it changes by the factor exp(R r) at most."""
    found = late(run)
    each = log_loss(margins(run) + found.s[:, None], run.config.loss)
    top = each.max(axis=1)
    total = top + np.log(np.exp(each - top[:, None]).sum(axis=1))
    return _series(run, total, run.R * found.radius, log=True)


def minus_log_loss(run: DescentRun) -> Series:
    """-log L."""
    found = loss(run)
    return _series(run, -found.value, found.radius)


def loss_times_t(run: DescentRun) -> Series:
    """t L, as a logarithm."""
    found = loss(run)
    return _series(run, found.value + late(run).s, found.radius, log=True)


def natural(measure: Measure) -> Measure:
    """A quantity that is measured as a logarithm."""

    def of(run: DescentRun) -> Series:
        found = measure(run)
        with np.errstate(over="ignore"):
            return _series(run, np.exp(found.value), np.exp(found.value + found.radius) - np.exp(found.value))

    return of


def direction(run: DescentRun) -> Series:
    """|w/|w| - w^/|w^||, = 2 sin(angle/2)."""
    along, across, length = parts(run)
    angle = np.arctan2(across, run.norm * late(run).s + along)
    return _series(run, 2 * np.sin(angle / 2), 2 * late(run).radius / length)


def angle(run: DescentRun) -> Series:
    """1 - cos of the angle, = |w/|w| - w^/|w^||^2 / 2."""
    found = direction(run)
    return _series(run, found.value**2 / 2, found.radius * (found.value + found.radius / 2))


def cosine(run: DescentRun) -> Series:
    """The cosine of the angle."""
    found = angle(run)
    return _series(run, 1 - found.value, found.radius)


def margin_gap(run: DescentRun) -> Series:
    """1/|w^| - min_n x_n.w/|w|."""
    (along, across, length), found = parts(run), late(run)
    ahead = run.norm * found.s + along
    more = np.where(ahead > 0, across**2 / (length + np.abs(ahead)), length - ahead)
    gap = ((along + more) / run.norm - margins(run).min(axis=1)) / length
    return _series(run, gap, (run.R + 2 / run.norm) * found.radius / length + ROUNDING / length)


def inverse(measure: Measure) -> Measure:
    """1 + the inverse of a quantity, which tends to 1 as that tends to infinity."""

    def of(run: DescentRun) -> Series:
        found = measure(run)
        x, r = found.value, found.radius
        with np.errstate(divide="ignore"):
            return _series(run, 1 + 1 / x, np.where(x > r, r / (x * (x - r)), np.inf))

    return of


def times(measure: Measure, power: int = 1) -> Measure:
    """A quantity times (log t)^power."""

    def of(run: DescentRun) -> Series:
        found = measure(run)
        factor = late(run).s ** power
        return _series(run, found.value * factor, found.radius * factor)

    return of


def from_one(run: DescentRun, apart: Floats) -> Series:
    """1 + the length of each row over |w^|, whose limit 1 is that of a distance to 0."""
    return _series(run, 1 + np.linalg.norm(apart, axis=1) / run.norm, late(run).radius / run.norm)


def held_out_loss(run: DescentRun) -> Series:
    """The loss of the held-out point furthest on the wrong side, as a logarithm."""
    found, (x, product) = late(run), run.dataset.wrong_side
    value = log_loss(found.s * product + found.rho @ x, "logistic")
    return _series(run, value, np.linalg.norm(x) * found.radius, log=True)


def polynomial_cosine(run: DescentRun, direction: Floats) -> Series:
    """Of w under the polynomial tail with a direction of length 1; the bar of q carries over as 2 r/|q|."""
    found = polynomial(run).since(np.log(FIRST) - 1e-9)
    length = np.linalg.norm(found.rho, axis=1)
    apart = np.linalg.norm(found.rho / length[:, None] - direction, axis=1)
    bar = 2 * found.radius / length
    return series(1 - apart**2 / 2, radius=bar * (apart + bar / 2) + ROUNDING, step=found.s, clock=CLOCK)


def normalized_gap(run: DescentRun) -> Series:
    """The margin gap of normalised descent, along t."""
    t, w, radius = normalized(run)
    keep = t >= FIRST
    t, w, radius = t[keep], w[keep], radius[keep]
    length = np.linalg.norm(w, axis=1)
    gap = 1 / run.norm - (w @ run.dataset.signed.T).min(axis=1) / length
    return series(gap, radius=2 * run.R * radius / length + ROUNDING * (1 / run.norm + run.R), step=t)
