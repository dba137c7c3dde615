"""Sweeps of audits over datasets and settings of Algorithm 1."""

from marginaudit.claims.answers.sweeps import Design, Generator, Sweeps, audit_results
from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.theorems import CLAIMS
from marginaudit.claims.settings import COUNT
from marginaudit.orders.ntp import free_dataset, prefix_closed_dataset

SIZES = {"V": COUNT, "N": COUNT, "L": COUNT}
"""Size of the vocabulary, distinct samples, longest sample."""

SWEEPS = Sweeps(
    config=Config(),
    generators={
        "free": Generator(SIZES, lambda V, N, L, seed: free_dataset(V=V, N=N, L=L, seed=seed)),
        "prefix-closed": Generator(SIZES, lambda V, N, L, seed: prefix_closed_dataset(V=V, N=N, L=L, seed=seed)),
    },
    results=audit_results(CLAIMS),
    designs=(
        Design(
            "free",
            {
                "V": (10, 5, 20, 40),
                "N": (40, 20, 80),
                "L": (6, 4, 8),
                "lr1": (0.06, 0.12),
                "lr2": (0.015, 0.0075, 0.03),
            },
        ),
        Design(
            "prefix-closed",
            {"V": (10, 8, 20), "N": (40, 25, 55), "L": (6, 5, 8), "lr1": (0.06,), "lr2": (0.015,)},
        ),
    ),
    factors={
        "V": lambda run: run.dataset.V,
        "N": lambda run: run.dataset.N,
        "L_max": lambda run: run.dataset.L_max,
        "eta0": lambda run: run.eta0,
        "eta": lambda run: run.eta,
        "||W*_ov||": lambda run: run.norm_ov,
        "||W*_kq||": lambda run: run.norm_kq,
    },
)
