"""The answers of `marginaudit solve` and `train` as plain data."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from marginaudit.margins.ntp import MaxMargin
from marginaudit.orders.ntp import Dataset
from marginaudit.reports.plain import finite
from marginaudit.training.ntp import StageRecord, Training


def solution_answer(dataset: Dataset, solution: MaxMargin) -> dict[str, Any]:
    """One max-margin problem: status, weights, exact weights where there are any, certificate."""
    certificate = solution.certificate
    answer: dict[str, Any] = {
        "status": solution.status,
        "method": solution.method,
        "norm_squared": solution.norm_squared,
        "norm_squared_exact": None if solution.norm_squared_exact is None else str(solution.norm_squared_exact),
        "weights": _weights(dataset, solution),
        "weights_exact": None
        if solution.weights_exact is None
        else {
            column: {row: str(value) for row, value in rows.items()} for column, rows in solution.weights_exact.items()
        },
        "certificate": {
            "primal": certificate.primal,
            "dual": certificate.dual,
            "gap": certificate.gap,
            "max_violation": certificate.max_violation,
        },
        "direction_radius": solution.direction_radius,
        "gram_deviation": solution.gram_deviation,
        "note": solution.note,
    }
    if solution.infeasibility is not None:
        answer["infeasibility"] = solution.infeasibility.as_document()
    if solution.closed_form is not None:
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
        [query, *(" ".join(found[c]) for c in classes)] for query, found in answer["queries"].items()
    ]
    return [
        (f"{dataset.name}: collocation", ("token", "next token"), collocation),
        ("Token classes under each query", ("query", *(c.replace("_", "-") for c in classes)), rows),
    ]


def solution_summary(solution: MaxMargin | None) -> dict[str, Any]:
    """What the report says of a solution; None stands for one of which the solver proves nothing."""
    if solution is None:
        names = ("norm_squared", "norm_squared_exact", "direction_radius")
        return {"status": "not solved", "method": "cvxpy"} | dict.fromkeys(names)
    exact = solution.norm_squared_exact
    return {
        "status": solution.status,
        "method": solution.method,
        "norm_squared": finite(solution.norm_squared),
        "norm_squared_exact": None if exact is None else str(exact),
        "direction_radius": finite(solution.direction_radius),
    }


def _weights(dataset: Dataset, solution: MaxMargin) -> dict[str, dict[str, float]]:
    if solution.scores is None:
        return {}
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
    columns = stage.columns()
    return [{name: finite(values[i]) for name, values in columns.items()} for i in range(len(columns["step"]))]
