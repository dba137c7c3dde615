"""arXiv 2409.17335: Huang, Liang, Yang on next-token prediction by a one-layer transformer, as a `Paper`."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marginaudit.claims.answers.results import Lists, Solved, Trained
from marginaudit.claims.claim import Claim
from marginaudit.claims.ntp.config import PAPER_STEPS, Config, RecordedConfig
from marginaudit.claims.paper import Figure, Paper, Space
from marginaudit.claims.run import Progress, Rows
from marginaudit.claims.table import Table
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.values.numbers import NONE
from marginaudit.orders import Kind

if TYPE_CHECKING:
    from marginaudit.claims.answers.conformity import Conformity
    from marginaudit.claims.answers.sweeps import Sweeps
    from marginaudit.claims.ntp.recorded_run import RecordedRun
    from marginaudit.claims.ntp.run import Run
    from marginaudit.orders.ntp import Dataset
    from marginaudit.training.weight_files.run_file import RunFile

BIBTEX = """@misc{huang2024nonasymptotic,
  title = {Non-asymptotic Convergence of Training Transformers for Next-token Prediction},
  author = {Huang, Ruiquan and Liang, Yingbin and Yang, Jing},
  year = {2024},
  howpublished = {arXiv:2409.17335},
  eprint = {2409.17335},
  archivePrefix = {arXiv},
}
"""


class NextTokenPaper(Paper):
    """Algorithm 1 on sentences, and its statements."""

    name = "ntp"
    source = "arXiv 2409.17335"
    bibtex = BIBTEX
    config = Config
    trained = Config(steps2=PAPER_STEPS)
    recorded_config = RecordedConfig
    package = "marginaudit.reports.ntp"
    problems = ("ov", "kq")

    @cached_property
    def kind(self) -> Kind[Any]:  # type: ignore[override]
        """Kind of dataset: sentences."""
        from marginaudit.orders.ntp import SENTENCES

        return SENTENCES

    @cached_property
    def run(self) -> type["Run"]:  # type: ignore[override]
        """Class of runs of Algorithm 1."""
        from marginaudit.claims.ntp.run import Run

        return Run

    @cached_property
    def recorded(self) -> type["RecordedRun"]:  # type: ignore[override]
        """Class of recorded runs."""
        from marginaudit.claims.ntp.recorded_run import RecordedRun

        return RecordedRun

    @cached_property
    def claims(self) -> tuple[Claim, ...]:  # type: ignore[override]
        """Statements in the paper's order."""
        from marginaudit.claims.ntp.theorems import ALL

        return self.own(ALL)

    @cached_property
    def figures(self) -> Sequence[Figure]:  # type: ignore[override]
        """Figure 2 of the paper, and figures of any run."""
        from marginaudit.reports.ntp.figures.gallery import FIGURES

        return FIGURES

    @cached_property
    def tables(self) -> Sequence[Table]:  # type: ignore[override]
        """Tables of direction errors and of Proposition 2."""
        from marginaudit.reports.ntp.tables import TABLES

        return TABLES

    @cached_property
    def space(self) -> Space:  # type: ignore[override]
        """Search space of hunts."""
        from marginaudit.reports.ntp.hunting.space import SPACE

        return SPACE

    @cached_property
    def sweeps(self) -> "Sweeps":  # type: ignore[override]
        """Sweeps over datasets and settings of Algorithm 1."""
        from marginaudit.reports.ntp.sweeps import SWEEPS

        return SWEEPS

    def load(self) -> None:
        """Import the compiler and the integrator."""
        from marginaudit.claims.ntp.algorithm1 import load

        load()

    def steps(self, config: Config) -> int:
        """Number of true steps of both stages."""
        from marginaudit.claims.ntp.algorithm1 import true_steps

        return true_steps(config)

    def expected(self, dataset: "Dataset", config: Config) -> tuple[float, str]:
        """Rough processor seconds of an audit, for the most part of training."""
        from marginaudit.claims.ntp.algorithm1 import FEWER_STEPS, expected_seconds

        return expected_seconds(dataset, config), f"--steps2 {FEWER_STEPS}"

    def train(
        self, dataset: "Dataset", config: Config, progress: Progress, notify: Callable[[str], None], origin: str
    ) -> Trained:
        """Train both stages by Algorithm 1."""
        from marginaudit.reports.ntp.training import train

        return train(dataset, config, progress, notify, origin)

    def solve(self, dataset: "Dataset", place: str, method: str, problems: Sequence[str]) -> Solved:
        """Solve the hard-margin problems."""
        from marginaudit.claims.ntp.solving import solve

        return solve(dataset, place, method, problems)

    def verify(self, dataset: "Dataset", place: str, certificate: Path) -> list[str]:
        """Check a certificate with the stand-alone checker; return the confirmed statements."""
        from marginaudit.claims.ntp.solving import verify

        return verify(dataset, place, certificate)

    def remark(self, dataset: "Dataset", origin: str) -> str:
        """Remark on a text's distance from Assumption 1; "" for other data."""
        from marginaudit.reports.ntp.realizable import far_from_realizable

        return far_from_realizable(dataset, origin)

    def conformity(
        self,
        dataset: "Dataset",
        origin: str,
        file: "RunFile",
        config: RecordedConfig,
        progress: Callable[[float], None],
    ) -> "Conformity":
        """Compare a recorded run with Algorithm 1."""
        from marginaudit.claims.ntp.recorded_run import conformity

        return conformity(dataset, origin, file, config, progress)

    def facts(self, run: "Run") -> dict[str, Any]:
        """Facts for the report: sizes, step sizes, both solutions, number of steps, and convergence rates."""
        from marginaudit.claims.ntp.rates import rates_answer
        from marginaudit.claims.ntp.recorded_run import RecordedRun
        from marginaudit.claims.ntp.solving import solution_summary

        data, trained, solvable = run.dataset, run.trainable, run.solvable
        return {
            "V": data.V,
            "N": data.N,
            "L_max": data.L_max,
            "samples": sum(data.counts),
            "relations": len(data.relations),
            "lr1": run.eta0,
            "lr2": run.eta,
            "steps1": run.config.steps1,
            "steps2": run.steps2 if trained else None,
            "trajectory": run.facts() if isinstance(run, RecordedRun) else None,
            "rates": finite(rates_answer(run)) if trained else None,
            "stopped": run.stopped if trained else None,
            "not_trained": run.not_trained,
            "not_as_given": run.not_as_given or None,
            "form": run.trained.form if trained else None,
            "enclosed": None if not trained or run.enclosure is None else int(run.enclosure.step[-1]),
            "not_enclosed": run.not_enclosed if trained else None,
            "ov": solution_summary(run.solved("ov")) if trained else None,
            "kq": solution_summary(run.solved("kq")) if solvable else None,
        }

    def records(self, run: "Run") -> dict[str, Rows]:
        """Records of both stages, one row per step; a column ``embedding`` marks a replaced embedding."""
        if not run.trainable:
            return {}
        stages = {"stage1": run.trained.stage1, "stage2": run.trained.stage2}
        columns = {name: finite(stage.columns()) for name, stage in stages.items()}
        if run.not_as_given:
            for stage, found in columns.items():
                found["embedding"] = ["nearest orthonormal"] * len(stages[stage])
        return {name: (list(found), list(zip(*found.values(), strict=True))) for name, found in columns.items()}

    def classified(self, dataset: "Dataset", answer: dict[str, Any]) -> Lists:
        """Tables of the collocation and of every query's token classes."""
        pairs = [(x, answer["next_token"].get(x)) for x in dataset.vocabulary]
        collocation = [(x, NONE if y is None else y) for x, y in pairs]
        classes = ("optimal", "non_optimal", "confused", "non_comparable")
        rows = [
            [query, *("all others" if found[name] is None else " ".join(found[name]) for name in classes)]
            for query, found in answer["queries"].items()
        ]
        return [
            (f"{dataset.name}: collocation", ("token", "next token"), collocation),
            ("Token classes under each query", ("query", *(c.replace("_", "-") for c in classes)), rows),
        ]


PAPER = NextTokenPaper()
