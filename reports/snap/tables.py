"""Facts and tables of a report on sequence classes: sizes, overlaps, step sizes, recorded steps."""

from typing import Any

from marginaudit.orders.snap import common_tokens
from marginaudit.reports.json_data import finite
from marginaudit.reports.run import Rows
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.snap.training import COLUMNS, dominant, rows
from marginaudit.training.snap.limit.level import LARGEST_RATE


def facts(run: ClassRun) -> dict[str, Any]:
    """Sizes, overlaps, step sizes, and where the scan ends."""
    data = run.dataset
    return {
        "M": data.M,
        "K": data.K,
        "queries": len(data.queries),
        "common": len(common_tokens(data)),
        "largest_overlap": finite(data.overlap.largest),
        "eigenvalues": finite(data.overlap.eigenvalues),
        "lr_y": run.config.lr_y,
        "lr_z": run.config.lr_z,
        "steps": run.config.steps,
        "transition": finite(run.transition),
    }


def records(run: ClassRun) -> dict[str, Rows]:
    """Growth of the decoder and of attention at each recorded step, where classes are uniform and h is computed."""
    if run.M < 2 or run.eta_Y > LARGEST_RATE or not run.assumption("uniform_classes").holds:
        return {}
    found = rows(run)
    names, top = run.dataset.next_tokens, dominant(run.dataset)
    query = {c.next: c.query for c in run.dataset.classes}
    header = [
        *COLUMNS,
        *(f"xi {name}" for name in names),
        *(f"B {name}" for name in names),
        *(f"growth {token} of {name}" for name, token in top.items()),
    ]
    table = [
        [
            *(row[name] for name in COLUMNS),
            *row["xi"].values(),
            *row["B"].values(),
            *(row["growth"][query[name]][token] for name, token in top.items()),
        ]
        for row in found
    ]
    return {"limit": (header, table)}


def classified(dataset: Any, answer: dict[str, Any]) -> list[tuple[str, list[str], list[list[Any]]]]:
    """Classes with their tokens, and the overlaps, as tables: title, header, rows."""
    classes = [
        [name, found["query"], " ".join(found["distinct"]), " ".join(found["common"])]
        for name, found in answer["classes"].items()
    ]
    eigenvalues = [[i + 1, value] for i, value in enumerate(answer["overlap"]["eigenvalues"])]
    return [
        (f"{dataset.name}: classes", ["next token", "query", "distinct", "common"], classes),
        ("Eigenvalues of E = F^T F - I", ["", "eigenvalue"], eigenvalues),
    ]
