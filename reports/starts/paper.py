"""Template of a paper: gradient descent on the mean of (w - x)^2/2 over numbers x, from w = 0.

Each part says when a paper needs it. Claims about named instances need none: `marginaudit new-claim` writes those.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
from annotated_types import Interval, Len
from typing_extensions import TypedDict

from marginaudit import Bounded, Claim, Paper, Series
from marginaudit.claims.answers.sweeps import Design, Generator, Result, Sweeps
from marginaudit.claims.paper import Figure, Space
from marginaudit.claims.run import BaseRun, Progress, Rows
from marginaudit.claims.settings import check, real, setting, whole
from marginaudit.claims.table import Table
from marginaudit.orders import InputError, Kind, Witness
from marginaudit.orders.reading import Text, validated

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from matplotlib.figure import Figure as Drawing

STEPS = 20


# The kind of dataset: its parser and its assumptions. Needed where claims are about data that files hold.


@dataclass(frozen=True)
class Numbers:
    """A few numbers; every dataset has a name."""

    name: str
    values: tuple[float, ...]

    @property
    def N(self) -> int:
        """Number of values."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean of the values."""
        return sum(self.values) / self.N


class NumbersDocument(TypedDict, closed=True):
    """Fields of a file of numbers."""

    name: NotRequired[Annotated[Text, Len(1)]]
    numbers: Annotated[list[Annotated[float, Interval(ge=-1e100, le=1e100)]], Len(1)]


def from_document(document: dict[str, Any], where: str, default_name: str) -> Numbers:
    """Parse a document; errors name the position in one line."""
    found = validated(NumbersDocument, document, where)
    return Numbers(found.get("name", default_name), tuple(found["numbers"]))


def nonnegative(data: Numbers) -> Witness:
    """No number is below 0; the witness is the first negative one."""
    return next(({"number": value} for value in data.values if value < 0), None)


NUMBERS = Kind(
    name="numbers",
    data=Numbers,
    accepts=lambda document: isinstance(document, dict) and "numbers" in document,
    from_document=from_document,
    to_document=lambda data: {"name": data.name, "numbers": list(data.values)},
    cases={"three-numbers": lambda: Numbers("three-numbers", (1.0, 2.0, 6.0))},
    assumptions={"nonnegative": nonnegative},
    describe=lambda data: {"mean": data.mean},
    in_words=lambda data: f"the numbers {', '.join(map(str, data.values))}",
)


# The settings (options of the commands), and the run, which computes the measured quantities. Needed where claims are
# about what an algorithm does to the data.


@dataclass(frozen=True)
class MeanConfig:
    """Settings of gradient descent."""

    rate: float = setting(
        0.5,
        real(1e-300, 1, "share", "a number above 0 and up to 1"),
        "Step size, relative to the one that reaches the mean in one step.",
    )

    def __post_init__(self) -> None:
        check(self)


class MeanRun(BaseRun[Numbers]):
    """Gradient descent on one dataset, computed on first use."""

    kind = NUMBERS

    def __init__(self, data: Numbers, config: MeanConfig | None = None, progress: Progress | None = None) -> None:
        super().__init__(data, progress)
        self.config = config or MeanConfig()

    @cached_property
    def w(self) -> Series:
        """w^(t) for t = 1, .., 20; the error bar is 4 ulps of the largest |x| per step."""
        found = [0.0]
        for _ in range(STEPS):
            found.append(found[-1] + self.config.rate * (self.dataset.mean - found[-1]))
        rounding = 4 * STEPS * float(np.finfo(float).eps) * max(map(abs, self.dataset.values))
        return Series(np.array(found[1:]), rounding, np.arange(1, STEPS + 1))


# The claims: a true one, and its control, a planted false twin that an audit must find violated.

BELOW_LARGEST = Claim(
    id="mean.below-largest",
    source="A paper of your own, Theorem 1",
    statement="w^(t) <= max x for t >= 1.",
    assumptions=("nonnegative",),
    judgement=Bounded(
        measure=lambda run: run.w,
        upper=lambda run, t: np.full(len(t), max(run.dataset.values)),
    ),
)

BELOW_SMALLEST = replace(
    BELOW_LARGEST,
    id="mean.below-smallest",
    control_of="mean.below-largest",
    statement="w^(t) <= min x for t >= 1, which is false.",
    judgement=Bounded(
        measure=lambda run: run.w,
        upper=lambda run, t: np.full(len(t), min(run.dataset.values)),
    ),
)


# The recorded run. Needed for `audit --trajectory FILE`, which judges the claims on weights trained elsewhere.


class RecordedMeanRun(MeanRun):
    """Values of w at all steps, in an .npz file with the array ``w``."""

    def __init__(self, data: Numbers, config: MeanConfig, progress: Progress | None, path: Path) -> None:
        super().__init__(data, config, progress)
        try:
            with np.load(path) as arrays:
                self.recorded = np.asarray(arrays["w"], dtype=float)
        except (OSError, KeyError, ValueError) as error:
            raise InputError(str(path), got=str(error), expected="an .npz file with the array w") from None
        if self.recorded.shape != (STEPS,):
            raise InputError(str(path), got=f"w of shape {self.recorded.shape}", expected=f"({STEPS},)")

    @property
    def departs(self) -> bool:
        """Whether a recorded value is off descent's by more than rounding."""
        own = super().w
        return bool((abs(self.recorded - own.value) > own.radius).any())

    @property  # not cached, so that every claim that uses the steps asks
    def w(self) -> Series:
        """The recorded values, as they are."""
        self.ask_premise()
        return Series(self.recorded, 0.0, np.arange(1, STEPS + 1))


# A table and a figure. Needed where the report is to show more than verdicts and plots of claims.


class Means(Table):
    """Where descent ends, against the mean."""

    name = "means"
    heading = "Where descent ends"
    columns = ("dataset", "mean", "end")

    def of(self, run: MeanRun) -> list[dict[str, float]]:
        """Rows of a run."""
        return [{"mean": run.dataset.mean, "end": float(run.w.value[-1])}]


def line(run: MeanRun) -> "Drawing":
    """Draw w against the step."""
    from matplotlib.figure import Figure as Drawing

    figure = Drawing(figsize=(4, 3))
    figure.subplots().plot(range(1, STEPS + 1), run.w.value)
    return figure


# The space of hunts. Needed for `hunt` and `tighten`, which search for a dataset that violates a claim.


class NumberSpace(Space):
    """Numbers, whole ones when they are drawn."""

    measures = ("N",)
    runs = MappingProxyType({late: [(MeanConfig(), MeanConfig())] for late in (False, True)})

    def smallest(self) -> Iterator[Numbers]:
        """All pairs of -1, 0 and 1."""
        return (Numbers("small", pair) for pair in product((0.0, 1.0, -1.0), repeat=2))

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[Numbers]":
        """Up to four whole numbers, negative ones only where an assumption may fail."""
        from hypothesis import strategies as st

        values = st.lists(st.integers(-9 if broken else 0, 9).map(float), min_size=1, max_size=4)
        return values.map(lambda found: Numbers("drawn", tuple(found)))

    def reductions(self, dataset: Numbers) -> Iterator[Numbers]:
        """The numbers without one."""
        values = dataset.values
        return (Numbers(dataset.name, values[:i] + values[i + 1 :]) for i in range(dataset.N) if dataset.N > 1)

    def size(self, dataset: Numbers) -> tuple[int, ...]:
        """Count, then sum of sizes."""
        return dataset.N, int(sum(map(abs, dataset.values)))


# Sweeps. Needed for `sweep`, a grid of settings and seeds, and for the powers that `tighten` measures.


def counting(N: int, seed: int) -> Numbers:
    """The numbers seed, seed + 1, .."""
    return Numbers("counting", tuple(map(float, range(seed, seed + N))))


def rows(data: Numbers, configs: Sequence[MeanConfig], seed: int, keep: Sequence[str]) -> list[dict[str, Result]]:
    """Results of each config on one dataset."""
    return [{"end": float(MeanRun(data, config).w.value[-1])} for config in configs]


SWEEPS = Sweeps(
    config=MeanConfig(),
    generators={"counting": Generator({"N": whole(1, 10**6)}, counting)},
    results={"end": float},
    rows=rows,
    designs=(Design("counting", {"N": (3, 2, 5), "rate": (0.5, 0.25)}),),
    factors={"N": lambda run: run.dataset.N, "mean": lambda run: run.dataset.mean, "rate": lambda run: run.config.rate},
)


class MeanPaper(Paper):
    """Descent on numbers, and the claims on it. The first six attributes are required."""

    name = "mean"
    source = "A paper of your own"
    kind = NUMBERS
    config = MeanConfig
    run = MeanRun
    claims = (BELOW_LARGEST, BELOW_SMALLEST)
    recorded = RecordedMeanRun
    tables = (Means(),)
    figures = (
        Figure(
            "mean-1",
            lambda: line(MeanRun(NUMBERS.cases["three-numbers"]())),
            beside="mean.below-largest",
            caption="w against the step on three-numbers",
        ),
    )
    space = NumberSpace()
    sweeps = SWEEPS

    def records(self, run: MeanRun) -> dict[str, Rows]:
        """Series along the run, for `marginaudit train` and CSV files."""
        return {"descent": (("step", "w"), list(enumerate(run.w.value.tolist(), 1)))}


PAPER = MeanPaper()
