"""Where hunts look for counterexamples to the claims of arXiv 2305.16380."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from marginaudit.orders.snap import FAIL_WITH, SequenceClasses
from marginaudit.reports.paper import Space
from marginaudit.reports.snap.config import ClassConfig
from marginaudit.reports.snap.hunting.shrink import size, smaller
from marginaudit.reports.snap.hunting.smallest import smallest_classes

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

NOT_ENUMERATED = {"uniform_classes", "single_query"}
"""Assumptions that all of the smallest classes meet."""

RATES = (0.5, 0.01, 100.0)
"""Step sizes of Y with which a claim is tried: the default, a small one and one beyond O(1).

M and K are the datasets', and runs go to the farthest step, so that every one before is among them.
"""


RUNS = dict.fromkeys((False, True), tuple((config, config) for config in (ClassConfig(lr_y=rate) for rate in RATES)))


class ClassSpace(Space):
    """Classes of sequences, those of the smallest sizes first."""

    measures = ("K", "M")
    implies = FAIL_WITH
    runs = RUNS

    def smallest(self) -> Iterator[SequenceClasses]:
        """Those of `smallest_classes`."""
        return smallest_classes()

    def enumerated(self, required: Collection[str], without: str | None) -> bool:
        """Whether some of the smallest are of the kind that is looked for."""
        return without not in NOT_ENUMERATED

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[SequenceClasses]":
        """Random classes; hypothesis is imported when they are first drawn."""
        from marginaudit.reports.snap.hunting.strategies import classes

        return classes(broken, required)

    def reductions(self, dataset: SequenceClasses) -> Iterator[SequenceClasses]:
        """Those of `smaller`."""
        return smaller(dataset)

    def size(self, dataset: SequenceClasses) -> tuple[int, ...]:
        """That of `shrink.size`."""
        return size(dataset)


SPACE = ClassSpace()
