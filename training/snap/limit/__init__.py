"""The limit of long sequences: Y trained on fixed features f_n, arXiv 2305.16380, section 4 and appendix D.

`h_star` and `continuous` are the growth h*(s) and h(t) of a class's row of W = F^T Y, `gamma` the speed control
coefficient; `class_counts` and `fluctuation` are SGD with the modified gradient of Lemma 3, many seeds at once,
`descend` is SGD with the gradient of eq. 7; `decoder` is Theorem 5, and `backpropagated` has iota, beta
and xi of Theorem 1.
"""

from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.limit.backpropagated import (
    Backpropagated,
    backpropagated,
    mended_beta,
    printed_beta,
    printed_iota,
)
from marginaudit.training.snap.limit.continuous import continuous, gamma, gamma_value, speed, whole_steps
from marginaudit.training.snap.limit.counts import class_counts, class_sequences, uniform
from marginaudit.training.snap.limit.descent import Descent, descend
from marginaudit.training.snap.limit.fluctuation import (
    Fluctuation,
    continuous_fluctuation,
    decoder,
    fluctuation,
    rows,
    stepped_fluctuation,
)
from marginaudit.training.snap.limit.level import Level
from marginaudit.training.snap.limit.overlap import Overlap, overlap
from marginaudit.training.snap.limit.recursion import Steps, gap, h_star

__all__ = [
    "Approximation",
    "Backpropagated",
    "Descent",
    "Fluctuation",
    "Level",
    "Overlap",
    "Steps",
    "backpropagated",
    "class_counts",
    "class_sequences",
    "continuous",
    "continuous_fluctuation",
    "decoder",
    "descend",
    "fluctuation",
    "gamma",
    "gamma_value",
    "gap",
    "h_star",
    "mended_beta",
    "overlap",
    "printed_beta",
    "printed_iota",
    "rows",
    "speed",
    "stepped_fluctuation",
    "uniform",
    "whole_steps",
]
