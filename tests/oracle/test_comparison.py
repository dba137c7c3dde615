"""Every rule of the comparison notices its planted lie, and lets the truth pass."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import flint
import pytest

from tests.oracle.answer import Answer, Entry
from tests.oracle.comparison import compare


def arb(value: float) -> flint.arb:
    return flint.arb(value)


def upper(step: int, measured: float, bound: float, reach: float | None = None) -> Entry:
    return Entry(step, arb(measured), arb(bound), "upper", None if reach is None else arb(reach))


TRUE = Answer(parts={"": [upper(1, 1.0, 4.0, 2.0), upper(2, 1.0, 1.5, 2.0), upper(3, 0.5, 1.5, 2.0)]})
FALSE = Answer(parts={"": [upper(1, 1.0, 4.0), upper(2, 1.6, 1.5), upper(3, 0.5, 1.5), upper(4, 2.5, 1.5)]})
VACUOUS = Answer(parts={"": [upper(1, 1.0, 4.0, 2.0), upper(2, 1.0, 2.0, 2.0)]})
LOWER = Answer(parts={"": [Entry(1, arb(1.5), arb(1.0), "lower"), Entry(2, arb(3.0), arb(1.0), "lower")]})

HOLDS = {
    "verdict": "holds",
    "measured": 1.0,
    "bound": 1.5,
    "slack": 1.5,
    "side": "upper",
    "worst_step": 2,
    "repeats_within": None,
    "first_violation": None,
    "detail": "",
}
VIOLATED = HOLDS | {"verdict": "violated", "measured": 2.5, "slack": 0.6, "worst_step": 4, "first_violation": 2}
IN_VACUO = HOLDS | {"verdict": "vacuous", "bound": 2.0, "slack": 2.0}


def kinds(row: dict[str, Any], answer: Answer, failing: Sequence[str] = ()) -> list[str]:
    return [found.kind for found in compare(row, answer, failing)]


def silent(verdict: str) -> dict[str, Any]:
    return HOLDS | dict.fromkeys(("measured", "bound", "slack", "worst_step")) | {"verdict": verdict}


def test_right_rows_pass() -> None:
    assert kinds(HOLDS, TRUE) == []
    assert kinds(VIOLATED, FALSE) == []
    assert kinds(IN_VACUO, VACUOUS) == []
    assert kinds(HOLDS | {"measured": 1.5, "bound": 1.0, "side": "lower", "worst_step": 1}, LOWER) == []
    assert kinds(silent("not-applicable"), Answer(), ["injective"]) == []
    assert kinds(silent("not-applicable"), Answer(silent="one token")) == []
    assert kinds(silent("not-applicable"), Answer(perhaps="no recorded step")) == []


@pytest.mark.parametrize(
    ("row", "answer", "failing"),
    [
        (HOLDS, FALSE, ()),
        (HOLDS, VACUOUS, ()),
        (HOLDS, TRUE, ["injective"]),
        (HOLDS, Answer(true=False), ()),
        (VIOLATED, TRUE, ()),
        (VIOLATED, dataclasses.replace(FALSE, true=True), ()),
        (VIOLATED | {"first_violation": 3}, FALSE, ()),
        (VIOLATED, FALSE, ["orthonormal"]),
        (IN_VACUO, TRUE, ()),
        (IN_VACUO, Answer(parts={"": [upper(1, 3.0, 2.5, 2.0)]}), ()),
        (IN_VACUO, Answer(true=True), ()),
        (silent("not-applicable"), TRUE, ()),
        (silent("not-applicable"), Answer(true=True), ()),
    ],
)
def test_a_wrong_verdict_is_noticed(row: dict[str, Any], answer: Answer, failing: list[str]) -> None:
    assert kinds(row | dict.fromkeys(("measured", "bound")), answer, failing) == ["verdict"]


def test_numbers_from_before_a_statement_speaks_are_noticed() -> None:
    unreached = Answer(true=True, open_ended=True, unreached=True)
    for verdict in ("holds", "inconclusive"):
        assert kinds(HOLDS | {"verdict": verdict}, unreached) == ["number"]
        assert kinds(silent(verdict), unreached) == []


@pytest.mark.parametrize("verdict", ["holds", "violated", "vacuous", "inconclusive", "not-applicable"])
def test_broken_is_never_right(verdict: str) -> None:
    assert kinds(silent("broken"), Answer(silent="one token")) == ["broken"]
    assert kinds(silent(verdict), Answer(silent="one token")) == ([] if verdict == "not-applicable" else ["verdict"])


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        (HOLDS | {"measured": 1.1}, TRUE),
        (HOLDS | {"bound": 1.51}, TRUE),
        (HOLDS | {"measured": 1.0 + 1e-8}, TRUE),
        (HOLDS | {"slack": 1.4}, TRUE),
        (HOLDS | {"measured": 0.5, "slack": 3.0, "worst_step": 3}, TRUE),
        (HOLDS | {"measured": 3.0, "bound": 1.0, "slack": 3.0, "side": "lower", "worst_step": 2}, LOWER),
        (HOLDS | {"measured": 1.5, "bound": 1.0, "slack": 1 / 1.5, "side": "lower", "worst_step": 1}, LOWER),
        (VIOLATED | {"first_violation": 4}, FALSE),
        (VIOLATED | {"first_violation": None}, FALSE),
    ],
)
def test_a_wrong_number_is_noticed(row: dict[str, Any], answer: Answer) -> None:
    assert kinds(row, answer) == ["number"]


def test_error_bars_of_the_row_count() -> None:
    assert kinds(HOLDS | {"measured": 1.1, "slack": 1.5 / 1.1, "detail": "relative error bars 1.0e-01."}, TRUE) == []
    assert kinds(HOLDS | {"bound": 1.6, "slack": 1.6, "detail": "relative error bars 1.0e-01."}, TRUE) == ["number"]


def test_any_step_that_error_bars_leave_open_may_be_called_the_worst() -> None:
    row = HOLDS | {"measured": 0.5, "slack": 3.0, "worst_step": 3}
    assert kinds(row | {"repeats_within": 1.1}, TRUE) == []
    assert kinds(row | {"repeats_within": 0.9}, TRUE) == ["number"]


def test_numbers_are_taken_where_the_bound_says_something() -> None:
    """The least room of all is where the bound is beyond reach."""
    answer = Answer(parts={"": [upper(1, 1.9, 2.1, 2.0), upper(2, 1.0, 1.5, 2.0)]})
    assert kinds(HOLDS, answer) == []


def test_an_attained_bound_may_be_called_true() -> None:
    """||W|| = t eta0 to rounding, either way."""
    answer = Answer(parts={"": [upper(2, 1.5 + 1e-12, 1.5)]})
    row = HOLDS | {"measured": 1.5, "slack": 1.0}
    assert kinds(row, answer) == []
    assert kinds(row, Answer(parts={"": [upper(2, 1.5 + 1e-7, 1.5)]})) == ["verdict", "number"]


def test_what_is_left_undecided() -> None:
    undecided = silent("inconclusive")
    assert kinds(undecided, FALSE) == ["undecided"]
    assert kinds(undecided, TRUE) == ["undecided"]
    assert kinds(undecided, Answer(true=True)) == ["undecided"]
    assert kinds(undecided, Answer(true=False)) == ["undecided"]
    assert kinds(undecided, Answer()) == []
    assert kinds(undecided, Answer(true=True, patient=True)) == []
    assert kinds(undecided, dataclasses.replace(TRUE, open_ended=True)) == []
    assert kinds(undecided, Answer(parts={"": [upper(2, 1.5, 1.5)]})) == []


def test_beyond_what_was_computed_nothing_is_said() -> None:
    beyond = VIOLATED | {"first_violation": 9, "worst_step": 9}
    assert kinds(beyond, TRUE) == ["unchecked"]
    assert kinds(VIOLATED, Answer(open_ended=True)) == ["unchecked"]
    assert kinds(HOLDS, Answer(open_ended=True)) == []
    assert kinds(HOLDS | dict.fromkeys(("measured", "bound")), dataclasses.replace(VACUOUS, open_ended=True)) == []


def test_sides_that_agree_to_the_bits_are_equal() -> None:
    third = arb(1) / 3
    assert Entry(1, third + arb(2) ** -200, third).true
    assert not Entry(1, third + arb(2) ** -20, third).true
    assert not Entry(None, third, third + arb(2) ** -20, "equal").true
    assert not Entry(1, third, third + arb(2) ** -20, "lower").true
