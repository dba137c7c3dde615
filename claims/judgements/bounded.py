"""Upper, lower and two-sided bounds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.claims.claim import NotRecorded
from marginaudit.claims.judgements.compare import (
    NO_INSTANCE,
    UNDERFLOW,
    Outcome,
    compare_upper,
    curve_of,
    sampled_steps,
    underflown,
    unseen,
)
from marginaudit.claims.judgements.slack import (
    Side,
    as_known,
    log_ratios,
    relative_room,
    repeats_within,
    slack,
    without_the_least,
)
from marginaudit.claims.run import BaseRun
from marginaudit.claims.series import (
    Measured,
    Series,
    as_floats,
    as_series,
    by_formula,
    exact_entry,
    exactly,
    position,
    position_text,
    real,
    step_from,
)
from marginaudit.claims.values.reportable import unreportable
from marginaudit.claims.verdict import Evidence, Finding, Verdict, needed, not_applicable, weakest
from marginaudit.orders import counted

if TYPE_CHECKING:
    import flint

Steps: TypeAlias = NDArray[np.float64]
Values: TypeAlias = "ArrayLike | Fraction | flint.arb | Sequence[Fraction | flint.arb]"
Formula: TypeAlias = "Callable[[Any, Steps], Values]"
Reach: TypeAlias = "float | Callable[[Any], float]"

LAST_DECADE = 40
"""Power of ten of a step, beyond which the first informative one is searched by powers of ten, up to 1e300."""

FARTHEST_PROVED = 1e280
"""Largest threshold for proofs by formula, near the end of float64's range."""


@dataclass(frozen=True)
class Threshold:
    """Where a statement starts to apply: the first step, and the least size of another quantity.

    Attributes
    ----------
    position : float
        First step.
    needed, there : float
        Least size of the other quantity, and its size in the run.
    size : str
        Name of that quantity.
    resized : callable, size -> run of that size, for formulas only, without training
    early : float
        The statement also applies up to this step; t >= 3 log^2 t, for example, includes t = 2.
    """

    position: float
    needed: float = 0.0
    there: float = 0.0
    size: str = ""
    resized: Callable[[float], Any] | None = None
    early: float = 0.0

    def __str__(self) -> str:
        off = f"{self.size} >= {self.needed:.4g} and " if self.size else ""
        return f"{off}t >= {self.position:.4g}" + (f", and to t = {self.early:.4g}" if self.early else "")

    def of(self, step: Steps) -> NDArray[np.bool_]:
        """Mask of steps to which the statement applies, for sufficient sizes."""
        return (step >= self.position) | (step <= self.early)

    def lacking(self, last: float) -> str:
        """Message with the size that the run needs, or the steps beyond its ``last``."""
        if self.there < self.needed:
            return needed(self.size, self.needed, self.there)
        return needed("t", self.position, last)


ALWAYS = Threshold(-math.inf)
"""Threshold of statements on every step."""


@dataclass(frozen=True)
class InBalls:
    """Formula of a bound in float64, and in ball arithmetic against enclosed series.

    Attributes
    ----------
    formula : callable, (run, float steps) -> values of the bound
    balls : callable, (run, list of float steps) -> list of `flint.arb`, or None if unavailable
    """

    formula: "Formula"
    balls: "Callable[[Any, list[float]], list[flint.arb] | None]"

    def __call__(self, run: Any, steps: Steps) -> "Values":
        """Values in float64."""
        return self.formula(run, steps)


@dataclass(frozen=True)
class Bounded:
    """lower(t) <= measured(t) <= upper(t), for every step t of the series `measure`.

    Attributes
    ----------
    measure : callable, run -> measured series, possibly in logarithms
    upper, lower : callable, (run, float steps) -> values of the bound on the same scale; at least one
        Values are float64, Fractions, Python's integers or balls; the evidence is the weaker of both sides'.
    largest, smallest : float, or from a run to a float
        Range of the quantity, on the scale of the series; a bound beyond is vacuous.
    first : int
        First step of the statement; from 2 on, earlier steps are dropped.
    threshold : callable, run -> `Threshold`; None without one
    guaranteed, guaranteed_lower : callable, (run, float steps) -> proved bounds on the quantity; None without one
        On the same scale. They decide where error bars do not; the upper one also beyond an unreached threshold. They
        must not depend on training.
    last : bool
        Whether the statement is about the last step alone; by default about all steps at once.
    """

    measure: "Callable[[Any], Measured]"
    upper: "Formula | None" = None
    lower: "Formula | None" = None
    largest: "Reach" = np.inf
    smallest: "Reach" = -np.inf
    first: int = 1
    threshold: "Callable[[Any], Threshold] | None" = None
    guaranteed: "Formula | None" = None
    guaranteed_lower: "Formula | None" = None
    last: bool = False

    def __post_init__(self) -> None:
        if self.upper is None and self.lower is None:
            raise ValueError("Bounded: got neither upper nor lower, expected one or both")

    @property
    def quantifier(self) -> str:
        """The steps of the statement, all or the last."""
        return "last" if self.last else "all"

    @property
    def kind(self) -> str:
        """Name of the kind of statement for reports."""
        if self.upper is not None and self.lower is not None:
            return "two-sided bound"
        return "lower bound" if self.upper is None else "upper bound"

    def judge(self, run: Any) -> Finding:
        """Verdict on a run, by the rules for error bars, thresholds and vacuous bounds."""
        measured = self.measured(run)
        if not len(measured):
            return not_applicable(NO_INSTANCE)
        if self.threshold is None:
            return Finding(**self._numbers(run, measured, self.first))
        start = self.threshold(run)
        if not isinstance(start, Threshold):
            raise unreportable(start, "threshold", "a Threshold")
        if measured.step is None:
            raise ValueError("a statement with a threshold needs a series with steps")
        reached = start.of(measured.step.astype(float))
        if start.there >= start.needed and reached.any():
            first = self.first if start.early >= self.first else max(self.first, math.ceil(start.position))
            return Finding(**self._numbers(run, measured.taken(reached), first, start))
        return self._judge_beyond(run, measured, start)

    def measured(self, run: Any) -> Series:
        """The measured series, without steps before `first` if that is 2 or more.

        Raises
        ------
        NotRecorded
            No entries are left.
        """
        found = as_series(self.measure(run), "measure")
        if self.last and found.step is not None and len(found):
            return found.taken(found.step == found.step.max())
        if self.first < 2 or found.step is None or not len(found):
            return found
        covered = found.step >= self.first
        if not covered.any():
            raise NotRecorded(f"no step from {found.clock} = {self.first} on was recorded")
        return found.taken(covered)

    def _judge_beyond(self, run: Any, measured: Series, start: Threshold) -> Finding:
        """Finding for an unreached threshold: its position, a proof beyond it if any, the verdict ignoring it."""
        without = self._numbers(run, measured, self.first)
        first = without["first_violation"]
        outside = f"{without['verdict']}" + (f" from t = {first}" if first is not None else "")
        last = position(steps_of(measured).max())
        proved = self._proved_beyond(run, start)
        changes = {
            "verdict": Verdict.HOLDS if proved else Verdict.INCONCLUSIVE,
            "evidence": Evidence.FLOAT64 if proved else without["evidence"],
            "first_violation": None,
            "informative_from": None if math.isinf(start.position) else step_from(start.position),
            "beyond_the_run": True,
            "needs": start.lacking(float(last)),
            "left_out": "",
            "detail": (
                f"The statement applies from {start}; the run "
                + (f"has {start.size} = {start.there:.10g} and " if start.size else "")
                + f"ends at t = {last}. "
                + ("Beyond the run it follows from a proved bound, by formula. " if proved else "")
                + f"Without the threshold: {outside}. {without['detail']}"
            ),
        }
        return Finding(**without | changes)

    def _proved_beyond(self, run: Any, start: Threshold) -> bool:
        """Whether the guaranteed bound implies the stated one beyond the threshold, for sufficient sizes."""
        if self.guaranteed is None or self.upper is None or _departs(run) or start.position > FARTHEST_PROVED:
            return False
        first = float(math.ceil(start.position))
        step = np.geomspace(first, max(10.0**LAST_DECADE, first * 10.0 ** (LAST_DECADE // 2)), 400)
        if start.early >= self.first:
            step = np.append(np.floor(np.geomspace(self.first, start.early, 400)), step)
        for factor in (1, 10, 1e6):
            larger = run if start.resized is None else start.resized(start.needed * factor)
            proved, stated = (
                by_formula(np.asarray(formula(larger, step), dtype=float), log=True)
                for formula in (self.guaranteed, self.upper)
            )
            if not (compare_upper(proved, stated) == Outcome.TRUE).all():
                return False
        return True

    def _numbers(self, run: Any, measured: Series, from_step: int, start: Threshold = ALWAYS) -> dict[str, Any]:
        """Fields of the finding for entries to which the statement applies."""
        sides = self.sides(run, measured)
        outcomes = np.array(
            [
                compare_upper(measured, bound) if side == "upper" else compare_upper(bound, measured)
                for side, bound in sides
            ]
        )
        followed = (outcomes == Outcome.UNSURE) & self._proved(run, steps_of(measured), sides)
        outcomes[followed] = Outcome.TRUE
        evidence = _evidence(measured, sides, outcomes, followed)
        vacuous = self.vacuous(run, sides)
        apart = [np.abs(bound.value - measured.value) if evidence is Evidence.EXACT else None for _, bound in sides]
        unrounded, stated = measured, [bound for _, bound in sides]
        measured, sides = measured.in_float64, [(side, bound.in_float64) for side, bound in sides]
        rooms = np.array([relative_room(side, measured, bound) for side, bound in sides])
        ratios, reached = log_ratios(measured, sides), log_ratios(measured, sides, bars=2)
        rank = np.where(followed, 2, vacuous & (outcomes != Outcome.FALSE))
        if (outcomes == Outcome.FALSE).any():
            rank = np.where(outcomes == Outcome.FALSE, 0, 1 + rank)
        # beyond a slack of 1e16 all rooms are 1 in float64
        at_side, at = np.unravel_index(np.lexsort((ratios.ravel(), rooms.ravel(), rank.ravel()))[0], rooms.shape)
        (side, bound), exactly_apart = sides[int(at_side)], apart[int(at_side)]
        reached[rank > rank[at_side, at]] = np.inf
        worst, known = int(at), as_known(side, measured)
        hidden = bool(known.value[worst] != measured.value[worst])
        faded = evidence is Evidence.FLOAT64 and bool(underflown(measured, bound)[at])
        return {
            "verdict": _verdict(outcomes, vacuous),
            "evidence": evidence,
            "measured": None if followed.all() else known.shown(worst),
            "bound": without_the_least(bound.shown(worst)),
            "measured_exact": exact_entry(unrounded, worst),
            "bound_exact": exact_entry(stated[int(at_side)], worst),
            "slack": None if followed.all() else slack(side, known, bound, worst),
            "side": side,
            "repeats_within": np.inf if hidden else repeats_within(float(ratios[at_side, at]), reached),
            "worst_step": measured.at(worst),
            "first_violation": measured.first((outcomes == Outcome.FALSE).any(axis=0)),
            "informative_from": self._informative_from(run, from_step, start) if measured.clock == "t" else None,
            "detail": ("" if followed.all() else _detail(measured, bound, worst, side, exactly_apart, hidden=hidden))
            + _hidden(outcomes == Outcome.UNSURE, measured)
            + (f" {UNDERFLOW}" if faded and outcomes[at_side, at] == Outcome.UNSURE else "")
            + (" The bounds are vacuous at every step of the run." if vacuous.all() else "")
            + _hidden(followed, measured, "; there it follows from a proved bound, by formula")
            + (sampled_steps(measured) if outcomes.max() == Outcome.TRUE else ""),
            "curve": None
            if measured.step is None
            else curve_of(measured, dict(sides), vacuous_above=_reach(self.largest, run)),
            "left_out": "" if self.last else unseen(run, measured, evidence, from_step, start.of),
        }

    def sides(self, run: Any, measured: Series) -> list[tuple[Side, Series]]:
        """Bounds at the entries of a measured series."""
        formulas: dict[Side, Formula | None] = {"upper": self.upper, "lower": self.lower}
        steps = steps_of(measured)
        return [(side, bound_at(f, run, steps, measured, f"the {side} bound")) for side, f in formulas.items() if f]

    def vacuous(self, run: Any, sides: list[tuple[Side, Series]]) -> NDArray[np.bool_]:
        """Whether the bound is outside the quantity's range, shape (sides, entries)."""
        largest, smallest = _reach(self.largest, run), _reach(self.smallest, run)
        values = [
            (side, bound.value if bound.evidence is Evidence.EXACT else as_floats(bound.value)) for side, bound in sides
        ]
        return np.array([value >= largest if side == "upper" else value <= smallest for side, value in values])

    def _proved(self, run: Any, steps: Steps, sides: list[tuple[Side, Series]]) -> NDArray[np.bool_]:
        """Whether a guaranteed bound implies the stated one, shape (sides, entries)."""
        found = np.zeros((len(sides), len(steps)), dtype=bool)
        for row, (side, stated) in zip(found, sides, strict=True):
            formula = self.guaranteed if side == "upper" else self.guaranteed_lower
            if formula is not None and not _departs(run):
                proved = bound_at(formula, run, steps, stated, f"the bound that is guaranteed, {side}")
                small, large = (proved, stated) if side == "upper" else (stated, proved)
                row[:] = compare_upper(small, large) == Outcome.TRUE
        return found

    def informative_from(self, run: Any) -> int | float | None:
        """First step with an informative bound, by formula, independent of the recorded steps."""
        return self._informative_from(run, self.first, ALWAYS if self.threshold is None else self.threshold(run))

    def _informative_from(self, run: Any, first: int, start: Threshold) -> int | float | None:
        """First step at which a bound is within the quantity's range."""
        upper, lower = self.upper, self.lower
        largest, smallest = _reach(self.largest, run), _reach(self.smallest, run)
        if upper is not None and np.isfinite(largest):
            return first_step(lambda t: start.of(t) & (real(upper(run, t)) < largest), first)
        if lower is not None and np.isfinite(smallest):
            return first_step(lambda t: start.of(t) & (real(lower(run, t)) > smallest), first)
        return None


def first_step(condition: Callable[[Steps], NDArray[np.bool_]], start: int) -> int | float | None:
    """First integer step from ``start`` that meets the condition, as by `step_from`; None if there is none up to 1e300.

    Every step up to 10,000 is tried. Beyond, the search assumes at most one change of the condition between steps 1 %
    apart, or a factor of 10 apart from 1e40.

    >>> first_step(lambda t: t >= 123_456_789, 2), first_step(lambda t: t >= 1e150, 2)
    (123456789, 1e+150)
    """
    near = np.arange(start, max(start, 10_000) + 1, dtype=float)
    hits = condition(near)
    if hits.any():
        return int(near[int(np.argmax(hits))])
    dense = np.arange(np.log10(near[-1]), LAST_DECADE, np.log10(1.01))
    far = 10 ** np.concatenate([dense, np.arange(LAST_DECADE, 301.0)])
    with np.errstate(all="ignore"):  # powers of t overflow float64
        hits = condition(far)
    if not hits.any():
        return None
    after = int(np.argmax(hits))
    low, high = int(far[after - 1]) if after else int(near[-1]), int(far[after]) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if condition(np.array([float(middle)]))[0]:
            high = middle
        else:
            low = middle
    return step_from(high)


def _reach(reach: Reach, run: Any) -> float:
    return reach(run) if callable(reach) else reach


def steps_of(measured: Series) -> Steps:
    """Steps as floats; numbers of the entries, from 0, for a series without steps."""
    return np.arange(len(measured), dtype=float) if measured.step is None else measured.step.astype(float)


def bound_at(formula: Formula, run: Any, steps: Steps, measured: Series, name: str) -> Series:
    """Values of a formula at the entries of a series; converted to float64 unless the series is exact or enclosed."""
    values: Any = None
    if isinstance(formula, InBalls) and measured.evidence is Evidence.CERTIFIED:
        values = formula.balls(run, steps.tolist())
    values = formula(run, steps) if values is None else values
    shape = np.shape(values)
    if shape not in ((), (1,), (len(measured),)):
        expected = f"({len(measured)},): one value for each measured"
        raise ValueError(f"{name}: got the shape {shape}, expected {expected}")
    if measured.evidence is not Evidence.FLOAT64:
        found = exactly(values, (len(measured),), log=measured.log)
        if found is not None:
            return found
    numbers = real(values)
    if np.isnan(numbers).any():
        raise ValueError(f"{name}: got nan at entry {int(np.isnan(numbers).argmax())}, expected numbers")
    return by_formula(np.broadcast_to(numbers, (len(measured),)), log=measured.log)


def _evidence(
    measured: Series,
    sides: list[tuple[Side, Series]],
    outcomes: NDArray[np.int64],
    followed: NDArray[np.bool_],
) -> Evidence:
    """Weakest evidence of the measured series and the bounds: the broken ones, else all, with deciding formulas."""
    broken = (outcomes == Outcome.FALSE).any(axis=1)
    resting = [bound.evidence for (_, bound), one in zip(sides, broken, strict=True) if one or not broken.any()]
    by_formula = [Evidence.FLOAT64] if followed.any() and not broken.any() else []
    return weakest(measured.evidence, *resting, *by_formula)


def _departs(run: Any) -> bool:
    """Whether the run may differ from the paper's algorithm, so that no proof applies."""
    return isinstance(run, BaseRun) and run.departs


def _verdict(outcomes: NDArray[np.int64], vacuous: NDArray[np.bool_]) -> Verdict:
    worst = int(outcomes.max())
    if worst == Outcome.FALSE:
        return Verdict.VIOLATED
    if worst == Outcome.UNSURE:
        return Verdict.INCONCLUSIVE
    return Verdict.VACUOUS if vacuous.all() else Verdict.HOLDS


def _hidden(entries: NDArray[np.bool_], measured: Series, there: str = "") -> str:
    """Sentence on the number of entries undecided by error bars; ``entries`` has the shape (sides, entries)."""
    hidden = np.asarray(entries.any(axis=0))
    if not hidden.any():
        return ""
    where = "" if measured.step is None else f", the first at {measured.clock} = {measured.first(hidden)}"
    of = counted(len(measured), "entry", "entries")
    return f" At {int(hidden.sum())} of {of}{where}, error bars hide it{there}."


def _detail(measured: Series, bound: Series, at: int, side: str, apart: NDArray[Any] | None, *, hidden: bool) -> str:
    where = "" if measured.step is None else f"{measured.clock} = {position_text(measured.step[at])}"
    if measured.label:
        where = f"{measured.label[at]}, {where}" if where else measured.label[at]
    bars, size = float(measured.radius[at] + bound.radius[at]), 1.0
    if not measured.log:
        size = max(abs(float(measured.value[at])), abs(without_the_least(float(bound.value[at])) or 0.0))
    shown = f"relative error bars {bars / size:.1e}" if size else f"error bars {bars:.1e}"
    if apart is not None:
        shown = f"{as_floats(apart)[at]:.4g} apart in rational arithmetic"
    end = " The error bar is larger than the value; its end nearer the bound is reported." if hidden else ""
    if not where:
        where = f"entry {at + 1} of {len(measured)}" if len(measured) > 1 else "its only entry"
    return f"Least room at {where}, against the {side} bound; {shown}.{end}"
