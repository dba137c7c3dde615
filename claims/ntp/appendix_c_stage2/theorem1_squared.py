"""A sharper Theorem 1 with explicit constants: the order of `theorem1_rate` from an explicit step on.

Proved in docs/proofs.md, section 11, with the same notation.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import Bounded, Threshold
from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.ntp import bounds
from marginaudit.claims.ntp.quantities import no_stage2, stage2_direction
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import sharpened
from marginaudit.claims.run import once_a_run
from marginaudit.claims.standing import proved
from marginaudit.margins.exact import component_edges
from marginaudit.margins.spread import is_star, spread
from marginaudit.margins.support import Support
from marginaudit.margins.weighted_margin import weighted_margin
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.training.ntp.model.edges import MergedEdges, merged_edges, no_reduction, sentence_edges
from marginaudit.training.ntp.model.reference import ExactReference, exact_reference

UNLIKE_EXPONENTIALS = 0.8
"""log(max/min) of flux / (weight exp(-margin)) for attention on other tokens of at most min(1, 1/A)/8: Lemma 11.1."""

DRIFT = 0.2
"""Largest contribution to <u, G> of edges outside the span: Lemma 11.4."""

SECOND_ORDER = 0.72
"""Contribution to K of the squared steps in Lemma 11.5, over eta."""

NEXT_TRIED = 1.01
"""Ratio of successive candidates for t_1: any step that meets the conditions is valid."""

LARGEST_SPECTRUM = 100
"""Most nodes for computing the smallest eigenvalue. For larger graphs it is bounded."""


@dataclass(frozen=True)
class Law:
    """1 - cos(W_kq^(t), W*_kq) <= ((alpha + beta log t)/t)^2 for every t >= start, in section 11's notation.

    Attributes
    ----------
    start : float
        t_2.
    """

    start: float
    alpha: float
    beta: float


@dataclass(frozen=True, eq=False)
class Model:
    """Merged edges, the exact W*_kq on them, and the edges that can carry a multiplier."""

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
    else:  # not computed in training
        merged = merged_edges(sentence_edges(classes, run.dataset.V), len(classes.key))
        found = exact_reference(run.dataset, classes, merged, run.kq)
        if found is None:
            raise BeyondTheRun("W*_kq is not known exactly, so the pairs that carry a multiplier are unknown")
        exact = found
    return Model(merged, exact, exact.support(merged))


def least_stretch(winner: NDArray[np.int64], loser: NDArray[np.int64], nodes: int) -> float:
    """The least ||(u_winner - u_loser)||/||u|| over u != 0 that sum to 0 on every part of the graph.

    It is the root of the smallest eigenvalue of the graph's Laplacian, apart from one 0 for each part. A part with
    n > 100 nodes and diameter D uses the bound 4/(n D) on it (Mohar, Graphs Combin. 7, 1991, p. 53).

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
    """A step that meets the conditions, within 1 % and one step of the first."""
    step = 1.0
    while not holds(step):
        step *= 2
        if not math.isfinite(step):
            raise BeyondTheRun("the step from which the bound applies is beyond the largest float64")
    step /= 2
    while not holds(step):
        step *= NEXT_TRIED
    return float(math.ceil(step))


def coercivity(model: Model) -> float:
    """c of section 11: some margin of E_+ lags by at least c ||u|| (Lemma 11.2).

    Raises
    ------
    BeyondTheRun
        c is lost in rounding.
    """
    carried, weight = model.support.carried, np.array([float(x) for x in model.exact.weight])
    winner, loser = model.merged.winner[carried], model.merged.loser[carried]
    dual, stretch = spread(winner, loser, weight), least_stretch(winner, loser, len(weight))
    c = (stretch * float(dual.multiplier.min()) - dual.residual) / float(model.exact.norm_squared)
    if not c > 0:
        raise BeyondTheRun("the least multiplier is lost in rounding")
    return c


def _first_step(run: Run, square: float, least_slack: float) -> float:
    """t_1: a step that meets (i) and (ii)."""
    A = run.config.steps1 * run.eta0 / run.norm_ov
    far = math.log(8 * (run.dataset.L_max - 1) * max(1.0, A)) * 2 * math.sqrt(2) * square / run.eta
    near = min(1.0, least_slack) ** 2
    return met_from(lambda t: t >= far and 16 * square * float(bounds.direction_bound(run, np.array(t))) <= near)


def second_norm(model: Model) -> float:
    """||X||."""
    free, part = model.support.uncarried, model.support.component
    second = weighted_margin(model.support.size, part[model.merged.winner[free]], part[model.merged.loser[free]])
    return math.sqrt(second.norm_squared)


@once_a_run
def law(run: Run) -> Law:
    """Law of section 11 with the constants of the run's data and step size.

    Raises
    ------
    BeyondTheRun
        The constants are beyond float64.
    """
    model, eta = reduced(run), run.eta
    merged, tight, part = model.merged, model.support.tight, model.support.component
    square, c = float(model.exact.norm_squared), coercivity(model)
    w = math.sqrt(square)
    out = (part[merged.winner] != part[merged.loser]) & ~tight
    lightest = float(merged.weight[model.support.carried].min())
    K = math.log(float(merged.weight.sum()) / lightest) + UNLIKE_EXPONENTIALS + DRIFT * bool(out.any())
    first = _first_step(run, square, min((float(model.exact.slack[e]) for e in np.flatnonzero(out)), default=1.0))
    Y = first * eta * math.sqrt(2 * float(bounds.direction_bound(run, np.array(first))))
    if not model.support.degenerate:
        start = math.ceil(first + 2 * math.sqrt(2) * Y / (eta * c)) + 1
        within = 2 * (K + eta / math.sqrt(2)) / c + eta
        return Law(start, w * (within + (Y + eta if out.any() else 0.0)) / eta, 0.0)
    rho, X = (K + SECOND_ORDER * eta) / c, second_norm(model)
    R = rho + 2 * eta + (rho + eta) * math.sqrt(math.sqrt(2) / c)
    h_0 = K + math.sqrt(2) * R + (math.sqrt(2) + w) * eta
    aside = Y + 2 * X * h_0 + rho + 2 * eta + math.sqrt(eta * w)
    return Law(first, w * aside / eta, 2 * w * X / eta)


def _bound(run: Run, t: Steps) -> Steps:
    found = law(run)
    return np.asarray(((found.alpha + found.beta * np.log(t)) / t) ** 2)


SQUARED = Claim(
    id="sharp.theorem1.squared",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 1",
    source_words=sharpened(
        "ntp.theorem1.direction", "The order of sharp.rate with explicit constants, for steps of any size."
    ),
    statement=(
        "1 - cos(W_kq^(t), W*_kq) <= (alpha + beta log t)^2/t^2 for every t >= t_2, with alpha, beta and t_2 of "
        "docs/proofs.md, section 11, from the data and eta, which may be any. beta = 0 if every tight constraint can "
        "carry a multiplier."
    ),
    formula=(
        r"1-\cos\left(W_{kq}^{(t)},W^*_{kq}\right)\le\frac{(\alpha+\beta\log t)^2}{t^2}\quad(t\ge t_2),\quad "
        r"\beta=0\ \text{if every tight constraint can carry a multiplier}"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Bounded(
        measure=partial(stage2_direction, first=1),
        upper=_bound,
        largest=2.0,
        threshold=lambda run: Threshold(law(run).start),
        guaranteed=_bound,
    ),
    absent=no_stage2,
    standing=proved("docs/proofs.md#11-sharptheorem1squared", "sharp.lemma6", "sharp.theorem1", hunted=2704),
)

CLAIMS = (SQUARED,)
