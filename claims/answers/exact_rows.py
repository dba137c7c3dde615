"""`solve` and `verify` for problems with rational rows, exactly or numerically between proved bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from marginaudit.claims.answers.results import Lists, Solved
from marginaudit.claims.values.json_data import finite
from marginaudit.margins import Certificate, ExactMargin, HardMargin, NotExact
from marginaudit.margins.linear.documents import certificate, exact_document, statement
from marginaudit.margins.linear.verify import FORMAT
from marginaudit.margins.rational import Matrix, Vector, solved, to_float
from marginaudit.orders import InputError, file_content, shown, shown_path
from marginaudit.orders.reading import parsed_json, utf_8_text

CHECKS = [field.name for field in fields(Certificate)]


@dataclass(frozen=True)
class RowsSolution:
    """A problem's solution: the entry of `solve --json`, its tables and its certificate."""

    answer: dict[str, Any]
    tables: Lists
    document: dict[str, Any]


def solve_rows(name: str, problems: Mapping[str, HardMargin | Matrix], method: str) -> Solved:
    """Solve the problems: exactly, or with cvxpy if asked to or in another norm; ``name`` is the dataset's.

    Raises
    ------
    NotExact
        The method is exact, and the norm is not the Euclidean one.
    SolverFailure
        The solver's arrays prove no narrow interval.
    """
    found = {problem: _solution(problem, as_problem(rows), method) for problem, rows in problems.items()}
    return Solved(
        {problem: finite(one.answer) for problem, one in found.items()},
        lambda: [table for one in found.values() for table in one.tables],
        lambda: certificate(name, {problem: one.document for problem, one in found.items()}),
    )


def verify_rows(problems: Mapping[str, HardMargin | Matrix], path: Path) -> list[str]:
    """Check the certificate; return one line per problem with the result.

    Raises
    ------
    CertificateError
        The certificate is of other problems, or does not prove its statement.
    InputError
        The document is no certificate of such problems.
    """
    where = shown_path(path)
    document = parsed_json(utf_8_text(file_content(path, "a certificate"), where), where)
    stated = document if isinstance(document, dict) else {}
    if stated.get("format") != FORMAT:
        raise InputError(f"{where}: /format", got=shown(stated.get("format")), expected=FORMAT)
    parts = {name: part for name, part in stated.items() if name not in ("format", "dataset")}
    if not parts or parts.keys() - problems.keys():
        got = ", ".join(map(shown, parts.keys() - problems.keys())) or "no problem"
        raise InputError(where, got=got, expected=f"one of {', '.join(problems)}")
    return [
        f"{name}: {statement(as_problem(problems[name]), part, f'{where}: /{name}')}" for name, part in parts.items()
    ]


def as_problem(rows: HardMargin | Matrix) -> HardMargin:
    """The problem, of rows alone or with equalities, labels and another norm."""
    return rows if isinstance(rows, HardMargin) else HardMargin(rows)


def _solution(name: str, problem: HardMargin, method: str) -> RowsSolution:
    if method == "cvxpy" or (method == "auto" and problem.norm != "euclidean"):
        return _numerical(name, problem)
    if problem.norm != "euclidean":
        raise NotExact(f"{name}: the {problem.norm} norm is minimised by cvxpy alone")
    found = solved(problem.rows, problem.equalities, problem.values, problem.labels)
    if not isinstance(found, ExactMargin):
        return _infeasible(name, problem, found)
    norm_squared = to_float(found.norm2)
    multipliers = {label: str(value) for label, value in found.named.items()}
    answer = {
        "status": "optimal",
        "method": "exact",
        "norm_squared": norm_squared,
        "norm_squared_exact": str(found.norm2),
        "weights": [to_float(value) for value in found.w],
        "weights_exact": [str(value) for value in found.w],
        "multipliers_exact": multipliers,
        "certificate": dict(zip(CHECKS, (norm_squared, norm_squared, 0.0, 0.0), strict=True)),
        "direction_radius": 0.0,
        "note": "",
    }
    weights = [[i, finite(to_float(value)), str(value)] for i, value in enumerate(found.w)]
    tables = (
        (f"{name}: w", ("coordinate", "value", "exact"), weights),
        _multipliers(name, multipliers),
    )
    return RowsSolution(answer, tables, exact_document(problem, found))


def _numerical(name: str, problem: HardMargin) -> RowsSolution:
    """The solution between proved bounds, or exact multipliers of infeasible rows."""
    from marginaudit.margins.linear.numerical import Bounded, solve_numerically

    found = solve_numerically(problem)
    if not isinstance(found, Bounded):
        return _infeasible(name, problem, found)
    euclidean = problem.norm == "euclidean"
    primal, dual = (found.upper**2, found.lower**2) if euclidean else (found.upper, found.lower)
    multipliers = {
        label: value for label, value in zip(problem.names, found.multipliers.tolist(), strict=True) if value
    }
    answer = {
        "status": "optimal",
        "method": "cvxpy",
        "norm_squared": primal if euclidean else None,
        "norm_squared_exact": None,
        "norm": problem.norm,
        "lower": found.lower,
        "upper": found.upper,
        "weights": found.w.tolist(),
        "weights_exact": None,
        "multipliers": multipliers,
        "certificate": dict(
            zip(CHECKS, (primal, dual, found.gap(squared=euclidean), found.max_violation), strict=True)
        ),
        "direction_radius": found.direction_radius if euclidean else None,
        "note": f"the least {problem.norm} norm is from {found.lower:.17g} to {found.upper:.17g}",
    }
    weights = [[i, value] for i, value in enumerate(found.w.tolist())]
    shown_multipliers = (f"{name}: multipliers of the rows", ("row", "value"), [*multipliers.items()])
    return RowsSolution(answer, ((f"{name}: w", ("coordinate", "value"), weights), shown_multipliers), found.document)


def _infeasible(name: str, problem: HardMargin, y: Vector) -> RowsSolution:
    multipliers = {label: str(value) for label, value in zip(problem.names, y, strict=True) if value != 0}
    answer: dict[str, Any] = {
        "status": "infeasible",
        "method": "exact",
        "norm_squared": None,
        "norm_squared_exact": None,
        "weights": [],
        "weights_exact": None,
        "multipliers_exact": multipliers,
        "certificate": dict.fromkeys(CHECKS),
        "direction_radius": None,
        "note": "the rows sum to 0 >= 1 under the multipliers, so that no w meets them all",
    }
    return RowsSolution(answer, (_multipliers(name, multipliers),), exact_document(problem, y))


def _multipliers(name: str, found: Mapping[str, str]) -> tuple[str, Sequence[str], Sequence[Sequence[Any]]]:
    return f"{name}: multipliers of the rows", ("row", "exact"), [*found.items()]
