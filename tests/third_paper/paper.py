"""A third paper, a few lines long: descent on the mean of (w - x)^2/2 over numbers x, from w = 0."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from marginaudit.reports.claim import Claim
from marginaudit.reports.grid import Grid, brief
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.paper import Figure, Paper, Space, Table, Trained
from marginaudit.reports.run import BaseRun, Progress
from marginaudit.reports.series import series
from marginaudit.reports.settings import COUNT, Values, check, real, setting
from marginaudit.reports.sweeps import Design, Generator, Result, Sweeps
from tests.third_paper.numbers import NUMBERS, Numbers, classified

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from matplotlib.figure import Figure as Drawing

STEPS = 20

SHARE = Values("share", "a number above 0 and up to 1", real(1e-300, 1))


@dataclass(frozen=True)
class MeanConfig:
    """How descent is run; ``rate`` is an option of the commands."""

    rate: float = setting(0.5, SHARE, "Step size, as a share of what would reach the mean at once.")

    def __post_init__(self) -> None:
        check(self)


class MeanRun(BaseRun[Numbers]):
    """Descent on one dataset, computed when a claim first asks for it."""

    kind = NUMBERS

    def __init__(self, data: Numbers, config: MeanConfig | None = None, progress: Progress | None = None) -> None:
        super().__init__(data, progress)
        self.config = config or MeanConfig()

    @cached_property
    def w(self) -> list[float]:
        """w^(t) for t = 1, .., 20."""
        found = [0.0]
        for _ in range(STEPS):
            found.append(found[-1] + self.config.rate * (self.dataset.mean - found[-1]))
        return found[1:]

    @property
    def rounding(self) -> float:
        """4 ulps a step at most, of numbers no larger than the largest x; earlier ones shrink with every step."""
        return 4 * STEPS * float(np.finfo(float).eps) * max(map(abs, self.dataset.values))


BELOW_LARGEST = Claim(
    id="third.below-largest",
    source="Third paper, Theorem 1",
    statement="w^(t) <= max x for t >= 1.",
    formula=r"w^{(t)}\le\max_i x_i",
    assumptions=("nonnegative",),
    judgement=Bounded(
        measure=lambda run: series(run.w, radius=run.rounding, step=np.arange(1, STEPS + 1)),
        upper=lambda run, t: np.full(len(t), max(run.dataset.values)),
    ),
)


def train(data: Numbers, config: MeanConfig, progress: Progress, tell: Callable[[str], None], origin: str) -> Trained:
    rows = [{"step": t, "w": w} for t, w in enumerate(MeanRun(data, config).w, 1)]
    return Trained({"rows": rows}, {"rows": ("descent", ("step", "w"))})


def line(run: MeanRun) -> "Drawing":
    from matplotlib.figure import Figure as Drawing

    figure = Drawing(figsize=(4, 3))
    figure.subplots().plot(range(1, STEPS + 1), run.w)
    return figure


MEANS = Table(
    name="means",
    heading="Means",
    introduction="Where descent ends.",
    of=lambda run: {"mean": run.dataset.mean, "end": run.w[-1]},
    grids=lambda name, found: [Grid(name, ("mean", "end"), ((brief(found["mean"]), brief(found["end"])),), ())],
    columns=("dataset", "mean", "end"),
    records=lambda found: [found],
)


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
    return [{"end": MeanRun(data, config).w[-1]} for config in configs]


SWEEPS = Sweeps(
    config=MeanConfig(),
    generators={"counting": Generator({"N": COUNT}, counting)},
    results={"end": float},
    rows=rows,
    designs=(Design("counting", {"N": (3, 2, 5), "rate": (0.5, 0.25)}),),
    factors={"N": lambda run: run.dataset.N, "mean": lambda run: run.dataset.mean, "rate": lambda run: run.config.rate},
)

PAPER = Paper(
    name="third",
    source="a page of this test suite",
    kind=NUMBERS,
    config=MeanConfig,
    run=MeanRun,
    steps=lambda config: STEPS,
    facts=lambda run: {"N": run.dataset.N, "mean": run.dataset.mean, "rate": run.config.rate},
    records=lambda run: {"descent": (("step", "w"), list(enumerate(run.w, 1)))},
    train=train,
    classified=classified,
    claims=(BELOW_LARGEST,),
    figures=(
        Figure("third-1", lambda: line(MeanRun(NUMBERS.cases["three-numbers"]())), beside="third.below-largest"),
        Figure("", lambda run, findings: line(run), of="run", caption="descent"),
    ),
    tables=(MEANS,),
    space=NumberSpace(),
    sweeps=SWEEPS,
)
