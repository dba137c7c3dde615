"""`solve` and `verify` for problems min |w| s.t. x_n.w >= 1 with rational rows."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from marginaudit.claims.answers.results import Lists, Solved
from marginaudit.claims.values.json_data import finite
from marginaudit.margins import Certificate, NotExact
from marginaudit.margins.rational import ExactMargin, Matrix, Vector, exact_hard_margin, nearest, to_float
from marginaudit.margins.rational_certificate import confirmed_rows, rows_certificate
from marginaudit.orders import InputError, file_content, shown, shown_path
from marginaudit.orders.reading import parsed_json, utf_8_text

FORMAT = "marginaudit-rows-certificate-1"


def solve_rows(name: str, problems: Mapping[str, Matrix], method: str) -> Solved:
    """Solve the problems exactly; ``name`` is the dataset's.

    Raises
    ------
    InputError
        The requested method is another.
    """
    if method == "cvxpy":
        raise InputError("--method", got="cvxpy", expected="auto or exact for data whose solutions are always exact")
    found = {problem: _solution(rows) for problem, rows in problems.items()}
    proofs = {problem: rows_certificate(one) for problem, one in found.items()}
    return Solved(
        {problem: finite(_answer(one)) for problem, one in found.items()},
        lambda: [table for problem, one in found.items() for table in _tables(problem, one)],
        lambda: {"format": FORMAT, "dataset": name, **proofs},
    )


def verify_rows(problems: Mapping[str, Matrix], certificate: Path) -> list[str]:
    """Check the certificate; return one line per problem with the result.

    Raises
    ------
    CertificateError
        The certificate does not prove its statement.
    InputError
        The document is no certificate of such problems.
    """
    where = shown_path(certificate)
    document = parsed_json(utf_8_text(file_content(certificate, "a certificate"), where), where)
    stated = document if isinstance(document, dict) else {}
    if stated.get("format") != FORMAT:
        raise InputError(f"{where}: /format", got=shown(stated.get("format")), expected=FORMAT)
    parts = {name: part for name, part in stated.items() if name not in ("format", "dataset")}
    if not parts or parts.keys() - problems.keys():
        got = ", ".join(map(shown, parts.keys() - problems.keys())) or "no problem"
        raise InputError(where, got=got, expected=f"one of {', '.join(problems)}")
    return [f"{name}: {confirmed_rows(problems[name], part, f'{where}: /{name}')}" for name, part in parts.items()]


def _solution(rows: Matrix) -> ExactMargin | Vector:
    try:
        return exact_hard_margin(rows)
    except NotExact:
        return nearest(rows)[0]


def _answer(found: ExactMargin | Vector) -> dict[str, Any]:
    checks = [field.name for field in fields(Certificate)]
    if not isinstance(found, ExactMargin):
        return {
            "status": "infeasible",
            "method": "exact",
            "norm_squared": None,
            "norm_squared_exact": None,
            "weights": [],
            "weights_exact": None,
            "multipliers_exact": _positive(found),
            "certificate": dict.fromkeys(checks),
            "direction_radius": None,
            "note": "the rows sum to 0 under the multipliers, so that no w meets them all",
        }
    norm_squared = to_float(found.norm2)
    return {
        "status": "optimal",
        "method": "exact",
        "norm_squared": norm_squared,
        "norm_squared_exact": str(found.norm2),
        "weights": [to_float(value) for value in found.w],
        "weights_exact": [str(value) for value in found.w],
        "multipliers_exact": _positive(found.alpha),
        "certificate": dict(zip(checks, (norm_squared, norm_squared, 0.0, 0.0), strict=True)),
        "direction_radius": 0.0,
        "note": "",
    }


def _positive(multipliers: Vector) -> dict[str, str]:
    return {str(n): str(value) for n, value in enumerate(multipliers) if value > 0}


def _tables(problem: str, found: ExactMargin | Vector) -> Lists:
    title, header = f"{problem}: multipliers of the rows", ("row", "exact")
    if not isinstance(found, ExactMargin):
        return ((title, header, [*_positive(found).items()]),)
    weights = [[i, finite(to_float(value)), str(value)] for i, value in enumerate(found.w)]
    return (
        (f"{problem}: w", ("coordinate", "value", "exact"), weights),
        (title, header, [*_positive(found.alpha).items()]),
    )
