"""Where hunts look for counterexamples to the claims of arXiv 2409.17335."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from marginaudit.margins import NotExact
from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
from marginaudit.orders.ntp import CollocationError, Dataset
from marginaudit.reports.ntp.config import PAPER_STEPS, Config
from marginaudit.reports.ntp.hunting.shrink import size, smaller
from marginaudit.reports.ntp.hunting.smallest import smallest_datasets
from marginaudit.reports.paper import Space
from marginaudit.training import log_spaced

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

IMPLIES = {
    "well_defined_orders": frozenset({"no_confused_tokens"}),
    "next_from_sentence": frozenset({"optimal_majority"}),
}
"""Assumptions that fail whenever the named one does."""

NOT_ENUMERATED = {"collocation", "injective", "next_from_sentence", "orthonormal"}
"""Assumptions that all of the smallest datasets meet."""

SHORT = Config(steps1=150, steps2=150, at=log_spaced(150))
"""How a claim about training is tried; what it finds is confirmed by the paper's own run."""

LATE = Config(steps1=150, steps2=10_000, lr2=0.1, at=log_spaced(10_000))
"""How a claim about late steps is tried; what it finds is confirmed by the run that an audit makes by default."""

RUNS = {False: [(SHORT, Config(steps2=PAPER_STEPS))], True: [(LATE, Config())]}


class SentenceSpace(Space):
    """Sentences, those of the smallest sizes first."""

    measures = ("V", "N", "L_max")
    implies = IMPLIES
    runs = RUNS

    def smallest(self) -> Iterator[Dataset]:
        """Those of `smallest_datasets`."""
        return smallest_datasets()

    def enumerated(self, required: Collection[str], without: str | None) -> bool:
        """Whether some of the smallest are of the kind that is looked for."""
        return "prefix_closed" not in required and without not in NOT_ENUMERATED

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[Dataset]":
        """Random datasets; those that need not keep "injective" may break it."""
        from marginaudit.reports.ntp.hunting.strategies import datasets

        also = set() if "injective" in required else {"injective"}
        return datasets({*broken, *also}, prefix_closed="prefix_closed" in required)

    def reductions(self, dataset: Dataset) -> Iterator[Dataset]:
        """Those of `smaller`."""
        return smaller(dataset)

    def size(self, dataset: Dataset) -> tuple[int, ...]:
        """That of `shrink.size`."""
        return size(dataset)

    def proof(self, dataset: Dataset) -> dict[str, Any] | None:
        """The exact solutions, for `marginaudit verify`; None where there are none."""
        try:
            return certificate_document(dataset, ov=solve_ov(dataset), kq=solve_kq(dataset))
        except (CollocationError, NotExact):
            return None


SPACE = SentenceSpace()
