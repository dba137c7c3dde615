"""Certificates of rational rows: the truth is confirmed, each lie about it is refused."""

import copy
from typing import Any

import pytest
from flint import fmpq

from marginaudit.margins import CertificateError
from marginaudit.margins.rational import exact_hard_margin, nearest
from marginaudit.margins.rational_certificate import confirmed_rows, rows_certificate
from marginaudit.orders import InputError

ROWS = [(fmpq(1), fmpq(0)), (fmpq(0), fmpq(2)), (fmpq(3), fmpq(3))]

OPTIMAL = {
    "status": "optimal",
    "norm_squared": "5/4",
    "weights": ["1/1", "1/2"],
    "multipliers": {"0": "1/1", "1": "1/4"},
}

OPPOSITE = [(fmpq(1), fmpq(0)), (fmpq(-2), fmpq(0)), (fmpq(0), fmpq(1))]

INFEASIBLE = {"status": "infeasible", "multipliers": {"0": "2/3", "1": "1/3"}}


def changed(document: dict[str, Any], **more: Any) -> dict[str, Any]:
    return copy.deepcopy(document) | more


def test_what_the_solver_writes_is_confirmed() -> None:
    assert rows_certificate(exact_hard_margin(ROWS)) == OPTIMAL
    assert confirmed_rows(ROWS, OPTIMAL, "here") == "optimal, |w|^2 = 5/4, 3 constraints"
    assert rows_certificate(nearest(OPPOSITE)[0]) == INFEASIBLE
    assert confirmed_rows(OPPOSITE, INFEASIBLE, "here").startswith("infeasible, ")


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        (changed(OPTIMAL, weights=["1/1", "1/3"]), "row 1 has the margin 2/3, not at least 1"),
        (changed(OPTIMAL, weights=["1/1", "1/1"]), "|w|^2 is 2, stated 5/4"),
        (changed(OPTIMAL, norm_squared="1/1"), "|w|^2 is 5/4, stated 1"),
        (changed(OPTIMAL, weights=["1/1"]), "w has 1 coordinate, a row 2"),
        (changed(OPTIMAL, multipliers={"0": "1/1"}), "the dual objective is 1, stated 5/4"),
        (changed(OPTIMAL, multipliers={"0": "1/1", "1": "-1/4"}), "a multiplier is negative"),
        (changed(OPTIMAL, multipliers={"3": "1/1"}), "a multiplier of row '3', expected rows 0 to 2"),
        (changed(OPTIMAL, multipliers={"-1": "1/1"}), "a multiplier of row '-1', expected rows 0 to 2"),
        (changed(INFEASIBLE), "the rows do not sum to 0 under the multipliers"),
        (changed(INFEASIBLE, multipliers={}), "all multipliers are 0"),
        (changed(INFEASIBLE, multipliers={"0": "0/1"}), "all multipliers are 0"),
    ],
)
def test_a_lie_is_refused(lie: dict[str, Any], reason: str) -> None:
    with pytest.raises(CertificateError) as refused:
        confirmed_rows(ROWS, lie, "here")
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "here: got an array of 0 entries, expected "),
        (changed(OPTIMAL, status="solved"), "here/status: got 'solved', expected 'optimal'"),
        (changed(OPTIMAL, more=1), "here/more: got an unknown key"),
        (changed(OPTIMAL, norm_squared="10/8"), "here/norm_squared: got '10/8', expected a fraction"),
        (changed(OPTIMAL, norm_squared="1/0"), "here/norm_squared: got '1/0', expected a fraction"),
        (changed(OPTIMAL, weights=["1/1", "½"]), "here/weights/1: got '½', expected a fraction"),
        (changed(OPTIMAL, multipliers={"0": "1"}), "here/multipliers/0: got '1', expected a fraction"),
    ],
)
def test_what_is_no_certificate_says_where(document: Any, said: str) -> None:
    with pytest.raises(InputError) as refused:
        confirmed_rows(ROWS, document, "here")
    assert str(refused.value).replace(": /", "/").startswith(said)
