"""The smallest constant of a bound, and the powers of its factors that measurements support, with intervals."""

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
"""Largest R^2 of a factor on the earlier ones, at which its interval is 10 times as wide: above it none is fitted."""

NOT_VARIED = 1e-9
"""Sum of squares of logarithms: of differences of 1e-5, relative."""

WIDEST = 2.0
"""An interval that is longer, and holds both 0 and the bound's own power, supports neither."""

POINTS = 50
"""Points on a logarithmic clock at which runs are compared."""

SHOWN = 0.005
"""A change of a power that two decimals show."""


@dataclass(frozen=True)
class Exponent:
    """Fitted power of a factor in the measured quantity, and in the bound over the same runs.

    Attributes
    ----------
    range : (least, most)
    interval : (low, high), or None
    decades : float or None
        Powers of ten by which the room between the two grows as the factor goes from its least value to its most.
    no_support : str
        Why the data support no power, or "".
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
    """The run and the entry with the least room."""

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
        The smallest number by which an upper bound could be multiplied (the largest, for a lower one) and still hold
        wherever the statement speaks on all of these runs, error bars counted.
    informative : float or None
        The same where the bound as it stands says something.
    window : (first, last) or None
        Steps that all runs have, over which powers are found; None where there are less than two, and powers are
        those at the entry of each run with the least room.
    window_says : bool
        Whether the bound says something there.
    unknown : int
        Entries left out since their error bars are infinite.
    """

    side: Side
    constant: float
    informative: float | None
    nearest: Nearest
    clock: str
    window: tuple[float, float] | None
    window_says: bool
    exponents: tuple[Exponent, ...]
    unknown: int

    @property
    def room(self) -> float:
        """Powers of ten by which the bound could be tightened; below 0 where it fails."""
        with np.errstate(divide="ignore"):
            return float(np.log10(self.constant)) * (-1 if self.side == "upper" else 1)


def tightened(side: Side, runs: Sequence[Measured]) -> Tightened:
    """The constant, the nearest dataset and the exponents of one side of a bound."""
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
    says = np.concatenate([entries.ratio[entries.says] for entries in of])
    with np.errstate(over="ignore"):
        constant = float(np.exp(entries.ratio[at]))
        informative = float(np.exp(says[_worst(side, says)])) if len(says) else None
    window, window_says = _window(of)
    return Tightened(
        side,
        constant,
        informative,
        nearest,
        runs[near].clock,
        window,
        window_says,
        _exponents(side, runs, of, window, window_says),
        sum(entries.unknown for entries in of),
    )


def _worst(side: Side, ratio: Floats) -> int:
    """The entry with the least room."""
    return int(np.argmax(ratio) if side == "upper" else np.argmin(ratio))


def _usable(entries: Entries, says: bool) -> Any:
    """Entries that have logarithms, as has their step; of these, where the bound says something."""
    kept = np.isfinite(entries.bar) & np.isfinite(entries.bound) & ~(entries.step <= 0)
    return kept & entries.says if says else kept


def _window(of: Sequence[Entries]) -> tuple[tuple[float, float] | None, bool]:
    """The steps that all runs have, those at which the bound says something if there are such steps."""
    for says in (True, False):
        steps = [entries.step[_usable(entries, says)] for entries in of]
        if all(len(step) > 1 for step in steps):
            low, high = max(step[0] for step in steps), min(step[-1] for step in steps)
            if 0 < low < high:
                return (float(low), float(high)), says
    return None, all(_usable(entries, True).any() for entries in of)


def _exponents(
    side: Side, runs: Sequence[Measured], of: Sequence[Entries], window: tuple[float, float] | None, says: bool
) -> tuple[Exponent, ...]:
    """The clock's power, where there is a window, and the other factors' at the same steps of all runs.

    Without a window each run stands for itself by its entry with the least room.
    """
    found = []
    if window is None:
        at = [_nearest_usable(side, entries, says) for entries in of]
        kept = [i for i, entry in enumerate(at) if entry is not None]
        levels = np.array([[line[at[i]] for line in (of[i].measured, of[i].bar, of[i].bound)] for i in kept])
    else:
        clock = np.linspace(float(np.log(window[0])), float(np.log(window[1])), POINTS)
        kept = list(range(len(runs)))
        lines = np.array([_along(entries, says, clock) for entries in of])
        found.append(_of_clock(side, runs[0].clock, window, clock, lines))
        levels = lines.mean(axis=2)
    if len(kept):
        found += _of_factors(side, [runs[i] for i in kept], levels)
    return tuple(found)


def _nearest_usable(side: Side, entries: Entries, says: bool) -> int | None:
    """The usable entry with the least room, or None."""
    usable = np.flatnonzero(_usable(entries, says))
    return int(usable[_worst(side, entries.ratio[usable])]) if len(usable) else None


def _along(entries: Entries, says: bool, clock: Floats) -> Floats:
    """Measured, error bar and bound along a clock's logarithms, linear between the recorded steps."""
    kept = _usable(entries, says)
    step = np.log(entries.step[kept])
    return np.array([np.interp(clock, step, line[kept]) for line in (entries.measured, entries.bar, entries.bound)])


def _of_clock(side: Side, name: str, window: tuple[float, float], clock: Floats, lines: Floats) -> Exponent:
    """The mean of the runs' slopes; where lines bend, it is no power, and the interval holds all slopes of halves.

    A line bends where the slopes of its halves differ by more than error bars explain and two decimals hide.
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
    """Least-squares slopes along a piece of the clock: measured, what error bars can shift it by, bound; by run."""
    slope = (clock - clock.mean()) / ((clock - clock.mean()) ** 2).sum()
    return np.array([lines[:, 0] @ slope, lines[:, 1] @ np.abs(slope), lines[:, 2] @ slope])


def _of_factors(side: Side, runs: Sequence[Measured], levels: Floats) -> list[Exponent]:
    """The powers of all factors in one regression, in which each group of datasets has a constant of its own."""
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
    """The sum of squares that a least-squares fit leaves."""
    return float(((logs - columns @ np.linalg.lstsq(columns, logs)[0]) ** 2).sum())


def _exponent(
    side: Side, name: str, between: tuple[float, float], columns: Floats, at: int, levels: Floats
) -> Exponent:
    """A least-squares coefficient with its interval, widened by the largest shift that error bars allow.

    The interval is that of Student's t for independent runs, which points of one curve are not: a run is one number.
    ``levels`` has three rows: measured, error bar, bound.
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
