"""arXiv 2305.16380 as the audit sees it: Tian, Wang, Chen, Du on how attention scans and snaps."""

from typing import TYPE_CHECKING, Any

from marginaudit.reports.answers import Lists
from marginaudit.reports.json_data import finite
from marginaudit.reports.paper import Paper, loaded
from marginaudit.reports.run import Rows
from marginaudit.reports.snap.config import SHOWN_STEPS, ClassConfig, RecordedClassConfig

if TYPE_CHECKING:
    from marginaudit.orders.snap import SequenceClasses
    from marginaudit.reports.snap.run import ClassRun

BIBTEX = """@misc{tian2023scan,
  title = {Scan and Snap: Understanding Training Dynamics and Token Composition in 1-layer Transformer},
  author = {Tian, Yuandong and Wang, Yiping and Chen, Beidi and Du, Simon},
  year = {2023},
  howpublished = {arXiv:2305.16380},
  eprint = {2305.16380},
  archivePrefix = {arXiv},
}
"""


class ScanAndSnapPaper(Paper):
    """The decoder and self-attention on sequence classes, and the statements on them."""

    name = "snap"
    source = "arXiv 2305.16380"
    bibtex = BIBTEX
    kind = loaded("marginaudit.orders.snap:CLASSES")
    config = ClassConfig
    trained = ClassConfig(steps=SHOWN_STEPS)
    package = "marginaudit.reports.snap"
    run = loaded("marginaudit.reports.snap.run:ClassRun")
    recorded = loaded("marginaudit.reports.snap.recorded_run:RecordedClassRun")
    claims = loaded("marginaudit.reports.snap.claims:ALL")
    figures = loaded("marginaudit.reports.snap.figures:FIGURES")
    space = loaded("marginaudit.reports.snap.hunting.space:SPACE")
    sweeps = loaded("marginaudit.reports.snap.sweeps:SWEEPS")
    train = loaded("marginaudit.reports.snap.training:train")
    conformity = loaded("marginaudit.reports.snap.conformity:conformity")
    recorded_config = RecordedClassConfig

    def facts(self, run: "ClassRun") -> dict[str, Any]:
        """Sizes, overlaps, step sizes, and the end of the scan."""
        from marginaudit.orders.snap import common_tokens
        from marginaudit.reports.snap.recorded_run import RecordedClassRun

        data, other = run.dataset, run if isinstance(run, RecordedClassRun) else None
        return {
            "M": data.M,
            "K": data.K,
            "queries": len(data.queries),
            "common": len(common_tokens(data)),
            "largest_overlap": finite(data.overlap.largest),
            "eigenvalues": finite(data.overlap.eigenvalues),
            "lr_y": run.config.lr_y if other else run.eta_Y,
            "lr_z": run.config.lr_z if other else run.eta_Z,
            "steps": other.facts()["last"] if other else run.config.steps,
            "transition": None if other else finite(run.transition),
            "trajectory": other.facts() if other else None,
        }

    def records(self, run: "ClassRun") -> dict[str, Rows]:
        """Growth of the decoder and of attention at each recorded step, where classes are uniform and h is computed."""
        from marginaudit.reports.snap.recorded_run import RecordedClassRun
        from marginaudit.reports.snap.training import COLUMNS, dominant, rows
        from marginaudit.training.snap.limit.level import LARGEST_RATE

        if isinstance(run, RecordedClassRun):
            return {"recorded": run.records()}
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

    def classified(self, dataset: "SequenceClasses", answer: dict[str, Any]) -> Lists:
        """Classes with their tokens, and the overlaps."""
        classes = [
            [name, found["query"], " ".join(found["distinct"]), " ".join(found["common"])]
            for name, found in answer["classes"].items()
        ]
        eigenvalues = [[i + 1, value] for i, value in enumerate(answer["overlap"]["eigenvalues"])]
        return [
            (f"{dataset.name}: classes", ["next token", "query", "distinct", "common"], classes),
            ("Eigenvalues of E = F^T F - I", ["", "eigenvalue"], eigenvalues),
        ]


PAPER = ScanAndSnapPaper()
