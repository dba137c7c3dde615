"""Theorem 3 of arXiv 2409.17335 on every sentence of its kind up to a length.

The kind: one non-comparable token x_0 under the query q, all other tokens non-optimal under q, q last. So q is
non-optimal itself: it is in every sample that relates two tokens under it, and so related. None of the sentences is a
sample: a sample with x_0 and a token of another next token would relate the two.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import QueryOrder, Token
from marginaudit.reports.ntp.quantities import score_error
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.run import once_a_run
from marginaudit.training.ntp import label_logits, log_probabilities

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

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


def rivals(run: Run) -> list[QueryOrder]:
    """The orders of queries that a sentence of some x_0 and copies of a non-optimal x, n(x) not n(x_0), may end in."""
    n = run.dataset.collocation.require_function()
    return [
        order
        for order in run.dataset.orders.values()
        if order.query in order.non_optimal
        and order.leaves_some
        and any(n[x] != n[order.query] for x in order.vocabulary if x not in order.graph or x in order.non_optimal)
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
        near = np.flatnonzero(found.lead <= max(least, radius) + 1)  # others need three times the copies
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
        """The rival at a flat index."""
        middle, other = divmod(at, len(self.order.non_optimal))
        return Rival(
            self.order.query, self.middles[middle], self.order.non_optimal[other], float(self.lead.flat[at]), radius
        )


def _leads(run: Run, order: QueryOrder, S: Floats) -> Leads:
    """Of several x_0 with one score, whose next token no x has, the first stands for all: most have the score 0."""
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
    """Whether all margins of W_ov are one and n is injective: then the answer is n of the most attended token."""
    return run.training.common_margin and run.assumption("injective").holds


@once_a_run
def least_leads(run: Run) -> tuple[Floats, Floats]:
    """The smallest s_0 - s_x at each record, where x is the query and where it is not; inf for none."""
    stage, index, n = run.training.stage2, run.dataset.index, run.dataset.collocation.require_function()
    of_query, of_others = np.full((2, len(stage)), np.inf)
    for order in rivals(run):
        labels = {n[x] for x in order.non_comparable}

        def lead(others: Sequence[Token], order: QueryOrder = order, labels: set[Token] = labels) -> Floats:
            """Against the best of tokens of which none, or all, have the next token of some x_0."""
            q, avoided = index[order.query], {n[x] for x in others} & labels
            middles = [x for x in order.non_comparable if n[x] not in avoided]
            if not (others and middles):
                return np.full(len(stage), np.inf)
            least = stage.scores_under(q, [index[x] for x in middles]).min(axis=0)
            return np.asarray(least - stage.scores_under(q, [index[x] for x in others]).max(axis=0))

        np.minimum(of_query, lead([order.query]), out=of_query)
        others = [x for x in order.non_optimal if x != order.query]
        alone = [[x] for x in others if n[x] in labels]
        for together in ([x for x in others if n[x] not in labels], *alone):
            np.minimum(of_others, lead(together), out=of_others)
    return of_query, of_others


def right_from(run: Run, length: int) -> int | str:
    """The first recorded step from which on every sentence of up to ``length`` tokens is surely answered n(x_0).

    All margins of W_ov are one A, so the answer is n of the token with the most attention: x_0 wins when
    s_0 - s_x > log c, by more than the error of scores, for the most copies c of each non-optimal x that a sentence of
    that length holds. "or earlier" where the error of scores leaves the record before open, "never" where a sentence is
    surely answered otherwise at the last record, "open" where the error of scores leaves that open.
    """
    step, error = run.training.stage2.step, score_error(run)
    room = np.full(len(step), np.inf)
    for copies, lead in zip((length - 1, length - 2), least_leads(run), strict=True):
        if copies >= 1:
            np.minimum(room, lead - math.log(copies), out=room)
    unsure = np.flatnonzero(room <= error)
    first = int(unsure[-1]) + 1 if len(unsure) else 0
    if first < len(step):
        earlier = first > 0 and room[first - 1] > -error[first - 1]
        return f"{step[first]} or earlier" if earlier else int(step[first])
    return "open" if room[-1] > -error[-1] else "never"


@dataclass(frozen=True)
class Tried:
    """What came out when sentences were put through the model one by one.

    ``longest`` is the length up to which all were; ``least`` the smallest probability of n(x_0) among those that are
    answered right; ``unsure`` so many that the error bars leave open whether they are.
    """

    count: int
    longest: int
    right: int
    unsure: int
    least: float


def put_through(run: Run, record: int) -> Tried:
    """Every sentence of the kind, shortest first, up to the length at which they would be too many."""
    index, n = run.dataset.index, run.dataset.collocation.require_function()
    S = run.training.stage2.score_matrix(record, run.dataset.V)
    B = label_logits(run.dataset, run.training)
    error = float(score_error(run)[record])
    tried = right = unsure = longest = 0
    least = 1.0
    for length in range(2, run.dataset.L_max + 2):
        batch = []
        for sentence in sentences(run, length):
            batch.append(sentence)
            if tried + len(batch) > MOST_SENTENCES:
                return Tried(tried, longest, right, unsure, least)
        for sentence in batch:
            scores = S[:, index[sentence.query]]
            copies = Counter(index[x] for x in sentence.tokens)
            del copies[index[sentence.middle]]
            # in attention, of which the probabilities may not show the difference
            lead = float(scores[index[sentence.middle]] - max(scores[x] + math.log(c) for x, c in copies.items()))
            unsure += -error < lead <= error
            if lead > error:
                right += 1
                bag = np.bincount([index[x] for x in sentence.tokens], minlength=run.dataset.V)
                log_P: Floats = log_probabilities(scores, B, bag)
                least = min(least, float(np.exp(log_P[index[n[sentence.middle]]])))
        tried, longest = tried + len(batch), length
    return Tried(tried, longest, right, unsure, least)


@once_a_run
def in_words(run: Run, record: int) -> str:
    """From which step which sentences are answered right, and what came out of those put through the model."""
    if np.isinf(score_error(run)[record]):
        return f"At t = {int(run.training.stage2.step[record])} the scores are not known: float64 lost them."
    steps = ", ".join(f"{length}: {right_from(run, length)}" for length in LENGTHS)
    tried = put_through(run, record)
    t = int(run.training.stage2.step[record])
    several = (
        " With two non-comparable tokens beside each other neither is preferred at any t: their scores are both 0."
        if any(len(order.non_comparable) > 1 for order in rivals(run))
        else ""
    )
    through_the_model = (
        f"At t = {t} all {tried.count} of up to {tried.longest} tokens, copies and the query's own class included, "
        f"were put through the model: {tried.right} are answered n(x_0)"
        + (f", with probability at least {tried.least:.4g}" if tried.right else "")
        + (f"; of {tried.unsure} more the error bars leave it open." if tried.unsure else ".")
        if tried.count
        else f"Those of 2 tokens are more than {MOST_SENTENCES} already, and none was put through the model."
    )
    return f"All sentences of up to so many tokens are answered n(x_0) from step: {steps}. {through_the_model}{several}"
