"""The table of directions: rows, bounds, what is not known, and notes."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Series
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.algorithm1 import LISTED_STEPS
from marginaudit.claims.ntp.appendix_c_stage2 import theorem1
from marginaudit.claims.ntp.quantities import stage2_direction
from marginaudit.orders.ntp import CASES, dataset_from_document
from marginaudit.reports.ntp.tables import DIRECTION
from marginaudit.reports.ntp.tables.direction import BOUNDS, ratio
from tests.claims.ntp.samples import COUNTED, CYCLE, GENERAL, LENGTH, PLAIN, counted, solver_fails
from tests.command_line import NO_FUNCTION, SVOP
from tests.solutions import known
from tests.twins import twin


def rows_at(table: dict[str, Any], stage: str) -> dict[int, dict[str, Any]]:
    return {row["step"]: row for row in table[stage]}


def test_a_row_has_what_its_claims_measure_and_allow() -> None:
    """The oracle checks the claims' own numbers."""
    run = counted(10**5)
    table = DIRECTION.of(run)
    assert [row["step"] for row in table["stage1"]] == list(LISTED_STEPS)
    assert [row["step"] for row in table["stage2"]] == [2, 10, 100, 900, 10**3, 10**4, 10**5]
    for stage, claims in BOUNDS.items():
        for column, claim in claims.items():
            judgement: Any = claim.judgement
            found = judgement.measure(run)
            at = {t: i for i, t in enumerate(found.step.tolist())}
            for row in table[stage]:
                t, i = row["step"], at[row["step"]]
                (bound,) = np.asarray(judgement.upper(run, np.array([float(t)])))
                assert row[column] == pytest.approx(bound, rel=1e-13, abs=0)
                if column == "bound":
                    assert row["measured"] == found.value[i]
                    assert row["error"] == (found.radius[i] / found.value[i] if found.value[i] else None)
                    assert row["slack"] == (row["bound"] / row["measured"] if row["measured"] else None)


def test_a_step_that_was_not_recorded_has_no_row() -> None:
    config = Config(steps1=500, steps2=2000, at=(1, 2, 50, 100, 900, 1001, 2000))
    table = DIRECTION.of(Run(dataset_from_document(COUNTED), config))
    assert [row["step"] for row in table["stage1"]] == [2, 100]
    assert [row["step"] for row in table["stage2"]] == [2, 100, 900]
    assert table["notes"] == {"stage1": [], "stage2": []}
    table = DIRECTION.of(Run(dataset_from_document(COUNTED), Config(steps1=500, steps2=2000, at=(1, 50))))
    assert table["stage2"] == []
    table = DIRECTION.of(Run(dataset_from_document(COUNTED), Config(steps1=1, steps2=1)))
    assert table["stage2"] == []
    assert "stage 2 has 1 step" in only(table["notes"]["stage2"])


def only(notes: Sequence[str]) -> str:
    [note] = notes
    return note


def test_beyond_T_stage_1_is_its_closed_form() -> None:
    table = DIRECTION.of(counted())
    assert f"T = {LENGTH} by the closed form" in only(table["notes"]["stage1"])
    assert DIRECTION.of(Run(CASES["example-1"](), Config(steps1=900, steps2=5, at=(2,))))["notes"]["stage1"] == []


MINORITY = COUNTED | {"samples": [*COUNTED["samples"], {"tokens": ["b", "b", "d"], "next": "d"}]}


def table_of(document: Any, **config: Any) -> dict[str, Any]:
    return DIRECTION.of(Run(dataset_from_document(document), Config(**{"steps1": 20, "steps2": 20} | config)))


def test_an_unmet_assumption_leaves_the_measured_and_no_bound() -> None:
    table = table_of(GENERAL)
    for stage, bounds in (("stage1", ["bound"]), ("stage2", ["bound", "sharp_bound"])):
        assert [row["step"] for row in table[stage]] == [2, 10]
        assert all(row["measured"] > 0 and row["error"] >= 0 for row in table[stage])
        assert all(row[name] is None for row in table[stage] for name in [*bounds, "slack"])
    for stage, of in (("stage1", ("Proposition 1",)), ("stage2", ("Theorem 1", "Theorem 1, sharper"))):
        for note, statement in zip(table["notes"][stage], of, strict=True):
            assert re.search(rf"Assumption orthonormal fails, .* {statement} ", note)
    table = table_of(MINORITY)  # Assumption 3, which Proposition 1 does not make
    assert all(row["bound"] > 0 for row in table["stage1"])
    assert all(row["bound"] is row["sharp_bound"] is row["slack"] is None for row in table["stage2"])
    assert "Assumption optimal_majority fails" in table["notes"]["stage2"][0]


def nothing_known(rows: list[dict[str, Any]]) -> bool:
    return all(value is None for row in rows for name, value in row.items() if name != "step")


def test_without_a_direction_nothing_is_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    for document, said in (
        (CYCLE, "W*_kq does not exist"),
        (PLAIN, "W*_kq = 0 has no direction"),
    ):
        table = table_of(document)
        assert [row["step"] for row in table["stage2"]] == [2, 10]
        assert nothing_known(table["stage2"])
        assert said in table["notes"]["stage2"][0]
    table = table_of(NO_FUNCTION)
    assert table["stage1"] == table["stage2"] == []
    assert "n is not a function" in only(table["notes"]["stage1"])
    table = table_of({"sentences": [["a", "a"]]})
    assert nothing_known(table["stage1"])
    assert "one token" in table["notes"]["stage1"][0]
    table = table_of(SVOP, optimizer="gd")
    assert table["stage1"] == table["stage2"] == []
    assert "normalised gradient descent" in table["notes"]["stage2"][0]

    solver_fails(monkeypatch)
    table = table_of(SVOP)
    assert nothing_known(table["stage2"])
    assert "solver" in only(table["notes"]["stage2"])
    assert not nothing_known(table["stage1"])


def test_what_has_no_error_bar_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def bars(run: Run) -> Series:
        series = stage2_direction(run, first=2)
        return replace(series, radius=np.where(known(series.step) == 10, np.inf, series.radius))

    claim = theorem1.DIRECTION
    wide = twin(claim, "", measure=bars)
    bounds = {"stage1": {"bound": claim}, "stage2": {"bound": wide}}
    monkeypatch.setattr("marginaudit.reports.ntp.tables.direction.BOUNDS", bounds)
    found = rows_at(DIRECTION.of(counted()), "stage2")
    assert found[2]["measured"] > 0
    assert found[10]["measured"] is found[10]["slack"] is found[10]["error"] is None
    assert found[10]["bound"] > 0


def row(**values: Any) -> dict[str, Any]:
    return {"step": 10, "measured": 0.5, "bound": 4.0, "slack": 8.0, "error": 1e-3} | values


def cells(**values: Any) -> tuple[str, ...]:
    table = {"stage1": [row(**values)], "stage2": [], "notes": {"stage1": [], "stage2": []}}
    return DIRECTION.captioned("x", table)[0].rows[0]


def test_where_the_error_bar_reaches_0_the_most_is_shown() -> None:
    assert cells() == ("10", "0.5", "1.0e-03", "4", "8")
    assert cells(error=0.999) == ("10", "0.5", "1.0e+00", "4", "8")
    assert cells(error=1.0) == ("10", "≤ 1", "–", "4", "≥ 4")
    assert cells(error=7.0) == ("10", "≤ 2", "–", "4", "≥ 2")
    assert cells(error=1.0, bound=None, slack=None) == ("10", "≤ 1", "–", "–", "–")


def test_bounds_in_few_digits_are_bounds() -> None:
    """Of the rows and of what is beside them: none is below the number that it stands for, or above it by a digit."""
    shown = cells(measured=0.5e-28, error=1.02047, bound=1.01021e-28, slack=None)
    assert shown == ("10", "≤ 1.011e-28", "–", "1.011e-28", "≥ 0.9999")
    assert cells(error=1.234e-12)[2] == "1.3e-12"
    for data in (DIRECTION.of(counted(10**5)), DIRECTION.of(Run(CASES["section-7"](), Config(steps1=5, steps2=10**6)))):
        [*stages, (beside,)] = (*DIRECTION.captioned("x", data), DIRECTION.beside([("x", data)]))
        for name, at in (("bound", (3, 2)), ("sharp_bound", (5, 3)), ("error", (2, None))):
            for row, *printed in zip(data["stage2"], stages[1].rows, beside.rows, strict=True):
                for line, column in zip(printed, at, strict=True):
                    assert column is None or 1 <= Fraction(line[column]) / Fraction(row[name]) < 1.1
    assert cells(measured=0.0, error=None, slack=None, step=10**12) == ("1e12", "0", "–", "4", "–")


def test_the_note_says_at_which_steps_the_bound_says_nothing() -> None:
    rows = [row(step=t, bound=b) for t, b in ((2, 1.9), (10, 2.0), (100, 2.5), (900, 1.99))]
    notes: dict[str, list[str]] = {"stage1": [], "stage2": ["why"]}
    first, second = DIRECTION.captioned(
        "x", {"stage1": rows, "stage2": [row(bound=2.0, sharp_bound=1.0)], "notes": notes}
    )
    assert only(first.notes).startswith("At t = 10 to 100 the bound of Proposition 1 ")
    assert second.notes[0].startswith("At t = 10 the bound of Theorem 1 ")
    assert second.notes[1:] == ("why",)
    assert DIRECTION.captioned("x", {"stage1": rows[:1], "stage2": [], "notes": notes})[0].notes == ()


def test_no_slack_is_infinite() -> None:
    assert [ratio(*pair) for pair in ((3.0, 1.5), (1e200, 1e-200), (None, 1.0), (1.0, None), (1.0, 0.0))] == [
        *(2.0, None, None, None, None)
    ]
