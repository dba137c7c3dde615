"""The JSON answers of the commands, as plain data."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from marginaudit.orders import Assumption
from marginaudit.orders.ntp import Dataset, check_assumptions

if TYPE_CHECKING:
    from marginaudit.margins.ntp import MaxMargin
    from marginaudit.training.ntp import StageRecord, Training


def classify_answer(dataset: Dataset) -> dict[str, Any]:
    """Collocation, classes and relations per query, and every assumption with its witness."""
    return {
        "next_token": dataset.collocation.function,
        "queries": {
            query: {
                "optimal": list(order.optimal),
                "non_optimal": list(order.non_optimal),
                "confused": list(order.confused),
                "non_comparable": list(order.non_comparable),
                "relations": [list(pair) for pair in order.relations],
            }
            for query, order in dataset.orders.items()
        },
        "assumptions": assumptions_answer(check_assumptions(dataset)),
    }


def assumptions_answer(assumptions: Mapping[str, Assumption]) -> dict[str, Any]:
    """Each assumption by name: whether it holds, and its witness."""
    return {name: {"holds": found.holds, "witness": found.witness} for name, found in assumptions.items()}


def solution_answer(dataset: Dataset, solution: "MaxMargin") -> dict[str, Any]:
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


def _weights(dataset: Dataset, solution: "MaxMargin") -> dict[str, dict[str, float]]:
    if solution.scores is None:
        return {}
    names = dataset.vocabulary
    return {
        names[column]: {names[row]: float(solution.scores[row, column]) for row in np.flatnonzero(values)}
        for column, values in enumerate(solution.scores.T)
        if values.any()
    }


def training_answer(training: "Training") -> dict[str, Any]:
    """Both stages, a row per recorded step."""
    return {"stage1": stage_rows(training.stage1), "stage2": stage_rows(training.stage2)}


def stage_rows(stage: "StageRecord") -> list[dict[str, Any]]:
    """The recorded steps as rows; what is not a finite number is None."""
    columns = stage.columns()
    return [{name: finite(values[i]) for name, values in columns.items()} for i in range(len(columns["step"]))]


def finite(value: Any) -> Any:
    """Plain JSON data: numbers that are not finite become None, NumPy scalars and arrays Python ones.

    >>> finite({"a": [np.float64("nan"), np.int64(2)]})
    {'a': [None, 2]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
