"""Direction errors of both stages of Algorithm 1 against their O(log t/t) and O(log^2 t/t) bounds."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.ntp.algorithm1 import LISTED_STEPS
from marginaudit.claims.ntp.appendix_b_stage1 import proposition1
from marginaudit.claims.ntp.appendix_c_stage2 import theorem1
from marginaudit.claims.ntp.run import NotAlgorithm1, Run
from marginaudit.claims.table import Captioned, Table
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.values.numbers import NONE, at_least, at_most, brief

Stage = Literal["stage1", "stage2"]

BOUNDS: dict[Stage, dict[str, Claim]] = {
    "stage1": {"bound": proposition1.DIRECTION},
    "stage2": {"bound": theorem1.DIRECTION, "sharp_bound": theorem1.SHARP},
}
"""Claims with the measured quantities and bounds of the columns."""

LARGEST = 2
"""Largest possible 1 - cos."""


class Direction(Table):
    """Table of measured direction errors and bounds, one row per step."""

    name = "direction"
    heading = "Direction errors against their bounds"
    introduction = (
        "1 − cos(W<sup>(t)</sup>, W*) as it was measured, the relative error bar of that number, and what "
        "Proposition 1 (stage 1, O(log t/t)) and Theorem 1 (stage 2, O(log² t/t)) allow with their constants; slack is "
        'bound / measured. <span class="mono">≤</span>: the error bar reaches 0.'
    )
    columns = ("dataset", "stage", "step", "measured", "error", "bound", "sharp_bound", "slack", "note")

    def of(self, run: Run) -> dict[str, Any]:
        """1 - cos(W^(t), W*) and its bounds for both stages, at the recorded ones of the listed steps.

        A run recorded elsewhere also has a row for its last step.

        Returns
        -------
        dict
            ``stage1`` and ``stage2``, lists of rows: ``step``; ``measured``; ``error``, the relative error bar of
            ``measured`` (None if that is 0); ``bound``, of Proposition 1 or Theorem 1; in stage 2 ``sharp_bound``, of
            `sharp.theorem1`; ``slack``, bound / measured. None is an unknown value or a missing bound, explained in
            ``notes``, lists of texts by stage. A listed step that was not recorded has no row.

        Source: arXiv 2409.17335, Proposition 1 and Theorem 1.
        """
        stages = {stage: _stage(run, stage) for stage in BOUNDS}
        rows: dict[str, Any] = {stage: found for stage, (found, _) in stages.items()}
        return rows | {"notes": {stage: notes for stage, (_, notes) in stages.items()}}

    def records(self, data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Rows of stage 1, then of stage 2."""
        for stage in BOUNDS:
            for row in data[stage]:
                yield {"stage": int(stage[-1]), "note": " ".join(data["notes"][stage]) or None} | row

    def captioned(self, name: str, data: Mapping[str, Any]) -> list[Captioned]:
        """One table per stage."""
        return [
            _captioned(f"{name}: {TITLES[stage]}", HEADERS[stage], map(_cells, data[stage]), _notes(data, stage))
            for stage in BOUNDS
        ]

    def beside(self, found: Sequence[tuple[str, Any]]) -> list[Captioned]:
        """Comparison of runs in stage 2: one row per step, with 1 - cos of each run and both bounds."""
        runs = [{row["step"]: row for row in data["stage2"]} for _, data in found]
        rows = []
        for step in sorted({step for run in runs for step in run}):
            bound = next(run[step] for run in runs if step in run)
            cells = (_cells(run[step])[1] if step in run else NONE for run in runs)
            rows.append((_power(step), *cells, at_most(bound["bound"]), at_most(bound["sharp_bound"])))
        header = ("t", *(name for name, _ in found), *(HEADERS["stage2"][at] for at in COLUMN.values()))
        return [_captioned(f"All runs: {TITLES['stage2']}", header, rows, ())]


def _captioned(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], notes: tuple[str, ...]) -> Captioned:
    """Table with numbers formatted as text."""
    from pandas import DataFrame

    return Captioned(DataFrame(list(rows), columns=list(header)), caption, notes, numbers=header)


def _stage(run: Run, stage: Stage) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of one stage, and reasons for empty cells."""
    if run.not_trained is not None:
        return [], [f"Not trained: {run.not_trained}."]
    try:
        record = run.stage1 if stage == "stage1" else run.training.stage2
    except (BeyondTheRun, NotAlgorithm1) as reason:
        return [], [f"Not compared: {reason}."]
    claims = BOUNDS[stage]
    absent = _absent(run, stage, claims["bound"])
    unmet = {name: _unmet(run, claim) for name, claim in claims.items()}
    measured = {} if absent else _measured(run, claims["bound"])
    rows = []
    listed = LISTED_STEPS if run.takes_own_steps else (*LISTED_STEPS, *record.step[-1:])
    for step in np.intersect1d(record.step, listed).tolist():
        value, radius = measured.get(step, (None, None))
        row: dict[str, Any] = {"step": step, "measured": value}
        for name, claim in claims.items():
            row[name] = None if absent or unmet[name] else finite(bound_at(run, claim, step))
        row["slack"] = ratio(row["bound"], value)
        row["error"] = ratio(radius, value)
        rows.append(row)
    notes = list(filter(None, (run.not_as_given, absent)))
    if stage == "stage1" and rows and rows[-1]["step"] > run.config.steps1:
        notes.append(f"Beyond T = {run.config.steps1} by the closed form of stage 1 (Proposition 1, sharper).")
    for column, assumption in unmet.items():
        if assumption:
            notes.append(f"Assumption {assumption} fails, so {HEADERS[stage][COLUMN[column]]} does not apply.")
    return rows, notes


def _absent(run: Run, stage: Stage, claim: Claim) -> str | None:
    if run.solved("ov" if stage == "stage1" else "kq") is None:
        return "The solver's answer is not proved, so the direction of W* is unknown."
    try:
        return claim.absent(run)
    except BeyondTheRun as reason:
        return f"Not compared: {reason}."


def _unmet(run: Run, claim: Claim) -> str | None:
    return next((name for name in claim.assumptions if not run.assumption(name).holds), None)


def _measured(run: Run, claim: Claim) -> dict[int, tuple[float, float]]:
    """Value and error bar by step, for steps with an error bar."""
    judgement: Any = claim.judgement
    series = judgement.measure(run)
    steps = [] if series.step is None else series.step.tolist()
    pairs = zip(series.value.tolist(), series.radius.tolist(), strict=True)
    return {step: pair for step, pair in zip(steps, pairs, strict=True) if all(map(math.isfinite, pair))}


def bound_at(run: Run, claim: Claim, step: int) -> float:
    """Bound of a claim at a step."""
    judgement: Any = claim.judgement
    return float(np.asarray(judgement.upper(run, np.array([step], dtype=float)))[0])


def ratio(above: float | None, below: float | None) -> float | None:
    """above / below; None if either is unknown, below is 0 or the ratio overflows float64."""
    if above is None or not below:
        return None
    found = above / below
    return found if math.isfinite(found) else None


HEADERS: dict[Stage, tuple[str, ...]] = {
    "stage1": ("t", "1 - cos", "relative error", "Proposition 1", "slack"),
    "stage2": ("t", "1 - cos", "relative error", "Theorem 1", "slack", "Theorem 1, sharper"),
}
COLUMN = {"bound": 3, "sharp_bound": 5}
"""Statement name in a bound's column header."""

TITLES: dict[Stage, str] = {
    "stage1": "stage 1, W_ov against W*_ov",
    "stage2": "stage 2, W_kq against W*_kq",
}


def _notes(table: Mapping[str, Any], stage: Stage) -> tuple[str, ...]:
    vacuous = [row["step"] for row in table[stage] if row["bound"] is not None and row["bound"] >= LARGEST]
    if vacuous:
        when = " to ".join(dict.fromkeys(_power(step) for step in (vacuous[0], vacuous[-1])))
        name = HEADERS[stage][COLUMN["bound"]]
        note = f"At t = {when} the bound of {name} is at least 2, the largest possible 1 - cos."
        return (note, *table["notes"][stage])
    return tuple(table["notes"][stage])


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Cells of a row; if the error bar reaches 0, the upper end of the measurement and the least slack."""
    measured, slack, error = row["measured"], row["slack"], row["error"]
    bar = NONE if error is None else f"{float(at_most(error, digits=2)):.1e}"
    known = (brief(measured), bar, at_most(row["bound"]), brief(slack))
    if error is not None and error >= 1:
        most = min(measured * (1 + error), LARGEST)
        least = ratio(row["bound"], most)
        known = (f"≤ {at_most(most)}", NONE, known[2], NONE if least is None else f"≥ {at_least(least)}")
    sharp = (at_most(row["sharp_bound"]),) if "sharp_bound" in row else ()
    return (_power(row["step"]), *known, *sharp)


def _power(step: int) -> str:
    """Step as text; powers of ten above 1000 in scientific notation.

    >>> _power(900), _power(10**4), _power(12_000)
    ('900', '1e4', '12000')
    """
    return f"1e{len(str(step)) - 1}" if step >= 10_000 and str(step).rstrip("0") == "1" else str(step)
