"""arXiv 2305.16380: Tian, Wang, Chen, Du on Scan and Snap, as a `Paper`."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from marginaudit.claims.answers.results import Lists, Trained
from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Figure, Paper, Space
from marginaudit.claims.run import Progress, Rows
from marginaudit.claims.snap.config import SHOWN_STEPS, ClassConfig, RecordedClassConfig
from marginaudit.claims.values.json_data import finite
from marginaudit.orders import Kind

if TYPE_CHECKING:
    from marginaudit.claims.answers.conformity import Conformity
    from marginaudit.claims.answers.sweeps import Sweeps
    from marginaudit.claims.snap.recorded_run import RecordedClassRun
    from marginaudit.claims.snap.run import ClassRun
    from marginaudit.orders.snap import SequenceClasses
    from marginaudit.training.weight_files.run_file import RunFile

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
    """Decoder and self-attention on sequence classes, and their statements."""

    name = "snap"
    source = "arXiv 2305.16380"
    bibtex = BIBTEX
    config = ClassConfig
    trained = ClassConfig(steps=SHOWN_STEPS)
    recorded_config = RecordedClassConfig
    package = "marginaudit.reports.snap"

    @cached_property
    def kind(self) -> Kind[Any]:  # type: ignore[override]
        """Kind of dataset: sequence classes."""
        from marginaudit.orders.snap import CLASSES

        return CLASSES

    @cached_property
    def run(self) -> type["ClassRun"]:  # type: ignore[override]
        """Class of runs: the limit of long sequences at given step sizes."""
        from marginaudit.claims.snap.run import ClassRun

        return ClassRun

    @cached_property
    def recorded(self) -> type["RecordedClassRun"]:  # type: ignore[override]
        """Class of recorded runs."""
        from marginaudit.claims.snap.recorded_run import RecordedClassRun

        return RecordedClassRun

    @cached_property
    def claims(self) -> tuple[Claim, ...]:  # type: ignore[override]
        """Statements in the paper's order."""
        from marginaudit.claims.snap.theorems import ALL

        return self.own(ALL)

    @cached_property
    def figures(self) -> Sequence[Figure]:  # type: ignore[override]
        """Reproductions of the paper's figures."""
        from marginaudit.reports.snap.figures import FIGURES

        return FIGURES

    @cached_property
    def space(self) -> Space:  # type: ignore[override]
        """Search space of hunts."""
        from marginaudit.reports.snap.hunting.space import SPACE

        return SPACE

    @cached_property
    def sweeps(self) -> "Sweeps":  # type: ignore[override]
        """Sweeps of the sampled training of section 8."""
        from marginaudit.reports.snap.sweeps import SWEEPS

        return SWEEPS

    def train(
        self,
        dataset: "SequenceClasses",
        config: ClassConfig,
        progress: Progress,
        notify: Callable[[str], None],
        origin: str,
    ) -> Trained:
        """Train; the answer has the growth of decoder and attention."""
        from marginaudit.claims.snap.training import train

        return train(dataset, config, progress, notify, origin)

    def conformity(
        self,
        dataset: "SequenceClasses",
        origin: str,
        file: "RunFile",
        config: RecordedClassConfig,
        progress: Callable[[float], None],
    ) -> "Conformity":
        """Compare a recorded run with Lemma 1's SGD."""
        from marginaudit.claims.snap.recorded_run import conformity

        return conformity(dataset, origin, file, config, progress)

    def facts(self, run: "ClassRun") -> dict[str, Any]:
        """Facts for the report: sizes, overlaps, step sizes, and the end of the scan."""
        from marginaudit.claims.snap.recorded_run import RecordedClassRun
        from marginaudit.orders.snap import common_tokens

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
        """Records of the growth of decoder and attention, for uniform classes with a computed h."""
        from marginaudit.claims.snap.recorded_run import RecordedClassRun
        from marginaudit.claims.snap.training import COLUMNS, dominant, rows
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
        """Tables of the classes with their tokens, and of the overlaps' eigenvalues."""
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
