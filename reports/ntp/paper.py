"""arXiv 2409.17335 as the audit sees it: Huang, Liang, Yang on next-token prediction by a one-layer transformer."""

from typing import Any

from marginaudit.orders.ntp import SENTENCES, Dataset
from marginaudit.reports.grid import NONE
from marginaudit.reports.json_data import finite
from marginaudit.reports.ntp.algorithm1 import load, true_steps
from marginaudit.reports.ntp.claims import CLAIMS
from marginaudit.reports.ntp.config import PAPER_STEPS, Config
from marginaudit.reports.ntp.figures.gallery import FIGURES
from marginaudit.reports.ntp.hunting.space import SentenceSpace
from marginaudit.reports.ntp.rates import rates_answer
from marginaudit.reports.ntp.realizable import far_from_realizable
from marginaudit.reports.ntp.recorded_run import RecordedRun
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.solution_json import solution_summary
from marginaudit.reports.ntp.sweeps import SWEEPS
from marginaudit.reports.ntp.tables import DIRECTION, PROPOSITION2
from marginaudit.reports.ntp.training import train
from marginaudit.reports.paper import Lists, Paper
from marginaudit.reports.run import Rows

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
    """Algorithm 1 on sentences, and the statements on it."""

    name = "ntp"
    source = "arXiv 2409.17335"
    bibtex = BIBTEX
    kind = SENTENCES
    config = Config
    trained = Config(steps2=PAPER_STEPS)
    run = Run
    recorded = RecordedRun
    claims = tuple(CLAIMS.values())
    figures = FIGURES
    tables = (DIRECTION, PROPOSITION2)
    package = "marginaudit.reports.ntp"
    space = SentenceSpace()
    sweeps = SWEEPS

    load = staticmethod(load)
    steps = staticmethod(true_steps)
    train = staticmethod(train)
    remark = staticmethod(far_from_realizable)

    def facts(self, run: Run) -> dict[str, Any]:
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
            "steps1": run.config.steps1,
            "steps2": run.steps2 if trained else None,
            "trajectory": run.facts() if isinstance(run, RecordedRun) else None,
            "rates": finite(rates_answer(run)) if trained else None,
            "stopped": run.stopped if trained else None,
            "not_trained": run.not_trained,
            "form": run.trained.form if trained else None,
            "enclosed": None if not trained or run.enclosure is None else int(run.enclosure.step[-1]),
            "not_enclosed": run.not_enclosed if trained else None,
            "ov": solution_summary(run.solved("ov")) if trained else None,
            "kq": solution_summary(run.solved("kq")) if solvable else None,
        }

    def records(self, run: Run) -> dict[str, Rows]:
        """Both stages, a row per recorded step."""
        if not run.trainable:
            return {}
        stages = {"stage1": run.trained.stage1, "stage2": run.trained.stage2}
        columns = {name: finite(stage.columns()) for name, stage in stages.items()}
        return {name: (list(found), list(zip(*found.values(), strict=True))) for name, found in columns.items()}

    def classified(self, dataset: Dataset, answer: dict[str, Any]) -> Lists:
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
