"""A sharper Theorem 1: 1 - cos falls like 1/t^2, times log^2 t where a tight constraint carries no multiplier.

Also with an explicit constant from an explicit step on; docs/proofs.md, section 11, proves that, in the same letters.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.margins.exact import component_edges
from marginaudit.margins.spread import is_star, spread
from marginaudit.margins.support import Support, support
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.reports.claim import BeyondTheRun, Claim
from marginaudit.reports.judgements import Bounded, Limit, Threshold
from marginaudit.reports.judgements.bounded import Steps
from marginaudit.reports.ntp import bounds
from marginaudit.reports.ntp.quantities import (
    asymptotic_from,
    late_records,
    no_direction_kq,
    no_stage2,
    nothing_to_learn,
    stage2_direction,
    unknown_where_nan,
)
from marginaudit.reports.ntp.rates import measured_constants
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.step_size import SHORT, SHORT_LATEX, for_short_and_for_any_step
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import Series
from marginaudit.reports.source_words import corrected
from marginaudit.reports.standing import proved
from marginaudit.training.ntp.model.edges import MergedEdges, merged_edges, no_reduction, sentence_edges
from marginaudit.training.ntp.model.reference import ExactReference, exact_reference
from marginaudit.training.ntp.trained import Asymptotics

UNLIKE_EXPONENTIALS = 0.8
"""log(max/min) of flux / (weight exp(-margin)) where attention on other tokens is at most min(1, 1/A)/8: Lemma 11.1."""

DRIFT = 0.2
"""Most that edges out of the span add to <u, G>: Lemma 11.4."""

NEXT_TRIED = 1.01
"""Ratio of steps tried for t_1: any step that meets the conditions will do."""

LARGEST_SPECTRUM = 100
"""The smallest eigenvalue of larger graphs is bounded, not computed."""


@dataclass(frozen=True)
class Law:
    """1 - cos(W_kq^(t), W*_kq) <= constant / t^2 for every t >= start.

    Attributes
    ----------
    start : float
        t_2 of section 11.
    constant : float
        C of section 11.
    coercivity : float
        c: some margin of E_+ falls behind by c ||u|| or more.
    """

    start: float
    constant: float
    coercivity: float


@dataclass(frozen=True, eq=False)
class Model:
    """Merged edges, the exact W*_kq on them, and which edges can carry a multiplier."""

    merged: MergedEdges
    exact: ExactReference
    support: Support


@once_a_run
def reduced(run: Run) -> Model:
    """The reduced model of stage 2.

    Raises
    ------
    BeyondTheRun
        The samples have no reduced model, or W*_kq is not known exactly.
    """
    classes, known = run.training.classes, run.training.reduced
    if (reason := no_reduction(classes)) is not None:
        raise BeyondTheRun(reason)
    if known is not None:
        merged, exact = known.merged, known.exact
    else:  # training had no use for it
        merged = merged_edges(sentence_edges(classes, run.dataset.V), len(classes.key))
        found = exact_reference(run.dataset, classes, merged, run.kq)
        if found is None:
            raise BeyondTheRun("W*_kq is not known exactly, so neither is which pairs carry a multiplier")
        exact = found
    return Model(merged, exact, support(merged.winner, merged.loser, exact.slack, exact.multiplier, len(exact.weight)))


def least_stretch(winner: NDArray[np.int64], loser: NDArray[np.int64], nodes: int) -> float:
    """The least ||(u_winner - u_loser)||/||u|| over u != 0 that sum to 0 on every part of the graph.

    It is the root of the smallest eigenvalue, other than the one 0 of each part, of the graph's Laplacian; of a part
    with n > 100 nodes and diameter D the bound 4/(n D) on it (Mohar, Graphs Combin. 7, 1991, p. 53) takes its place.

    >>> round(least_stretch(np.array([0, 0]), np.array([1, 2]), 3), 12)  # a star
    1.0
    """
    least = np.inf
    for _, token, tails, heads in component_edges(winner, loser, nodes):
        if len(token) > 2 and is_star(tails, heads, len(token)):
            least = min(least, 1.0)  # a star's eigenvalues are 0, 1 and the number of its nodes
            continue
        graph = scipy.sparse.coo_array((np.ones(len(tails)), (tails, heads)), shape=(len(token), len(token)))
        if len(token) > LARGEST_SPECTRUM:
            radius = scipy.sparse.csgraph.shortest_path(graph, directed=False, unweighted=True, indices=0).max()
            least = min(least, 4 / (len(token) * 2 * float(radius)))
            continue
        joined = graph.toarray() + graph.toarray().T
        least = min(least, float(np.linalg.eigvalsh(np.diag(joined.sum(axis=1)) - joined)[1]))
    return math.sqrt(least)


def met_from(holds: Callable[[float], bool]) -> float:
    """A step that meets the conditions, at most 1 % and one step beyond the first one."""
    step = 1.0
    while not holds(step):
        step *= 2
        if not math.isfinite(step):
            raise BeyondTheRun("the step from which the bound speaks is beyond the largest float64")
    step /= 2
    while not holds(step):
        step *= NEXT_TRIED
    return float(math.ceil(step))


@once_a_run
def law(run: Run) -> Law:
    """The constants of section 11 for the run's data and step size.

    Raises
    ------
    BeyondTheRun
        float64 does not hold them.
    """
    model, eta = reduced(run), run.eta
    merged, carried = model.merged, model.support.carried
    weight, square = np.array([float(x) for x in model.exact.weight]), float(model.exact.norm_squared)
    winner, loser = merged.winner[carried], merged.loser[carried]
    dual = spread(winner, loser, weight)
    c = (least_stretch(winner, loser, len(weight)) * float(dual.multiplier.min()) - dual.residual) / square
    if not c > 0:
        raise BeyondTheRun("the least multiplier is lost in rounding")
    out = model.support.component[merged.winner] != model.support.component[merged.loser]
    lightest = float(merged.weight[carried].min())
    K = math.log(float(merged.weight.sum()) / lightest) + UNLIKE_EXPONENTIALS + DRIFT * out.any()

    slack = min((float(model.exact.slack[e]) for e in np.flatnonzero(out).tolist()), default=np.inf)
    A = run.config.steps1 * run.eta0 / run.norm_ov
    far = math.log(8 * (run.dataset.L_max - 1) * max(1.0, A)) * 2 * math.sqrt(2) * square / eta

    def bound(t: float) -> float:
        return float(bounds.direction_bound(run, np.array(t)))

    def offset(t: float) -> float:
        return t * eta * math.sqrt(2 * bound(t))

    def holds(t: float) -> bool:
        return t >= far and 16 * square * bound(t) <= min(1.0, slack) ** 2

    first = met_from(holds)
    off = offset(first)
    within = 2 * (K + eta / math.sqrt(2)) / c + eta
    aside = off + eta if out.any() else 0.0
    return Law(
        start=math.ceil(first + 2 * math.sqrt(2) * off / (eta * c)) + 1,
        constant=float(square * (within + aside) ** 2 / eta**2),
        coercivity=c,
    )


def _no_law(run: Run) -> str | None:
    if reason := nothing_to_learn(run, "and W_kq stays 0"):
        return reason
    model = reduced(run)
    if model.support.degenerate:
        edge = int(np.flatnonzero(model.support.uncarried)[0])
        classes, words = run.training.classes, run.dataset.vocabulary
        a, j = int(model.merged.winner[edge]), int(model.merged.loser[edge])
        return (
            f"The tight constraint of ({words[classes.key[a]]!r}, {words[classes.key[j]]!r}) under query "
            f"{words[classes.pair_query[a]]!r} can carry no multiplier: 1 - cos falls like log^2 t/t^2 (sharp.rate)."
        )
    return no_stage2(run)


def _bound(run: Run, t: Steps) -> Steps:
    return np.asarray(law(run).constant / t**2)


LAW_ERROR = 1e-8
"""Relative error of the law's constant, above the error of the state that it is read from."""


def _asymptotics(run: Run) -> Asymptotics:
    found = run.training.asymptotics
    if found is None:
        raise BeyondTheRun("the run has no asymptotic law")
    return found


def _nothing_to_approach(run: Run) -> str | None:
    on_its_ray = "W_kq^(t) has the direction of W*_kq at every t, so there is no rate."
    if len(run.dataset.relations) == 1:
        return on_its_ray
    reason = no_direction_kq(run)
    if reason is not None:
        return reason
    stage, later = run.training.stage2, run.training.stage2.step >= 1
    on_a_line = stage.distance_error < np.finfo(float).eps ** 2  # else rounding leaves about one eps
    if ((stage.one_minus_cos == 0) & on_a_line)[later].all():
        return on_its_ray
    return None


def _constant(run: Run) -> Series:
    """The constant that each step's record gives, by `measured_constants`.

    Raises
    ------
    BeyondTheRun
        All records have the direction of W*_kq, within their error bars.
    """
    stage = run.training.stage2
    if (stage.distance <= stage.distance_error)[stage.step >= 1].all():
        raise BeyondTheRun("as far as float64 shows, W_kq^(t) has the direction of W*_kq at every recorded t")
    degenerate = _asymptotics(run).degenerate
    if not degenerate and (np.isinf(stage.error[-1]) or run.training.enclosed is not None):
        off = stage.distance_error * (stage.distance + stage.distance_error / 2)
        gap = late_records(run, "one_minus_cos", np.where(np.isinf(stage.error), np.inf, off))
        square = np.ones(0) if gap.step is None else gap.step.astype(float) ** 2
        return replace(gap, value=gap.value * square, radius=gap.radius * square)
    step, value, radius = measured_constants(run, degenerate=degenerate)
    return unknown_where_nan(value, radius, step)


def _predicted(run: Run) -> float:
    law = _asymptotics(run).law
    return float("nan") if law is None else law.constant


RATE = Claim(
    id="sharp.rate",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 1",
    source_words=corrected("ntp.theorem1.direction", f"The rate as it is, for {SHORT}."),
    statement=(
        f"For {SHORT}: t^2 (1 - cos(W_kq^(t), W*_kq)) tends to a constant when every tight constraint "
        "can carry a positive multiplier, and grows like log^2 t otherwise. Audited against the constant that the "
        "asymptotic law predicts."
    ),
    formula=(
        r"t^2\left(1-\cos(W_{kq}^{(t)},W^*_{kq})\right)\to C\ \text{if every tight constraint can carry a multiplier,}"
        r"\quad\sim C\log^2 t\ \text{otherwise};\quad" + SHORT_LATEX
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Limit(measure=_constant, predicted=_predicted, regime=asymptotic_from, uncertainty=LAW_ERROR),
    absent=_nothing_to_approach,
    standing=proved("docs/proofs.md#9-sharprate", "sharp.lemma6", "sharp.theorem1", hunted=16),
)

SQUARED = Claim(
    id="sharp.theorem1.squared",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 1",
    source_words=corrected(
        "ntp.theorem1.direction", "The order of sharp.rate with a constant that is known, for steps of any size."
    ),
    statement=(
        "If every tight constraint can carry a multiplier: 1 - cos(W_kq^(t), W*_kq) <= C/t^2 for every t >= t_2, with "
        "C and t_2 of docs/proofs.md, section 11, from the data and eta, which may be any."
    ),
    formula=(
        r"1-\cos\left(W_{kq}^{(t)},W^*_{kq}\right)\le\frac C{t^2}\quad(t\ge t_2),\quad "
        r"C=\lVert W^*_{kq}\rVert^2\left(\frac{2K+\sqrt2\,\eta}{c\,\eta}+1+\frac Y\eta\right)^2"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Bounded(
        measure=partial(stage2_direction, first=1),
        upper=_bound,
        largest=2.0,
        threshold=lambda run: Threshold(law(run).start),
        guaranteed=_bound,
    ),
    absent=_no_law,
    standing=proved("docs/proofs.md#11-sharptheorem1squared", "sharp.lemma6", "sharp.theorem1", hunted=830),
)

CLAIMS = (
    *for_short_and_for_any_step(
        RATE,
        wrong="With long steps a run can end in a cycle of two, and t^2 (1 - cos) then has a limit for each.",
        instead=r"it is true for $\eta\le1/(4\lVert W^*_{kq}\rVert)$ (sharp.rate).",
        hunted=21,
    ),
    SQUARED,
)
