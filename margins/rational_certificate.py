"""Certificates of min |w| s.t. x_n.w >= 1 with rational rows: written by the solver, checked against the rows alone."""

import re
from typing import Any, Literal

from flint import fmpq, fmpz
from typing_extensions import TypedDict

from marginaudit.margins.errors import CertificateError
from marginaudit.margins.rational import ExactMargin, Matrix, Vector, combined, dot
from marginaudit.orders import InputError, counted, shown
from marginaudit.orders.reading import validated

FRACTION = re.compile("(-?[0-9]+)/([0-9]+)")


class OptimalDocument(TypedDict, closed=True):
    """The optimum, with the nonzero multipliers of rows."""

    status: Literal["optimal"]
    norm_squared: str
    weights: list[str]
    multipliers: dict[str, str]


class InfeasibleDocument(TypedDict, closed=True):
    """Multipliers that combine the rows to 0."""

    status: Literal["infeasible"]
    multipliers: dict[str, str]


def rows_certificate(found: ExactMargin | Vector) -> dict[str, Any]:
    """Certificate of the optimum, or of infeasibility by multipliers, with numbers "p/q" in lowest terms."""
    if not isinstance(found, ExactMargin):
        return {"status": "infeasible", "multipliers": _positive(found)}
    weights = [*map(_text, found.w)]
    proof = {"norm_squared": _text(found.norm2), "weights": weights, "multipliers": _positive(found.alpha)}
    return {"status": "optimal", **proof}


def confirmed_rows(rows: Matrix, document: Any, where: str) -> str:
    """Check the certificate against the rows; return a line with its result.

    For y >= 0, every feasible w has |w|^2 >= 2 sum(y) - |sum y_n x_n|^2, so a w that attains it is the optimum. If sum
    y_n x_n = 0 for y != 0, no w is feasible.

    Raises
    ------
    CertificateError
        The certificate does not prove its statement.
    InputError
        The document is not a certificate.
    """
    infeasible = isinstance(document, dict) and document.get("status") == "infeasible"
    y = [fmpq(0)] * len(rows)
    stated: Any = validated(InfeasibleDocument if infeasible else OptimalDocument, document, where)
    for key, text in stated["multipliers"].items():
        known = re.fullmatch("[0-9]{1,9}", key) is not None and int(key) < len(rows)
        _demand(known, f"a multiplier of row {shown(key)}, expected rows 0 to {len(rows) - 1}")
        y[int(key)] = _fraction(text, f"{where}/multipliers/{key}")
    _demand(min(y) >= 0, "a multiplier is negative")
    pulled = combined(y, rows)
    if infeasible:
        _demand(any(y), "all multipliers are 0")
        _demand(not any(pulled), "the rows do not sum to 0 under the multipliers")
        return "infeasible, as the rows sum to 0 under multipliers that are positive"
    w = [_fraction(text, f"{where}/weights/{i}") for i, text in enumerate(stated["weights"])]
    _demand(len(w) == len(rows[0]), f"w has {counted(len(w), 'coordinate')}, a row {len(rows[0])}")
    norm_squared = _fraction(stated["norm_squared"], f"{where}/norm_squared")
    for n, row in enumerate(rows):
        _demand(dot(row, w) >= 1, f"row {n} has the margin {dot(row, w)}, not at least 1")
    primal, dual = dot(w, w), 2 * sum(y) - dot(pulled, pulled)
    _demand(primal == norm_squared, f"|w|^2 is {primal}, stated {norm_squared}")
    _demand(dual == norm_squared, f"the dual objective is {dual}, stated {norm_squared}")
    return f"optimal, |w|^2 = {norm_squared}, {counted(len(rows), 'constraint')}"


def _positive(multipliers: Vector) -> dict[str, str]:
    return {str(n): _text(value) for n, value in enumerate(multipliers) if value > 0}


def _text(value: fmpq) -> str:
    return f"{value.p}/{value.q}"


def _fraction(text: str, where: str) -> fmpq:
    found = FRACTION.fullmatch(text)
    value = fmpq(*map(fmpz, found.groups())) if found is not None and found[2].strip("0") else None
    if value is None or _text(value) != text:
        raise InputError(where, got=shown(text), expected='a fraction "p/q" in lowest terms')
    return value


def _demand(holds: bool, reason: str) -> None:
    if not holds:
        raise CertificateError(reason)
