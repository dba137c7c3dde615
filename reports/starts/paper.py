"""Template of a paper: gradient descent on the mean of (w - x)^2/2 over numbers x, from w = 0."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, NotRequired

import numpy as np
from annotated_types import Interval, Len
from typing_extensions import TypedDict

from marginaudit import Bounded, Claim, Paper, Series
from marginaudit.claims.run import BaseRun, Progress
from marginaudit.claims.settings import check, real, setting
from marginaudit.orders import Kind, Witness
from marginaudit.orders.reading import Text, validated

STEPS = 20


# The kind of dataset: its parser and its assumptions.


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


# The settings (options of the commands), and the run, which computes the measured quantities.


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


# The claims: a true one, and a planted false twin as a check of the audit.

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
    statement="w^(t) <= min x for t >= 1, which is false.",
    judgement=Bounded(
        measure=lambda run: run.w,
        upper=lambda run, t: np.full(len(t), min(run.dataset.values)),
    ),
)


class MeanPaper(Paper):
    """Descent on numbers, and the claims on it."""

    name = "mean"
    source = "A paper of your own"
    kind = NUMBERS
    config = MeanConfig
    run = MeanRun
    claims = (BELOW_LARGEST, BELOW_SMALLEST)


PAPER = MeanPaper()
