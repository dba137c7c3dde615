"""Relations as arrays of queries, winners and losers."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Relations:
    """All relations ``winner >_query loser``, unique and sorted by (query, winner, loser).

    Attributes
    ----------
    query, winner, loser : (relations,)
        Token indices.
    sample : (relations,)
        First sample with the relation.
    """

    query: Indices
    winner: Indices
    loser: Indices
    sample: Indices

    def __len__(self) -> int:
        return len(self.query)
