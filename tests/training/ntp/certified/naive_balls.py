"""Centres of balls, and a dataset on which other tokens lead."""

import flint

from marginaudit.orders.ntp import (
    Dataset,
    broken,
    free_dataset,
)

BITS = 800


def centre(x: flint.arb) -> flint.arb:
    return flint.arb(x).mid()


def minority() -> Dataset:
    return broken(free_dataset(V=4, N=6, L=4, seed=2, max_count=3), "optimal_majority")
