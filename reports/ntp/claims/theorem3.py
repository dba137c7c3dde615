"""Theorem 3 of arXiv 2409.17335: the trained order puts non-comparable tokens between the classes."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import QueryOrder, Token
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.reports.claim import Claim, ProofCondition
from marginaudit.reports.judgements import Decided, HiddenConstant
from marginaudit.reports.ntp.claims.step_size import as_printed_and_for_any_step
from marginaudit.reports.ntp.claims.theorem3_sentences import (
    answers_follow_attention,
    in_words,
    rivals,
    shortest_misled,
)
from marginaudit.reports.ntp.quantities import asymptotic_from, no_direction_kq, score_error
from marginaudit.reports.ntp.run import PAPER_STEPS, Run
from marginaudit.reports.series import Series, series
from marginaudit.reports.verdict import Finding, Verdict
from marginaudit.training.ntp import predict

Floats: TypeAlias = NDArray[np.float64]

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2

MAJORITY = ProofCondition("Assumption 3", lambda run: run.assumption("optimal_majority").holds)


def _queries(run: Run) -> list[QueryOrder]:
    """Queries under which some token is non-comparable."""
    return [order for order in run.dataset.orders.values() if order.leaves_some]


def _no_query(run: Run) -> str | None:
    if not _queries(run):
        return "No query relates two tokens and leaves one non-comparable."
    return no_direction_kq(run)


def _gaps(run: Run) -> Series:
    """Smallest of (x_opt - x_0)^T W q and (x_0 - x_non)^T W q at each step from t = 1 on."""
    stage, index = run.training.stage2, run.dataset.index
    kept = stage.step >= 1
    smallest = np.full(len(stage), np.inf)
    for order in _queries(run):

        def scores(tokens: tuple[Token, ...], q: int = index[order.query]) -> Floats:
            return stage.scores_under(q, [index[x] for x in tokens])

        middle = scores(order.non_comparable)
        above = scores(order.optimal).min(axis=0) - middle.max(axis=0)
        below = middle.min(axis=0) - scores(order.non_optimal).max(axis=0)
        smallest = np.minimum(smallest, np.minimum(above, below))
    return series(smallest[kept], radius=score_error(run)[kept], step=stage.step[kept])


def late_from(run: Run) -> float:
    """The step from which a run shows the order that it ends with; infinite where it ends before.

    Late is only where W_kq is so near W*_kq in direction, error bars included, that W*_kq's own order shows: without
    Assumption 3 scores may stay in the wrong order for thousands of long steps (docs/proofs.md, section 15.6).
    """
    stage, column = run.training.stage2, run.kq.optimal().scores
    sizes = [
        abs(column[run.dataset.index[x], run.dataset.index[order.query]])
        for order in run.dataset.orders.values()
        for x in (*order.optimal, *order.non_optimal)
    ]
    # a difference of two scores of the unit vector moves by sqrt 2 times the distance at most
    far = ~(stage.distance + stage.distance_error <= min(sizes) / run.norm_kq / np.sqrt(8))
    if far[-1]:
        return np.inf
    begins = int(stage.step[len(far) - int(np.argmax(far[::-1]))]) if far.any() else 1
    return float(max(begins, asymptotic_from(run)))


def _order(suffix: str, when: str, late: Callable[[Run], float] | None = None) -> Claim:
    return Claim(
        id=f"ntp.theorem3.order{suffix}",
        source="arXiv 2409.17335, Theorem 3",
        statement=(
            f"{when}, for some C > 0: (x_opt - x_0)^T W_kq^(t) q >= C t and (x_0 - x_non)^T W_kq^(t) q >= C t for "
            "every non-comparable x_0."
        ),
        formula=r"(x_{*}-x_0)^\top W_{kq}^{(t)}q\ge C t,\quad (x_0-x)^\top W_{kq}^{(t)}q\ge C t",
        assumptions=ASSUMPTIONS,
        judgement=HiddenConstant(
            measure=_gaps, shape=lambda _, t: t, side="lower", regime=late or asymptotic_from, late=late is not None
        ),
        absent=_no_query,
        proof_uses=(MAJORITY,),
    )


def _no_sentence(run: Run) -> str | None:
    if not rivals(run):
        return (
            "No sentence of one non-comparable token and non-optimal ones ends in its query: wherever a query has a "
            "non-comparable token, the query itself is optimal."
        )
    return no_direction_kq(run)


def decide_prediction(run: Run, record: int) -> Finding:
    """No constant serves sentences of every length: at any fixed t, enough copies outweigh x_0.

    The trained scores are finite at every t, so the length exp(s_0 - s_x) is finite at every t; the
    shortest such sentence at the recorded step is put through the model.
    """
    step = int(run.training.stage2.step[record])
    until = f"at t = {step}, T = {run.config.steps1}"
    if not np.isfinite(run.training.stage2.score_matrix(record, run.dataset.V)).all():
        return Finding(Verdict.INCONCLUSIVE, detail=f"The trained scores are no finite numbers {until}.")
    found = shortest_misled(run, record)
    rival = found.rival
    witness: dict[str, Any] = {"query": rival.query, "x_0": rival.middle, "x": rival.other}
    understood = answers_follow_attention(run)
    if found.copies is None:
        known = np.isfinite(rival.radius)
        interval = _interval(rival.lead - rival.radius, rival.lead + rival.radius) if known else ""
        length = f"exp({interval})" if known else "so many that float64 does not tell them"
        witness["copies"] = length
        confirmed = "too long to be put through the model"
        misled = understood
    else:
        sentence = rival.sentence(found.copies)
        n = run.dataset.collocation.require_function()
        expected = run.dataset.index[n[rival.middle]]
        log_odds = predict(run.dataset, run.training, sentence, record)
        others = np.where(np.arange(run.dataset.V) == expected, -np.inf, log_odds)
        best = int(np.argmax(others))
        length = str(len(sentence))
        confirmed = "put through the model, it is answered otherwise"
        misled = bool(others[best] >= log_odds[expected])
        witness |= {
            "copies": found.copies,
            "answer": run.dataset.vocabulary[best],
            "expected": n[rival.middle],
            "probability_of_expected": float(np.exp(log_odds[expected] - np.logaddexp.reduce(log_odds))),
        }
    if not misled:
        copies = f"{witness['copies']} {'copy' if witness['copies'] == 1 else 'copies'}"
        detail = f"Whether a sentence of the kind with {copies} is answered n(x_0) {until} is open."
        return Finding(Verdict.INCONCLUSIVE, detail=detail)
    what = f"A sentence of the kind of {length} tokens is not answered n(x_0) {until} ({confirmed})"
    if understood and found.answered_below == found.length:
        what = f"The shortest sentence of the kind that is not answered n(x_0) {until} has {length} tokens"
        what += f" ({confirmed})"
        what += "" if found.copies is None else "; all shorter ones are answered n(x_0)"
    elif understood:
        what += f"; all of fewer than {found.answered_below} are, and of those between the error bars leave it open"
    return Finding(
        Verdict.VIOLATED,
        measured=witness.get("probability_of_expected"),
        worst_step=step,
        first_violation=step,
        detail=(
            f"{what}. Its length is finite at every t, so no constant in O(.) serves sentences of any length."
            + (f" {in_words(run, paper_length(run))}" if understood else "")
        ),
        witness=witness,
    )


def _interval(low: float, high: float) -> str:
    """Both ends in six digits, or one of them where they agree in those."""
    ends = dict.fromkeys(f"{end:.6g}" for end in (low, high))
    return " to ".join(ends)


def paper_length(run: Run) -> int:
    """The last record within the paper's own number of steps, or the first trained one where all lie beyond."""
    return max(_first_trained(run), int(np.sum(run.training.stage2.step <= PAPER_STEPS)) - 1)


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
            "at any $t$ it is true of sentences with fewer than $e^{s_0-s_x}$ copies of each other token $x$, $s$ the "
            "scores under $q$; that number grows geometrically in $t$ (ntp.theorem3.order.rederived). The detail says "
            "from which step on which lengths are answered right."
        ),
    )


CLAIMS = (
    *as_printed_and_for_any_step(_order("", "For T = Omega(log(1/eps)) and t = O(log(1/eps)), so at every t")),
    _order(".rederived", "For T = Omega(log(1/eps)) and t = Omega(log(1/eps)), so late in the run", late_from),
    _prediction("", "For T = Omega(log(1/eps)) and t = O(log(1/eps))", record=_first_trained),
    _prediction(".rederived", "For T = Omega(log(1/eps)) and t = Omega(log(1/eps))", record=lambda _: -1),
)
