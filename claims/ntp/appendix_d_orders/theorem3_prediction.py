"""Theorem 3 of arXiv 2409.17335: answers to unseen sentences follow the order."""

import math
from typing import Any

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Decided, Threshold
from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.ntp.appendix_d_orders.theorem3 import ASSUMPTIONS, MAJORITY, RECONSTRUCTED, Fall, proved_fall
from marginaudit.claims.ntp.appendix_d_orders.theorem3_answers import log_wrong, summary
from marginaudit.claims.ntp.appendix_d_orders.theorem3_misled import (
    Rival,
    answers_follow_attention,
    rivals,
    shortest_misled,
)
from marginaudit.claims.ntp.config import PAPER_STEPS
from marginaudit.claims.ntp.quantities import no_direction_kq
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted, varied
from marginaudit.claims.run import once_a_run
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.claims.verdict import Finding, Verdict
from marginaudit.training.ntp import predict


def _no_sentence(run: Run) -> str | None:
    if not rivals(run):
        return (
            "No sentence of one non-comparable token and non-optimal ones ends in its query: wherever a query has a "
            "non-comparable token, the query itself is optimal."
        )
    return no_direction_kq(run)


def decide_any_length(run: Run, record: int) -> Finding:
    """Refute a constant for sentences of every length: at any fixed t, enough copies outweigh x_0.

    The trained scores are finite at every t, so the length exp(s_0 - s_x) is finite at every t; the
    shortest such sentence at the recorded step is put through the model.
    """
    step = int(run.training.stage2.step[record])
    until = f"at t = {step}, T = {run.config.steps1}"
    if not np.isfinite(run.training.stage2.score_matrix(record, run.dataset.V)).all():
        return Finding(Verdict.INCONCLUSIVE, detail=f"The trained scores are no finite numbers {until}.")
    found = shortest_misled(run, record)
    rival, understood = found.rival, answers_follow_attention(run)
    witness: dict[str, Any] = {"query": rival.query, "x_0": rival.middle, "x": rival.other}
    if found.copies is None:
        length, confirmed, misled = _length_in_words(rival), "too long to be put through the model", understood
        witness["copies"] = length
    else:
        misled, answers = _put_through(run, rival, found.copies, record)
        length, confirmed = str(found.length), "put through the model, it is answered otherwise"
        witness |= answers
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
    what += ". Its length is finite at every t, so no constant in Omega(.) serves sentences of any length."
    return Finding(
        Verdict.VIOLATED,
        measured=witness.get("probability_of_expected"),
        worst_step=step,
        first_violation=step,
        detail=f"{what} {summary(run, paper_length(run))}" if understood else what,
        witness=witness,
    )


def _put_through(run: Run, rival: Rival, copies: int, record: int) -> tuple[bool, dict[str, Any]]:
    """Whether the model answers the shortest sentence with the given copies otherwise, and its answer."""
    n, words = run.dataset.collocation.require_function(), run.dataset.vocabulary
    expected = run.dataset.index[n[rival.middle]]
    log_odds = predict(run.dataset, run.training, rival.sentence(copies), record)
    others = np.where(np.arange(run.dataset.V) == expected, -np.inf, log_odds)
    best = int(np.argmax(others))
    return bool(others[best] >= log_odds[expected]), {
        "copies": copies,
        "answer": words[best],
        "expected": n[rival.middle],
        "probability_of_expected": float(np.exp(log_odds[expected] - np.logaddexp.reduce(log_odds))),
    }


def _length_in_words(rival: Rival) -> str:
    """exp of an interval: both ends in six digits, or one if they agree."""
    if not np.isfinite(rival.radius):
        return "more than float64 can count"
    ends = dict.fromkeys(f"{end:.6g}" for end in (rival.lead - rival.radius, rival.lead + rival.radius))
    return f"exp({' to '.join(ends)})"


def paper_length(run: Run) -> int:
    """The last record within the paper's number of steps, or the first trained one if all lie beyond."""
    return max(_first_trained(run), int(np.sum(run.training.stage2.step <= PAPER_STEPS)) - 1)


def _first_trained(run: Run) -> int:
    return int(np.argmax(run.training.stage2.step >= 1))


@once_a_run
def fall(run: Run) -> Fall:
    """Proved rate at which the scores of non-optimal tokens fall below that of x_0, which is 0."""
    return proved_fall(run, rivals(run))


def _log_eps(run: Run, t: Steps) -> Steps:
    """log of (V - 1) exp(-A (2 phi - 1)), A = T eta0/||W*_ov|| and phi = 1/(1 + (L_max - 1) exp(-C t))."""
    data, A = run.dataset, run.config.steps1 * run.eta0 / run.norm_ov
    return np.asarray(math.log(data.V - 1) - A * np.tanh((fall(run).pace * t - math.log(data.L_max - 1)) / 2))


SENTENCE = "sentence ending in q, of one non-comparable token x_0 and non-optimal tokens under q,"

PRINTED = Claim(
    id="ntp.theorem3.prediction",
    source="arXiv 2409.17335, Theorem 3",
    source_words=quoted(
        "section 6, Theorem 3",
        "consists of a non-comparable token x_0 and non-optimal tokens, then the prediction made by T_theta(X) "
        "is n(x_0) with high probability",
        "High probability is at least 1 - eps, as in the proof, with constants that serve every eps and every such "
        'sentence. A sentence has at most L_max tokens (section 3: "We assume that the maximum length of sentences is '
        'L_max"); x_0 may be repeated, as in the proof (appendix D.2), the query is one of the non-optimal tokens. '
        "The proof covers any step size, and data whose prefixes are no samples.",
        reconstructed=RECONSTRUCTED,
    ),
    statement=(
        f"For T = Omega(log(1/eps)) and t = Omega(log(1/eps)): an unseen {SENTENCE} of at most L_max tokens, is "
        "answered n(x_0) with probability at least 1 - eps, the constants one for all eps and all such sentences. "
        "Audited from the proved step t_2 on, with eps = (V-1) exp(-A (2 phi - 1)), phi = 1/(1 + (L_max - 1) exp(-C "
        "t)), A = T eta0/||W*_ov||, C and t_2 free of T and eps: T >= (2 ||W*_ov||/eta0) log((V-1)/eps) and t >= "
        "max(t_2, log(3 (L_max - 1))/C) make it as small as any eps."
    ),
    formula=(
        r"\hat y\left([x_0,x,\dots,x,q]\right)=n(x_0)\quad\text{with probability at least }1-\epsilon,\quad "
        r"\epsilon=(V-1)\exp\left(-A(2\varphi-1)\right),\quad\varphi=\frac{1}{1+(L_{\max}-1)\exp(-Ct)}"
    ),
    assumptions=ASSUMPTIONS,
    judgement=Bounded(measure=log_wrong, upper=_log_eps, largest=0.0, threshold=lambda run: Threshold(fall(run).since)),
    absent=_no_sentence,
    proof_uses=(MAJORITY,),
    standing=proved("docs/proofs.md#153-ntptheorem3prediction", "ntp.theorem3.order", "sharp.stage1", hunted=160),
)

PROOF = "docs/proofs.md#157-ntptheorem3predictionany-length-is-false-wherever-it-applies"

ANY_LENGTH = Claim(
    id="ntp.theorem3.prediction.any-length",
    source=PRINTED.source,
    source_words=varied(PRINTED.id, "Of sentences of any length; in print they have at most L_max tokens."),
    statement=(
        f"For T = Omega(log(1/eps)) and t = Omega(log(1/eps)): an unseen {SENTENCE} is answered n(x_0) with "
        "probability at least 1 - eps, the constants one for all eps and all such sentences, of any length."
    ),
    formula=r"\hat y\left([x_0,x,\dots,x,q]\right)=n(x_0)\quad\text{with probability at least }1-\epsilon",
    assumptions=ASSUMPTIONS,
    judgement=Decided(lambda run: decide_any_length(run, -1), kind="prediction"),
    absent=_no_sentence,
    proof_uses=(MAJORITY,),
    standing=refuted(
        PROOF,
        "sharp.stage1",
        severity=Severity.EVERYWHERE,
        wrong="Theorem 3's prediction needs a limit to the length: enough copies of a non-optimal token outvote x_0.",
        hunted=1,
        weakest=f"a limit to the length, as L_max ({PRINTED.id})",
    ),
    implications=(contradicts("sharp.stage1", proof=PROOF),),
    instead=(
        r"of sentences of at most $L_{\max}$ tokens it is true: ntp.theorem3.prediction. At any $t$ it is true of "
        "those with fewer than $e^{s_0-s_x}$ copies of each other token $x$, $s$ the scores under $q$; that number "
        "grows geometrically in $t$ (ntp.theorem3.order). The detail has the first step with right answers "
        "by length."
    ),
)

CLAIMS = (PRINTED, ANY_LENGTH)
