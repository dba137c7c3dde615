"""A max-margin solution as plain data, for `marginaudit solve` and the report."""

from dataclasses import asdict, fields
from typing import Any, Literal

import numpy as np

from marginaudit.margins import Certificate
from marginaudit.margins.ntp import Exact, Infeasible, MaxMargin, Optimal
from marginaudit.orders.ntp import Dataset
from marginaudit.reports.json_data import finite

ANSWERED = (
    "status",
    "method",
    "norm_squared",
    "norm_squared_exact",
    "weights",
    "weights_exact",
    "certificate",
    "direction_radius",
    "gram_deviation",
    "note",
)


def solution_answer(which: Literal["ov", "kq"], dataset: Dataset, solution: MaxMargin) -> dict[str, Any]:
    """One max-margin problem: status, weights, exact weights where there are any, certificate."""
    answer: dict[str, Any] = dict.fromkeys(ANSWERED) | solution_summary(solution)
    if isinstance(solution, Optimal):
        answer["weights"] = _exact_weights(dataset, solution) if which == "kq" else _weights(dataset, solution)
        answer["certificate"] = asdict(solution.certificate)
        answer["gram_deviation"] = solution.gram_deviation
        answer["note"] = solution.note
    if isinstance(solution, Exact):
        answer["weights_exact"] = {
            column: {row: str(value) for row, value in rows.items()} for column, rows in solution.weights_exact.items()
        }
    if isinstance(solution, Infeasible):
        answer["weights"] = {}
        answer["certificate"] = dict.fromkeys(field.name for field in fields(Certificate))
        answer["infeasibility"] = solution.infeasibility.as_document()
    if which == "kq":
        answer["closed_form"] = {
            query: {"holds": form.holds, "witness": None if form.witness is None else list(form.witness)}
            for query, form in solution.closed_form.items()
        }
    return answer


def solution_summary(solution: MaxMargin | None) -> dict[str, Any]:
    """A solution's entry in report.json; None where the solver proves nothing."""
    return {
        "status": "not solved" if solution is None else solution.status,
        "method": "cvxpy" if solution is None else solution.method,
        "norm_squared": finite(solution.norm_squared) if isinstance(solution, Optimal) else None,
        "norm_squared_exact": str(solution.norm_squared_exact) if isinstance(solution, Exact) else None,
        "direction_radius": finite(solution.direction_radius) if isinstance(solution, Optimal) else None,
    }


def _exact_weights(dataset: Dataset, solution: Optimal) -> dict[str, dict[str, float]]:
    """`_weights` of an exact solution, without its dense array."""
    if not isinstance(solution, Exact):
        return _weights(dataset, solution)
    known = solution.weights_exact  # tokens in the vocabulary's order
    return {
        q: {x: value.numerator / value.denominator for x, value in known[q].items()}
        for q in dataset.vocabulary
        if q in known
    }


def _weights(dataset: Dataset, solution: Optimal) -> dict[str, dict[str, float]]:
    names = dataset.vocabulary
    return {
        names[column]: {names[row]: float(solution.scores[row, column]) for row in np.flatnonzero(values)}
        for column, values in enumerate(solution.scores.T)
        if values.any()
    }
