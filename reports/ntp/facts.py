"""What the report says of a dataset and of what was run on it, and the recorded steps."""

from typing import Any

from marginaudit.reports.ntp.answers import solution_summary
from marginaudit.reports.ntp.rates import rates_answer
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.plain import finite
from marginaudit.reports.run import Rows


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
