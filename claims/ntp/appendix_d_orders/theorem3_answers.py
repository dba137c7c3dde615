"""Answers to sentences of Theorem 3's kind: probabilities at each step, and the first step with right answers."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from marginaudit.claims.ntp.appendix_d_orders.theorem3_misled import rivals
from marginaudit.claims.ntp.error_bars import EPS, log_rounding, moved_attention, score_error
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, series
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import QueryOrder, Token
from marginaudit.training.ntp import label_logits, log_probabilities

LENGTHS = (2, 3, 4, 8, 16, 64, 1024)
"""Lengths for reporting the first step with right answers."""

MOST_SENTENCES = 20_000
"""Most sentences to run through the model, shortest first."""


def sentences(run: Run, length: int) -> Iterator[tuple[Token, ...]]:
    """Every sentence of the kind with ``length`` tokens, as bags: x_0, non-optimal tokens, the query."""
    for order in run.dataset.orders.values():
        if order.query in order.non_optimal:
            for middle in order.non_comparable:
                for others in combinations_with_replacement(order.non_optimal, length - 2):
                    yield (middle, *others, order.query)


def log_wrong(run: Run) -> Series:
    """log of the largest probability of an answer other than n(x_0) over sentences of the kind, from t = 1 on.

    Sentences have at most L_max tokens, and may repeat x_0. The maximum is attained by x_0, the query and L_max - 2
    copies of one non-optimal token (docs/proofs.md, section 15.3, step 5), for the x_0 of least score.

    An error of score differences changes the log-odds by A `moved_attention`; the error of A adds to it.
    """
    training, stage, index, L = run.training, run.training.stage2, run.dataset.index, run.dataset.L_max
    wrong, log_other = np.full((2, len(stage)), -np.inf)
    for order in rivals(run):
        q, others = index[order.query], [index[x] for x in order.non_optimal if x != order.query]
        least = stage.scores_under(q, [index[x] for x in order.non_comparable]).min(axis=0)
        query = stage.scores_under(q, [q]) - least
        repeated = [np.array([query + math.log(L - 1)])]
        if L > 2 and others:
            other = stage.scores_under(q, others) - least + math.log(L - 2)
            repeated.append(np.array([np.broadcast_to(query, other.shape), other]))
        for log_weights in repeated:
            with np.errstate(invalid="ignore"):  # scores beyond float64
                for worst, found in zip((wrong, log_other), _log_odds(run, log_weights), strict=True):
                    np.maximum(worst, found.max(axis=0), out=worst)
    error = score_error(run)
    moved = moved_attention(error, log_other) + L * EPS
    off = training.margin * moved + training.margin_error + log_rounding(wrong)
    kept, lost = stage.step >= 1, np.isnan(wrong)
    radius = np.where(~lost & np.isfinite(error) & training.common_margin, off, np.inf)
    value = np.where(lost, 0.0, -np.logaddexp(0, -np.where(lost, 0.0, wrong)))
    return series(value[kept], radius=radius[kept], step=stage.step[kept], log=True)


def _log_odds(run: Run, log_weights: Floats) -> tuple[Floats, Floats]:
    """Log-odds of answers other than n(x_0), and log of the attention on tokens other than x_0.

    The odds are the sum of exp(A (phi_z - phi_0)) over all other tokens z of the vocabulary.

    Parameters
    ----------
    log_weights : (tokens, sentences, records)
        log of copies times exp(s_x - s_0) of the other tokens of the sentence.
    """
    A, total = run.training.margin, np.logaddexp.reduce(log_weights, axis=0)
    whole = np.logaddexp(0, total)
    own = np.exp(-whole)
    present = np.logaddexp.reduce(A * (np.exp(log_weights - whole) - own), axis=0)
    absent = math.log(run.dataset.V - 1 - len(log_weights)) - A * own
    return np.logaddexp(present, absent), -np.logaddexp(0, -total)


@once_a_run
def least_leads(run: Run) -> tuple[Floats, Floats]:
    """The smallest s_0 - s_x at each record, for x the query and for other x; inf for none."""
    stage, index, n = run.training.stage2, run.dataset.index, run.dataset.collocation.require_function()
    of_query, of_others = np.full((2, len(stage)), np.inf)
    for order in rivals(run):
        labels = {n[x] for x in order.non_comparable}

        def lead(others: Sequence[Token], order: QueryOrder = order, labels: set[Token] = labels) -> Floats:
            """Lead of the best x_0 that shares no next token with ``others`` over the best of them."""
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
    """First recorded step from which every sentence of up to ``length`` tokens is certainly answered n(x_0).

    All margins of W_ov are one A, so the answer is n of the most attended token: x_0 wins if s_0 - s_x > log c, by more
    than the error of scores, with c the largest number of copies of a non-optimal x in a sentence of that length. "or
    earlier" if the previous record is undecided within the error of scores; "never" if a sentence is certainly answered
    otherwise at the last record; "open" if that record is undecided.
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
    """Result of running sentences through the model.

    ``longest``: all sentences up to this length were run. ``least``: smallest probability of n(x_0) among right
    answers. ``unsure``: number of sentences undecided within error bars.
    """

    count: int
    longest: int
    right: int
    unsure: int
    least: float


def put_through(run: Run, record: int) -> Tried:
    """Run every sentence of the kind through the model, shortest first, within `MOST_SENTENCES`."""
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
            middle, *others = (index[x] for x in sentence)
            scores = S[:, index[sentence[-1]]]
            # lead in attention: differences of probabilities may be lost to rounding
            lead = float(scores[middle] - max(scores[x] + math.log(c) for x, c in Counter(others).items()))
            unsure += -error < lead <= error
            if lead > error:
                right += 1
                bag = np.bincount([middle, *others], minlength=run.dataset.V)
                log_P: Floats = log_probabilities(scores, B, bag)
                least = min(least, float(np.exp(log_P[index[n[sentence[0]]]])))
        tried, longest = tried + len(batch), length
    return Tried(tried, longest, right, unsure, least)


@once_a_run
def summary(run: Run, record: int) -> str:
    """Note for the report: the first step with right answers, and the result of `put_through`."""
    if np.isinf(score_error(run)[record]):
        return f"At t = {int(run.training.stage2.step[record])} the scores are unknown: float64 lost them."
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
    return f"First step with all answers n(x_0), by length: {steps}. {through_the_model}{several}"
