"""Theorem 3 of arXiv 2409.17335 on every sentence of its kind up to a length.

The kind: one non-comparable token x_0 under the query q, all other tokens non-optimal under q, q last. So q is
non-optimal itself: it is in every sample that relates two tokens under it, and so related. None of the sentences is a
sample: a sample with x_0 and a token of another next token would relate the two.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, count

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import QueryOrder, Token
from marginaudit.reports.claims.quantities import score_error
from marginaudit.reports.run import Run
from marginaudit.training import label_logits, log_probabilities

LENGTHS = (2, 3, 4, 8, 16, 64, 1024)
"""Lengths for which the first step with right answers is reported."""

MOST_SENTENCES = 20_000
"""So many sentences are put through the model one by one, shortest first."""

BUILDABLE = 1_000_000
"""A counterexample of at most so many copies is built and put through the model."""


@dataclass(frozen=True)
class Sentence:
    """A bag of tokens of the theorem's kind, the query among them."""

    query: Token
    middle: Token
    others: tuple[Token, ...]
    """Non-optimal tokens, the query not counted."""

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The sentence, the query last."""
        return (self.middle, *self.others, self.query)


def rivals(run: Run) -> list[tuple[QueryOrder, Token, Token]]:
    """(order, x_0, x): a sentence of x_0 and copies of non-optimal x may end in the query."""
    n = run.dataset.collocation.require_function()
    return [
        (order, middle, other)
        for order in run.dataset.orders.values()
        if order.query in order.non_optimal
        for middle in order.non_comparable
        for other in order.non_optimal
        if n[other] != n[middle]
    ]


def sentences(run: Run, length: int) -> Iterator[Sentence]:
    """Every sentence of the kind with ``length`` tokens, as bags."""
    for order in run.dataset.orders.values():
        if order.query in order.non_optimal:
            for middle in order.non_comparable:
                for others in combinations_with_replacement(order.non_optimal, length - 2):
                    yield Sentence(order.query, middle, others)


@dataclass(frozen=True)
class Rival:
    """Copies of a non-optimal ``other`` beside x_0, which is ``middle``, in a sentence that ends in the query.

    With c copies the attention of x against that of x_0 is as c to exp(lead), the lead s_0 - s_x known within
    ``radius``. Where answers follow attention, from c = exp(lead) on the sentence is not answered n(x_0), whatever
    else it holds (in a tie n(x) has as much probability).
    """

    query: Token
    middle: Token
    other: Token
    lead: float
    radius: float

    def sentence(self, copies: int) -> tuple[Token, ...]:
        """The shortest sentence with so many copies, of which the query, last, may be one."""
        others = (self.other,) * (copies - (self.other == self.query))
        return (self.middle, *others, self.query)

    def length(self, copies: int) -> int:
        """The number of tokens of that sentence."""
        return copies + (1 if self.query == self.other else 2)


@dataclass(frozen=True)
class Misled:
    """The shortest sentence of the kind that is not answered n(x_0).

    Attributes
    ----------
    rival : Rival
    copies : int or None
        The fewest that surely reach the attention of x_0; None for more than `BUILDABLE`.
    answered_below : int or None
        All sentences of fewer tokens are answered n(x_0): the length of that sentence but where the error bars
        leave open whether a shorter one is. None where the copies are.
    """

    rival: Rival
    copies: int | None
    answered_below: int | None

    @property
    def length(self) -> int | None:
        """The number of its tokens; None where the copies are."""
        return None if self.copies is None else self.rival.length(self.copies)


def shortest_misled(run: Run, record: int) -> Misled:
    """The shortest sentence of the theorem's kind that is not answered n(x_0) at the recorded step.

    Sentences that mix several non-optimal tokens are no shorter: each of the tokens has to reach x_0 alone.
    """
    index = run.dataset.index
    S = run.training.stage2.score_matrix(record, run.dataset.V)
    radius = float(score_error(run)[record])
    found = []
    for order, middle, other in rivals(run):
        q = index[order.query]
        found.append(Rival(order.query, middle, other, float(S[index[middle], q] - S[index[other], q]), radius))
    least = min(rival.lead for rival in found)
    if max(least, 0) + radius > math.log(BUILDABLE):
        return Misled(min(found, key=lambda rival: rival.lead), None, None)
    near = [rival for rival in found if rival.lead <= max(least, radius) + 1]  # others need three times the copies
    lengths = [rival.length(_copies(rival.lead + radius)) for rival in near]
    first = int(np.argmin(lengths))
    open_to = min(rival.length(_copies(rival.lead - radius)) for rival in near)
    return Misled(near[first], _copies(near[first].lead + radius), open_to)


def _copies(lead: float) -> int:
    """The smallest c >= 1 with log c >= lead.

    >>> _copies(-3.0), _copies(0.0), _copies(1e-300), _copies(math.log(7)), _copies(math.log(7) + 1e-15)
    (1, 1, 2, 7, 8)
    """
    return next(c for c in count(max(1, math.floor(math.exp(lead)))) if math.log(c) >= lead)


def answers_follow_attention(run: Run) -> bool:
    """Whether all margins of W_ov are one and n is injective: then the answer is n of the most attended token."""
    return run.training.common_margin and run.assumption("injective").holds


def right_from(run: Run, length: int) -> int | None:
    """The first recorded step from which on every sentence of up to ``length`` tokens is answered n(x_0), or None.

    All margins of W_ov are one A, so the answer is n of the token with the most attention: x_0 wins when
    s_0 - s_x > log c for the most copies c of each non-optimal x that a sentence of that length holds.
    """
    stage, index = run.training.stage2, run.dataset.index
    room = np.full(len(stage), np.inf)
    for order, middle, other in rivals(run):
        copies = length - 1 if order.query == other else length - 2
        if copies >= 1:
            q = index[order.query]
            lead = stage.score(index[middle], q) - stage.score(index[other], q)
            np.minimum(room, lead - math.log(copies), out=room)
    wrong = np.flatnonzero(room <= 0)
    first = int(wrong[-1]) + 1 if len(wrong) else 0
    return int(stage.step[first]) if first < len(stage) else None


@dataclass(frozen=True)
class Tried:
    """What came out when sentences were put through the model one by one.

    ``longest`` is the length up to which all were; ``least`` the smallest probability of n(x_0) among them.
    """

    count: int
    longest: int
    right: int
    least: float


def put_through(run: Run, record: int) -> Tried:
    """Every sentence of the kind, shortest first, up to the length at which they would be too many."""
    index, n = run.dataset.index, run.dataset.collocation.require_function()
    S = run.training.stage2.score_matrix(record, run.dataset.V)
    B = label_logits(run.dataset, run.training)
    tried = right = longest = 0
    least = 1.0
    for length in range(2, run.dataset.L_max + 2):
        batch = []
        for sentence in sentences(run, length):
            batch.append(sentence)
            if tried + len(batch) > MOST_SENTENCES:
                return Tried(tried, longest, right, least)
        for sentence in batch:
            scores = S[:, index[sentence.query]]
            copies = Counter(index[x] for x in sentence.tokens)
            del copies[index[sentence.middle]]
            # in attention, of which the probabilities may not show the difference
            right += float(scores[index[sentence.middle]]) > max(scores[x] + math.log(c) for x, c in copies.items())
            bag = np.bincount([index[x] for x in sentence.tokens], minlength=run.dataset.V)
            log_P: NDArray[np.float64] = log_probabilities(scores, B, bag)
            least = min(least, float(np.exp(log_P[index[n[sentence.middle]]])))
        tried, longest = tried + len(batch), length
    return Tried(tried, longest, right, least)


def in_words(run: Run, record: int) -> str:
    """From which step which sentences are answered right, and what came out of those put through the model."""
    when = {length: right_from(run, length) for length in LENGTHS}
    steps = ", ".join(f"{length}: {'never' if t is None else t}" for length, t in when.items())
    tried = put_through(run, record)
    t = int(run.training.stage2.step[record])
    several = (
        " With two non-comparable tokens beside each other neither is preferred at any t: their scores are both 0."
        if any(len(order.non_comparable) > 1 for order, _, _ in rivals(run))
        else ""
    )
    return (
        f"All sentences of up to so many tokens are answered n(x_0) from step: {steps}. At t = {t} all {tried.count} "
        f"of up to {tried.longest} tokens, copies and the query's own class included, were put through the model: "
        f"{tried.right} are answered n(x_0), with probability at least {tried.least:.4g}.{several}"
    )
