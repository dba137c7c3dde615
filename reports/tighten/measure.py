"""Logarithms of bound and measured quantity, over datasets and settings varied one at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.answers.sweeps import Design
from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.judgements.slack import Side
from marginaudit.claims.paper import Paper
from marginaudit.claims.run import BaseRun
from marginaudit.claims.series import Series
from marginaudit.claims.verdict import Finding, Verdict
from marginaudit.orders import InputError
from marginaudit.orders.arrays import Floats
from marginaudit.reports.audit.auditing import config_document
from marginaudit.reports.hunt import hunt
from marginaudit.reports.processes import one_thread
from marginaudit.reports.study.audit import key_of
from marginaudit.reports.study.executor import Task

DRAWN = 3
"""Datasets per point of a design, with different seeds."""

GIVEN = "given"
"""Group of the user's datasets."""


@dataclass(frozen=True)
class DesignPoint:
    """A dataset, its config, and the settings chosen by a design.

    Attributes
    ----------
    group : str
        The generator, or `GIVEN`.
    """

    group: str
    dataset: Any
    config: Any
    settings: Mapping[str, float]


@dataclass(frozen=True)
class Entries:
    """Entry with the least room at each step to which the statement applies.

    Attributes
    ----------
    step : (entries,) array, NaN without a clock
    label : tuple of str
        Labels of the entries; may be empty.
    measured, bar, bound : (entries,) arrays
        Natural logarithms, and the error bar of the first; NaN and infinite if the value may be 0 or below.
    ratio : (entries,) array
        Natural logarithm of measured / bound, at the end of the error bars with the least room.
    informative : (entries,) array of bool
        Whether the bound is informative: within the quantity's range.
    unknown : int
        Number of excluded entries with infinite error bars.
    """

    step: Floats
    label: tuple[str, ...]
    measured: Floats
    bar: Floats
    bound: Floats
    ratio: Floats
    informative: NDArray[np.bool_]
    unknown: int


@dataclass(frozen=True)
class Measured:
    """Result for a claim on a case: verdict, factors of the run, and entries of each side of the bound.

    It is pickled without its case, so that reading it back needs no paper.
    """

    case: DesignPoint
    finding: Finding
    clock: str
    factors: Mapping[str, float]
    sides: Mapping[Side, Entries]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "case"}

    def clock_known(self, side: Side) -> bool:
        """Whether the entries have positions on the clock."""
        return not np.isnan(self.sides[side].step).any()


def bounded(claim: Claim) -> Bounded:
    """The claim's judgement, a bound.

    Raises
    ------
    InputError
        The judgement is not a bound with a constant.
    """
    if not isinstance(claim.judgement, Bounded):
        got = f"{claim.judgement.kind} ({type(claim.judgement).__name__})"
        raise InputError(f"claim {claim.id}", got=got, expected="a bound with its constant (Bounded)")
    return claim.judgement


def cases(paper: Paper, config: Any, given: Sequence[Any]) -> list[DesignPoint]:
    """Cases of the paper's designs, then of the given datasets; by default the built-in cases."""
    found = []
    generators = paper.sweeps.generators if paper.sweeps else {}
    for design in paper.sweeps.designs if paper.sweeps else ():
        make = generators[design.generator].make
        levels = levels_of(design, paper, config)
        first = {name: values[0] for name, values in levels.items()}
        points = [first, *(first | {name: value} for name, values in levels.items() for value in values[1:])]
        for seed, point in enumerate(point for point in points for _ in range(DRAWN)):
            settings = {name: value for name, value in point.items() if hasattr(config, name)}
            of_data = {name: value for name, value in point.items() if name not in settings}
            words = " ".join(f"{name}={value}" for name, value in of_data.items())
            dataset = replace(make(**of_data, seed=seed), name=f"{design.generator} {words} seed={seed}")
            found.append(DesignPoint(design.generator, dataset, replace(config, **settings), settings))
    found += [DesignPoint(GIVEN, dataset, config, {}) for dataset in given]
    return found or [DesignPoint(GIVEN, make(), config, {}) for make in paper.kind.cases.values()]


def levels_of(design: Design, paper: Paper, config: Any) -> dict[str, tuple[Any, ...]]:
    """Levels of a design, without settings that ``config`` fixes (differing from the paper's)."""
    usual = paper.config()
    return {
        name: values
        for name, values in design.levels.items()
        if not hasattr(config, name) or getattr(config, name) == getattr(usual, name)
    }


def measure_task(claim: Claim, paper: Paper, case: DesignPoint) -> Task:
    """Task to measure a claim on a case; not cached for the user's own claims, as their code may depend on anything."""

    def key() -> str:
        data = [case.dataset.name, paper.kind.to_document(case.dataset)]
        return key_of(paper, (), tightened=claim.id, dataset=data, config=config_document(paper, case.config))

    compute = partial(_measured, claim, paper, case)
    return Task(f"the run on {case.dataset.name}", compute, key if paper.has(claim) else None, paper.load)


def _measured(claim: Claim, paper: Paper, case: DesignPoint) -> Measured | Finding:
    """Measurement of a run, on one thread; its finding alone if the claim does not apply."""
    with one_thread():
        return measured(claim, paper, case, paper.run(case.dataset, case.config))


def hunt_task(claim: Claim, paper: Paper, without: str, seconds: float) -> Task:
    """Task to hunt a claim with one assumption dropped; not cached, as the result depends on the time."""
    return Task(f"the hunt without {without}", partial(_hunted, claim, paper, without, seconds))


def _hunted(claim: Claim, paper: Paper, without: str, seconds: float) -> dict[str, Any]:
    """Numbers of datasets tried and decided, and the size of the smallest counterexample or None."""
    hunted = hunt(claim, paper, without=without, seconds=seconds)
    breaks = {of: getattr(hunted.dataset, of) for of in hunted.largest} if hunted.dataset is not None else None
    return {"tried": hunted.tried, "decided": hunted.decided, "breaks": breaks}


def measured(claim: Claim, paper: Paper, case: DesignPoint, run: BaseRun[Any]) -> Measured | Finding:
    """Measure a claim on a run; only the finding if the claim does not apply.

    Raises
    ------
    InputError
        A bound is 0 or below: no factor tightens it.
    """
    judgement, finding = bounded(claim), claim.judge(run)
    if finding.verdict in (Verdict.NOT_APPLICABLE, Verdict.BROKEN) or not claim.applies_to(run):
        return finding
    try:
        series = judgement.measured(run).in_float64
    except BeyondTheRun:
        return finding
    applies = np.isfinite(series.radius.astype(float))
    unknown = int((~applies).sum())
    if judgement.threshold is not None and series.step is not None:
        start = judgement.threshold(run)
        applies = applies & start.of(series.step.astype(float)) & (start.there >= start.needed)
    if not applies.any():
        return finding
    sides = judgement.sides(run, series)
    found = {}
    for (side, bound), informative in zip(sides, ~judgement.vacuous(run, sides), strict=True):
        if not series.log and (np.asarray(bound.upper, dtype=float)[applies] <= 0).any():
            raise InputError(f"claim {claim.id}", got="a bound of 0 or below", expected="one that a factor can tighten")
        found[side] = _entries(side, series, bound, informative, applies, unknown)
    return Measured(case, finding, series.clock, _factors(paper, run), found)


def _factors(paper: Paper, run: BaseRun[Any]) -> dict[str, float]:
    """Factors of a run by name; NaN if undefined."""
    if paper.sweeps is None or not paper.sweeps.factors:
        return {name: float(getattr(run.dataset, name)) for name in (paper.space.measures if paper.space else ())}
    found = {}
    for name, of in paper.sweeps.factors.items():
        try:
            found[name] = float(of(run))
        except (ValueError, BeyondTheRun):  # no solution, so no norm
            found[name] = np.nan
    return found


def _entries(
    side: Side, series: Series, bound: Series, informative: NDArray[np.bool_], applies: NDArray[np.bool_], unknown: int
) -> Entries:
    low, value, high = (_log(series, ends) for ends in (series.lower, series.value, series.upper))
    stated, most, least = (_log(bound, ends) for ends in (bound.value, bound.upper, bound.lower))
    with np.errstate(invalid="ignore"):
        ratio = high - least if side == "upper" else low - most
        bar = np.maximum(high - value, value - low)
    bar = np.where(np.isfinite(value) & np.isfinite(low), bar, np.inf)
    room = -ratio if side == "upper" else ratio
    step = np.full(len(series), np.nan) if series.step is None else series.step.astype(float)
    entries = np.flatnonzero(applies & ~np.isnan(ratio))
    order = entries[np.lexsort((room[entries], step[entries]))]
    _, first = np.unique(step[order], return_index=True)
    kept = order[first]
    label = tuple(series.label[entry] for entry in kept) if series.label else ()
    return Entries(step[kept], label, value[kept], bar[kept], stated[kept], ratio[kept], informative[kept], unknown)


def _log(series: Series, values: NDArray[Any]) -> Floats:
    """Natural logarithms; -inf at 0 and below."""
    numbers = values.astype(float)
    if series.log:
        return np.asarray(numbers)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(numbers, 0.0)))
