"""What a finding says, where a claim says nothing too; what a report cannot hold is refused."""

import math
from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Evidence, Finding, Verdict
from marginaudit.claims.values.reportable import FARTHEST_STEP, Unreportable
from marginaudit.claims.verdict import Curve, not_applicable


def finding(**fields: Any) -> Finding:
    return Finding(**{"verdict": Verdict.HOLDS} | fields)


REFUSED: dict[str, Callable[[], object]] = {
    "JSON cannot hold: 'true' is not a valid Verdict": lambda: finding(verdict="true"),
    "JSON cannot hold: 'sure' is not a valid Evidence": lambda: finding(evidence="sure"),
    "JSON cannot hold: 'utf-8' codec": lambda: finding(detail="\ud800"),
    "JSON cannot hold: Object of type set": lambda: finding(witness={"set": {1}}),
    "JSON cannot hold: keys must be": lambda: finding(witness={("a", "b"): 1}),
    "JSON cannot hold: Exceeds the limit": lambda: finding(witness={"n": 10**5000}),
    "a value of type int as detail, expected text": lambda: finding(detail=3),
    "a value of type int as left_out, expected text": lambda: finding(left_out=3),
    "a value of type int as needs, expected text": lambda: finding(needs=3),
    "a value of type list as witness, expected a mapping": lambda: finding(witness=[1]),
    "a value of type str as side, expected upper, lower or None": lambda: finding(side="left"),
    **{
        f"a value of type {type(value).__name__} as slack, expected a number": partial(finding, slack=value)
        for value in ("1", 1j, True, [1.0])
    },
    "NaN as measured": lambda: finding(measured=np.float32("nan")),
    "a number too large for float64 as bound": lambda: finding(bound=Fraction(10**400)),
    "NaN as worst_step": lambda: finding(worst_step=math.nan),
    "an infinite position as first_violation": lambda: finding(first_violation=math.inf),
    "a value of type bool as informative_from, expected a number": lambda: finding(informative_from=False),
    "a whole number of more than 100 digits as worst_step": lambda: finding(worst_step=-FARTHEST_STEP - 1),
    "a whole number of more than 100 digits as curve.step": lambda: finding(
        curve=Curve([1, FARTHEST_STEP + 1], [1.0, 2.0])
    ),
    "a value of type int as curve, expected a Curve": lambda: finding(curve=3),
    "a value of type int as curve.clock, expected text": lambda: finding(curve=Curve([1], [1.0], clock=3)),  # type: ignore[arg-type]
    "a value of type int as curve.part, expected text": lambda: finding(curve=Curve([1], [1.0], part=3)),  # type: ignore[arg-type]
    "curve.measured that is no column of numbers: could not": lambda: finding(curve=Curve([1], ["a"])),  # type: ignore[list-item]
    "curve.upper that is no column": lambda: finding(curve=Curve([1], [1.0], [10**400])),
    "a value of type list as curve.lower, expected a column": lambda: finding(curve=Curve([1], [1.0], lower=[[1.0]])),  # type: ignore[list-item]
    "NaN as curve.predicted": lambda: finding(curve=Curve([1], [1.0], predicted=math.nan)),
    "a curve whose columns have not one number a step": lambda: finding(curve=Curve([1, 2], [1.0])),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_no_report_can_hold_is_refused(said: str) -> None:
    with pytest.raises(Unreportable) as refused:
        REFUSED[said]()
    assert said in str(refused.value)


def test_plain_numbers_come_out_of_numpy_ones_and_fractions() -> None:
    numbers = {"measured": np.float32(0.5), "bound": Fraction(1, 4), "slack": np.inf, "worst_step": np.int64(7)}
    witness = {"row": np.arange(2), "nan": np.nan}
    plain = finding(verdict="holds", evidence="exact", side="lower", witness=witness, **numbers)
    assert (plain.verdict, plain.evidence, plain.side) == (Verdict.HOLDS, Evidence.EXACT, "lower")
    assert (plain.measured, plain.bound, plain.slack, plain.worst_step) == (0.5, 0.25, np.inf, 7)
    assert [type(v) for v in (plain.measured, plain.bound, plain.slack, plain.worst_step)] == [float, float, float, int]
    assert plain.witness == {"row": [0, 1], "nan": None}


@pytest.mark.parametrize(
    ("step", "plain"), [(1.5, 1.5), (np.float64(3), 3), (2.0**60, 2**60), (1e101, 1e101), (-(10**100), -(10**100))]
)
def test_a_position_is_whole_where_it_can_be(step: Any, plain: float) -> None:
    found = finding(worst_step=step, curve=Curve([step], [1.0]))
    assert found.curve is not None
    for position in (found.worst_step, found.curve.step[0]):
        assert (position, type(position)) == (plain, type(plain))


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_the_columns_of_a_curve_are_copied_to_plain_lists(kind: Any) -> None:
    values = kind([0.5, math.inf, math.nan])
    found = Curve(kind([1, 2, 3]), values, lower=[np.float32(1), None, 2], vacuous_above=2)  # type: ignore[list-item]
    assert found.step == [1, 2, 3]
    assert {type(value) for value in found.step} == {int}
    assert found.measured[:2] == [0.5, math.inf]
    assert found.measured is not values
    assert found.lower is not None
    assert all(map(math.isnan, (found.measured[2], found.lower[1])))
    assert {type(value) for value in (*found.measured, *found.lower, found.vacuous_above)} == {float}


def test_a_claim_that_says_nothing_of_its_evidence_has_the_weakest() -> None:
    said = asdict(Finding(Verdict.HOLDS))
    assert said.pop("verdict") is Verdict.HOLDS
    assert said.pop("evidence") is list(Evidence)[-2] is Evidence.FLOAT64  # a sampled verdict says how sure it is
    assert said.pop("detail") == said.pop("needs") == said.pop("failed_assumption") == ""
    assert said.pop("left_out") == said.pop("measured_exact") == said.pop("bound_exact") == ""
    assert said.pop("beyond_the_run") is False
    assert set(said.values()) == {None}


def test_what_the_tokens_show_by_themselves_is_exact() -> None:
    witness = {"token": "a"}
    found = not_applicable("It fails.", witness)
    assert found == Finding(Verdict.NOT_APPLICABLE, Evidence.EXACT, detail="It fails.", witness=witness)
    assert not_applicable("It fails.").witness is None


def test_the_worst_verdict_is_first() -> None:
    assert list(Verdict) == [
        *("violated", "broken", "inconclusive", "not-checked", "vacuous", "not-applicable", "holds")
    ]
