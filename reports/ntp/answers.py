"""The answers of `marginaudit solve` and `train` as plain data."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any, Literal

import numpy as np

from marginaudit.margins import Certificate
from marginaudit.margins.ntp import Exact, Infeasible, MaxMargin, Optimal
from marginaudit.orders.ntp import Dataset
from marginaudit.reports.plain import finite
from marginaudit.training.ntp import StageRecord, Training

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


def classified(dataset: Dataset, answer: dict[str, Any]) -> list[tuple[str, Sequence[str], list[Sequence[Any]]]]:
    """The collocation and every query's classes as tables: title, header, rows."""
    pairs = [(x, answer["next_token"].get(x)) for x in dataset.vocabulary]
    collocation: list[Sequence[Any]] = [(x, "–" if y is None else y) for x, y in pairs]
    classes = ("optimal", "non_optimal", "confused", "non_comparable")
    rows: list[Sequence[Any]] = [
        [query, *("all others" if found[name] is None else " ".join(found[name]) for name in classes)]
        for query, found in answer["queries"].items()
    ]
    return [
        (f"{dataset.name}: collocation", ("token", "next token"), collocation),
        ("Token classes under each query", ("query", *(c.replace("_", "-") for c in classes)), rows),
    ]


def solution_summary(solution: MaxMargin | None) -> dict[str, Any]:
    """What the report says of a solution; None stands for one of which the solver proves nothing."""
    return {
        "status": "not solved" if solution is None else solution.status,
        "method": "cvxpy" if solution is None else solution.method,
        "norm_squared": finite(solution.norm_squared) if isinstance(solution, Optimal) else None,
        "norm_squared_exact": str(solution.norm_squared_exact) if isinstance(solution, Exact) else None,
        "direction_radius": finite(solution.direction_radius) if isinstance(solution, Optimal) else None,
    }


def _exact_weights(dataset: Dataset, solution: Optimal) -> dict[str, dict[str, float]]:
    """As `_weights`, of an exact solution without its dense array."""
    if not isinstance(solution, Exact):
        return _weights(dataset, solution)
    known = solution.weights_exact
    return {
        q: {x: float(known[q][x]) for x in sorted(known[q], key=dataset.index.__getitem__)}
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


def training_answer(training: Training) -> dict[str, Any]:
    """Both stages, a row per recorded step."""
    return {"stage1": stage_rows(training.stage1), "stage2": stage_rows(training.stage2)}


def stage_rows(stage: StageRecord) -> list[dict[str, Any]]:
    """The recorded steps as rows; what is not a finite number is None."""
    columns = finite(stage.columns())
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
