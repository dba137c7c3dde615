"""Lemmas 4 to 7 of arXiv 2409.17335: what the proofs about stage 2 rest on."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.margins.ntp import Exact, Infeasible
from marginaudit.orders.ntp import Dataset, gram_deviation
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Decided, Equal, Threshold
from marginaudit.reports.judgements.bounded import LAST_DECADE, Steps
from marginaudit.reports.judgements.parts import joined
from marginaudit.reports.ntp import guarantees
from marginaudit.reports.ntp.claims.gradients import (
    COMPLEX_STEP,
    DIRECTIONS,
    SCALES,
    Comparison,
    in_part,
    some_samples,
)
from marginaudit.reports.ntp.quantities import (
    EPS,
    nothing_to_learn,
    recorded,
    score_error,
    stage2_log_other_weight,
    stage2_norm,
    state_error,
)
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import FORMULA_ROUNDING, Series, by_formula, series
from marginaudit.reports.verdict import Finding, Verdict
from marginaudit.training.ntp import stage2_loss

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3

MARGINS = (0.5, 8.0)
"""The common margins A of W_ov at which Lemma 4 is compared."""

MOST_TOGETHER = 1_000_000
"""Records times contests that are looked at together."""


def no_stage2(run: Run) -> str | None:
    """Why stage 2 has no W*_kq or no gradient, or None.

    Raises
    ------
    BeyondTheRun
        No step of stage 2 was recorded.
    """
    if reason := nothing_to_learn(run, "and W_kq stays 0"):
        return reason
    recorded(run, 2, first=1)
    return None


# Lemma 4


def lemma4(data: Dataset, n: Mapping[str, str], W_ov: Floats, W_kq: Floats, W: Floats, A: float) -> tuple[float, float]:
    """The right-hand side of Lemma 4 along W, and A times the sum of pi_n phi_l |(x_l - X phi)^T W q|.

    Parameters
    ----------
    data : Dataset
    n : mapping
        The collocation.
    W_ov : (labels, dimension) array
        All its margins are A.
    W_kq, W : (dimension, dimension) arrays
    A : float
    """
    X = [data.embeddings[[data.index[x] for x in sample.tokens]] for sample in data.samples]
    queries = np.array([x[-1] for x in X])
    phi = [_softmax(x @ scores) for x, scores in zip(X, queries @ W_kq.T, strict=True)]
    logits = np.array([weight @ x for x, weight in zip(X, phi, strict=True)]) @ W_ov.T
    moved = queries @ W.T
    value = size = 0.0
    for k, (sample, pi) in enumerate(zip(data.samples, data.frequencies.tolist(), strict=True)):
        label = np.array([data.index[n[x]] for x in sample.tokens])
        y, P = data.index[sample.next], _softmax(logits[k])
        along = X[k] @ moved[k]
        centred = phi[k] * (along - phi[k] @ along)
        value += pi * float(np.where(label == y, P[y] - 1, P[label]) @ centred)
        size += pi * float(np.abs(centred).sum())
    return A * value, A * size


def _softmax(z: Floats) -> Floats:
    weight = np.exp(z - z.max())
    return np.asarray(weight / weight.sum())


@once_a_run
def lemma4_sides(run: Run) -> Comparison:
    """Lemma 4 and the derivative of the loss, with W_ov = A W*_ov.

    Its margins are all A but for twice what the Gram matrix differs from I, as (e_y - e_v)^T W*_ov E^T has two entries
    that are not 0, 1 and -1. They enter the derivative, and not the printed side.
    """
    rng = np.random.default_rng(2409_17335)
    data, n = some_samples(run.dataset, rng), run.dataset.collocation.require_function()
    d = data.embeddings.shape[1]
    printed, derivative, size, label = [], [], [], []
    for A in MARGINS:
        W_ov = A * run.ov.optimal().matrix
        for scale in SCALES:
            W_kq = scale * rng.standard_normal((d, d))
            for number in range(1, DIRECTIONS + 1):
                W = rng.standard_normal((d, d))
                value, most = lemma4(data, n, W_ov, W_kq, W, A)
                moved = W_kq + 1j * COMPLEX_STEP * W
                printed.append(value)
                derivative.append(float(np.imag(stage2_loss(data, W_ov, moved))) / COMPLEX_STEP)
                size.append(max(most, A / 100))
                label.append(f"A = {A:g}, scores of deviation {scale:g}, direction {number}")
    operations = data.N + data.L_max + data.V + d
    rounding = EPS * operations * (1 + 5 * max(SCALES) + max(MARGINS))
    radius = (rounding + 4 * gram_deviation(run.dataset)) * np.array(size)
    part = in_part(data.N, run.dataset.N, "samples")
    return Comparison(
        series(printed, radius=radius, label=tuple(label)), series(derivative, radius=radius), np.array(size), part
    )


def _no_common_margin(run: Run) -> str | None:
    if isinstance(run.ov, Infeasible):
        return "W*_ov does not exist: no W_ov has all margins positive."
    if run.norm_ov == 0:
        return "The vocabulary has one token, so W_ov has no margins."
    if not run.assumption("orthonormal").holds:
        return "The tokens are not orthonormal, so the margins of W*_ov are not one A."
    return None


LEMMA4 = Claim(
    id="ntp.lemma4",
    source="arXiv 2409.17335, Lemma 4",
    statement=(
        "For any W_kq, W': <grad Loss, W'> = A sum_n pi_n { (P_y - 1) sum_{l opt} phi_l (x_l - X phi)^T W' q + "
        "sum_{l other} P_{n(x_l)} phi_l (x_l - X phi)^T W' q }; compared with the loss's derivative along random W' at "
        "random W_kq."
    ),
    formula=(
        r"\left\langle\nabla\mathcal L,W'\right\rangle=A\sum_n\pi_n\left\{(P_y-1)\sum_{l\in l(n)}\varphi_l"
        r"(x_l-X\varphi)^\top W'q+\sum_{l\notin l(n)}P_{n(x_l)}\varphi_l(x_l-X\varphi)^\top W'q\right\}"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Equal(
        measure=lambda run: lemma4_sides(run).printed,
        expected=lambda run: lemma4_sides(run).derivative,
        scale=lambda run: lemma4_sides(run).size,
        note=lambda run: lemma4_sides(run).part,
    ),
    absent=_no_common_margin,
)


# Lemma 5


@dataclass(frozen=True)
class Contests:
    """Each optimal token of a class (merged samples) against each other token of its sentence.

    Attributes
    ----------
    first : (optimal tokens,) integer array
        Where each optimal token's contests begin.
    winner, loser : (contests,) integer arrays
        The recorded pairs (optimal token, query) and (other token, query).
    log_winner, log_loser : (contests,) arrays
        Logarithms of their multiplicities in the sentence.
    between_classes : (contests,) bool array
        Whether the loser is at an other-than-optimal position.
    """

    first: Indices
    winner: Indices
    loser: Indices
    log_winner: Floats
    log_loser: Floats
    between_classes: NDArray[np.bool_]


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
    log_multiplicity = np.log(classes.multiplicity)
    return Contests(
        first=np.cumsum(count) - count,
        winner=of_edge[winner],
        loser=of_edge[loser],
        log_winner=log_multiplicity[winner],
        log_loser=log_multiplicity[loser],
        between_classes=~classes.optimal[loser],
    )


@dataclass(frozen=True)
class Weights:
    """What Lemma 5 says of the attention, at each record the worst over samples and positions.

    Attributes
    ----------
    rise : (records,) array
        Growth since the record before of log((1 - phi) / phi), phi the weight of an optimal token; NaN at the first.
    position : (records,) array
        log of another position's weight over that of an optimal one.
    token : (records,) array
        log of another token's weight, its positions summed, over that of the optimal token.
    literal : (records,) array
        log of another token's weight, its positions summed, over that of one optimal position.
    error : (records,) array
        Bound on the error of all four.
    """

    rise: Floats
    position: Floats
    token: Floats
    literal: Floats
    error: Floats


@once_a_run
def lemma5_weights(run: Run) -> Weights:
    """Lemma 5's quantities along the record, -inf where there is none.

    They follow from differences s (What_x - What_z) + (rho_x - rho_z) of scores, so that none loses its digits as
    the attention saturates.
    """
    stage, contests = run.training.stage2, _contests(run)
    reference = stage.reference[contests.winner] - stage.reference[contests.loser]
    between = contests.between_classes
    rise, position, token, literal = np.full((4, len(stage)), -np.inf)
    last: Floats | None = None
    together = max(1, MOST_TOGETHER // max(1, len(reference)))
    for start in range(0, len(stage), together) if len(reference) else ():
        block = slice(start, start + together)
        rest = stage.rest[block]
        behind = -np.outer(stage.along[block], reference) - (rest[:, contests.winner] - rest[:, contests.loser])
        summed = behind + contests.log_loser - contests.log_winner
        odds = np.logaddexp.reduceat(summed, contests.first, axis=1)
        rise[block] = np.diff(odds, axis=0, prepend=odds[:1] if last is None else last).max(axis=1)
        last = odds[-1:]
        position[block] = behind[:, between].max(axis=1, initial=-np.inf)
        token[block] = summed[:, between].max(axis=1, initial=-np.inf)
        literal[block] = (behind + contests.log_loser)[:, between].max(axis=1, initial=-np.inf)
    rise[0] = np.nan
    return Weights(rise, position, token, literal, score_error(run) + FORMULA_ROUNDING)


def _rise(run: Run) -> Series:
    found, stage = lemma5_weights(run), run.training.stage2
    error = found.error[1:] + found.error[:-1]
    return series(found.rise[1:], radius=error, step=stage.step[1:], log=True)


def _position(run: Run) -> Series:
    found = lemma5_weights(run)
    return series(found.position, radius=found.error, step=run.training.stage2.step, log=True)


def _token(run: Run) -> Series:
    found = lemma5_weights(run)
    return series(found.token, radius=found.error, step=run.training.stage2.step, log=True)


def _most_other(run: Run, t: Steps) -> Steps:
    with np.errstate(divide="ignore"):
        return np.full_like(t, np.log1p(-1 / run.dataset.L_max))


def _zero(_: Run, t: Steps) -> Steps:
    return np.zeros_like(t)


LEMMA5_PARTS: Mapping[str, Bounded] = {
    "The weight of an optimal position never decreases (odds against it, from record to record)": Bounded(
        measure=_rise, upper=_zero
    ),
    "It is at least that of each other position": Bounded(measure=_position, upper=_zero),
    "The optimal token's weight is at least each other token's": Bounded(measure=_token, upper=_zero),
    "The summed optimal weight is at least 1/L_max (the rest at most 1 - 1/L_max)": Bounded(
        measure=lambda run: stage2_log_other_weight(run, first=0), upper=_most_other
    ),
}


def decide_lemma5(run: Run, parts: Mapping[str, Bounded]) -> Finding:
    """The parts of Lemma 5 one by one; and, for information, its literal reading."""
    found = joined({name: part.judge(run) for name, part in parts.items()})
    weights, step = lemma5_weights(run), run.training.stage2.step
    short = np.flatnonzero(weights.literal > weights.error)
    literal = (
        f"fails up to t = {int(step[short[-1]])}, where another token has several positions"
        if len(short)
        else "holds at every record too"
    )
    return replace(
        found, detail=f"{found.detail} Read as one optimal position against the sum over another token, it {literal}."
    )


LEMMA5 = Claim(
    id="ntp.lemma5",
    source="arXiv 2409.17335, Lemma 5",
    statement=(
        "Each optimal position's weight never decreases in t; it is at least each other position's, and summed over "
        "the optimal token's positions at least each other token's; the summed optimal weight of every sample is at "
        "least 1/L_max."
    ),
    formula=(
        r"\varphi_{l_*}^{(n,t+1)}\ge\varphi_{l_*}^{(n,t)},\quad\varphi_{l_*}^{(n,t)}\ge\varphi_l^{(n,t)},\quad"
        r"\sum_{l\in l(n)}\varphi_l^{(n,t)}\ge\sum_{x_l=x}\varphi_l^{(n,t)},\quad"
        r"\sum_{l\in l(n)}\varphi_l^{(n,t)}\ge\frac{1}{L_{\max}}"
    ),
    assumptions=ASSUMPTIONS,
    judgement=Decided(partial(decide_lemma5, parts=LEMMA5_PARTS), kind="invariants along the steps"),
    absent=no_stage2,
)


# Lemma 6


def norm_from_start(run: Run) -> Series:
    """||W_kq^(t)|| from t = 1 on."""
    return stage2_norm(run, first=1)


def _of_steps(measured: Series) -> Series:
    """The norm of a sum of steps of length eta, each of them off by no more than rounding."""
    return replace(measured, radius=np.minimum(measured.radius, FORMULA_ROUNDING * measured.value))


LEMMA6_LOWER = Bounded(
    measure=norm_from_start,
    lower=lambda run, t: t * run.eta / (2 * run.dataset.L_max * run.norm_kq),
    guaranteed_lower=guarantees.least_norm,
)
LEMMA6_UPPER = Bounded(measure=lambda run: _of_steps(norm_from_start(run)), upper=guarantees.largest_norm)


def decide_lemma6(run: Run, lower: Bounded, upper: Bounded) -> Finding:
    """The two bounds.

    Above, the trajectory's error does not matter: the exact one and the computed one are both sums of t steps of
    length eta.
    """
    below, above = lower.judge(run), upper.judge(run)
    found = joined({"Lower bound": below, "Upper bound": above})
    if below.curve is None or above.curve is None:
        return found
    return replace(found, curve=replace(below.curve, upper=above.curve.upper))


LEMMA6 = Claim(
    id="ntp.lemma6",
    source="arXiv 2409.17335, Lemma 6",
    statement="t eta / (2 L_max ||W*_kq||) <= ||W_kq^(t)|| <= t eta.",
    formula=r"\frac{t\eta}{2L_{\max}\lVert W^*_{kq}\rVert}\le\lVert W_{kq}^{(t)}\rVert\le t\eta",
    assumptions=ASSUMPTIONS,
    judgement=Decided(partial(decide_lemma6, lower=LEMMA6_LOWER, upper=LEMMA6_UPPER), kind="two-sided bound"),
    absent=no_stage2,
)


# Lemma 7

Allowed: TypeAlias = Callable[[Run, Floats], Floats]
"""From a run and norms ||W|| to what a lemma allows for a_t ||W||."""


def _beyond_along(run: Run) -> Floats:
    """||W|| - s at each record, without subtracting nearly equal numbers where s is large.

    With al = <rho, What>, u = rho - al What and c = s + al = <W, What>: al + |u|^2 / (||W|| + c). In embedding space,
    where the record holds scores and no weights, s stays small enough to subtract.
    """
    stage = run.training.stage2
    if run.training.form == "embedding space":
        return np.asarray(stage.norm - stage.along)
    al = stage.rest @ stage.reference
    across = np.linalg.norm(stage.rest - np.outer(al, stage.reference), axis=1)
    c = stage.along + al
    return np.where(c > 0, al + across**2 / np.where(c > 0, stage.norm + c, 1.0), stage.norm - stage.along)


def _moving(run: Run) -> NDArray[np.bool_]:
    """Records from t = 1 on at which there is a gradient and W is not 0."""
    stage = run.training.stage2
    return np.asarray((stage.step >= 1) & np.isfinite(stage.descent_reference) & (stage.norm > 0))


def _lead(run: Run, allowed: Allowed) -> Series:
    """cos(d, W) - cos(d, W*), d = -grad Loss, from t = 1 on; Lemma 7 says: at most a_t cos(d, W*).

    <d, W> / ||d|| = s g + r, with g = <d, What> / ||d|| and r = <d, rho> / ||d||; so it is
    (r - (||W|| - s) g) / ||W||, in which nothing of the size of s is subtracted.

    Error. W is off by e, which turns d by at most e times the Lipschitz constant of the unit gradient. Under
    Assumptions 1-3 that is below (7 + A) ||W*||: with f_j >= 0 the fluxes of all sentences, ||grad|| >= sum f /
    ||W*||, and moving W by a unit changes the vector of fluxes by at most (sqrt2 + 2 sqrt2 + A / sqrt2) sum f: the
    attention of the token itself, the differences phi_o - phi_z, the probabilities. What this does to the right
    side is in the bar too. Enclosed records have d to rounding, however large A is.
    """
    stage = run.training.stage2
    kept = _moving(run)
    norm, g, r = stage.norm[kept], stage.descent_reference[kept], stage.descent_rest[kept]
    beyond, error = _beyond_along(run)[kept], state_error(stage)[kept]
    A, W = run.training.margin, run.norm_kq
    turned = np.minimum(2.0, (7 + A) * W * error + EPS * (1000 + 10 * A) * W)
    if (enclosed := run.training.enclosed) is not None:
        turned[np.isin(stage.step[kept], enclosed.step)] = 4 * EPS
    # |rho|^2 = |u|^2 + al^2, |u|^2 = ||W||^2 - c^2 and al = c - s
    rest = np.linalg.norm(stage.rest[kept], axis=1)
    value = (r - beyond * g) / norm
    own = ((rest + np.abs(beyond)) * turned + 2 * error) / norm + FORMULA_ROUNDING * (np.abs(r) + np.abs(beyond)) / norm
    other = allowed(run, norm) / norm * (turned + error / norm)
    return series(value, radius=own + np.abs(other), step=stage.step[kept])


def _norm_at(run: Run, t: Steps) -> Steps:
    """||W^(t)||: recorded, interpolated, and beyond the record growing by eta a step, as it does in the end."""
    stage = run.training.stage2
    beyond = np.maximum(0.0, t - float(stage.step[-1]))
    return np.asarray(np.interp(t, stage.step, stage.norm) + run.eta * beyond)


def _cos_at(run: Run, t: Steps) -> Steps:
    """cos(d, W*): recorded, interpolated, and the last one beyond the record."""
    stage, kept = run.training.stage2, _moving(run)
    return np.asarray(np.interp(t, stage.step[kept], stage.descent_reference[kept]))


def sharp_allowed(run: Run, norm: Floats) -> Floats:
    """a_t ||W|| of `sharp.lemma7`: ||W*|| log(2 L_max^3 / pi_min)."""
    counts = run.dataset.counts
    logarithm = math.log(2 * run.dataset.L_max**3) + math.log(sum(counts)) - math.log(min(counts))
    return np.full_like(norm, run.norm_kq * logarithm)


def largest_lead(run: Run) -> float:
    """1 - 1/(sqrt2 ||W*||): cos(d, W) is at most 1, and cos(d, W*) at least the rest, as in `sharp.lemma6`.

    Written as (2 ||W*||^2 - 1) / (sqrt2 ||W*|| (sqrt2 ||W*|| + 1)), which is 0 where there is one relation, and not
    what rounding leaves of 1 - 1: bounds of steps that are long enough are smaller.
    """
    solution = run.kq.optimal()
    square = 2 * (solution.norm_squared_exact if isinstance(solution, Exact) else Fraction(solution.norm_squared))
    root = math.sqrt(square)
    return float(square - 1) / (root * (root + 1))


def _lost(run: Run, allowed: Allowed, start: float, first: int, what: str) -> Finding:
    """From a first record on float64 has lost ``what``; the bound may say nothing whatever it is.

    ||W|| <= t eta, and cos(d, W*) >= 1/(sqrt2 ||W*||), so the bound is at least what these make of it.
    """
    detail = f"From t = {int(run.training.stage2.step[first])} on rounding hides {what}."
    t = np.array([t for t in run.training.stage2.step if t >= max(1.0, start)], dtype=float)
    farthest = t * run.eta
    least = by_formula(allowed(run, farthest) / farthest / (math.sqrt(2) * run.norm_kq))
    if len(t) and (least.lower >= largest_lead(run)).all():
        return Finding(
            Verdict.VACUOUS,
            detail=f"{detail} The bound is beyond reach whatever it is: ||W|| is at most t eta, and the descent "
            "direction's cosine with W*_kq at least 1/(sqrt2 ||W*_kq||).",
        )
    return Finding(Verdict.INCONCLUSIVE, detail=detail)


def decide_lemma7(run: Run, allowed: Allowed, threshold: Callable[[Run], float] | None) -> Finding:
    """<d, W> <= (||W|| + a_t ||W||) <d, What>, d = -grad Loss, from the threshold on.

    Where the run ends before the threshold: `sharp.lemma7` is proved for every t >= 1, and its a_t is below this one's
    or not, whatever ||W|| is from there on; by `sharp.lemma6`, ||W|| >= t eta / (sqrt2 ||W*||).
    """
    bounded = Bounded(
        measure=partial(_lead, allowed=allowed),
        upper=lambda run, t: allowed(run, _norm_at(run, t)) / _norm_at(run, t) * _cos_at(run, t),
        largest=largest_lead,
    )
    stage = run.training.stage2
    lost, begins = (stage.step >= 1) & ~_moving(run), 1.0 if threshold is None else threshold(run)
    if lost.any():
        return _lost(run, allowed, start=begins, first=int(np.argmax(lost)), what="the gradient")
    every = bounded.judge(run)
    if every.verdict is Verdict.INCONCLUSIVE and not stage.known.all():
        beyond_reach = _lost(run, allowed, start=begins, first=int(np.argmin(stage.known)), what="W_kq")
        if beyond_reach.verdict is Verdict.VACUOUS:
            return beyond_reach
    if threshold is None:
        return every
    start = begins
    found = replace(bounded, threshold=lambda _: Threshold(start)).judge(run)
    if run.training.stage2.step[-1] >= start:
        return replace(found, detail=f"{found.detail} Without the threshold t >= {start:.4g}: {_outside(every)}.")
    norm = np.geomspace(start * run.eta / (np.sqrt(2) * run.norm_kq), 10.0**LAST_DECADE, 400)
    proved = all(run.assumption(name).holds for name in ASSUMPTIONS)
    if proved and (sharp_allowed(run, norm) <= allowed(run, norm)).all():
        return replace(
            found,
            verdict=Verdict.VACUOUS if every.informative_from is None else Verdict.HOLDS,
            measured=None,
            bound=None,
            slack=None,
            worst_step=None,
            detail=(
                f"{found.detail} Beyond the threshold it follows from sharp.lemma7 (docs/proofs.md), "
                "whose a_t is smaller there, by formula."
            ),
        )
    return found


def _outside(found: Finding) -> str:
    first = f" from t = {found.first_violation}" if found.first_violation is not None else ""
    return f"{found.verdict}{first}"


def lemma7_threshold(run: Run) -> float:
    """8 L_max ||W*_kq||^2 / eta."""
    return float(8 * run.dataset.L_max * run.norm_kq**2 / run.eta)


def _printed_allowed(run: Run, norm: Floats) -> Floats:
    data = run.dataset
    return np.asarray(4 * data.N * data.L_max**2 * run.norm_kq**2 * (1 + np.log(2 * data.L_max * norm)))


def _rederived_allowed(run: Run, norm: Floats) -> Floats:
    return _printed_allowed(run, norm) / (run.dataset.N * float(run.dataset.smallest_frequency))


def _lemma7(suffix: str, words: str, latex: str, allowed: Allowed, instead: str = "") -> Claim:
    """Lemma 7 with ``words``, in LaTeX ``latex``, as the factor that counts samples."""
    return Claim(
        id=f"ntp.lemma7{suffix}",
        source="arXiv 2409.17335, Lemma 7",
        statement=(
            "For t >= 8 L_max ||W*_kq||^2 / eta: <grad Loss, W^(t)> >= (1 + a_t) (||W^(t)||/||W*_kq||) "
            f"<grad Loss, W*_kq>, a_t = (4 {words} L_max^2 ||W*_kq||^2 / ||W^(t)||) (1 + log(2 L_max ||W^(t)||)). "
            "Audited as a bound on by how much the descent direction's cosine with W^(t) exceeds that with W*_kq."
        ),
        formula=(
            r"\left\langle\nabla\mathcal L,W^{(t)}\right\rangle\ge(1+a_t)\frac{\lVert W^{(t)}\rVert}"
            r"{\lVert W^*_{kq}\rVert}\left\langle\nabla\mathcal L,W^*_{kq}\right\rangle,\quad a_t=\frac{4"
            + latex
            + r"L_{\max}^2\lVert W^*_{kq}\rVert^2}{\lVert W^{(t)}\rVert}"
            r"\left(1+\log(2L_{\max}\lVert W^{(t)}\rVert)\right)"
        ),
        assumptions=ASSUMPTIONS,
        judgement=Decided(partial(decide_lemma7, allowed=allowed, threshold=lemma7_threshold), kind="upper bound"),
        absent=no_stage2,
        instead=instead,
    )


CLAIMS = (
    LEMMA4,
    LEMMA5,
    LEMMA6,
    _lemma7(
        "",
        "N",
        "N",
        _printed_allowed,
        instead=(
            "$N$ counts samples however rare they are: the statement fails where frequencies are extremely uneven (two "
            r"samples, $1$ to $e^{1000}$, more than a dataset here may hold), and follows from sharp.lemma7 with "
            r"$1/\pi_{\min}$ in the place of $N$."
        ),
    ),
    _lemma7(".rederived", "(1/pi_min)", r"\,\pi_{\min}^{-1}", _rederived_allowed),
)
