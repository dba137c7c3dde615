"""A third paper: what `new-paper` writes, and one of each that a paper may have beside it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING

from marginaudit.claims.answers.sweeps import Design, Generator, Result, Sweeps
from marginaudit.claims.paper import Figure, Paper, Space
from marginaudit.claims.run import Rows
from marginaudit.claims.settings import COUNT
from marginaudit.claims.table import Table
from marginaudit.margins.rational import Vector, written
from marginaudit.reports.starts.paper import BELOW_LARGEST as START
from marginaudit.reports.starts.paper import NUMBERS, STEPS, MeanConfig, MeanRun, Numbers

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from matplotlib.figure import Figure as Drawing

BELOW_LARGEST = replace(START, id="third.below-largest", source="Third paper, Theorem 1")


def line(run: MeanRun) -> "Drawing":
    from matplotlib.figure import Figure as Drawing

    figure = Drawing(figsize=(4, 3))
    figure.subplots().plot(range(1, STEPS + 1), run.w.value)
    return figure


class Means(Table):
    name = "means"
    heading = "Where descent ends"
    columns = ("dataset", "mean", "end")

    def of(self, run: MeanRun) -> list[dict[str, float]]:
        return [{"mean": run.dataset.mean, "end": float(run.w.value[-1])}]


class NumberSpace(Space):
    """Numbers, whole ones when they are drawn."""

    measures = ("N",)
    runs = MappingProxyType({late: [(MeanConfig(), MeanConfig())] for late in (False, True)})

    def smallest(self) -> Iterator[Numbers]:
        return (Numbers("small", pair) for pair in product((0.0, 1.0, -1.0), repeat=2))

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[Numbers]":
        from hypothesis import strategies as st

        values = st.lists(st.integers(-9 if broken else 0, 9).map(float), min_size=1, max_size=4)
        return values.map(lambda found: Numbers("drawn", tuple(found)))

    def reductions(self, dataset: Numbers) -> Iterator[Numbers]:
        values = dataset.values
        return (Numbers(dataset.name, values[:i] + values[i + 1 :]) for i in range(dataset.N) if dataset.N > 1)

    def size(self, dataset: Numbers) -> tuple[int, ...]:
        return dataset.N, int(sum(map(abs, dataset.values)))


def counting(N: int, seed: int) -> Numbers:
    return Numbers("counting", tuple(map(float, range(seed, seed + N))))


def rows(data: Numbers, configs: Sequence[MeanConfig], seed: int, keep: Sequence[str]) -> list[dict[str, Result]]:
    return [{"end": float(MeanRun(data, config).w.value[-1])} for config in configs]


SWEEPS = Sweeps(
    config=MeanConfig(),
    generators={"counting": Generator({"N": COUNT}, counting)},
    results={"end": float},
    rows=rows,
    designs=(Design("counting", {"N": (3, 2, 5), "rate": (0.5, 0.25)}),),
    factors={"N": lambda run: run.dataset.N, "mean": lambda run: run.dataset.mean, "rate": lambda run: run.config.rate},
)


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
