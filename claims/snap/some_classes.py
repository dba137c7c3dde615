"""How much of a run is compared on whole matrices in ball arithmetic: classes, tokens and steps."""

import numpy as np

from marginaudit.claims.snap.run import ClassRun

MOST_ENTRIES = 60_000
"""Classes times tokens of a matrix F in ball arithmetic, unless one class alone has more tokens."""

DENSE_STEPS = 24
"""SGD steps on whole matrices."""

DENSE_CLASSES = 3

DENSE_TOKENS = 9
"""Largest vocabulary in whole matrices."""


def some_classes(run: ClassRun, most: int) -> list[int]:
    """At most ``most`` classes, a random part where there are more, in their order."""
    tokens = len(run.dataset.contextual)
    taken = min(run.K, most, max(1, MOST_ENTRIES // tokens))
    chosen = np.random.default_rng(2305_16380).permutation(run.K)[:taken]
    return sorted(chosen.tolist())
