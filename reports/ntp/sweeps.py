"""Sweeps over datasets and settings of Algorithm 1: each claim's verdict, constant and slack."""

from collections.abc import Sequence

from marginaudit.orders.ntp import Dataset, free_dataset, prefix_closed_dataset
from marginaudit.reports.ntp.ledger import CLAIMS
from marginaudit.reports.ntp.run import Config, Run
from marginaudit.reports.settings import COUNT
from marginaudit.reports.sweeps import Generator, Result, Sweeps

SIZES = {"V": COUNT, "N": COUNT, "L": COUNT}
"""Vocabulary, distinct samples, longest sample."""


def rows(dataset: Dataset, configs: Sequence[Config], seed: int, keep: Sequence[str]) -> list[dict[str, Result]]:
    """An audit of the kept claims for each config; the dataset is what depends on the seed."""
    return [_audited(Run(dataset, config), keep) for config in configs]


def _audited(run: Run, keep: Sequence[str]) -> dict[str, Result]:
    found: dict[str, Result] = {}
    for claim in dict.fromkeys(name.partition(":")[0] for name in keep):
        finding = CLAIMS[claim].judge(run)
        found |= {
            f"{claim}:verdict": finding.verdict.value,
            f"{claim}:constant": finding.constant,
            f"{claim}:slack": finding.slack,
        }
    return found


SWEEPS = Sweeps(
    config=Config(steps2=None),
    generators={
        "free": Generator(SIZES, lambda V, N, L, seed: free_dataset(V=V, N=N, L=L, seed=seed)),
        "prefix-closed": Generator(SIZES, lambda V, N, L, seed: prefix_closed_dataset(V=V, N=N, L=L, seed=seed)),
    },
    results={
        f"{claim}:{result}": str if result == "verdict" else float
        for claim in CLAIMS
        for result in ("verdict", "constant", "slack")
    },
    rows=rows,
)
