"""Limits for whole matrices in ball arithmetic: classes, tokens and steps."""

import numpy as np

from marginaudit.claims.snap.run import ClassRun

MOST_ENTRIES = 60_000
"""Most classes times tokens of a matrix F in ball arithmetic, unless a single class has more tokens."""

DENSE_STEPS = 24
"""SGD steps on whole matrices."""

DENSE_CLASSES = 3

DENSE_TOKENS = 9
"""Largest vocabulary in whole matrices."""


def some_classes(run: ClassRun, most: int) -> list[int]:
    """All classes, or a random ``most`` of them, in their order."""
    tokens = len(run.dataset.contextual)
    taken = min(run.K, most, max(1, MOST_ENTRIES // tokens))
    chosen = np.random.default_rng(2305_16380).permutation(run.K)[:taken]
    return sorted(chosen.tolist())
