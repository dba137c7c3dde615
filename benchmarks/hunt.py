"""Datasets that `marginaudit hunt` judges per second, by claim.

Usage: python benchmarks/hunt.py [--datasets N] [CLAIM ...]

For each claim (by default every claim of the papers that states its assumptions), N enumerated and N random datasets,
in one process on one thread, after as many of another seed. Seconds are of the processor. Every version of the program
judges the same datasets, so that verdicts can be compared. The slowest are those of claims that no dataset violates: a
violation ends the search.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1"))

import argparse
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf

from marginaudit.claims.claim import NOT_STATED, Claim
from marginaudit.claims.paper import Paper
from marginaudit.claims.verdict import Verdict
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.hunt import Hunt, Search, TimeIsUp


class Counted(Search):
    """Search for a number of datasets instead of seconds."""

    def __init__(self, claim: Claim, paper: Paper) -> None:
        super().__init__(claim, paper, None, inf, lambda _: self._count())
        self.left = 0

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TimeIsUp

    def judged(self, most: int, search: Callable[[], object]) -> int:
        """Number of datasets looked at by a search for at most as many."""
        before, self.left = self.found.looked_at, most
        with suppress(TimeIsUp):
            search()
        return self.found.looked_at - before


def measured(claim: Claim, paper: Paper, datasets: int) -> tuple[int, float, Hunt]:
    """Number of datasets, seconds of the processor, and the hunt."""
    warm = Counted(claim, paper)
    warm.judged(datasets, lambda: warm.drawn(1))
    search = Counted(claim, paper)
    started = time.process_time()
    looked_at = search.judged(datasets, search.smallest) + search.judged(datasets, lambda: search.drawn(0))
    return looked_at, time.process_time() - started, search.found


def main() -> None:
    """Print a row for each claim, the slowest last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("claims", nargs="*", metavar="CLAIM")
    parser.add_argument("--datasets", type=int, default=20, metavar="N")
    asked = parser.parse_args()
    hunted = {claim.id: (claim, paper) for paper in PAPERS for claim in paper.claims if claim.assumptions != NOT_STATED}
    print(f"{'claim':48} {'looked at':>9} {'judged':>6} {'per second':>10}  verdicts")
    rows = []
    for name in asked.claims or hunted:
        looked_at, seconds, found = measured(*hunted[name], asked.datasets)
        judged = found.verdicts.total()
        row = f"{name:48} {looked_at:9} {judged:6} {judged / seconds:10.1f}  {dict(found.verdicts)}"
        lasting = judged and not found.verdicts[Verdict.VIOLATED]
        rows.append((judged / seconds if lasting else inf, row))
        print(rows[-1][1], flush=True)
    if len(rows) > 1:
        print("\nslowest:", *(row for _, row in sorted(rows)[:5]), sep="\n")


if __name__ == "__main__":
    main()
