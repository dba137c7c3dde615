"""Theorem 3 of arXiv 2409.17335: the trained order puts non-comparable tokens between the classes."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from marginaudit.claims.claim import Claim, ProofCondition
from marginaudit.claims.judgements import HiddenConstant
from marginaudit.claims.ntp.error_bars import score_error
from marginaudit.claims.ntp.quantities import asymptotic_from, no_direction_kq
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted, varied
from marginaudit.claims.series import Series, series
from marginaudit.claims.standing import Implication, Severity, proved, refuted
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import QueryOrder, Token
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2

MAJORITY = ProofCondition("Assumption 3", lambda run: run.assumption("optimal_majority").holds)


def no_majority(run: Run) -> str | None:
    """Reason why Assumption 3 fails, or None."""
    return None if MAJORITY.holds(run) else f"{MAJORITY.text} fails"


def _queries(run: Run) -> list[QueryOrder]:
    """Queries with a non-comparable token."""
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
    """The step from which a run shows its final order; infinite if the run ends before.

    Late means that W_kq is close enough to W*_kq in direction, error bars included, to have the order of W*_kq: without
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


@dataclass(frozen=True)
class Fall:
    """x^T W_kq^(t) q <= -pace t for t >= since, for every non-optimal x under the requested queries.

    Neither number depends on T.
    """

    pace: float
    since: float


def proved_fall(run: Run, orders: list[QueryOrder]) -> Fall:
    """Bound proved in docs/proofs.md, sections 15.3 and 15.6, for Assumptions 1 and 2 and any step size.

    ||W|| >= growth t and 1 - cos(W, W*_kq) <= (P + Q (1 + log t))/t from some step on. With Assumption 3 these are
    `sharp.lemma6` and `sharp.theorem1`, from t_1 = 1 on; without it, steps 7 and 9 of section 15.6. The step from which
    on 1 - cos is surely small enough is beyond t_1, as P >= 4 t_1 there.
    """
    data, w, eta = run.dataset, run.norm_kq, run.eta
    solution = run.kq.optimal()
    least = -max(solution.scores[data.index[x], data.index[order.query]] for order in orders for x in order.non_optimal)
    share = float(least) / w - solution.direction_radius
    if MAJORITY.holds(run):
        growth = eta / (math.sqrt(2) * w)
        P, Q = math.sqrt(2) * w, 2 * w**3 * _rarity(run, 3) / eta + w**2
    else:
        led, growth = _led_from(run), eta / (2 * math.sqrt(2) * w)
        P, Q = 4 * math.sqrt(2) * w * led, 8 * w**3 * _rarity(run, 5) / eta + 4 * w**2
    near = share**2 / 8 if share > 0 else 0.0
    return Fall(growth * share / 2, _first_below(P, Q, near))  # >= t_1


def _rarity(run: Run, power: int) -> float:
    """log(2 L_max^power/pi_min)."""
    counts = run.dataset.counts
    return math.log(2) + power * math.log(run.dataset.L_max) + math.log(sum(counts)) - math.log(min(counts))


def _led_from(run: Run) -> float:
    """t_1 of section 15.6: a step from which ||W|| is as large as if every sample had been led from the start."""
    data, eta = run.dataset, run.eta
    L = data.L_max
    sizes = {len(order.non_optimal) for order in data.orders.values()}
    S = max((math.log(L) / 2 + eta * math.sqrt(m)) * m * (m - 1) for m in sizes)
    rarest = float(data.smallest_frequency)
    with np.errstate(over="ignore"):
        astray = (S + math.log(L)) * 4 * math.sqrt(2) * L**2 * np.exp(2 * S) / (eta * rarest) + 1
    return float(np.ceil(2 * (1 + math.sqrt(2) * run.norm_kq) * data.N * astray))


def _first_below(P: float, Q: float, bound: float) -> float:
    """The least t >= 1 with (P + Q (1 + log t))/t <= bound from t on; infinite beyond float64.

    >>> t = _first_below(3.0, 5.0, 0.1)
    >>> round((3.0 + 5.0 * (1 + math.log(t))) / t, 9), _first_below(1.0, 1.0, 2.0), _first_below(1.0, 1.0, 0.0)
    (0.1, 1.0, inf)
    """
    from scipy.optimize import brentq

    if not (bound > 0 and math.isfinite(P)):
        return math.inf

    def excess(log_t: float) -> float:
        return math.log(P + Q * (1 + log_t)) - math.log(bound) - log_t

    if excess(0.0) <= 0:
        return 1.0
    beyond = 1.0
    while excess(beyond) > 0:
        beyond *= 2
    with np.errstate(over="ignore"):
        return float(np.exp(brentq(excess, 0.0, beyond, xtol=1e-13, rtol=1e-13)))


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


RECONSTRUCTED = (
    "O(.) or Omega(.): the scan has t = O(log(1/eps)) in the theorem, T = Omega(log(1/eps)) there and O(log(1/eps)) "
    'in the proof, "for sufficiently large t = Omega(log(1/eps))" (D.2)'
)

PRINTED = replace(
    _order("", "For T = Omega(log(1/eps)) and t = Omega(log(1/eps)), so late in the run", late_from),
    source_words=quoted(
        "section 6, Theorem 3",
        "there exists a constant C_0 such that (x_* - x_0)^T W_kq^(t) x^q >= C_0 t, (x_0 - x)^T W_kq^(t) x^q >= C_0 t",
        "From some t on, with one C > 0. In print prefixes of samples are samples (section 3) and eta <= O(1) "
        "(Theorem 1); the proof covers any data and any step size.",
        reconstructed=RECONSTRUCTED,
    ),
    standing=proved(
        "docs/proofs.md#156-ntptheorem3order-without-assumption-3", "ntp.lemma4", "sharp.stage1", hunted=15
    ),
)
ANY_T = replace(
    _order(".any-t", "At every t from 1 on"),
    source_words=varied(PRINTED.id, "At every t from 1 on, with one C > 0 for all of them; in print t is large."),
    standing=refuted(
        "docs/proofs.md#152-ntptheorem3orderany-t-is-false-without-assumption-3",
        "ntp.lemma4",
        severity=Severity.ORDINARY,
        wrong=(
            "Theorem 3's order needs Assumption 3 in the first steps: without it, step 1 can lift a non-optimal token "
            "above a non-comparable one."
        ),
        hunted=144,
        weakest=f"{MAJORITY.text}, optimal_majority (docs/proofs.md, section 15.1)",
    ),
    instead="late in the run it is true without Assumption 3, for steps of any size: ntp.theorem3.order.",
    implications=(
        Implication(
            sources=("sharp.lemma6", "sharp.theorem1"),
            condition=f"{MAJORITY.text} holds",
            proof="docs/proofs.md#151-ntptheorem3orderany-t-under-assumption-3",
            unmet=no_majority,
        ),
    ),
)

CLAIMS = (PRINTED, ANY_T)
