"""`marginaudit solve` and `verify` for the two hard-margin problems of arXiv 2409.17335."""

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from marginaudit.claims.answers.results import Lists, Solved
from marginaudit.claims.values.json_data import finite
from marginaudit.margins import Certificate, CertificateError
from marginaudit.margins.ntp import (
    Exact,
    Infeasible,
    MaxMargin,
    Optimal,
    certificate_document,
    each_value,
    solve_kq,
    solve_ov,
)
from marginaudit.margins.ntp.verify import Refused, Unreadable
from marginaudit.margins.ntp.verify import verify as checked
from marginaudit.orders import InputError, printable, shown_path
from marginaudit.orders.ntp import CASES, CollocationError, Dataset, dataset_to_document

SOLVERS: dict[Literal["ov", "kq"], Callable[..., Any]] = {"ov": solve_ov, "kq": solve_kq}


def trainable(dataset: Dataset, origin: str) -> Dataset:
    """The dataset, if n is a function on its whole vocabulary.

    Raises
    ------
    InputError
        n is no such function; names the dataset's origin.
    """
    try:
        dataset.collocation.require_function()
    except CollocationError as error:
        place = f"{shown_path(origin)}: {error.where}"
        raise InputError(place, got=error.got, expected=error.expected) from None
    return dataset


def solve(dataset: Dataset, place: str, method: str, problems: Sequence[str]) -> Solved:
    """Both solutions, or one."""
    data = trainable(dataset, place)
    solutions = {which: solver(data, method=method) for which, solver in SOLVERS.items() if which in problems}
    answer: dict[str, Any] = {which: solution_answer(which, data, solution) for which, solution in solutions.items()}
    return Solved(
        answer,
        lambda: _weights(answer["kq"]) if "kq" in answer else (),
        lambda: certificate_document(data, **solutions),
    )


def _weights(answer: dict[str, Any]) -> Lists:
    exact = answer["weights_exact"]
    rows = [
        [query, key, value, exact[query][key] if exact else ""]
        for query, column in answer["weights"].items()
        for key, value in column.items()
    ]
    forms = [
        [query, "holds" if form["holds"] else "fails", " ".join(form["witness"] or ())]
        for query, form in answer["closed_form"].items()
    ]
    return (
        ("W*_kq: x^T W q", ("query q", "key x", "weight", "exact"), rows),
        ("Proposition 2's closed form", ("query", "", "witness S"), forms),
    )


def solution_answer(which: Literal["ov", "kq"], dataset: Dataset, solution: MaxMargin) -> dict[str, Any]:
    """One max-margin problem as JSON data: status, weights, exact weights if any, certificate."""
    answer = solution_summary(solution) | {"weights": {}, "weights_exact": None}
    if isinstance(solution, Optimal):
        answer |= finite({"certificate": asdict(solution.certificate), "gram_deviation": solution.gram_deviation})
        answer["note"] = solution.note
    if isinstance(solution, Exact):
        answer["weights"] = each_value(solution.weights_exact, float)
        answer["weights_exact"] = each_value(solution.weights_exact, str)
    elif isinstance(solution, Optimal):
        answer["weights"] = finite(_by_name(dataset, solution))
    if isinstance(solution, Infeasible):
        answer["certificate"] = dict.fromkeys(field.name for field in fields(Certificate))
        answer |= {"gram_deviation": None, "note": None}
        answer["infeasibility"] = finite(solution.infeasibility.as_document())
    if which == "kq":
        answer["closed_form"] = {
            query: {"holds": form.holds, "witness": None if form.witness is None else list(form.witness)}
            for query, form in solution.closed_form.items()
        }
    return answer


def solution_summary(solution: MaxMargin | None) -> dict[str, Any]:
    """A solution's entry in report.json; None without a proof by the solver."""
    return {
        "status": "not solved" if solution is None else solution.status,
        "method": "cvxpy" if solution is None else solution.method,
        "norm_squared": finite(solution.norm_squared) if isinstance(solution, Optimal) else None,
        "norm_squared_exact": str(solution.norm_squared_exact) if isinstance(solution, Exact) else None,
        "direction_radius": finite(solution.direction_radius) if isinstance(solution, Optimal) else None,
    }


def _by_name(dataset: Dataset, solution: Optimal) -> dict[str, dict[str, float]]:
    names = dataset.vocabulary
    return {
        names[column]: {names[row]: float(solution.scores[row, column]) for row in np.flatnonzero(values)}
        for column, values in enumerate(solution.scores.T)
        if values.any()
    }


def verify(dataset: Dataset, place: str, certificate: Path) -> list[str]:
    """Statements confirmed by the stand-alone checker, which reads the dataset's file itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(place)
        if place in CASES:
            path = Path(folder) / "case.json"
            path.write_text(json.dumps(dataset_to_document(dataset)), encoding="utf-8")
        try:
            return checked(path, certificate)
        except Refused as reason:
            raise CertificateError(str(reason)) from None
        except Unreadable as error:
            raise InputError(printable(error.where), got=printable(error.got), expected=error.expected) from None
