"""Sharper statements about stage 2 than the lemmas and theorems of arXiv 2409.17335 make."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import ALLOWANCE, Bounded, Decided
from marginaudit.reports.judgements.parts import joined
from marginaudit.reports.ntp import guarantees
from marginaudit.reports.ntp.claims.gradients import in_part
from marginaudit.reports.ntp.claims.lemmas_stage2 import (
    decide_lemma7,
    no_stage2,
    norm_from_start,
    sharp_allowed,
)
from marginaudit.reports.ntp.claims.theorem2 import RATE
from marginaudit.reports.ntp.quantities import no_common_margin, stage2_direction
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.sharper.rate import SHORT_STEPS, short_steps_only
from marginaudit.reports.series import Series, rounded
from marginaudit.reports.verdict import Evidence, Finding
from marginaudit.training.ntp.model.infimum import log_infimum_ball, log_softplus

if TYPE_CHECKING:
    import flint

Floats: TypeAlias = NDArray[np.float64]

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3

BITS = 256
"""Of numbers of size 1; for larger ones as many more as they have before the point."""

MOST_CLASSES = 500
"""Of more classes of samples a random part stands for all."""

RANDOM_SCALES = (1.0, 4.0, 16.0)
"""Standard deviations of the scores at which no sample's loss may lie below its infimum."""

LEMMA6 = Claim(
    id="sharp.lemma6",
    source="marginaudit, a sharper form of arXiv 2409.17335, Lemma 6",
    statement="||W_kq^(t)|| >= t eta / (sqrt 2 ||W*_kq||).",
    formula=r"\lVert W_{kq}^{(t)}\rVert\ge\frac{t\eta}{\sqrt2\lVert W^*_{kq}\rVert}",
    assumptions=ASSUMPTIONS,
    judgement=Bounded(measure=norm_from_start, lower=lambda run, t: t * run.eta / (np.sqrt(2) * run.norm_kq)),
    absent=no_stage2,
)

LEMMA7 = Claim(
    id="sharp.lemma7",
    source="marginaudit, a sharper form of arXiv 2409.17335, Lemma 7",
    statement=(
        "For t >= 1: <grad Loss, W^(t)> >= (1 + a_t) (||W^(t)||/||W*_kq||) <grad Loss, W*_kq>, "
        "a_t = ||W*_kq|| log(2 L_max^3 / pi_min) / ||W^(t)||. Audited as a bound on by how much the descent "
        "direction's cosine with W^(t) exceeds that with W*_kq."
    ),
    formula=(
        r"\left\langle\nabla\mathcal L,W^{(t)}\right\rangle\ge(1+a_t)\frac{\lVert W^{(t)}\rVert}"
        r"{\lVert W^*_{kq}\rVert}\left\langle\nabla\mathcal L,W^*_{kq}\right\rangle,\quad "
        r"a_t=\frac{\lVert W^*_{kq}\rVert\log(2L_{\max}^3/\pi_{\min})}{\lVert W^{(t)}\rVert}"
    ),
    assumptions=ASSUMPTIONS,
    judgement=Decided(partial(decide_lemma7, allowed=sharp_allowed, threshold=None), kind="upper bound"),
    absent=no_stage2,
)

THEOREM1 = Claim(
    id="sharp.theorem1",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 1",
    statement=(
        "For t >= 1: 1 - cos(W_kq^(t), W*_kq) <= [2 ||W*_kq||^3 log(2 L_max^3 / pi_min) (1 + log t) + "
        "eta ||W*_kq||^2 (1 + log t) + sqrt 2 eta ||W*_kq||] / (t eta)."
    ),
    formula=(
        r"1-\cos\left(W_{kq}^{(t)},W^*_{kq}\right)\le\frac{2\lVert W^*_{kq}\rVert^3\log(2L_{\max}^3/\pi_{\min})"
        r"(1+\log t)+\eta\lVert W^*_{kq}\rVert^2(1+\log t)+\sqrt2\,\eta\lVert W^*_{kq}\rVert}{t\eta}"
    ),
    assumptions=ASSUMPTIONS,
    judgement=Bounded(
        measure=lambda run: stage2_direction(run, first=1),
        upper=guarantees.direction_bound,
        largest=2.0,
    ),
    absent=no_stage2,
)


# sharp.floor

Infimum: TypeAlias = "Callable[[int, flint.arb], flint.arb]"
"""From V and A to the logarithm of the claimed infimum of a sample's loss."""


def log_losses(run: Run, scores: Floats, chosen: list[int]) -> "list[flint.arb]":
    """log of the loss of each chosen class (merged samples) at x^T W_kq q = scores, enclosed by ball arithmetic.

    The loss is log(1 + sum_z exp(A (Phi_z - Phi_y))) over the labels z other than y, Phi_z the attention on tokens with
    label z. The largest exponent is taken out of the sum: A may be beyond what an exponential can hold.

    Parameters
    ----------
    run : Run
        The margins of its W_ov are one A.
    scores : (keys, queries) array
        Taken as exact.
    chosen : list of int
        The classes.
    """
    import flint

    classes, V = run.training.classes, run.dataset.V
    A, losses = flint.arb(run.training.margin), []
    ends = [*classes.first_edge[1:].tolist(), len(classes.token)]
    for number in chosen:
        query, y = int(classes.query[number]), int(classes.next[number])
        weight: dict[int, flint.arb] = {}
        for edge in range(int(classes.first_edge[number]), ends[number]):
            label = int(classes.slot_label[classes.slot[edge]])
            score = flint.arb(float(scores[classes.token[edge], query]))
            weight[label] = weight.get(label, flint.arb(0)) + int(classes.multiplicity[edge]) * score.exp()
        total = sum(weight.values(), flint.arb(0))
        others = sum((weight[z] for z in weight if z != y), flint.arb(0)) / total
        # Phi_z - Phi_y = Phi_z + (the others' sum) - 1
        exponents = [A * (weight[z] / total + others - 1) for z in weight if z != y]
        absent = V - len(weight) - (y not in weight)
        if absent:
            exponents.append(flint.arb(absent).log() + A * (others - 1))
        largest = max(exponents, key=lambda exponent: exponent.mid())
        odds = sum(((exponent - largest).exp() for exponent in exponents), flint.arb(0))
        losses.append(log_softplus(largest + odds.log()))
    return losses


def _excess(run: Run, claimed: Infimum, scores: Floats, chosen: list[int]) -> tuple[list[float], list[float]]:
    """log(loss / claimed infimum) of the chosen classes, with radii: a difference of two numbers of the size of A."""
    import flint

    margin = run.training.margin
    with flint.ctx.workprec(BITS + max(0, math.frexp(margin)[1])):
        log_claimed = claimed(run.dataset.V, flint.arb(margin))
        found = [rounded(loss - log_claimed) for loss in log_losses(run, scores, chosen)]
    return [value for value, _ in found], [radius for _, radius in found]


def _chosen(run: Run) -> list[int]:
    number = len(run.training.classes)
    if number <= MOST_CLASSES:
        return list(range(number))
    return sorted(np.random.default_rng(0).choice(number, MOST_CLASSES, replace=False).tolist())


def _names(run: Run, chosen: list[int]) -> tuple[str, ...]:
    classes, words = run.training.classes, run.dataset.vocabulary
    return tuple(f"sample {c} (query {words[classes.query[c]]!r})" for c in chosen)


def _far_along_reference(run: Run, claimed: Infimum) -> Series:
    """log(loss / claimed infimum) at W_kq = R W*_kq, R so large that attention elsewhere no longer counts.

    All margins of R W*_kq are at least R, so the other weights sum to less than L_max exp(-R), and the loss exceeds
    its infimum by less than a factor exp(2 A L_max exp(-R)).
    """
    far = 40 + math.log(1 + run.training.margin) + math.log(run.dataset.L_max)
    chosen = _chosen(run)
    values, radii = _excess(run, claimed, far * run.kq.optimal().scores, chosen)
    return Series(np.array(values), np.array(radii), label=_names(run, chosen), log=True, evidence=Evidence.CERTIFIED)


def _at_random(run: Run, claimed: Infimum) -> Series:
    """log(loss / claimed infimum) at random scores."""
    rng, V, chosen = np.random.default_rng(2409_17335), run.dataset.V, _chosen(run)
    values: list[float] = []
    radii: list[float] = []
    for scale in RANDOM_SCALES:
        found = _excess(run, claimed, scale * rng.standard_normal((V, V)), chosen)
        values += found[0]
        radii += found[1]
    label = _names(run, chosen) * len(RANDOM_SCALES)
    return Series(np.array(values), np.array(radii), label=label, log=True, evidence=Evidence.CERTIFIED)


def decide_floor(run: Run, claimed: Infimum, rate: Callable[[Run], float]) -> Finding:
    """The infimum: approached along W*_kq and not passed at random W_kq; the rate: a limit along the run."""
    zero = partial(np.multiply, 0.0)
    approached = Bounded(
        measure=partial(_far_along_reference, claimed=claimed),
        lower=lambda _, t: zero(t),
        upper=lambda _, t: zero(t) + ALLOWANCE,
    ).judge(run)
    lowest = Bounded(measure=partial(_at_random, claimed=claimed), lower=lambda _, t: zero(t)).judge(run)
    limit = replace(RATE.judgement, predicted=rate, positive=False).judge(run)  # type: ignore[type-var]
    found = joined(
        {
            "log(loss / infimum) of every sample at R W*_kq is within 1e-9 of 0": approached,
            "It is not below 0 at random W_kq": lowest,
            "The log of the excess falls by eta/||W*_kq|| a step": limit,
        }
    )
    part = in_part(len(_chosen(run)), len(run.training.classes), "samples (merged by query, bag and next token)")
    return replace(found, detail=f"{found.detail} {part}".rstrip())


FLOOR = Claim(
    id="sharp.floor",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 2",
    statement=(
        "The infimum over W_kq of each sample's loss is log(1 + (V-1) exp(-A)); asymptotically, for "
        "eta <= 1/(4 ||W*_kq||), the log of the excess of Loss over it falls by eta/||W*_kq|| a step."
    ),
    formula=(
        r"\inf_{W_{kq}}\mathcal L_n=\log\left(1+(V-1)e^{-A}\right),\quad"
        r"-\frac{d}{dt}\log\left(\mathcal L-\inf\mathcal L\right)\to\frac{\eta}{\lVert W^*_{kq}\rVert};\quad"
        r"\eta\le\frac1{4\lVert W^*_{kq}\rVert}"
    ),
    assumptions=ASSUMPTIONS,
    judgement=Decided(
        partial(decide_floor, claimed=log_infimum_ball, rate=lambda run: run.eta / run.norm_kq),
        kind="infimum and limit",
    ),
    absent=short_steps_only(no_common_margin),
)

ANY_STEP = replace(
    FLOOR,
    id="sharp.floor.any-step",
    statement=FLOOR.statement.replace("for eta <= 1/(4 ||W*_kq||)", "for every eta"),
    formula=FLOOR.formula.replace(r"\eta\le\frac1{4\lVert W^*_{kq}\rVert}", r"\text{any }\eta"),
    absent=no_common_margin,
    proof_uses=(SHORT_STEPS,),
    instead=r"the infimum is right, and the rate is for $\eta\le1/(4\lVert W^*_{kq}\rVert)$ (sharp.floor); longer "
    "steps may end in a cycle in which the excess falls more slowly.",
)

CLAIMS = (LEMMA6, LEMMA7, THEOREM1, FLOOR, ANY_STEP)
