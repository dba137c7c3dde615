"""What the report says of sequence classes and of what was run on them, and the recorded steps."""

from typing import Any

from marginaudit.orders.snap import common_tokens
from marginaudit.reports.plain import finite
from marginaudit.reports.run import Rows
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.snap.setting import no_growth
from marginaudit.reports.snap.training import rows


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
    """The decoder's growth, a row per recorded step, where the classes are uniform and h is computed."""
    if no_growth(run) or not run.assumption("uniform_classes").holds:
        return {}
    found = rows(run)
    header = ["step", "h", "h_star", "gamma", "share", *(f"xi {name}" for name in run.dataset.next_tokens)]
    return {"limit": (header, [[*(row[name] for name in header[:5]), *row["xi"].values()] for row in found])}


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
