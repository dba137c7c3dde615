"""arXiv 2409.17335: Huang, Liang, Yang on next-token prediction by a one-layer transformer, as a `Paper`."""

from typing import TYPE_CHECKING, Any

from marginaudit.reports.answers import Lists
from marginaudit.reports.grid import NONE
from marginaudit.reports.json_data import finite
from marginaudit.reports.ntp.config import PAPER_STEPS, Config, RecordedConfig
from marginaudit.reports.paper import Paper, loaded
from marginaudit.reports.run import Rows

if TYPE_CHECKING:
    from marginaudit.orders.ntp import Dataset
    from marginaudit.reports.ntp.run import Run

BIBTEX = """@misc{huang2024nonasymptotic,
  title = {Non-asymptotic Convergence of Training Transformers for Next-token Prediction},
  author = {Huang, Ruiquan and Liang, Yingbin and Yang, Jing},
  year = {2024},
  howpublished = {arXiv:2409.17335},
  eprint = {2409.17335},
  archivePrefix = {arXiv},
}
"""

COMMANDS = {
    name: (f"marginaudit.reports.ntp.commands.{name}", does)
    for name, does in (
        ("realize", "Find the largest part of a text that meets Assumption 1, and how far the rest is from it."),
        ("relax", "Judge the statements without Assumption 2, on a dial from one-hot tokens to other embeddings."),
    )
}
"""Module and description of each command that only this paper has."""


class NextTokenPaper(Paper):
    """Algorithm 1 on sentences, and the statements on it."""

    name = "ntp"
    source = "arXiv 2409.17335"
    bibtex = BIBTEX
    kind = loaded("marginaudit.orders.ntp:SENTENCES")
    config = Config
    trained = Config(steps2=PAPER_STEPS)
    package = "marginaudit.reports.ntp"
    run = loaded("marginaudit.reports.ntp.run:Run")
    recorded = loaded("marginaudit.reports.ntp.recorded_run:RecordedRun")
    claims = loaded("marginaudit.reports.ntp.claims:ALL")
    figures = loaded("marginaudit.reports.ntp.figures.gallery:FIGURES")
    tables = loaded("marginaudit.reports.ntp.tables:TABLES")
    space = loaded("marginaudit.reports.ntp.hunting.space:SPACE")
    sweeps = loaded("marginaudit.reports.ntp.sweeps:SWEEPS")
    load = loaded("marginaudit.reports.ntp.algorithm1:load")
    steps = loaded("marginaudit.reports.ntp.algorithm1:true_steps")
    train = loaded("marginaudit.reports.ntp.training:train")
    problems = ("ov", "kq")
    solve = loaded("marginaudit.reports.ntp.solving:solve")
    verify = loaded("marginaudit.reports.ntp.solving:verify")
    remark = loaded("marginaudit.reports.ntp.realizable:far_from_realizable")
    conformity = loaded("marginaudit.reports.ntp.recorded_run:conformity")
    recorded_config = RecordedConfig
    commands = COMMANDS

    def facts(self, run: "Run") -> dict[str, Any]:
        """Sizes, step sizes, the two solutions, how far training went, and how fast the direction converges."""
        from marginaudit.reports.ntp.rates import rates_answer
        from marginaudit.reports.ntp.recorded_run import RecordedRun
        from marginaudit.reports.ntp.solving import solution_summary

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
        """Both stages, a row per recorded step; a column says where the embedding is not the given one."""
        if not run.trainable:
            return {}
        stages = {"stage1": run.trained.stage1, "stage2": run.trained.stage2}
        columns = {name: finite(stage.columns()) for name, stage in stages.items()}
        if run.not_as_given:
            for stage, found in columns.items():
                found["embedding"] = ["nearest orthonormal"] * len(stages[stage])
        return {name: (list(found), list(zip(*found.values(), strict=True))) for name, found in columns.items()}

    def classified(self, dataset: "Dataset", answer: dict[str, Any]) -> Lists:
        """The collocation and every query's classes."""
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
