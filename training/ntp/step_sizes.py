"""The step sizes of both stages of Algorithm 1."""

import numpy as np

PAPER = (0.2, 0.05)
"""eta0 sqrt(V) and eta sqrt(V) in section 7 of arXiv 2409.17335."""


def step_sizes(V: int, lr1: float | None, lr2: float | None) -> tuple[float, float]:
    """eta0 and eta; None for the paper's choice for V tokens.

    >>> step_sizes(4, None, 0.5)
    (0.1, 0.5)

    Raises
    ------
    ValueError
        One is not positive and finite.
    """
    found = []
    for name, given, paper in zip(("lr1", "lr2"), (lr1, lr2), PAPER, strict=True):
        size = float(paper / np.sqrt(V) if given is None else given)
        if not (np.isfinite(size) and size > 0):
            raise ValueError(f"{name}: got {size}, expected a positive finite step size")
        found.append(size)
    return found[0], found[1]
