"""Proposition 1 of arXiv 2409.17335: stage 1 converges to W*_ov in direction.

Sharper: W_ov lies on the ray of W*_ov from the first step on (`sharp.stage1`).
"""

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from marginaudit.claims.claim import Claim, ProofCondition
from marginaudit.claims.judgements import ALLOWANCE, Bounded, Equal, HiddenConstant
from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.ntp.error_bars import margin_error
from marginaudit.claims.ntp.quantities import SATURATED, direction, no_direction_ov, no_margin, norm
from marginaudit.claims.ntp.random_part import SEED, in_part
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted, sharpened
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.standing import proved
from marginaudit.margins.ntp import Exact
from marginaudit.orders.balls import rounded
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.training.ntp.model.reference import ball

if TYPE_CHECKING:
    import flint


def _not_reached(run: Run) -> str | None:
    """`no_direction_ov`, except that the closed form extends beyond the steps of stage 1."""
    return no_margin(run) if (run.stage1.step >= 2).any() else no_direction_ov(run)


@np.errstate(over="ignore")  # for short embeddings
def _direction_bound(run: Run, t: Steps) -> Steps:
    return np.asarray(12 * np.float64(run.norm_ov) ** 3 * np.log(2 * run.dataset.V) * np.log(t) / (t * run.eta0))


def _log_loss(run: Run) -> Series:
    """log L0 from t = 2 on. The log of each token's log(1 + sum_v exp(-margin)) varies no more than its margins."""
    stage = run.stage1
    kept = stage.step >= 2
    value = stage.log_loss[kept]
    radius = margin_error(run, stage)[kept] + FORMULA_ROUNDING * np.maximum(1, np.abs(value))
    return series(value, radius=radius, step=stage.step[kept], log=True)


PLACE = "section 5.1, Proposition 1; appendix B, Proposition 3"

NORM = Claim(
    id="ntp.prop1.norm",
    source="arXiv 2409.17335, Proposition 1",
    source_words=quoted(
        PLACE,
        "for any t >= 2, we have t eta_0/(2||W*_ov||) <= ||W_ov^(t)|| <= t eta_0",
        "From t = 2 on: the sign before 2 is not legible, and the proof sums from 2.",
    ),
    statement="For t >= 2: t eta0 / (2 ||W*_ov||) <= ||W_ov^(t)|| <= t eta0.",
    formula=r"\frac{t\eta_0}{2\lVert W^*_{ov}\rVert}\le\lVert W_{ov}^{(t)}\rVert\le t\eta_0,\quad t\ge 2",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Bounded(
        measure=lambda run: norm(run.stage1, first=2),
        lower=lambda run, t: t * run.eta0 / (2 * run.norm_ov),
        upper=lambda run, t: t * run.eta0,
        first=2,
    ),
    absent=_not_reached,
    standing=proved("docs/proofs.md#131-ntpprop1norm", "sharp.stage1", hunted=178),
)

DIRECTION = Claim(
    id="ntp.prop1.direction",
    source="arXiv 2409.17335, Proposition 1",
    source_words=quoted(
        PLACE,
        "the following bound holds: <W_ov^(t)/||W_ov^(t)||, W*_ov/||W*_ov||> >= 1 - 12||W*_ov||^3 log(2|V|) log "
        "t/(t eta_0)",
        "O(log t/t) has the constant of the last line of the proof, 12 ||W*_ov||^3 log(2V)/eta0, from t = 2 on.",
    ),
    statement="For t >= 2: 1 - cos(W_ov^(t), W*_ov) <= 12 ||W*_ov||^3 log(2V) log t / (t eta0).",
    formula=(
        r"1-\cos\left(W_{ov}^{(t)},W^*_{ov}\right)\le"
        r"\frac{12\lVert W^*_{ov}\rVert^3\log(2V)\log t}{t\eta_0},\quad t\ge 2"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Bounded(
        measure=lambda run: direction(run.stage1, run.ov.optimal().direction_radius, first=2),
        upper=_direction_bound,
        first=2,
        largest=2.0,
    ),
    absent=_not_reached,
    proof_uses=(ProofCondition("2 eta0 <= ||W*_ov||", lambda run: 2 * run.eta0 <= run.norm_ov),),
    standing=proved("docs/proofs.md#132-ntpprop1direction", "sharp.stage1", hunted=140),
)

LOSS = Claim(
    id="ntp.prop1.loss",
    source="arXiv 2409.17335, Proposition 1",
    source_words=quoted(
        "section 5.1, Proposition 1",
        "the loss function L_0 satisfies that L_0(W_ov^(t)) <= O(exp(-eta_0 t/(4||W*_ov||^2)))",
        "O(.) hides one constant for every t, which is the data's own: what is proved is C = V (V-1), and no constant "
        "serves every vocabulary.",
        reconstructed="the power of ||W*_ov|| in the exponent, 1 or 2: 2 is taken",
    ),
    statement="L0(W_ov^(t)) <= C exp(-eta0 t / (4 ||W*_ov||^2)) for every t, with a constant C that the data may set.",
    formula=r"L_0(W_{ov}^{(t)})\le O\left(\exp\left(-\frac{\eta_0 t}{4\lVert W^*_{ov}\rVert^2}\right)\right)",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=HiddenConstant(
        measure=_log_loss,
        shape=lambda run, t: -run.eta0 * t / (4 * run.norm_ov**2),
        # once the margin t eta0 / ||W*|| dominates log V
        regime=lambda run: (SATURATED + np.log(run.dataset.V)) * run.norm_ov / run.eta0,
    ),
    absent=_not_reached,
    standing=proved("docs/proofs.md#133-ntpprop1loss", "sharp.stage1", hunted=165),
)

BITS = 128
MOST_TOKENS = 20
"""Most tokens of a comparison. A random subset replaces a larger set."""


def _on_the_ray(run: Run) -> list[int]:
    """Steps t for checking the next step: 0, powers of ten, and the last."""
    last = max(0, run.config.steps1 - 1)
    return sorted({0, last, *(10**k for k in range(len(str(last))) if 10**k <= last)})


def bent(run: Run, t: int) -> "flint.arb":
    """Relative distance of -grad L0 at W = t eta0 W*/||W*|| from a multiple of W*, by eq. 5 in ball arithmetic.

    The largest relative difference of two entrywise factors. Beyond `MOST_TOKENS` tokens, a random subset of the
    columns is compared.
    """
    import flint

    solution, V = run.ov.exact().weights_exact, run.dataset.V
    n, words = run.dataset.collocation.require_function(), list(run.dataset.vocabulary)
    if V > MOST_TOKENS:
        words = [words[i] for i in np.random.default_rng(SEED).choice(V, MOST_TOKENS, replace=False)]
    reached = t * flint.arb(run.eta0) / flint.arb(V - 1).sqrt()
    zero, factors = Fraction(0), []
    for x in words:
        column = solution[x]
        own, others = column.get(n[x], zero), Counter(column.get(v, zero) for v in run.dataset.vocabulary if v != n[x])
        odds = {entry: (-reached * ball(own - entry)).exp() for entry in others}
        total = sum((count * odds[entry] for entry, count in others.items()), flint.arb(0))
        factors += [-odds[entry] / (1 + total) / ball(entry) for entry in others]
        factors.append(total / (1 + total) / ball(own))
    return max((abs(factor / factors[0] - 1) for factor in factors), key=lambda ball: float(ball.abs_upper()))


def _steps_from_the_ray(run: Run) -> tuple[list[float], list[float], list[str]]:
    """`bent` with radii: 0 if each step from the ray stays on the ray, so that by induction W never leaves it.

    Empty if W*_ov is not known exactly, as for tokens that are not orthonormal.
    """
    import flint

    values: list[float] = []
    radii: list[float] = []
    labels: list[str] = []
    if not isinstance(run.ov, Exact):
        return values, radii, labels
    for t in _on_the_ray(run):
        digits = int(np.log2(1 + t * run.eta0)) + 1
        with flint.ctx.workprec(BITS + 2 * digits):
            value, radius = rounded(bent(run, t))
        values.append(value)
        radii.append(radius)
        labels.append(f"step from the ray at t = {t}")
    return values, radii, labels


@once_a_run
def _stage1(run: Run) -> Series:
    """Bend of a step from the ray, ||W_ov^(t)||/(t eta0) and the distance of the unit vectors; A; ||W*_ov||^2.

    Norm and direction of single steps are used only where rounding stays small: errors along the ray do not grow, but
    steps longer than about 2 amplify those off it.
    """
    stage, training = run.training.stage1, run.training
    values, radius, labels = _steps_from_the_ray(run)
    kept = (stage.step >= 1) & (stage.distance_error <= ALLOWANCE / 2) & (stage.method == "steps")
    step, off = stage.step[kept], stage.distance_error[kept]
    values += [*stage.distance[kept], *(stage.norm[kept] / (step * run.eta0) - 1)]
    radius += [*off, *(off + FORMULA_ROUNDING)]
    labels += [*(f"direction at t = {t}" for t in step), *(f"norm at t = {t}" for t in step)]
    if run.config.steps1:
        margin = run.config.steps1 * run.eta0 / run.norm_ov
        values += [training.margin / margin - 1, training.margin_spread / margin]
        radius += [training.margin_error / margin + FORMULA_ROUNDING] * 2
        labels += ["common margin A", "spread of the margins"]
    values.append(run.ov.optimal().norm_squared / (run.dataset.V - 1) - 1)
    radius.append(FORMULA_ROUNDING)
    labels.append("||W*_ov||^2")
    return series(values, radius=radius, label=tuple(labels))


STAGE1 = Claim(
    id="sharp.stage1",
    source="marginaudit, a sharper form of arXiv 2409.17335, Proposition 1 and Corollary 1",
    source_words=sharpened(
        "ntp.prop1.direction", "Stage 1 does not approach the direction of W*_ov: it is on it from the first step on."
    ),
    statement=(
        "Zero start, orthonormal tokens: W_ov^(t) = t eta0 W*_ov/||W*_ov|| for all t >= 1; ||W*_ov||^2 = V - 1; common "
        "margin T eta0/||W*_ov||. Audited as relative differences from 0: by how much a step from t eta0 "
        "W*_ov/||W*_ov|| is not along W*_ov (so that by induction none leaves the ray), and the quantities themselves."
    ),
    formula=(
        r"W_{ov}^{(t)}=t\eta_0\frac{W^*_{ov}}{\lVert W^*_{ov}\rVert},\quad\lVert W^*_{ov}\rVert^2=V-1,\quad "
        r"A=\frac{T\eta_0}{\lVert W^*_{ov}\rVert}"
    ),
    assumptions=("collocation", *ASSUMPTION_2),
    judgement=Equal(
        measure=_stage1,
        expected=lambda run: series(np.zeros(len(_stage1(run))), radius=0.0),
        scale=lambda _: np.array(1.0),
        note=lambda run: in_part(min(MOST_TOKENS, run.dataset.V), run.dataset.V, "tokens"),
    ),
    absent=no_margin,
    standing=proved("docs/proofs.md#1-sharpstage1", "ntp.gradient.ov", hunted=104),
)

CLAIMS = (NORM, DIRECTION, LOSS, STAGE1)
