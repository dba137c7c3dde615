"""Theorem 3 of arXiv 2409.17335 on every sentence of its kind up to a length.

The kind: one non-comparable token x_0 under the query q, all other tokens non-optimal under q, q last (so q
is non-optimal, or x_0 itself). None of them is a sample: a sample with x_0 and a token of another next token
would relate the two.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import QueryOrder, Token
from marginaudit.reports.run import Run
from marginaudit.training import label_logits, log_probabilities

LENGTHS = (2, 3, 4, 8, 16, 64, 1024)
"""Lengths for which the first step with right answers is reported."""

MOST_SENTENCES = 20_000
"""So many sentences are put through the model one by one, shortest first."""


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
        middle = () if self.middle == self.query else (self.middle,)
        return (*middle, *self.others, self.query)


def rivals(run: Run) -> list[tuple[QueryOrder, Token, Token]]:
    """(order, x_0, x): a sentence of x_0 and copies of non-optimal x may end in the query."""
    return [
        (order, middle, other)
        for order in run.dataset.orders.values()
        for middle in order.non_comparable
        for other in order.non_optimal
        if order.query in order.non_optimal or order.query == middle
    ]


def sentences(run: Run, length: int) -> Iterator[Sentence]:
    """Every sentence of the kind with ``length`` tokens, as bags."""
    for order in run.dataset.orders.values():
        for middle in order.non_comparable:
            if order.query == middle:
                room = length - 1
            elif order.query in order.non_optimal:
                room = length - 2
            else:
                continue
            if room or order.query != middle:
                for others in combinations_with_replacement(order.non_optimal, room):
                    yield Sentence(order.query, middle, others)


def right_from(run: Run, length: int) -> int | None:
    """The first recorded step from which on every sentence of up to ``length`` tokens is answered n(x_0), or None.

    All margins of W_ov are one A, so the answer is n of the token with the most attention: x_0 wins when
    s_0 - s_x > log c for the most copies c of each non-optimal x that a sentence of that length holds.
    """
    stage, index = run.training.stage2, run.dataset.index
    room = np.full(len(stage), np.inf)
    for order, middle, other in rivals(run):
        copies = length - 1 if order.query in (middle, other) else length - 2
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
    count = right = longest = 0
    least = 1.0
    for length in range(2, run.dataset.L_max + 2):
        batch = []
        for sentence in sentences(run, length):
            batch.append(sentence)
            if count + len(batch) > MOST_SENTENCES:
                return Tried(count, longest, right, least)
        for sentence in batch:
            bag = np.bincount([index[x] for x in sentence.tokens], minlength=run.dataset.V)
            log_P: NDArray[np.float64] = log_probabilities(S[:, index[sentence.query]], B, bag)
            answer = index[n[sentence.middle]]
            right += int(np.argmax(log_P)) == answer and float(np.sort(log_P)[-2]) < float(log_P[answer])
            least = min(least, float(np.exp(log_P[answer])))
        count, longest = count + len(batch), length
    return Tried(count, longest, right, least)


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
