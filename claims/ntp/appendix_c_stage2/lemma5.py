"""Lemma 5 of arXiv 2409.17335: the attention on optimal tokens never falls."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Decided
from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.judgements.parts import joined
from marginaudit.claims.ntp.error_bars import score_error
from marginaudit.claims.ntp.quantities import no_stage2, stage2_log_other_weight
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.standing import proved
from marginaudit.claims.verdict import Finding
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.training.ntp.steps.underflow import segment_log_sum_exp

Indices: TypeAlias = NDArray[np.int64]

MOST_TOGETHER = 250_000
"""Records times contests per block."""


@dataclass(frozen=True)
class Contests:
    """Each optimal token of a class (merged samples) against each other token of its sentence.

    Attributes
    ----------
    first : (optimal tokens,) integer array
        Index of each optimal token's first contest.
    owner : (contests,) integer array
        The optimal token of each contest.
    log_shared : (optimal tokens,) array
        Logarithm of its multiplicity in the sentence.
    number : (contests,) integer array
        The contest's pair of recorded pairs.
    log_ratio : (contests,) array
        Logarithm of the loser's multiplicity over the winner's.
    winner, loser : integer arrays
        Distinct pairs of recorded pairs: (optimal token, query) and (other token, query).
    kind_number : integer array
        Distinct contests with a loser at a position that is not optimal: their pair of recorded pairs.
    kind_log_winner, kind_log_loser : arrays of that length
        Logarithms of their multiplicities in the sentence.
    """

    first: Indices
    owner: Indices
    log_shared: Floats
    number: Indices
    log_ratio: Floats
    winner: Indices
    loser: Indices
    kind_number: Indices
    kind_log_winner: Floats
    kind_log_loser: Floats


def _contests(run: Run) -> Contests:
    classes, stage, V = run.training.classes, run.training.stage2, run.dataset.V
    column = np.zeros((V, V), dtype=np.int64)
    column[stage.key, stage.query] = np.arange(len(stage.key))
    of_edge = column[classes.token, classes.query[classes.edge_class]]
    begin = classes.first_edge[classes.edge_class]
    end = np.append(classes.first_edge[1:], len(classes.token))[classes.edge_class]
    optimal = np.flatnonzero(classes.optimal & (end - begin > 1))
    rivals = [[j for j in range(begin[e], end[e]) if j != e] for e in optimal.tolist()]
    count = np.array([len(found) for found in rivals], dtype=np.int64)
    winner, loser = np.repeat(optimal, count), np.array([j for found in rivals for j in found], dtype=np.int64)
    pairs, number = np.unique(of_edge[winner] * len(stage.key) + of_edge[loser], return_inverse=True)
    many = classes.multiplicity.max(initial=0) + 1
    codes = (number * many + classes.multiplicity[winner]) * many + classes.multiplicity[loser]
    kinds = np.unique(codes[~classes.optimal[loser]])
    log_multiplicity = np.log(classes.multiplicity)
    return Contests(
        first=np.cumsum(count) - count,
        owner=np.repeat(np.arange(len(count)), count),
        log_shared=log_multiplicity[optimal],
        number=number,
        log_ratio=log_multiplicity[loser] - log_multiplicity[winner],
        winner=pairs // max(1, len(stage.key)),
        loser=pairs % max(1, len(stage.key)),
        kind_number=kinds // many**2,
        kind_log_winner=np.log(kinds // many % many),
        kind_log_loser=np.log(kinds % many),
    )


@dataclass(frozen=True)
class Weights:
    """Attention quantities of Lemma 5, at each record the worst over samples and positions.

    Attributes
    ----------
    rise : (records,) array
        Growth of log((1 - phi) / phi) since the previous record, phi the weight of an optimal token; NaN at the first.
    position : (records,) array
        log of another position's weight over that of an optimal one.
    token : (records,) array
        log of another token's weight, its positions summed, over that of the optimal token.
    literal : (records,) array
        log of another token's weight, its positions summed, over that of one optimal position.
    inverse : (records,) array
        log of the inverse of one optimal position's weight.
    error : (records,) array
        Bound on the error of each of the five.
    """

    rise: Floats
    position: Floats
    token: Floats
    literal: Floats
    inverse: Floats
    error: Floats


@once_a_run
def lemma5_weights(run: Run) -> Weights:
    """Lemma 5's quantities at each record, -inf if undefined.

    Computed from differences s (What_x - What_z) + (rho_x - rho_z) of scores, which keep their digits as the attention
    saturates.
    """
    stage, contests = run.training.stage2, _contests(run)
    reference = stage.reference[contests.winner] - stage.reference[contests.loser]
    rise, position, token, literal, inverse = np.full((5, len(stage)), -np.inf)
    last: Floats | None = None
    together = max(1, MOST_TOGETHER // max(1, len(contests.number)))
    for start in range(0, len(stage), together) if len(reference) else ():
        block = slice(start, start + together)
        rest = stage.rest[block]
        behind = -np.outer(stage.along[block], reference) - (rest[:, contests.winner] - rest[:, contests.loser])
        summed = behind[:, contests.number] + contests.log_ratio
        odds = segment_log_sum_exp(summed, contests.first, contests.owner)
        rise[block] = np.diff(odds, axis=0, prepend=odds[:1] if last is None else last).max(axis=1)
        last = odds[-1:]
        inverse[block] = (contests.log_shared + np.logaddexp(0.0, odds)).max(axis=1, initial=-np.inf)
        of_kind = behind[:, contests.kind_number]
        position[block] = of_kind.max(axis=1, initial=-np.inf)
        by_sum = of_kind + contests.kind_log_loser
        literal[block] = by_sum.max(axis=1, initial=-np.inf)
        token[block] = (by_sum - contests.kind_log_winner).max(axis=1, initial=-np.inf)
    rise[0] = np.nan
    return Weights(rise, position, token, literal, inverse, score_error(run) + FORMULA_ROUNDING)


def _rise(run: Run) -> Series:
    found, stage = lemma5_weights(run), run.training.stage2
    error = found.error[1:] + found.error[:-1]
    return series(found.rise[1:], radius=error, step=stage.step[1:], log=True)


def _at_records(run: Run, which: Literal["position", "token", "inverse"]) -> Series:
    found = lemma5_weights(run)
    return series(getattr(found, which), radius=found.error, step=run.training.stage2.step, log=True)


def _most_other(run: Run, t: Steps) -> Steps:
    with np.errstate(divide="ignore"):
        return np.full_like(t, np.log1p(-1 / run.dataset.L_max))


def _longest(run: Run, t: Steps) -> Steps:
    return np.full_like(t, np.log(run.dataset.L_max))


def _zero(_: Run, t: Steps) -> Steps:
    return np.zeros_like(t)


LEMMA5_PARTS: Mapping[str, Bounded] = {
    "The weight of an optimal position never decreases (odds against it, from record to record)": Bounded(
        measure=_rise, upper=_zero
    ),
    "It is at least that of each other position": Bounded(measure=partial(_at_records, which="position"), upper=_zero),
    "The optimal token's weight is at least each other token's": Bounded(
        measure=partial(_at_records, which="token"), upper=_zero
    ),
    "The summed optimal weight is at least 1/L_max (the rest at most 1 - 1/L_max)": Bounded(
        measure=lambda run: stage2_log_other_weight(run, first=0), upper=_most_other
    ),
    "The weight of each optimal position is at least 1/L_max (its inverse at most L_max)": Bounded(
        measure=partial(_at_records, which="inverse"), upper=_longest
    ),
}


def decide_lemma5(run: Run, parts: Mapping[str, Bounded]) -> Finding:
    """Decide the parts of Lemma 5 one by one, and report its literal reading."""
    weights, step = lemma5_weights(run), run.training.stage2.step
    short = np.flatnonzero(weights.literal > weights.error)
    literal = (
        f"fails up to t = {int(step[short[-1]])}, where another token has several positions"
        if len(short)
        else "holds at every record too"
    )
    return joined(
        {name: part.judge(run) for name, part in parts.items()},
        f"Read as one optimal position against the sum over another token, it {literal}.",
    )


LEMMA5 = Claim(
    id="ntp.lemma5",
    source="arXiv 2409.17335, Lemma 5",
    source_words=quoted(
        "appendix C.2, Lemma 5",
        "for any iteration t, and any sample X^(n) .. the following inequality holds. .. >= 1/L_max, for all l in l(n)",
        "The sum is at least phi_l*, and that at least 1/L_max for all optimal l*: both are audited. That each optimal "
        "weight never falls and is at least the others' is the proof's induction hypothesis, and is audited with it.",
    ),
    statement=(
        "Each optimal position's weight never decreases in t; it is at least each other position's, and summed over "
        "the optimal token's positions at least each other token's; the summed optimal weight of every sample is at "
        "least 1/L_max, and so is that of each optimal position."
    ),
    formula=(
        r"\varphi_{l_*}^{(n,t+1)}\ge\varphi_{l_*}^{(n,t)},\quad\varphi_{l_*}^{(n,t)}\ge\varphi_l^{(n,t)},\quad"
        r"\sum_{l\in l(n)}\varphi_l^{(n,t)}\ge\sum_{x_l=x}\varphi_l^{(n,t)},\quad"
        r"\sum_{l\in l(n)}\varphi_l^{(n,t)}\ge\varphi_{l_*}^{(n,t)}\ge\frac{1}{L_{\max}}"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Decided(partial(decide_lemma5, parts=LEMMA5_PARTS), kind="invariants along the steps"),
    absent=no_stage2,
    standing=proved("docs/proofs.md#141-ntplemma5", "ntp.lemma4", "sharp.stage1", hunted=9),
)

CLAIMS = (LEMMA5,)
