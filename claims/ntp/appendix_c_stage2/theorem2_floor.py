"""Footnote of Theorem 2 of arXiv 2409.17335: the minimum of the loss, misstated in print, and the rate.

Sharper: the infimum of the loss, and the rate at which its excess falls.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Decided, Equal, Limit
from marginaudit.claims.judgements.parts import joined
from marginaudit.claims.ntp.bounds import sizes
from marginaudit.claims.ntp.quantities import asymptotic_from, excess_rate, no_common_margin, no_infimum
from marginaudit.claims.ntp.random_part import SEED, in_part
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.ntp.step_size import SHORT, SHORT_LATEX, for_short_and_for_any_step
from marginaudit.claims.quotation import quoted, sharpened
from marginaudit.claims.series import Series, certified
from marginaudit.claims.standing import Severity, Weight, contradicts, proved, refuted
from marginaudit.claims.verdict import Evidence, Finding
from marginaudit.orders.arrays import Floats
from marginaudit.orders.balls import rounded
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3, SETTING
from marginaudit.training.ntp.model.losses import log_infimum_ball, log_softplus

if TYPE_CHECKING:
    import flint


def log_infimum(run: Run) -> Series:
    """log of inf Loss over W_kq = log(1 + (V-1) exp(-A)), A = T eta0/||W*_ov||, enclosed by ball arithmetic.

    It bounds every sample's loss from below, because the label's logit leads every other logit by at most A.
    W_kq = R W*_kq approaches it as R grows (`sharp.floor`, `sharp.stage1`).
    """
    import flint

    V = run.dataset.V
    with flint.ctx.workprec(256):
        if run.departs:  # the margin is not T eta0/||W*_ov||
            margin = flint.arb(run.training.margin, run.training.margin_error)
        else:
            margin = run.config.steps1 * flint.arb(run.eta0) / flint.arb(V - 1).sqrt()
        return certified([log_infimum_ball(V, margin)], log=True)


def log_printed_floor(run: Run) -> Series:
    """log of V exp(-C0 T), enclosed by ball arithmetic."""
    import flint

    V = run.dataset.V
    with flint.ctx.workprec(256):
        return certified([flint.arb(V).log() - flint.arb(run.eta0) * run.config.steps1 / (4 * (V - 1))], log=True)


def _floor_witness(run: Run) -> dict[str, float]:
    stage = run.training.stage2
    reached = {"t": int(stage.step[-1]), "loss_at_t": float(stage.loss[-1])} if len(stage) and stage.known[-1] else {}
    return {
        "T": run.config.steps1,
        "infimum": float(np.exp(log_infimum(run).value[0])),
        "printed": float(np.exp(log_printed_floor(run).value[0])),
        **reached,
    }


PROOF = "docs/proofs.md#162-ntptheorem2floor-is-false"

FLOOR = Claim(
    id="ntp.theorem2.floor",
    source="arXiv 2409.17335, Theorem 2, its footnote",
    source_words=quoted(
        "section 5.2, footnote 3 to Theorem 2",
        "For fixed W_ov^(T), the minimum loss value L* = |V| exp(-TC_0). .. L(theta^(t)) - L* <= L* TC_0 "
        "O(e^{-C_1 t}) for sufficiently large t",
        "The minimum is over W_kq, at the W_ov^(T) of stage 1 and at every T; at Theorem 2's T it is not the printed "
        "one either.",
    ),
    statement=(
        "For fixed W_ov^(T) the minimum of Loss over W_kq is V exp(-C0 T), and Loss minus that is at most that "
        "times C0 T O(exp(-C1 t)); the second part is audited only where the first holds."
    ),
    formula=r"\inf_{W_{kq}}\mathcal L=V\exp(-C_0T),\quad \mathcal L-\mathcal L^*\le\mathcal L^*\,C_0T\,O(e^{-C_1t})",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    setting=SETTING,
    judgement=Equal(measure=log_infimum, expected=log_printed_floor, witness=_floor_witness),
    absent=no_infimum,
    instead=(
        r"the infimum is $\log(1+(V-1)e^{-A})$, $A=T\eta_0/\lVert W^*_{ov}\rVert$, approached as "
        "$W_{kq}=R\\,W^*_{kq}$ grows (sharp.floor, proved in docs/proofs.md)."
    ),
    standing=refuted(
        PROOF,
        "sharp.floor",
        "sharp.stage1",
        severity=Severity.EVERYWHERE,
        weight=Weight.ASIDE,
        wrong="The footnote to Theorem 2 takes an upper bound for the minimum of the loss: runs end below it.",
        defence=(
            "V exp(-C0 T) bounds the infimum from above, and the loss does converge linearly to it (ntp.theorem2.rate)."
        ),
        hunted=1,
        settings={"steps1": 50000},
        weakest="none: false on every dataset it applies to",
    ),
    implications=(contradicts("sharp.floor", "sharp.stage1", proof=PROOF),),
)

BITS = 256
"""Precision for numbers of size 1. Larger numbers get the bits of their integer part on top."""

MOST_CLASSES = 500
"""Most classes of samples compared. A random subset replaces a larger set."""

RANDOM_SCALES = (1.0, 4.0, 16.0)
"""Standard deviations of random scores for testing the infimum of each sample's loss."""


NEAR = Fraction(1, 10**9)
"""Distance of log loss from its infimum along W*_kq."""

Infimum: TypeAlias = "Callable[[int, flint.arb], flint.arb]"
"""Function from V and A to the logarithm of the claimed infimum of a sample's loss."""


def log_losses(run: Run, scores: Floats, chosen: list[int]) -> "list[flint.arb]":
    """log of the loss of each chosen class (merged samples) at x^T W_kq q = scores, enclosed by ball arithmetic.

    The loss is log(1 + sum_z exp(A (Phi_z - Phi_y))) over the labels z other than y, Phi_z the attention on tokens with
    label z. The largest exponent is factored out of the sum, as exp(A) may overflow.

    Parameters
    ----------
    run : Run
        All margins of its W_ov equal one A.
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
    """log(loss / claimed infimum) of the chosen classes, with radii: a difference of two numbers of order A."""
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


def excess_along_reference(run: Run, claimed: Infimum) -> Series:
    """log(loss / claimed infimum) at W_kq = R W*_kq, R so large that attention elsewhere is negligible.

    All margins of R W*_kq are at least R, so the other weights sum to less than L_max exp(-R), and the loss exceeds
    its infimum by less than a factor exp(2 A L_max exp(-R)).
    """
    far = 40 + math.log(1 + run.training.margin) + math.log(run.dataset.L_max)
    chosen = _chosen(run)
    values, radii = _excess(run, claimed, far * run.kq.optimal().scores, chosen)
    return Series(np.array(values), np.array(radii), label=_names(run, chosen), log=True, evidence=Evidence.CERTIFIED)


def excess_at_random(run: Run, claimed: Infimum) -> Series:
    """log(loss / claimed infimum) at random scores."""
    rng, V, chosen = np.random.default_rng(SEED), run.dataset.V, _chosen(run)
    values: list[float] = []
    radii: list[float] = []
    for scale in RANDOM_SCALES:
        found = _excess(run, claimed, scale * rng.standard_normal((V, V)), chosen)
        values += found[0]
        radii += found[1]
    label = _names(run, chosen) * len(RANDOM_SCALES)
    return Series(np.array(values), np.array(radii), label=label, log=True, evidence=Evidence.CERTIFIED)


def fall(run: Run) -> "float | flint.arb":
    """eta/||W*_kq||, enclosed by ball arithmetic if ||W*_kq||^2 is known as a rational number."""
    import flint

    with flint.ctx.workprec(BITS):
        at = sizes(run)
        return run.eta / run.norm_kq if at is None else at.eta / at.w


def decide_floor(run: Run, claimed: Infimum, rate: "Callable[[Run], float | flint.arb]") -> Finding:
    """Decide the infimum, approached along W*_kq and not passed at random W_kq, and the rate, a limit along the run."""
    approached = Bounded(
        measure=partial(excess_along_reference, claimed=claimed),
        lower=lambda _, t: [0] * len(t),
        upper=lambda _, t: [NEAR] * len(t),
    ).judge(run)
    lowest = Bounded(measure=partial(excess_at_random, claimed=claimed), lower=lambda _, t: [0] * len(t)).judge(run)
    limit = Limit(measure=excess_rate, predicted=rate, regime=asymptotic_from).judge(run)
    part = in_part(len(_chosen(run)), len(run.training.classes), "samples (merged by query, bag and next token)")
    return joined(
        {
            "log(loss / infimum) of every sample at R W*_kq is within 1e-9 of 0": approached,
            "It is not below 0 at random W_kq": lowest,
            "The log of the excess falls by eta/||W*_kq|| a step": limit,
        },
        part,
    )


RATE = Claim(
    id="ntp.theorem2.rate",
    source="arXiv 2409.17335, Theorem 2",
    source_words=quoted(
        "section 5.2, after Theorem 2",
        "the training loss converges to its minimum value at a linear convergence rate",
        "Linear means geometric in t: the excess over the infimum is eventually below c^t for some c < 1.",
    ),
    statement=(
        "Loss converges linearly (geometrically in t) to its infimum over W_kq; audited as the fall of the log "
        "of the excess per step, compared with the rate eta/||W*_kq|| of `sharp.floor`."
    ),
    formula=r"\limsup_{t\to\infty}\frac1t\log\left(\mathcal L-\inf\mathcal L\right)\lt0",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Limit(
        measure=excess_rate,
        predicted=fall,
        regime=asymptotic_from,
        positive=True,
    ),
    absent=no_common_margin,
    standing=proved("docs/proofs.md#161-ntptheorem2rate", "sharp.lemma6", "sharp.theorem1", hunted=1),
)

SHARP = Claim(
    id="sharp.floor",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 2",
    source_words=sharpened("ntp.theorem2.floor", f"The infimum as it is, for {SHORT}."),
    statement=(
        "The infimum over W_kq of each sample's loss is log(1 + (V-1) exp(-A)); asymptotically, "
        f"for {SHORT}, the log of the excess of Loss over it falls by eta/||W*_kq|| a step."
    ),
    formula=(
        r"\inf_{W_{kq}}\mathcal L_n=\log\left(1+(V-1)e^{-A}\right),\quad"
        r"-\frac{d}{dt}\log\left(\mathcal L-\inf\mathcal L\right)\to\frac{\eta}{\lVert W^*_{kq}\rVert};\quad"
        + SHORT_LATEX
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Decided(
        partial(decide_floor, claimed=log_infimum_ball, rate=fall),
        kind="infimum and limit",
        late=True,
    ),
    absent=no_common_margin,
    standing=proved("docs/proofs.md#8-sharpfloor", "sharp.stage1", "sharp.lemma6", "sharp.theorem1", hunted=23),
)

CLAIMS = (
    FLOOR,
    RATE,
    *for_short_and_for_any_step(
        SHARP,
        wrong="With long steps a run can end in a cycle, in which the excess of the loss falls more slowly.",
        instead=r"the infimum is right, and the rate is for $\eta\le1/(4\lVert W^*_{kq}\rVert)$ (sharp.floor).",
        hunted=29,
    ),
)
