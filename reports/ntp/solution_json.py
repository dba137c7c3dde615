"""A max-margin solution as plain data, for `marginaudit solve` and the report."""

from dataclasses import asdict, fields
from typing import Any, Literal

import numpy as np

from marginaudit.margins import Certificate
from marginaudit.margins.ntp import Exact, Infeasible, MaxMargin, Optimal, each_value
from marginaudit.orders.ntp import Dataset
from marginaudit.reports.json_data import finite


def solution_answer(which: Literal["ov", "kq"], dataset: Dataset, solution: MaxMargin) -> dict[str, Any]:
    """One max-margin problem as JSON data: status, weights, exact weights where there are any, certificate."""
    answer = solution_summary(solution) | {"weights": {}, "weights_exact": None}
    if isinstance(solution, Optimal):
        answer |= finite({"certificate": asdict(solution.certificate), "gram_deviation": solution.gram_deviation})
        answer["note"] = solution.note
    if isinstance(solution, Exact):
        answer["weights"] = each_value(solution.weights_exact, float)
        answer["weights_exact"] = each_value(solution.weights_exact, str)
    elif isinstance(solution, Optimal):
        answer["weights"] = finite(_weights(dataset, solution))
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
    """A solution's entry in report.json; None where the solver proves nothing."""
    return {
        "status": "not solved" if solution is None else solution.status,
        "method": "cvxpy" if solution is None else solution.method,
        "norm_squared": finite(solution.norm_squared) if isinstance(solution, Optimal) else None,
        "norm_squared_exact": str(solution.norm_squared_exact) if isinstance(solution, Exact) else None,
        "direction_radius": finite(solution.direction_radius) if isinstance(solution, Optimal) else None,
    }


def _weights(dataset: Dataset, solution: Optimal) -> dict[str, dict[str, float]]:
    names = dataset.vocabulary
    return {
        names[column]: {names[row]: float(solution.scores[row, column]) for row in np.flatnonzero(values)}
        for column, values in enumerate(solution.scores.T)
        if values.any()
    }
