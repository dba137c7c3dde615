"""When a row is worse than an earlier one: each field, its direction, and what error bars hide."""

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.claims import Claim, Evidence, Finding, Series, Verdict
from marginaudit.claims.judgements import Bounded, Decided, HiddenConstant
from marginaudit.claims.ntp import Config
from marginaudit.claims.row import ReportRow, row_from_document
from marginaudit.claims.series import by_formula, series
from marginaudit.orders.ntp import CASES
from marginaudit.reports.bound_constants.measure import measured
from marginaudit.reports.compare.worse import changes, worse

SHORT = Config(steps1=1, steps2=1)
DATASET = CASES["example-1"]()

UPPER = row_from_document(
    {
        "claim": "a", "dataset": "d", "verdict": "vacuous", "evidence": "certified", "measured": 2.0, "slack": 4.0,
        "side": "upper", "constant": 3.0, "repeats_within": 1e-6, "informative_from": 10,
    },
    "here",
)  # fmt: skip
LOWER = replace(UPPER, side="lower", repeats_within=1e-3)
NO_SIDE = replace(UPPER, side=None, constant=None, repeats_within=None)
HIDDEN = "(tolerance 1e-06; its new error bars hide it)"


@pytest.mark.parametrize(
    ("row", "fields", "direction", "text"),
    [
        (UPPER, {"slack": 2.0}, "worse", "slack: 4 -> 2 (tolerance 1e-06)"),
        (UPPER, {"slack": 8.0}, "better", "slack: 4 -> 8 (tolerance 1e-06)"),
        (UPPER, {"slack": 4 / (1 + 1.1e-6)}, "worse", "slack: 4 -> 3.9999956 (tolerance 1e-06)"),
        (UPPER, {"slack": None}, "worse", "slack: 4 -> none"),
        (UPPER, {"constant": 3.01}, "worse", "constant: 3 -> 3.01 (tolerance 1e-06)"),
        (UPPER, {"constant": 1e-9}, "better", "constant: 3 -> 1e-09 (tolerance 1e-06)"),
        (UPPER, {"informative_from": 11}, "worse", "informative_from: 10 -> 11 (tolerance 1e-09)"),
        (UPPER, {"informative_from": None}, "worse", "informative_from: 10 -> none"),
        (UPPER, {"verdict": "inconclusive"}, "worse", "verdict: vacuous -> inconclusive"),
        (UPPER, {"verdict": "not-applicable"}, "better", "verdict: vacuous -> not-applicable"),
        (UPPER, {"verdict": "holds", "evidence": "float64"}, "better", "verdict: vacuous -> holds"),
        (UPPER, {"evidence": "float64"}, "worse", "evidence: certified -> float64"),
        (UPPER, {"evidence": "exact"}, "better", "evidence: certified -> exact"),
        (LOWER, {"slack": 3.9}, "worse", "slack: 4 -> 3.9 (tolerance 0.001)"),
        (LOWER, {"constant": 3.01}, "better", "constant: 3 -> 3.01 (tolerance 0.001)"),
        (replace(UPPER, measured=-2.0), {"slack": 3.9}, "worse", "slack: 4 -> 3.9 (tolerance 1e-06)"),
        (replace(UPPER, slack=None), {"slack": 4.0}, "better", "slack: none -> 4"),
        (UPPER, {"slack": None, "bound": 8.0}, "worse", "slack: 4 -> none"),
        (UPPER, {"slack": 0.04, "repeats_within": None}, "worse", f"slack: 4 -> 0.04 {HIDDEN}"),
        (UPPER, {"slack": 0.04, "repeats_within": 1e3}, "worse", f"slack: 4 -> 0.04 {HIDDEN}"),
        (UPPER, {"slack": 8.0, "repeats_within": 1.0}, "better", f"slack: 4 -> 8 {HIDDEN}"),
        (UPPER, {"constant": 300.0, "repeats_within": None}, "worse", f"constant: 3 -> 300 {HIDDEN}"),
        (UPPER, {"premise": "carried over", "slack": 2.0}, "worse", "premise: met -> carried over"),
    ],
)
def test_what_is_worse_and_what_is_better(row: ReportRow, fields: dict[str, Any], direction: str, text: str) -> None:
    new = row_from_document(row.kept() | fields, "here")
    (change,) = changes(row, new)
    assert (change.direction, change.text, change.dataset, change.claim) == (direction, text, "d", "a")
    assert worse(row, new) == (text if direction == "worse" else None)
    if "none" not in text and HIDDEN not in text:
        (back,) = changes(new, row)
        assert {back.direction, direction} == {"worse", "better"}


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        (UPPER, {}),
        (UPPER, {"slack": 4 / (1 + 9e-7)}),
        (UPPER, {"slack": 4 * (1 + 9e-7), "constant": 3 * (1 + 9e-7)}),
        (UPPER, {"repeats_within": 1.0}),
        (UPPER, {"repeats_within": None}),
        (replace(UPPER, repeats_within=1.0), {"slack": 2.1}),
        (replace(UPPER, repeats_within=None), {"repeats_within": 1e-6, "slack": 1.0}),
        (replace(UPPER, repeats_within=None), {"slack": None, "constant": None}),
        (NO_SIDE, {"slack": 0.7}),
        (replace(UPPER, slack=-1.0), {"slack": -3.0}),
        (replace(UPPER, slack=0.0), {"slack": -1.0}),
        (replace(UPPER, repeats_within=0.0), {"slack": 4 / (1 + 0.9e-9)}),
        (UPPER, {"measured": 7.0, "bound": 9.0}),
        (UPPER, {"measured": 0.0, "bound": 9.0, "slack": None}),
        (UPPER, {"measured": -1.0, "bound": 9.0, "slack": -9.0}),
        (UPPER, {"measured": 1e-300, "bound": 1e10, "slack": None}),
        (UPPER, {"beyond_the_run": True, "informative_from": 11}),
    ],
)
def test_what_error_bars_hide_or_says_nothing_of_room_is_the_same(row: ReportRow, fields: dict[str, Any]) -> None:
    """A bar that is wider than before is no change by itself; that of the old row hides what it covers."""
    new = replace(row, **fields)
    assert changes(row, new) == []
    assert worse(new, row) is None


def test_a_control_is_worse_only_if_it_is_no_longer_violated() -> None:
    control = replace(UPPER, control_of="b", verdict=Verdict.VIOLATED)
    for clearer in ({"slack": 0.1}, {"constant": 300.0}, {"evidence": Evidence.FLOAT64}, {"informative_from": None}):
        assert changes(control, replace(control, **clearer)) == []
    missed = replace(control, verdict=Verdict.HOLDS)
    assert worse(control, missed) == "verdict: violated -> holds"
    assert [found.direction for found in changes(missed, control)] == ["better"]


def test_numbers_are_those_of_one_verdict() -> None:
    """A bound that begins to say something has less room than one that says nothing."""
    (only,) = changes(UPPER, replace(UPPER, verdict=Verdict.HOLDS, slack=1.1, constant=None))
    assert (only.what, only.direction) == ("verdict", "better")


def test_a_tolerance_replaces_the_error_bars() -> None:
    for row in (UPPER, replace(UPPER, repeats_within=None), replace(UPPER, repeats_within=9.0)):
        assert worse(row, replace(row, slack=4 / 1.4), tolerance=0.5) is None
        assert worse(row, replace(row, slack=4 / 1.6), tolerance=0.5) == "slack: 4 -> 2.5 (tolerance 0.5)"
    assert worse(UPPER, replace(UPPER, informative_from=14), tolerance=0.5) is None
    assert worse(UPPER, UPPER, tolerance=0.0) is None


@pytest.mark.parametrize(
    ("old", "new", "is_worse"),
    [(0.0, 1e-300, True), (1e-300, 0.0, False), (0.0, 0.0, False), (10**40, 10**41, True), (10**40, 10**40 - 1, False)],
)
def test_zero_and_whole_numbers_of_any_size_compare(old: float, new: float, is_worse: bool) -> None:
    """Slack 0 is across zero, a constant and a step of 0 are not."""
    for name in ("constant", "informative_from"):
        before, after = (row_from_document(UPPER.kept() | {name: value}, "here") for value in (old, new))
        assert (worse(before, after) is not None) is is_worse


# rows of judgements


def row(judgement: Any) -> ReportRow:
    claim = Claim(id="mine", source="s", statement="s", formula="1", assumptions=(), judgement=judgement)
    return measured(claim, DATASET, SHORT, None)[1]


def bounded(values: Series, **bounds: Any) -> ReportRow:
    sides: dict[str, Any] = {side: lambda _, t, side=side: np.broadcast_to(bounds[side], t.shape) for side in bounds}
    return row(Bounded(measure=lambda _: values, **sides))


@pytest.mark.parametrize(("sign", "log"), [(1.0, False), (-1.0, False), (1.0, True)])
@pytest.mark.parametrize("bounds", [{"upper": 3.0}, {"lower": 1.5}, {"upper": 3.0, "lower": 1.5}])
def test_nearer_to_the_bound_is_worse(bounds: dict[str, float], sign: float, log: bool) -> None:
    if sign < 0:
        bounds = {{"upper": "lower", "lower": "upper"}[side]: -value for side, value in bounds.items()}
    if log:
        bounds = {side: math.log(value) for side, value in bounds.items()}
    values = [1.6, 1.7, 2.0, 2.2, 2.5, 2.9]
    found = [bounded(by_formula([math.log(v) if log else sign * v], log=log), **bounds) for v in values]
    natural = [abs(math.exp(b) if log else b) for b in bounds.values()]
    room = [min(max(v, b) / min(v, b) for b in natural) for v in values]
    for i, old in enumerate(found):
        for j, new in enumerate(found):
            directions = {change.direction for change in changes(old, new)}
            nearer, farther = room[j] < room[i] * (1 - 1e-9), room[j] > room[i] * (1 + 1e-9)
            assert directions == ({"worse"} if nearer else {"better"} if farther else set()), (i, j)


def least_slack(value: Any, upper: Any, lower: Any, log: bool) -> float:
    """The logarithm of the least room, by the definition."""
    if log:
        return float(min((upper - value).min(), (value - lower).min()))
    return float(min(np.log(upper / value).min(), np.log(value / lower).min()))


@pytest.mark.parametrize("log", [False, True])
def test_error_bars_of_two_runs_explain_no_more_than_the_default_tolerance(log: bool) -> None:
    random = np.random.default_rng(7)
    for _ in range(30):
        value = random.uniform(2, 3, 6)
        radius = 10.0 ** random.uniform(-8, -2, 6)
        upper, lower = value * (1 + 10.0 ** random.uniform(-6, 1, 6)), value / (1 + 10.0 ** random.uniform(-6, 1, 6))
        found = bounded(series(value, radius=radius, log=log), upper=upper, lower=lower)
        assert found.repeats_within is not None
        least = least_slack(value, upper, lower, log)
        ends = [
            least_slack(np.where(np.arange(6) == i, value + 2 * shift * radius, value), upper, lower, log)
            for i in range(6)
            for shift in (-1, 1)
        ]
        assert math.log1p(found.repeats_within) == pytest.approx(least - min(ends), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_error_bars_move_a_hidden_constant_by_no_more_than_the_default_tolerance(
    side: Literal["upper", "lower"],
) -> None:
    random = np.random.default_rng(11)
    step = np.arange(1, 60)
    value = (3 + np.sin(step)) / step
    radius = value * 10.0 ** random.uniform(-6, -3, len(step))

    def found(value: NDArray[np.float64]) -> ReportRow:
        return row(HiddenConstant(lambda _: Series(value, radius, step), shape=lambda _, t: 1 / t, side=side))

    first, within = found(value), found(value).repeats_within
    assert within is not None
    moved = [found(value + random.choice([-1.99, 1.99], len(step)) * radius) for _ in range(200)]
    assert {worse(first, now, within) for now in moved} == {None}
    assert any(worse(first, now, 0.5 * within) for now in moved), "and not much less, either"


def test_a_bar_that_reaches_zero_is_unbounded_and_one_that_is_not_given_is_rounding() -> None:
    assert bounded(series([1.0, 0.5], radius=[1e-9, 0.6]), lower=0.25).repeats_within is None
    assert bounded(by_formula([-1.0]), upper=2.0).slack is None
    assert row(Decided(lambda _: Finding("holds", slack=4.0, side="upper"), "k")).repeats_within == 1e-9  # type: ignore[arg-type]
