"""Self-attention under a decoder that has learned, arXiv 2305.16380, sections 5 and 6.

`Logits` is where z stands, `rates` is eq. 10 at such a place, `follow` integrates it, `turned` is the clock on which it
is autonomous, `follow_common` integrates eq. 13, and `descend_both` is the batch-1 SGD of both layers.
"""

from marginaudit.training.snap.attention.common import CommonPath, follow_common
from marginaudit.training.snap.attention.descent import descend_both
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.path import Path, follow, turned
from marginaudit.training.snap.attention.rates import Rates, features, mean_counts, off_by, rates
from marginaudit.training.snap.attention.solver import NotIntegrated
from marginaudit.training.snap.growth import scan_end, snap_start

__all__ = [
    "CommonPath",
    "Logits",
    "NotIntegrated",
    "Path",
    "Rates",
    "descend_both",
    "features",
    "follow",
    "follow_common",
    "mean_counts",
    "off_by",
    "rates",
    "scan_end",
    "snap_start",
    "turned",
]
