"""Where hunts look for counterexamples to the claims of arXiv 2305.16380."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from marginaudit.orders.snap import FAIL_WITH, SequenceClasses
from marginaudit.reports.paper import Space
from marginaudit.reports.snap.hunting.shrink import size, smaller
from marginaudit.reports.snap.hunting.smallest import smallest_classes
from marginaudit.reports.snap.run import ClassConfig

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

NOT_ENUMERATED = {"uniform_classes", "single_query"}
"""Assumptions that all of the smallest classes meet."""

RATES = (0.5, 0.01, 100.0)
"""Step sizes of Y with which a claim is tried: the default, a small one and one beyond O(1).

M and K are the datasets', and runs go to the farthest step, so that every one before is among them.
"""


def drawn(broken: Collection[str], required: Collection[str]) -> "SearchStrategy[SequenceClasses]":
    """Random classes; hypothesis is imported when they are first drawn."""
    from marginaudit.reports.snap.hunting.strategies import classes

    return classes(broken, required)


RUNS = [(config, config) for config in (ClassConfig(lr_y=rate) for rate in RATES)]

SPACE = Space(
    smallest=smallest_classes,
    enumerated=lambda required, without: without not in NOT_ENUMERATED,
    drawn=drawn,
    reductions=smaller,
    size=size,
    measures=("K", "M"),
    implies=FAIL_WITH,
    runs={False: RUNS, True: RUNS},
)
