"""Lemma 7 of arXiv 2409.17335: the descent direction of stage 2 is nearly W*_kq.

The sharper one has log(2 L_max^3/pi_min) in place of N L_max^2, from the first step on.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Decided, Threshold
from marginaudit.claims.judgements.bounded import LAST_DECADE, Steps
from marginaudit.claims.ntp.bounds import ASSUMPTIONS, UNEVEN, Sizes, of_sizes, root_two
from marginaudit.claims.ntp.error_bars import EPS, state_error
from marginaudit.claims.ntp.quantities import no_stage2
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted, rederived, sharpened
from marginaudit.claims.series import FORMULA_ROUNDING, Series, by_formula, series
from marginaudit.claims.standing import Implication, Severity, Weight, proved, refuted
from marginaudit.claims.verdict import Finding, Verdict
from marginaudit.margins.ntp import Exact
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp.assumptions import SETTING

INEQUALITY = "<grad Loss, W^(t)> >= (1 + a_t) (||W^(t)||/||W*_kq||) <grad Loss, W*_kq>"
AUDITED_AS = "Audited as a bound on the cosine of the descent direction with W^(t) minus that with W*_kq."
FORMULA = (
    r"\left\langle\nabla\mathcal L,W^{(t)}\right\rangle\ge(1+a_t)\frac{\lVert W^{(t)}\rVert}"
    r"{\lVert W^*_{kq}\rVert}\left\langle\nabla\mathcal L,W^*_{kq}\right\rangle,\quad a_t="
)


Allowed: TypeAlias = Callable[[Run, Floats], Floats]
"""Function from a run and norms ||W|| to the a_t ||W|| of a lemma."""


def _beyond_along(run: Run) -> Floats:
    """||W|| - s at each record, without cancellation for large s.

    With al = <rho, What>, u = rho - al What and c = s + al = <W, What>: al + |u|^2 / (||W|| + c). In embedding space,
    where the record holds scores in place of weights, s stays small enough to subtract.
    """
    stage = run.training.stage2
    if run.training.form == "embedding space":
        return np.asarray(stage.norm - stage.along)
    al = stage.rest @ stage.reference
    across = np.linalg.norm(stage.rest - np.outer(al, stage.reference), axis=1)
    c = stage.along + al
    return np.where(c > 0, al + across**2 / np.where(c > 0, stage.norm + c, 1.0), stage.norm - stage.along)


def _with_gradient(run: Run) -> NDArray[np.bool_]:
    """Records from t = 1 on with a gradient and nonzero W."""
    stage = run.training.stage2
    return np.asarray((stage.step >= 1) & np.isfinite(stage.descent_reference) & (stage.norm > 0))


def _lead(run: Run, allowed: Allowed) -> Series:
    """cos(d, W) - cos(d, W*), d = -grad Loss, from t = 1 on; Lemma 7 bounds it by a_t cos(d, W*).

    <d, W> / ||d|| = s g + r, with g = <d, What> / ||d|| and r = <d, rho> / ||d||; so it is
    (r - (||W|| - s) g) / ||W||, without a cancellation of terms of size s.

    Error. W is off by e, which turns d by at most e times the Lipschitz constant of the unit gradient. Under
    Assumptions 1-3 that is below (7 + A) ||W*||: with f_j >= 0 the fluxes of all sentences, ||grad|| >= sum f /
    ||W*||, and moving W by a unit changes the vector of fluxes by at most (sqrt2 + 2 sqrt2 + A / sqrt2) sum f: the
    attention of the token itself, the differences phi_o - phi_z, the probabilities. The bar includes the effect on the
    right side. Enclosed records have d to rounding, for any A.
    """
    stage = run.training.stage2
    kept = _with_gradient(run)
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


def lead_bound(allowed: Allowed) -> Bounded:
    """cos(d, W) - cos(d, W*) <= a_t cos(d, W*), from t = 1 on."""
    return Bounded(
        measure=partial(_lead, allowed=allowed),
        upper=lambda run, t: allowed(run, _norm_at(run, t)) / _norm_at(run, t) * _cos_at(run, t),
        largest=largest_lead,
    )


def _norm_at(run: Run, t: Steps) -> Steps:
    """||W^(t)||: recorded, interpolated, and beyond the record extrapolated by its eventual growth of eta per step."""
    stage = run.training.stage2
    beyond = np.maximum(0.0, t - float(stage.step[-1]))
    return np.asarray(np.interp(t, stage.step, stage.norm) + run.eta * beyond)


def _cos_at(run: Run, t: Steps) -> Steps:
    """cos(d, W*): recorded, interpolated, and constant beyond the record."""
    stage, kept = run.training.stage2, _with_gradient(run)
    return np.asarray(np.interp(t, stage.step[kept], stage.descent_reference[kept]))


def sharp_allowed(run: Run, norm: Floats) -> Floats:
    """a_t ||W|| of `sharp.lemma7`: ||W*|| log(2 L_max^3 / pi_min)."""
    counts = run.dataset.counts
    logarithm = math.log(2 * run.dataset.L_max**3) + math.log(sum(counts)) - math.log(min(counts))
    return np.full_like(norm, run.norm_kq * logarithm)


def largest_lead(run: Run) -> float:
    """1 - 1/(sqrt2 ||W*||): cos(d, W) is at most 1, and cos(d, W*) at least 1/(sqrt2 ||W*||), as in `sharp.lemma6`.

    Written as (2 ||W*||^2 - 1) / (sqrt2 ||W*|| (sqrt2 ||W*|| + 1)), which is exactly 0 for one relation. The rounding
    error of 1 - 1 would exceed the bounds of long steps.
    """
    solution = run.kq.optimal()
    square = 2 * (solution.norm_squared_exact if isinstance(solution, Exact) else Fraction(solution.norm_squared))
    root = math.sqrt(square)
    return float(square - 1) / (root * (root + 1))


def _lost(run: Run, allowed: Allowed, start: float, first: int, what: str) -> Finding:
    """Finding if float64 loses ``what`` from record ``first`` on: vacuous if the bound still is, or inconclusive.

    ||W|| <= t eta and cos(d, W*) >= 1/(sqrt2 ||W*||) give a lower bound on the bound.
    """
    detail = f"From t = {int(run.training.stage2.step[first])} on rounding hides {what}."
    t = np.array([t for t in run.training.stage2.step if t >= max(1.0, start)], dtype=float)
    farthest = t * run.eta
    least = by_formula(allowed(run, farthest) / farthest / (math.sqrt(2) * run.norm_kq))
    if len(t) and not run.departs and (least.lower >= largest_lead(run)).all():
        return Finding(
            Verdict.VACUOUS,
            detail=f"{detail} The bound is vacuous in any case: ||W|| is at most t eta, and the descent "
            "direction's cosine with W*_kq at least 1/(sqrt2 ||W*_kq||).",
        )
    return Finding(Verdict.INCONCLUSIVE, detail=detail)


def decide_lemma7(run: Run, allowed: Allowed, threshold: Callable[[Run], float] | None) -> Finding:
    """Decide <d, W> <= (||W|| + a_t ||W||) <d, What>, d = -grad Loss, from the threshold on.

    If the run ends before the threshold: `sharp.lemma7` is proved for every t >= 1, and decides if its a_t is below
    this one's for every later ||W||. By `sharp.lemma6`, ||W|| >= t eta / (sqrt2 ||W*||).
    """
    bounded = lead_bound(allowed)
    stage, start = run.training.stage2, 1.0 if threshold is None else threshold(run)
    lost = (stage.step >= 1) & ~_with_gradient(run)
    if lost.any():
        return _lost(run, allowed, start, first=int(np.argmax(lost)), what="the gradient")
    every = bounded.judge(run)
    if every.verdict is Verdict.INCONCLUSIVE and not stage.known.all():
        beyond_reach = _lost(run, allowed, start, first=int(np.argmin(stage.known)), what="W_kq")
        if beyond_reach.verdict is Verdict.VACUOUS:
            return beyond_reach
    if threshold is None:
        return every
    found = replace(bounded, threshold=lambda _: Threshold(start)).judge(run)
    if stage.step[-1] >= start:
        first = "" if every.first_violation is None else f" from t = {every.first_violation}"
        detail = f"{found.detail} Without the threshold t >= {start:.4g}: {every.verdict}{first}."
        return replace(found, detail=detail)
    if not _above_the_sharp_one(run, allowed, start):
        return found
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


def _above_the_sharp_one(run: Run, allowed: Allowed, start: float) -> bool:
    """Whether the a_t is proved to be at least that of `sharp.lemma7` at every later norm of W."""
    norm = np.geomspace(start * run.eta / (np.sqrt(2) * run.norm_kq), 10.0**LAST_DECADE, 400)
    proved = all(run.assumption(name).holds for name in ASSUMPTIONS) and not run.departs
    return proved and bool((sharp_allowed(run, norm) <= allowed(run, norm)).all())


def lemma7_threshold(run: Run) -> float:
    """8 L_max ||W*_kq||^2 / eta."""
    return float(8 * run.dataset.L_max * run.norm_kq**2 / run.eta)


def _printed_allowed(run: Run, norm: Floats) -> Floats:
    data = run.dataset
    return np.asarray(4 * data.N * data.L_max**2 * run.norm_kq**2 * (1 + np.log(2 * data.L_max * norm)))


def _rederived_allowed(run: Run, norm: Floats) -> Floats:
    return _printed_allowed(run, norm) / (run.dataset.N * float(run.dataset.smallest_frequency))


def above_the_sharp_lemma7(at: Sizes) -> str | None:
    """Reason why Lemma 7's a_t may not exceed that of `sharp.lemma7` beyond its threshold, or None: section 14.4."""
    least = 4 * root_two() * at.L * at.w
    enough = at.rarity <= 4 * at.N * at.L**2 * at.w * (1 + (2 * at.L * least).log())
    return None if enough else "the a_t of sharp.lemma7 is not below the printed one"


def _claim(suffix: str, words: str, latex: str, allowed: Allowed) -> Claim:
    """Claim of Lemma 7 with ``words``, in LaTeX ``latex``, as the factor for the number of samples."""
    return Claim(
        id=f"ntp.lemma7{suffix}",
        source="arXiv 2409.17335, Lemma 7",
        statement=(
            f"For t >= 8 L_max ||W*_kq||^2 / eta: {INEQUALITY}, a_t = (4 {words} L_max^2 ||W*_kq||^2 / ||W^(t)||) "
            f"(1 + log(2 L_max ||W^(t)||)). {AUDITED_AS}"
        ),
        formula=(
            FORMULA + r"\frac{4" + latex + r"L_{\max}^2\lVert W^*_{kq}\rVert^2}{\lVert W^{(t)}\rVert}"
            r"\left(1+\log(2L_{\max}\lVert W^{(t)}\rVert)\right)"
        ),
        assumptions=ASSUMPTIONS,
        judgement=Decided(partial(decide_lemma7, allowed=allowed, threshold=lemma7_threshold), kind="upper bound"),
        absent=no_stage2,
    )


PRINTED = replace(
    _claim("", "N", "N", _printed_allowed),
    source_words=quoted(
        "appendix C.4, Lemma 7",
        "for any t >= t_0, we have <grad L(theta^(t)), W_kq^(t)> >= (1 + alpha_t) ||W_kq^(t)||/||W*_kq|| <grad "
        "L(theta^(t)), W*_kq>",
        reconstructed="the least t and a_t, which are taken from the proof",
    ),
    setting=SETTING,
    standing=refuted(
        "docs/proofs.md#145-ntplemma7-is-false-for-extremely-uneven-frequencies",
        "sharp.lemma6",
        severity=Severity.EXTREME,
        weight=Weight.STEP,
        cause="ntp.theorem1.direction",
        wrong="Lemma 7's a_t needs 1/pi_min where it has N: the proof weighs a frequent sample against a rare one.",
        defence="True at every realistic frequency: log(1/pi_min) up to about N L_max^2 is enough.",
        hunted=1,
        formula=UNEVEN.format(least="5000"),
        weakest=(
            "log(2 L_max^3/pi_min) <= 4 N L_max^2 ||W*_kq|| (1 + log(2 L_max r)) at r = 4 sqrt(2) L_max ||W*_kq||, the "
            "least norm beyond the threshold (docs/proofs.md, section 14.4)"
        ),
        relied_on_by=("ntp.theorem1.direction",),
        remains="sharp.lemma7 telescopes to sharp.theorem1.",
    ),
    implications=(
        Implication(
            sources=("sharp.lemma6", "sharp.lemma7"),
            condition="its a_t is below the printed one at the least norm beyond the threshold, and so at every "
            "larger one",
            proof="docs/proofs.md#144-ntplemma7-where-the-sharp-one-is-below-it",
            unmet=of_sizes(above_the_sharp_lemma7),
        ),
    ),
    instead=r"with $1/\pi_{\min}$ in the place of $N$ it is true (ntp.lemma7.rederived), by sharp.lemma7.",
)

REDERIVED = replace(
    _claim(".rederived", "(1/pi_min)", r"\,\pi_{\min}^{-1}", _rederived_allowed),
    source_words=rederived(
        "ntp.lemma7",
        "1/pi_min in place of N: the proof weighs a frequent sample against a rare one as if they were even.",
    ),
    standing=proved("docs/proofs.md#143-ntplemma7rederived", "sharp.lemma6", "sharp.lemma7", hunted=4),
)

SHARP = Claim(
    id="sharp.lemma7",
    source="marginaudit, a sharper form of arXiv 2409.17335, Lemma 7",
    source_words=sharpened("ntp.lemma7", "From the first step on, with log(2 L_max^3/pi_min) in place of N L_max^2."),
    statement=(f"For t >= 1: {INEQUALITY}, a_t = ||W*_kq|| log(2 L_max^3 / pi_min) / ||W^(t)||. {AUDITED_AS}"),
    formula=FORMULA + r"\frac{\lVert W^*_{kq}\rVert\log(2L_{\max}^3/\pi_{\min})}{\lVert W^{(t)}\rVert}",
    assumptions=ASSUMPTIONS,
    judgement=Decided(partial(decide_lemma7, allowed=sharp_allowed, threshold=None), kind="upper bound"),
    absent=no_stage2,
    standing=proved("docs/proofs.md#6-sharplemma7", "ntp.lemma5", hunted=10),
)

CLAIMS = (PRINTED, REDERIVED, SHARP)
