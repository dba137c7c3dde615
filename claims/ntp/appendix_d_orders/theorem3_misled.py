"""The shortest sentence of Theorem 3 of arXiv 2409.17335 with a wrong answer.

Such a sentence has one non-comparable token x_0 under the query q, all other tokens non-optimal under q, q last. So q
is non-optimal itself: it is in every sample that relates two tokens under it, and so related. None of the sentences is
a sample: a sample with x_0 and a token of another next token would relate the two.
"""

import math
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.ntp.error_bars import score_error
from marginaudit.claims.ntp.run import Run
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import QueryOrder, Token

Indices: TypeAlias = NDArray[np.int64]

BUILDABLE = 1_000_000
"""Most copies in a counterexample to run through the model."""


def rivals(run: Run) -> list[QueryOrder]:
    """Orders of the queries that may end a sentence of some x_0 and copies of a non-optimal x, n(x) not n(x_0)."""
    n = run.dataset.collocation.require_function()
    return [
        order
        for order in run.dataset.orders.values()
        if order.query in order.non_optimal
        and order.leaves_some
        and any(n[x] != n[order.query] for x in order.vocabulary if x not in order.graph or x in order.non_optimal)
    ]


@dataclass(frozen=True)
class Rival:
    """Copies of a non-optimal ``other`` beside x_0, which is ``middle``, in a sentence that ends in the query.

    With c copies the ratio of attention of x to that of x_0 is c exp(-lead), with the lead s_0 - s_x known within
    ``radius``. Where answers follow attention, a sentence with c >= exp(lead) is not answered n(x_0), whatever its
    other tokens (in a tie n(x) is equally probable).
    """

    query: Token
    middle: Token
    other: Token
    lead: float
    radius: float

    def sentence(self, copies: int) -> tuple[Token, ...]:
        """The shortest sentence with the given numbers of copies. The final query may be one of the copies."""
        others = (self.other,) * (copies - (self.other == self.query))
        return (self.middle, *others, self.query)

    def length(self, copies: int) -> int:
        """The number of tokens of `sentence`."""
        return copies + (1 if self.query == self.other else 2)


@dataclass(frozen=True)
class Misled:
    """The shortest sentence of the kind with an answer other than n(x_0).

    Attributes
    ----------
    copies : int or None
        The least number that certainly reaches the attention of x_0; None above `BUILDABLE`.
    answered_below : int or None
        All sentences with fewer tokens are answered n(x_0). Equal to `length`, unless shorter sentences are undecided
        within error bars; None if ``copies`` is None.
    """

    rival: Rival
    copies: int | None
    answered_below: int | None

    @property
    def length(self) -> int | None:
        """The number of tokens; None if ``copies`` is None."""
        return None if self.copies is None else self.rival.length(self.copies)


def shortest_misled(run: Run, record: int) -> Misled:
    """The shortest sentence of the theorem's kind with an answer other than n(x_0) at the recorded step.

    Sentences that mix several non-optimal tokens are no shorter: each of the tokens has to reach x_0 alone.
    """
    S = run.training.stage2.score_matrix(record, run.dataset.V)
    radius = float(score_error(run)[record])
    leads = [_leads(run, order, S) for order in rivals(run)]
    least = min(float(found.lead.min()) for found in leads)
    if max(least, 0) + radius > math.log(BUILDABLE):
        found = next(found for found in leads if found.lead.min() == least)
        return Misled(found.rival(int(found.lead.argmin()), radius), None, None)
    shortest: list[tuple[int, Rival]] = []
    open_to = []
    for found in leads:
        near = np.flatnonzero(found.lead <= max(least, radius) + 1)  # other rivals need three times the copies
        if len(near):
            surely = _lengths(found, near, radius)
            first = int(np.argmin(surely))
            shortest.append((int(surely[first]), found.rival(int(near[first]), radius)))
            open_to.append(int(_lengths(found, near, -radius).min()))
    _, rival = min(shortest, key=lambda entry: entry[0])
    return Misled(rival, _copies(rival.lead + radius), min(open_to))


@dataclass(frozen=True)
class Leads:
    """s_0 - s_x under one query, shape (x_0, x) over ``middles`` and all non-optimal x; inf where n(x_0) = n(x)."""

    order: QueryOrder
    middles: tuple[Token, ...]
    lead: Floats

    def rival(self, at: int, radius: float) -> Rival:
        """Rival at a flat index."""
        middle, other = divmod(at, len(self.order.non_optimal))
        return Rival(
            self.order.query, self.middles[middle], self.order.non_optimal[other], float(self.lead.flat[at]), radius
        )


def _leads(run: Run, order: QueryOrder, S: Floats) -> Leads:
    """`Leads` under a query; the first of several x_0 with equal scores stands for all if no x has its next token."""
    index, n = run.dataset.index, run.dataset.collocation.require_function()
    scores = S[:, index[order.query]].tolist()
    labels = {n[x] for x in order.non_optimal}
    first = {(scores[index[x]], n[x] if n[x] in labels else None): x for x in reversed(order.non_comparable)}
    middles = tuple(sorted(first.values(), key=index.__getitem__))
    lead = [
        [scores[index[x]] - scores[index[other]] if n[x] != n[other] else np.inf for other in order.non_optimal]
        for x in middles
    ]
    return Leads(order, middles, np.array(lead))


def _lengths(found: Leads, at: Indices, radius: float) -> Indices:
    """The number of tokens of the shortest sentences with enough copies, at flat indices of the leads."""
    others = found.order.non_optimal
    copies = np.array([_copies(lead + radius) for lead in found.lead.flat[at].tolist()])
    query_counts = np.array([x == found.order.query for x in others])[at % len(others)]
    return np.asarray(copies + np.where(query_counts, 1, 2))


def _copies(lead: float) -> int:
    """The smallest c >= 1 with log c >= lead.

    >>> _copies(-3.0), _copies(0.0), _copies(1e-300), _copies(math.log(7)), _copies(math.log(7) + 1e-15)
    (1, 1, 2, 7, 8)
    """
    return next(c for c in count(max(1, math.floor(math.exp(lead)))) if math.log(c) >= lead)


def answers_follow_attention(run: Run) -> bool:
    """Whether all margins of W_ov are equal and n is injective, so that the answer is n of the most attended token."""
    return run.training.common_margin and run.assumption("injective").holds
