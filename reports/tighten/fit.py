"""Smallest valid constant of a bound, and fitted powers of its factors with confidence intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marginaudit.claims.judgements.slack import Side
from marginaudit.claims.series import position
from marginaudit.orders import counted
from marginaudit.orders.arrays import Floats
from marginaudit.reports.tighten.measure import Entries, Measured

CONFIDENCE = 0.95

VARIES_WITH_OTHERS = 0.99
"""Largest R^2 of a factor regressed on the earlier ones; above it (interval 10 times as wide) no power is fitted."""

NOT_VARIED = 1e-9
"""Largest sum of squared logarithms of a constant factor: relative differences of about 1e-5."""

WIDEST = 2.0
"""Longest interval that supports a power although it contains both 0 and the bound's power."""

POINTS = 50
"""Points of the logarithmic grid for comparing runs."""

SHOWN = 0.005
"""Half a unit in the second decimal of a power."""


@dataclass(frozen=True)
class Exponent:
    """Fitted power of a factor in the measured quantity and in the bound, over the same runs.

    Attributes
    ----------
    range : (least, most)
    interval : (low, high), or None
    decades : float or None
        Growth of the room in powers of ten, from the factor's least value to its largest.
    no_support : str
        Reason why the data support no power, or "".
    """

    factor: str
    range: tuple[float, float]
    measured: float | None = None
    bound: float | None = None
    interval: tuple[float, float] | None = None
    decades: float | None = None
    no_support: str = ""


@dataclass(frozen=True)
class Nearest:
    """Run and entry with the least room."""

    dataset: str
    settings: Mapping[str, float]
    step: int | float | None
    label: str
    verdict: str


@dataclass(frozen=True)
class Tightened:
    """Constant, nearest dataset and exponents of one side of a bound.

    Attributes
    ----------
    side : "upper" or "lower"
    constant : float
        Smallest valid factor on an upper bound (largest, for a lower one): with it the bound holds at all entries of
        these runs to which the statement applies, including error bars.
    informative : float or None
        The same over entries with an informative bound.
    window : (first, last) or None
        Range of common steps for fitting powers; None with fewer than two, then powers are fitted at the entry of each
        run with the least room.
    window_informative : bool
        Whether the bound is informative in the window.
    unknown : int
        Number of excluded entries with infinite error bars.
    """

    side: Side
    constant: float
    informative: float | None
    nearest: Nearest
    clock: str
    window: tuple[float, float] | None
    window_informative: bool
    exponents: tuple[Exponent, ...]
    unknown: int

    @property
    def room(self) -> float:
        """Powers of ten by which the bound could be tightened; negative if the bound fails."""
        with np.errstate(divide="ignore"):
            return float(np.log10(self.constant)) * (-1 if self.side == "upper" else 1)


def tightened(side: Side, runs: Sequence[Measured]) -> Tightened:
    """Constant, nearest dataset and exponents of one side of a bound."""
    of = [run.sides[side] for run in runs]
    near = _worst(side, np.array([entries.ratio[_worst(side, entries.ratio)] for entries in of]))
    entries, case = of[near], runs[near].case
    at = _worst(side, entries.ratio)
    nearest = Nearest(
        case.dataset.name,
        case.settings,
        None if np.isnan(entries.step[at]) else position(entries.step[at]),
        entries.label[at] if entries.label else "",
        runs[near].finding.verdict,
    )
    within_range = np.concatenate([entries.ratio[entries.informative] for entries in of])
    with np.errstate(over="ignore"):
        constant = float(np.exp(entries.ratio[at]))
        informative = float(np.exp(within_range[_worst(side, within_range)])) if len(within_range) else None
    window, window_informative = _window(of)
    return Tightened(
        side,
        constant,
        informative,
        nearest,
        runs[near].clock,
        window,
        window_informative,
        _exponents(side, runs, of, window, window_informative),
        sum(entries.unknown for entries in of),
    )


def _worst(side: Side, ratio: Floats) -> int:
    """Index of the entry with the least room."""
    return int(np.argmax(ratio) if side == "upper" else np.argmin(ratio))


def _usable(entries: Entries, informative: bool) -> Any:
    """Mask of entries whose value, bound and step have logarithms; with ``informative``, also an informative bound."""
    kept = np.isfinite(entries.bar) & np.isfinite(entries.bound) & ~(entries.step <= 0)
    return kept & entries.informative if informative else kept


def _window(of: Sequence[Entries]) -> tuple[tuple[float, float] | None, bool]:
    """Range of steps common to all runs, and whether it is restricted to steps with an informative bound."""
    for informative in (True, False):
        steps = [entries.step[_usable(entries, informative)] for entries in of]
        if all(len(step) > 1 for step in steps):
            low, high = max(step[0] for step in steps), min(step[-1] for step in steps)
            if 0 < low < high:
                return (float(low), float(high)), informative
    return None, all(_usable(entries, True).any() for entries in of)


def _exponents(
    side: Side, runs: Sequence[Measured], of: Sequence[Entries], window: tuple[float, float] | None, informative: bool
) -> tuple[Exponent, ...]:
    """Powers of the clock, if there is a window, and of the other factors over the window's steps.

    Without a window, each run contributes its entry with the least room.
    """
    found = []
    if window is None:
        at = [_nearest_usable(side, entries, informative) for entries in of]
        kept = [i for i, entry in enumerate(at) if entry is not None]
        levels = np.array([[line[at[i]] for line in (of[i].measured, of[i].bar, of[i].bound)] for i in kept])
    else:
        clock = np.linspace(float(np.log(window[0])), float(np.log(window[1])), POINTS)
        kept = list(range(len(runs)))
        lines = np.array([_along(entries, informative, clock) for entries in of])
        found.append(_of_clock(side, runs[0].clock, window, clock, lines))
        levels = lines.mean(axis=2)
    if len(kept):
        found += _of_factors(side, [runs[i] for i in kept], levels)
    return tuple(found)


def _nearest_usable(side: Side, entries: Entries, informative: bool) -> int | None:
    """Index of the usable entry with the least room, or None."""
    usable = np.flatnonzero(_usable(entries, informative))
    return int(usable[_worst(side, entries.ratio[usable])]) if len(usable) else None


def _along(entries: Entries, informative: bool, clock: Floats) -> Floats:
    """Measured value, error bar and bound, interpolated linearly on a logarithmic clock."""
    kept = _usable(entries, informative)
    step = np.log(entries.step[kept])
    return np.array([np.interp(clock, step, line[kept]) for line in (entries.measured, entries.bar, entries.bound)])


def _of_clock(side: Side, name: str, window: tuple[float, float], clock: Floats, lines: Floats) -> Exponent:
    """Power of the clock: the mean of the runs' slopes, with an interval.

    A line bends if the slopes of its two halves differ by more than error bars explain and rounding to two decimals
    hides. Then no power is supported, and the interval covers all slopes of halves.
    """
    half = POINTS // 2
    whole, first, second = (
        _slopes(clock[part], lines[:, :, part]) for part in (slice(None), slice(half), slice(half, None))
    )
    mean = _exponent(side, name, window, np.ones((len(lines), 1)), 0, whole)
    bent = int((np.abs(second[0] - first[0]) > first[1] + second[1] + SHOWN).sum())
    if not bent:
        return mean
    slopes = np.hstack([whole, first, second])
    interval = float((slopes[0] - slopes[1]).min()), float((slopes[0] + slopes[1]).max())
    why_not = f"the line bends in {bent} of {counted(len(lines), 'run')}, and the interval holds all slopes of halves"
    return replace(mean, interval=interval, no_support=why_not)


def _slopes(clock: Floats, lines: Floats) -> Floats:
    """Least-squares slopes over a piece of the clock, by run: measured, its largest shift by error bars, bound."""
    slope = (clock - clock.mean()) / ((clock - clock.mean()) ** 2).sum()
    return np.array([lines[:, 0] @ slope, lines[:, 1] @ np.abs(slope), lines[:, 2] @ slope])


def _of_factors(side: Side, runs: Sequence[Measured], levels: Floats) -> list[Exponent]:
    """Powers of all factors, from one regression with a constant per group of datasets."""
    groups = [run.case.group for run in runs]
    own = np.array([[group == one for one in dict.fromkeys(groups)] for group in groups], dtype=float)
    columns, places, reasons = own, dict[str, int](), dict[str, str]()
    values = {name: np.array([run.factors[name] for run in runs]) for name in runs[0].factors}
    for name, found in values.items():
        if not (found > 0).all():
            reasons[name] = f"it is not {'known' if np.isnan(found).any() else 'above 0'} in every run"
            continue
        logs = np.log(found)
        varies, left = _unexplained(logs, own), _unexplained(logs, columns)
        if varies < NOT_VARIED:
            reasons[name] = "it did not vary"
        elif left < (1 - VARIES_WITH_OTHERS) * varies:
            reasons[name] = "it varied only together with the factors above"
        elif columns.shape[1] + 1 >= len(runs):
            reasons[name] = "too few datasets"
        else:
            places[name] = columns.shape[1]
            columns = np.column_stack([columns, logs])
    ends = {name: (float(found.min()), float(found.max())) for name, found in values.items()}
    return [
        Exponent(name, between, no_support=reasons[name])
        if name in reasons
        else _exponent(side, name, between, columns, places[name], levels.T)
        for name, between in ends.items()
    ]


def _unexplained(logs: Floats, columns: Floats) -> float:
    """Residual sum of squares of a least-squares fit."""
    return float(((logs - columns @ np.linalg.lstsq(columns, logs)[0]) ** 2).sum())


def _exponent(
    side: Side, name: str, between: tuple[float, float], columns: Floats, at: int, levels: Floats
) -> Exponent:
    """Least-squares coefficient with Student's t interval, widened by the largest shift that error bars allow.

    The interval needs independent observations: one number per run, not the points of a curve. The rows of ``levels``
    are measured, error bar and bound.
    """
    import scipy  # its subpackages load when first used

    measured, bar, bound = levels
    inverse = np.linalg.pinv(columns)
    power, stated = float(inverse[at] @ measured), float(inverse[at] @ bound)
    free = len(columns) - columns.shape[1]
    if free < 1:
        return Exponent(name, between, power, stated, no_support="too few datasets for an interval")
    left = measured - columns @ (inverse @ measured)
    spread = np.sqrt(left @ left / free * (inverse[at] @ inverse[at]))
    half = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, free) * spread + np.abs(inverse[at]) @ bar)
    decades = (stated - power) * float(np.log10(between[1] / between[0])) * (1 if side == "upper" else -1)
    covers = power - half <= min(0.0, stated) and max(0.0, stated) <= power + half
    wide = "the interval holds 0 and the bound's power" if covers and 2 * half > WIDEST else ""
    return Exponent(name, between, power, stated, (power - half, power + half), decades, wide)
