"""Sweeps over datasets and settings of Algorithm 1, each of which is audited."""

from marginaudit.orders.ntp import free_dataset, prefix_closed_dataset
from marginaudit.reports.ntp.claims import CLAIMS
from marginaudit.reports.ntp.config import Config
from marginaudit.reports.settings import COUNT
from marginaudit.reports.sweeps import Generator, Sweeps, audit_results

SIZES = {"V": COUNT, "N": COUNT, "L": COUNT}
"""Vocabulary, distinct samples, longest sample."""


SWEEPS = Sweeps(
    config=Config(),
    generators={
        "free": Generator(SIZES, lambda V, N, L, seed: free_dataset(V=V, N=N, L=L, seed=seed)),
        "prefix-closed": Generator(SIZES, lambda V, N, L, seed: prefix_closed_dataset(V=V, N=N, L=L, seed=seed)),
    },
    results=audit_results(CLAIMS),
)
