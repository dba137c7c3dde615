"""Theorem 3 of arXiv 2409.17335: the trained order puts non-comparable tokens between the classes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import QueryOrder, Token
from marginaudit.reports.claim import ASSUMPTION_1, ASSUMPTION_2, Claim, ProofCondition
from marginaudit.reports.claims.ntp_theorem3_sentences import in_words, rivals
from marginaudit.reports.claims.quantities import asymptotic_from, no_direction_kq
from marginaudit.reports.error_bars import FORMULA_ROUNDING, Series, series
from marginaudit.reports.judgements import Decided, HiddenConstant
from marginaudit.reports.run import PAPER_STEPS, Run
from marginaudit.reports.verdict import Finding, Verdict
from marginaudit.training import predict

Floats: TypeAlias = NDArray[np.float64]

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2
BUILDABLE = 1_000_000
"""A counterexample of at most so many tokens is built and put through the model."""

MAJORITY = ProofCondition("Assumption 3", lambda run: run.assumption("optimal_majority").holds)


def _queries(run: Run) -> list[QueryOrder]:
    """Queries under which some token is non-comparable."""
    return [order for order in run.dataset.orders.values() if order.non_comparable]


def _no_query(run: Run) -> str | None:
    if not _queries(run):
        return "No query relates two tokens and leaves one non-comparable."
    return no_direction_kq(run)


def _gaps(run: Run) -> Series:
    """Smallest of (x_opt - x_0)^T W q and (x_0 - x_non)^T W q at each step from t = 1 on."""
    stage, index = run.training.stage2, run.dataset.index
    kept = stage.step >= 1
    smallest, zero = np.full(int(kept.sum()), np.inf), np.zeros(int(kept.sum()))
    for order in _queries(run):
        columns = np.flatnonzero(stage.query == index[order.query])
        score = dict(zip(stage.key[columns].tolist(), stage.scores[kept][:, columns].T, strict=True))

        def scores(tokens: tuple[Token, ...], score: dict[int, Floats] = score) -> Floats:
            return np.array([score.get(index[x], zero) for x in tokens])

        middle = scores(order.non_comparable)
        above = scores(order.optimal).min(axis=0) - middle.max(axis=0)
        below = middle.min(axis=0) - scores(order.non_optimal).max(axis=0)
        smallest = np.minimum(smallest, np.minimum(above, below))
    # a score is off by at most the rounding of W, whose norm is at most t eta
    rounding = 2 * (stage.distance_error[kept] + FORMULA_ROUNDING) * stage.step[kept] * run.eta
    return series(smallest, radius=rounding, step=stage.step[kept])


def _order(suffix: str, when: str, *, late: bool) -> Claim:
    return Claim(
        id=f"ntp.theorem3.order{suffix}",
        source="arXiv 2409.17335, Theorem 3",
        statement=(
            f"{when}, for some C > 0: (x_opt - x_0)^T W_kq^(t) q >= C t and (x_0 - x_non)^T W_kq^(t) q >= C t for "
            "every non-comparable x_0."
        ),
        formula=r"(x_{*}-x_0)^\top W_{kq}^{(t)}q\ge C t,\quad (x_0-x)^\top W_{kq}^{(t)}q\ge C t",
        assumptions=ASSUMPTIONS,
        judgement=HiddenConstant(measure=_gaps, shape=lambda _, t: t, side="lower", regime=asymptotic_from, late=late),
        absent=_no_query,
        proof_uses=(MAJORITY,),
    )


@dataclass(frozen=True)
class Misled:
    """A sentence of one non-comparable token and non-optimal ones that is not answered n(x_0).

    ``copies`` of ``other`` stand beside ``middle``, and the query comes last (as one of the copies if it
    is ``other`` itself). ``log_copies`` is the logarithm of the number that makes the two attentions equal.
    """

    query: Token
    middle: Token
    other: Token
    log_copies: float

    @property
    def copies(self) -> int:
        """The smallest number of copies whose attention passes that of x_0."""
        return max(1, math.floor(math.exp(self.log_copies)) + 1)

    @property
    def sentence(self) -> tuple[Token, ...]:
        """The sentence, the query last."""
        others = (self.other,) * (self.copies - (self.other == self.query))
        return (self.middle, *others, self.query)


def _no_sentence(run: Run) -> str | None:
    if not rivals(run):
        return (
            "No sentence of one non-comparable token and non-optimal ones ends in its query: wherever a query has a "
            "non-comparable token, the query itself is optimal."
        )
    return no_direction_kq(run)


def shortest_misled(run: Run, record: int) -> Misled:
    """The shortest sentence of the theorem's kind that is not answered n(x_0) at the recorded step.

    With c copies of x beside x_0, the attention of x passes that of x_0 when c > exp(s_0 - s_x); then
    n(x) has a larger logit than n(x_0), since all margins of W_ov are one.
    """
    index = run.dataset.index
    S = run.training.stage2.score_matrix(record, run.dataset.V)

    def log_copies(order: QueryOrder, middle: Token, other: Token) -> float:
        q = index[order.query]
        return float(S[index[middle], q] - S[index[other], q])

    candidates = [
        Misled(order.query, middle, other, log_copies(order, middle, other)) for order, middle, other in rivals(run)
    ]
    return min(candidates, key=lambda misled: (misled.log_copies, misled.other != misled.query))


def decide_prediction(run: Run, record: int) -> Finding:
    """No constant serves sentences of every length: at any fixed t, enough copies outweigh x_0.

    The trained scores are finite at every t, so the length exp(s_0 - s_x) is finite at every t; the
    shortest such sentence at the recorded step is put through the model.
    """
    misled = shortest_misled(run, record)
    step = int(run.training.stage2.step[record])
    until = f"at t = {step}, T = {run.config.steps1}"
    if misled.log_copies > math.log(BUILDABLE):
        length = f"exp({misled.log_copies:.6g})"
        witness: dict[str, Any] = {
            "query": misled.query,
            "x_0": misled.middle,
            "x": misled.other,
            "copies": length,
        }
        confirmed = "too long to be put through the model"
    else:
        sentence = misled.sentence
        n = run.dataset.collocation.function
        log_odds = predict(run.dataset, run.training, sentence, record)
        best = run.dataset.vocabulary[int(np.argmax(log_odds))]
        expected = n[misled.middle]
        if best == expected:
            return Finding(
                Verdict.INCONCLUSIVE,
                detail=f"{misled.copies} copies of x tie with x_0 to rounding {until}.",
            )
        probability = np.exp(log_odds - np.logaddexp.reduce(log_odds))
        witness = {
            "query": misled.query,
            "x_0": misled.middle,
            "x": misled.other,
            "copies": misled.copies,
            "answer": best,
            "expected": expected,
            "probability_of_expected": float(probability[run.dataset.index[expected]]),
        }
        confirmed = "put through the model, it is answered otherwise"
        length = str(len(sentence))
    return Finding(
        Verdict.VIOLATED,
        measured=witness.get("probability_of_expected"),
        worst_step=step,
        first_violation=step,
        detail=(
            f"The shortest sentence of the kind that is not answered n(x_0) {until} has {length} tokens ({confirmed}); "
            "all shorter ones are answered n(x_0). Its length is finite at every t, so no constant in O(.) serves "
            f"sentences of any length. {in_words(run, paper_length(run))}"
        ),
        witness=witness,
    )


def paper_length(run: Run) -> int:
    """The last record within the paper's own number of steps."""
    return int(np.flatnonzero(run.training.stage2.step <= PAPER_STEPS)[-1])


def _first_trained(run: Run) -> int:
    return int(np.argmax(run.training.stage2.step >= 1))


def _prediction(suffix: str, when: str, *, record: Callable[[Run], int]) -> Claim:
    return Claim(
        id=f"ntp.theorem3.prediction{suffix}",
        source="arXiv 2409.17335, Theorem 3",
        statement=(
            f"{when}: an unseen sentence ending in q made of one non-comparable token x_0 and non-optimal tokens under "
            "q is answered n(x_0) with probability at least 1 - eps, the constant in O(.) one for all eps and all such "
            "sentences, of any length."
        ),
        formula=r"\hat y\left([x_0,x,\dots,x,q]\right)=n(x_0)\quad\text{with probability at least }1-\epsilon",
        assumptions=ASSUMPTIONS,
        judgement=Decided(lambda run: decide_prediction(run, record(run)), kind="prediction"),
        absent=_no_sentence,
        proof_uses=(MAJORITY,),
        instead=(
            "at any t it is true of sentences with fewer than exp(s_0 - s_x) copies of each other token x, s the "
            "scores under q; that number grows geometrically in t (ntp.theorem3.order.rederived). The detail says from "
            "which step on which lengths are answered right."
        ),
    )


CLAIMS = (
    _order("", "For T = Omega(log(1/eps)) and t = O(log(1/eps)), so at every t", late=False),
    _order(".rederived", "For T = Omega(log(1/eps)) and t = Omega(log(1/eps)), so late in the run", late=True),
    _prediction("", "For T = Omega(log(1/eps)) and t = O(log(1/eps))", record=_first_trained),
    _prediction(".rederived", "For T = Omega(log(1/eps)) and t = Omega(log(1/eps))", record=lambda _: -1),
)
