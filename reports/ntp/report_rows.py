"""The report of a dataset and its run: token classes, facts, and a row per recorded step."""

from collections.abc import Sequence
from typing import Any

from marginaudit.orders.ntp import Dataset
from marginaudit.reports.json_data import finite
from marginaudit.reports.ntp.rates import rates_answer
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.solution_json import solution_summary
from marginaudit.reports.run import Rows


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


def facts(run: Run) -> dict[str, Any]:
    """Sizes, step sizes, the two solutions, how far training went, and how fast the direction converges."""
    data, trained, solvable = run.dataset, run.trainable, run.solvable
    return {
        "V": data.V,
        "N": data.N,
        "L_max": data.L_max,
        "samples": sum(data.counts),
        "relations": len(data.relations),
        "lr1": run.eta0,
        "lr2": run.eta,
        "steps2": run.steps2 if trained else None,
        "rates": finite(rates_answer(run)) if trained else None,
        "stopped": run.stopped if trained else None,
        "not_trained": run.not_trained,
        "form": run.trained.form if trained else None,
        "enclosed": None if not trained or run.enclosure is None else int(run.enclosure.step[-1]),
        "not_enclosed": run.not_enclosed if trained else None,
        "ov": solution_summary(run.solved("ov")) if trained else None,
        "kq": solution_summary(run.solved("kq")) if solvable else None,
    }


def records(run: Run) -> dict[str, Rows]:
    """Both stages, a row per recorded step."""
    if not run.trainable:
        return {}
    found: dict[str, Rows] = {}
    for name, record in (("stage1", run.trained.stage1), ("stage2", run.trained.stage2)):
        columns = finite(record.columns())
        found[name] = list(columns), list(zip(*columns.values(), strict=True))
    return found
