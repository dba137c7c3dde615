"""The two tables that an audit of arXiv 2409.17335 opens its evidence with, and `marginaudit table` prints."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from marginaudit.reports.ntp.tables.direction import direction_grids, direction_table
from marginaudit.reports.ntp.tables.proposition2 import proposition2_grids, proposition2_table
from marginaudit.reports.paper import Table


def _direction_records(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for stage in ("stage1", "stage2"):
        for row in data[stage]:
            yield {"stage": int(stage[-1])} | row


def _proposition2_records(data: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in data:
        predicted = {
            f"predicted_{kind}": None if value is None else Fraction(value) for kind, value in row["predicted"].items()
        }
        yield dict(row) | predicted


DIRECTION = Table(
    name="direction",
    heading="Direction errors against their bounds",
    introduction=(
        "1 − cos(W<sup>(t)</sup>, W*) as it was measured, the relative error bar of that number, and what "
        "Proposition 1 (stage 1, O(log t/t)) and Theorem 1 (stage 2, O(log² t/t)) allow with their constants; slack is "
        'bound / measured. <span class="mono">≤</span>: the error bar reaches 0.'
    ),
    of=direction_table,
    grids=direction_grids,
    columns=("dataset", "stage", "step", "measured", "error", "bound", "sharp_bound", "slack"),
    records=_direction_records,
)

PROPOSITION2 = Table(
    name="proposition2",
    heading="Proposition 2's closed form",
    introduction=(
        "x<sup>⊤</sup>W<sub>kq</sub>q of the tokens x related under a query q: m/(k+m) and −k/(k+m) as Proposition 2 "
        "predicts for its k optimal and m non-optimal tokens, W*<sub>kq</sub> as it was solved, and W<sub>kq</sub> as "
        "it was trained, scaled to ‖W*<sub>kq</sub>‖."
    ),
    of=proposition2_table,
    grids=proposition2_grids,
    columns=(
        "dataset",
        "query",
        "optimal",
        "non_optimal",
        "confused",
        "predicted_optimal",
        "predicted_non_optimal",
        "solved",
        "radius",
        "trained",
        "steps",
        "largest_difference",
        "holds",
        "witness",
        "note",
    ),
    records=_proposition2_records,
)

TABLES = (DIRECTION, PROPOSITION2)
