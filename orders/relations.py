"""Who beats whom under which query, as arrays."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Relations:
    """Every relation ``winner >_query loser`` once, sorted by (query, winner, loser).

    Attributes
    ----------
    query, winner, loser : (relations,)
        Token indices.
    sample : (relations,)
        The first sample that makes the relation.
    """

    query: Indices
    winner: Indices
    loser: Indices
    sample: Indices

    def __len__(self) -> int:
        return len(self.query)
