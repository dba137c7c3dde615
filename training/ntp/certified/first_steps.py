"""The first records of stage 2 by enclosure, for small runs of which float64 has lost the trajectory."""

from collections.abc import Iterable

import numpy as np

from marginaudit.margins.ntp import MaxMargin
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.certified.enclosure import Enclosure, NotEnclosable, enclose
from marginaudit.training.ntp.steps.iterate import EPS, direction_error
from marginaudit.training.ntp.steps.loss import Row
from marginaudit.training.ntp.steps.underflow import norm as size_of

LOOSE = 1e-9
"""Bound on the distance of unit vectors above which a record counts as lost."""

MOST_STEPS = 1000
MOST_WORK = 100_000
"""Limits on the first steps, and on that number times the distinct tokens of all samples: some tenths of a second."""

MOST_BITS = 2048


def first_steps(
    dataset: Dataset, kq: MaxMargin, rows: Iterable[Row], *, steps1: int, lr1: float, lr2: float
) -> Enclosure | None:
    """Enclose as many first records as affordable; None if none is `LOOSE`, or none can be enclosed."""
    tokens = sum(len(set(sample.tokens)) for sample in dataset.samples)
    most = min(MOST_STEPS, MOST_WORK // tokens)
    first = [row for row in rows if row["step"] <= most]
    if all(row["distance_error"] <= LOOSE for row in first if row["step"]):
        return None
    at = [row["step"] for row in first]
    try:
        return enclose(
            dataset,
            kq,
            steps1=steps1,
            steps=most,
            lr1=lr1,
            lr2=lr2,
            at=at,
            most_bits=MOST_BITS,
            partly=True,
            tolerant=True,
        )
    except NotEnclosable:
        return None


def enclosed_row(found: Enclosure, at: int, eta: float) -> Row:
    """An enclosed record as a row of float64 numbers."""
    row: Row = {name: float(values[at]) for name, (values, _) in found.columns.items()}
    step, rest = int(found.step[at]), found.rest[at]
    if row["one_minus_cos"] <= found.columns["one_minus_cos"][1][at]:
        row["one_minus_cos"] = 0.0
    distance = float(np.sqrt(2 * row["one_minus_cos"]))
    error, distance_error = direction_error(float(found.radius[at]) + 4 * EPS * size_of(rest), row["norm"], distance)
    return row | {
        "step": step,
        "loss": float(np.exp(row["log_loss"])),
        "distance": distance,
        "error": error,
        "distance_error": distance_error,
        "gradient_norm": float(np.exp(row["log_gradient_norm"])),
        "method": "steps",
        "min_optimal_weight": -float(np.expm1(row["log_other_weight"])),
        "along": step * eta,
        "rest": rest,
    }
