"""Attention of the long-sequence limit at given Z."""

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses


def attention(data: SequenceClasses, Z: Floats) -> Floats:
    """c_n(l) proportional to P(l|n) exp(z_{psi(n) l}), shape (.., classes, contextual).

    Parameters
    ----------
    Z : (.., queries, contextual) array

    Source: arXiv 2305.16380, eq. 5.

    >>> data = SequenceClasses.from_weights("two", 9, [("n0", "q", {"a": 7, "the": 3}), ("n1", "q", {"the": 1})])
    >>> attention(data, np.array([[np.log(3), 0.0]])).round(3).tolist()
    [[0.875, 0.125], [0.0, 1.0]]
    """
    return _shares(data, Z, data.P)


def _shares(data: SequenceClasses, Z: Floats, P: Floats) -> Floats:
    """P exp(z), normalised to sum 1 in each class with a positive P."""
    scores = np.where(P > 0, Z[..., data.asked, :], -np.inf)
    weights = P * np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def entropy_of_distinct(data: SequenceClasses, Z: Floats) -> Floats:
    """Mean over classes of the entropy, in nats, of c_n restricted to the class's distinct tokens, shape (..).

    Classes without a distinct token are left out of the mean.

    Source: arXiv 2305.16380, figure 6.

    Raises
    ------
    ValueError
        No class has a distinct token.
    """
    distinct = (data.P > 0) & ((data.P > 0).sum(axis=0) == 1)
    rows = np.flatnonzero(distinct.any(axis=1))
    if not len(rows):
        raise ValueError(f"{data.name}: got no class with a distinct token, expected one")
    P = np.where(distinct.any(axis=1, keepdims=True) & ~distinct, 0.0, data.P)
    share = _shares(data, Z, P)[..., rows, :]
    terms = np.where(share > 0, share * -np.log(np.where(share > 0, share, 1.0)), 0.0)
    return np.asarray(terms.sum(axis=-1).mean(axis=-1))
