"""Theorem 3 of arXiv 2409.17335: the trained order puts non-comparable tokens between the classes."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import QueryOrder, Token
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.reports.claim import Claim, ProofCondition
from marginaudit.reports.judgements import HiddenConstant
from marginaudit.reports.ntp.error_bars import score_error
from marginaudit.reports.ntp.quantities import asymptotic_from, no_direction_kq
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.step_size import as_printed_and_for_any_step
from marginaudit.reports.series import Series, series
from marginaudit.reports.source_words import quoted, rederived
from marginaudit.reports.standing import Implication, Severity, proved, refuted

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2

MAJORITY = ProofCondition("Assumption 3", lambda run: run.assumption("optimal_majority").holds)


def no_majority(run: Run) -> str | None:
    """Why Assumption 3 is not met, or None."""
    return None if MAJORITY.holds(run) else f"{MAJORITY.text} fails"


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


PRINTED = replace(
    _order("", "For T = Omega(log(1/eps)) and t = O(log(1/eps)), so at every t"),
    source_words=quoted(
        "section 6, Theorem 3",
        "there exists a constant C_0 such that (x_* - x_0)^T W_kq^(t) x^q >= C_0 t, (x_0 - x)^T W_kq^(t) x^q >= C_0 t",
        "T = Omega(log(1/eps)) is a least T, and t = O(log(1/eps)) a greatest t, as printed; eps may be as small as "
        "one likes, so every t from 1 on is meant, with one C > 0 for all of them. The proof rests on Theorem 1, and "
        "so on its eta.",
    ),
    standing=refuted(
        "docs/proofs.md#152-ntptheorem3order-is-false-without-assumption-3",
        "ntp.lemma4",
        severity=Severity.ORDINARY,
        wrong=(
            "NTP's order of tokens (Theorem 3) needs Assumption 3: without it, step 1 can lift a non-optimal token "
            "above a non-comparable one."
        ),
        hunted=144,
        weakest=f"{MAJORITY.text}, optimal_majority (docs/proofs.md, section 15.1)",
        relied_on_by=("ntp.theorem3.prediction",),
        remains="With the order the prediction is true of sentences up to a length that grows with t.",
    ),
    instead="late in the run it is true without Assumption 3, for steps of any size: ntp.theorem3.order.rederived.",
    implications=(
        Implication(
            sources=("sharp.lemma6", "sharp.theorem1"),
            condition=f"{MAJORITY.text} holds",
            proof="docs/proofs.md#151-ntptheorem3order-under-assumption-3",
            unmet=no_majority,
        ),
    ),
)
REDERIVED = replace(
    _order(".rederived", "For T = Omega(log(1/eps)) and t = Omega(log(1/eps)), so late in the run", late_from),
    source_words=rederived(
        PRINTED.id,
        "t = Omega(log(1/eps)), as in the proof: from some t on, with one C > 0 from there, for steps of any size.",
    ),
    standing=proved(
        "docs/proofs.md#156-ntptheorem3orderrederived-without-assumption-3", "ntp.lemma4", "sharp.stage1", hunted=15
    ),
)

CLAIMS = (
    *as_printed_and_for_any_step(PRINTED, replace(PRINTED.standing, relied_on_by=(), remains="")),
    REDERIVED,
)
