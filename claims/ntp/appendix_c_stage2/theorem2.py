"""Theorem 2 of arXiv 2409.17335: bounds on the attention and the loss of stage 2."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Threshold
from marginaudit.claims.judgements.bounded import InBalls, Steps
from marginaudit.claims.ntp import bounds
from marginaudit.claims.ntp.bounds import (
    BITS,
    UNEVEN,
    Sizes,
    crossings,
    even_enough,
    in_balls,
    least_log_t,
    of_sizes,
    root_two,
    sizes,
)
from marginaudit.claims.ntp.quantities import no_direction_kq, stage2_log_loss, stage2_log_other_weight
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.ntp.step_size import ORDER_ONE, READ_AS, as_printed_and_for_any_step, refuted_by_long_steps
from marginaudit.claims.quotation import SourceWords, quoted, rederived
from marginaudit.claims.standing import Implication, Severity, proved, refuted
from marginaudit.margins.ntp import Exact
from marginaudit.orders.ntp.assumptions import SETTING
from marginaudit.training.ntp.model.reference import ball

if TYPE_CHECKING:
    import flint


@dataclass(frozen=True)
class Constants:
    """The constants of the two thresholds: c0 for T, c0 for t, and the power of ||W*_ov||."""

    steps1: int
    steps2: int
    power: int


PRINTED = Constants(steps1=384, steps2=1696, power=5)
REDERIVED = Constants(steps1=384, steps2=864, power=7)


def _threshold(constants: Constants) -> Callable[[Run], Threshold]:
    def threshold(run: Run) -> Threshold:
        data, T = run.dataset, run.config.steps1
        early, late = crossings(constants.steps2 * data.N * float(data.L_max) ** 4 * run.norm_kq**6 / run.eta, 2)
        early_T, late_T = crossings(constants.steps1 * run.norm_ov**constants.power * np.log(data.V) / run.eta0, 1)
        return Threshold(
            late,
            needed=T if 2 <= T <= early_T else late_T,
            there=T,
            size="T",
            resized=lambda T: run.with_steps1(int(np.ceil(T))),
            early=early,
        )

    return threshold


def _C0(run: Run) -> float:
    return run.eta0 / (4 * run.norm_ov**2)


def _C1(run: Run) -> float:
    return run.eta / (4 * run.dataset.L_max * run.norm_kq**2)


def _log_other_weight_bound(run: Run, t: Steps) -> Steps:
    """log(1 - 1/(1 + L exp(-C1 t)))."""
    leading = np.log(run.dataset.L_max) - _C1(run) * t
    return np.asarray(leading - np.logaddexp(0, leading))


def _log_loss_bound(run: Run, t: Steps) -> Steps:
    L = run.dataset.L_max
    # 2L/(L + exp(C1 t)), without overflow
    remainder = 2 * L * np.exp(-_C1(run) * t) / (L * np.exp(-_C1(run) * t) + 1)
    return np.asarray(np.log(run.dataset.V) - _C0(run) * run.config.steps1 * (1 - remainder))


def _log_loss_balls(run: Run, steps: list[float]) -> "list[flint.arb] | None":
    from flint import arb, ctx

    with ctx.workprec(BITS):
        at = sizes(run)
        if at is None or not isinstance(run.ov, Exact):
            return None
        A = run.config.steps1 * arb(run.eta0) / (4 * ball(run.ov.norm_squared_exact))
        powers = [(t * at.eta / (4 * at.L * at.w**2)).exp() for t in map(arb, steps)]
        return [arb(run.dataset.V).log() - A * (1 - 2 * at.L / (at.L + power)) for power in powers]


def _largest_log_loss(run: Run) -> float:
    """log of the loss with all attention on one wrong token, whose label leads the right one by A."""
    if not run.training.common_margin:
        return float("inf")
    margin = run.training.margin
    return float(np.log(np.logaddexp(margin, np.log(run.dataset.V - 1))))


NOT_LATE = "its threshold is not beyond e^2"


def beyond_lemma_10_1(at: Sizes, factor: int) -> str | None:
    """Reason why Theorem 2, with ``factor`` in its threshold for t, may precede Lemma 10.1, or None: section 16.4."""
    kappa = at.threshold(factor)
    log_t = least_log_t(kappa)
    if log_t is None:
        return NOT_LATE
    slope, rest = 32 * at.w**5 * at.rarity + 16 * at.eta * at.w**4, 16 * root_two() * at.eta * at.w**3
    enough = slope * (1 + log_t) + rest <= kappa * at.eta * log_t**2
    return None if enough else "its threshold is before the step from which Lemma 10.1 applies"


def beyond_large_loss(at: Sizes, factor: int) -> str | None:
    """Reason why eq. 4, with ``factor`` in its threshold for t, may apply to a large loss, or None: section 16.6."""
    kappa = at.threshold(factor)
    log_t = least_log_t(kappa)
    if log_t is None:
        return NOT_LATE
    import flint

    theta = 4 * flint.arb(at.L).log() + flint.arb("3.1")
    enough = kappa * at.eta * log_t**2 > 4 * theta * at.w**3 + 2 * at.eta * at.w**2
    return None if enough else "its threshold is before the step from which the loss is proved to be small"


READING = f"{READ_AS} The absolute constant c_0 is what the proof (appendix C.6) prints: 384 for T and 1696 for t."
RECONSTRUCTED = "the power of ||W*_ov|| in the least T, which looks like 5"


def _words(id_: str, place: str, quotation: str, constants: Constants) -> SourceWords:
    if constants == PRINTED:
        return quoted(place, quotation, READING, reconstructed=RECONSTRUCTED)
    mended = "What the algebra gives for c_0 and the power: 384 ||W*_ov||^7 for T, 864 for t."
    return rederived(id_, mended, mended="with both thresholds mended")


def _thresholds(constants: Constants) -> str:
    return (
        f"For T >= {constants.steps1:g} ||W*_ov||^{constants.power} log V log T / eta0 and "
        f"t >= {constants.steps2:g} N L_max^4 ||W*_kq||^6 log^2 t / eta, T and t from 2 on"
    )


def _weight(suffix: str, constants: Constants, *, hunted: tuple[int, int]) -> tuple[Claim, Claim]:
    """Claims of the bound on the attention, for eta <= ||W*_kq||/e and for every eta, with ``hunted`` of each."""
    standing = refuted(
        "docs/proofs.md#165-ntptheorem2weight-is-false-for-extremely-uneven-frequencies",
        severity=Severity.EXTREME,
        cause="ntp.theorem1.direction",
        wrong=(
            "Theorem 2's threshold for t needs log(1/pi_min), whatever its c_0: a sample that is rare enough is not "
            "yet learned there."
        ),
        defence="True at every realistic frequency: pi_min >= 2 L_max^3 exp(-230 N L_max^4) is enough.",
        hunted=hunted[0],
        formula=UNEVEN.format(least="70000000"),
        weakest=even_enough(230, "corollary 10.2"),
    )
    claim = Claim(
        id=f"ntp.theorem2.weight{suffix}",
        source="arXiv 2409.17335, Theorem 2",
        source_words=_words(
            "ntp.theorem2.weight",
            "section 5.2, Theorem 2",
            "there is an absolute constant c_0 such that .. the optimal token weight satisfies min_n sum_{l* in "
            "l(n)} phi_l*^(n,t) >= (1 + L_max exp(-t C_1))^{-1}",
            constants,
        ),
        statement=(
            f"{_thresholds(constants)}: the summed optimal weight of every sample is at least "
            "1/(1 + L_max exp(-C1 t)), C1 = eta/(4 L_max ||W*_kq||^2). Audited as the rest, 1 minus the weight, from "
            "above."
        ),
        formula=(
            r"\min_n\sum_{l\in l(n)}\varphi_l^{(n,t)}\ge\frac{1}{1+L_{\max}\exp(-C_1t)},\quad "
            r"C_1=\frac{\eta}{4L_{\max}\lVert W^*_{kq}\rVert^2}"
        ),
        assumptions=bounds.ASSUMPTIONS,
        setting=() if suffix else SETTING,
        judgement=Bounded(
            measure=partial(stage2_log_other_weight, first=2),
            upper=in_balls(_log_other_weight_bound, Sizes.log_other_weight),
            first=2,
            largest=0.0,
            threshold=_threshold(constants),
            guaranteed=bounds.log_other_weight,
        ),
        absent=no_direction_kq,
        standing=standing,
        instead=(
            r"it is true for all frequencies and step sizes from the first $t$ on at which "
            r"$16\lVert W^*_{kq}\rVert^2b(t)\le1$, $b$ the bound of sharp.theorem1, and then for every $T\ge1$."
        ),
        implications=(
            Implication(
                sources=("sharp.lemma6", "sharp.theorem1", "sharp.stage1"),
                condition="16 ||W*_kq||^2 times its bound is at most 1 at the threshold for t, and so beyond",
                proof="docs/proofs.md#164-theorem-2-where-its-thresholds-lie-beyond-that-of-lemma-101",
                unmet=of_sizes(partial(beyond_lemma_10_1, factor=constants.steps2)),
            ),
        ),
    )
    any_step = refuted_by_long_steps(weakest=f"{ORDER_ONE} and {standing.weakest}", hunted=hunted[1])
    return as_printed_and_for_any_step(claim, any_step)


def _loss(suffix: str, constants: Constants) -> tuple[Claim, Claim]:
    """Claims of the bound on the loss, for eta <= ||W*_kq||/e and for every eta."""
    sources, proof = (
        ("ntp.lemma5", "sharp.stage1", "sharp.lemma6"),
        "docs/proofs.md#166-ntptheorem2loss-for-every-frequency",
    )
    claim = Claim(
        id=f"ntp.theorem2.loss{suffix}",
        source="arXiv 2409.17335, Theorem 2, eq. 4",
        source_words=_words(
            "ntp.theorem2.loss",
            "section 5.2, Theorem 2, eq. 4",
            "the loss function L converges linearly to its minimal value: L(theta^(t)) <= |V| exp(-C_0 T(1 - "
            "2L_max/(L_max + exp(C_1 t))))",
            constants,
        ),
        statement=(
            f"{_thresholds(constants)}: Loss <= V exp(-C0 T (1 - 2 L_max/(L_max + exp(C1 t)))), "
            "C0 = eta0/(4 ||W*_ov||^2)."
        ),
        formula=(
            r"\mathcal L\le V\exp\left(-C_0T\left(1-\frac{2L_{\max}}{L_{\max}+\exp(C_1t)}\right)\right),\quad "
            r"C_0=\frac{\eta_0}{4\lVert W^*_{ov}\rVert^2}"
        ),
        assumptions=bounds.ASSUMPTIONS,
        judgement=Bounded(
            measure=partial(stage2_log_loss, first=2),
            upper=InBalls(_log_loss_bound, _log_loss_balls),
            first=2,
            largest=_largest_log_loss,
            threshold=_threshold(constants),
            guaranteed=bounds.log_loss,
        ),
        absent=no_direction_kq,
        standing=proved(proof, *sources, hunted=5),
    )
    any_step = refuted_by_long_steps(
        weakest=f"{ORDER_ONE} (ntp.theorem2.loss)",
        hunted=6,
    )
    late = Implication(
        sources=sources,
        condition="the loss is proved to be small before the threshold for t",
        proof=proof,
        unmet=of_sizes(partial(beyond_large_loss, factor=constants.steps2)),
    )
    printed, variant = as_printed_and_for_any_step(claim, any_step, (late,))
    return printed, replace(
        variant,
        instead=(
            r"for steps of any size it is true from the first $t$ beyond its threshold and beyond "
            r"$4(4\log L_{\max}+3.1)\lVert W^*_{kq}\rVert^3/\eta+2\lVert W^*_{kq}\rVert^2$ on "
            "(docs/proofs.md, section 16.6)."
        ),
    )


CLAIMS = (
    *_weight("", PRINTED, hunted=(35, 5)),
    *_weight(".rederived", REDERIVED, hunted=(3, 4)),
    *_loss("", PRINTED),
    *_loss(".rederived", REDERIVED),
)
