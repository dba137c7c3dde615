"""A third paper: what `new-paper` writes under another name, and one of each that a paper may have beside it."""

from dataclasses import replace

from marginaudit.claims.paper import Figure, Paper
from marginaudit.claims.run import Rows
from marginaudit.margins.rational import Vector, written
from marginaudit.reports.starts.paper import BELOW_LARGEST as START
from marginaudit.reports.starts.paper import NUMBERS, STEPS, MeanConfig, MeanRun, Numbers, NumberSpace, line
from marginaudit.reports.starts.paper import SWEEPS as SWEEPS
from marginaudit.reports.starts.paper import Means as Means

BELOW_LARGEST = replace(START, id="third.below-largest", source="Third paper, Theorem 1")


class ThirdPaper(Paper):
    name = "third"
    source = "a page of this test suite"
    kind = NUMBERS
    config = MeanConfig
    run = MeanRun
    claims = (BELOW_LARGEST,)
    figures = (
        Figure("third-1", lambda: line(MeanRun(NUMBERS.cases["three-numbers"]())), beside="third.below-largest"),
        Figure("", lambda run, findings: line(run), of="run", caption="descent"),
    )
    tables = (Means(),)
    space = NumberSpace()
    sweeps = SWEEPS
    problems = ("scale",)

    def rows(self, dataset: Numbers, problem: str) -> tuple[Vector, ...]:
        return written([value] for value in dataset.values)

    def steps(self, config: MeanConfig) -> int:
        return STEPS

    def facts(self, run: MeanRun) -> dict[str, float]:
        return {"N": run.dataset.N, "mean": run.dataset.mean, "rate": run.config.rate}

    def records(self, run: MeanRun) -> dict[str, Rows]:
        return {"descent": (("step", "w"), list(enumerate(run.w.value.tolist(), 1)))}


PAPER = ThirdPaper()
