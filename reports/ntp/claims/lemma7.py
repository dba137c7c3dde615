"""Lemma 7 of arXiv 2409.17335: the descent direction of stage 2 is nearly that of W*_kq."""

from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Decided
from marginaudit.reports.ntp.ball_bounds import UNEVEN, Sizes, of_sizes, root_two
from marginaudit.reports.ntp.quantities import no_stage2
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.sharper.lemma7 import ASSUMPTIONS, AUDITED_AS, FORMULA, INEQUALITY, Allowed, decide_lemma7
from marginaudit.reports.source_words import corrected, quoted
from marginaudit.reports.standing import Implication, Severity, proved, refuted

Floats: TypeAlias = NDArray[np.float64]


def lemma7_threshold(run: Run) -> float:
    """8 L_max ||W*_kq||^2 / eta."""
    return float(8 * run.dataset.L_max * run.norm_kq**2 / run.eta)


def _printed_allowed(run: Run, norm: Floats) -> Floats:
    data = run.dataset
    return np.asarray(4 * data.N * data.L_max**2 * run.norm_kq**2 * (1 + np.log(2 * data.L_max * norm)))


def _rederived_allowed(run: Run, norm: Floats) -> Floats:
    return _printed_allowed(run, norm) / (run.dataset.N * float(run.dataset.smallest_frequency))


def above_the_sharp_lemma7(at: Sizes) -> str | None:
    """Why the a_t of Lemma 7 is not above that of `sharp.lemma7` beyond its threshold, or None: section 14.4."""
    least = 4 * root_two() * at.L * at.w
    enough = at.rarity <= 4 * at.N * at.L**2 * at.w * (1 + (2 * at.L * least).log())
    return None if enough else "the a_t of sharp.lemma7 is not below the printed one"


def _claim(suffix: str, words: str, latex: str, allowed: Allowed) -> Claim:
    """Lemma 7 with ``words``, in LaTeX ``latex``, as the factor that counts samples."""
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
    standing=refuted(
        "docs/proofs.md#145-ntplemma7-is-false-for-extremely-uneven-frequencies",
        "sharp.lemma6",
        severity=Severity.EXTREME,
        wrong="Its factor N counts samples however rare they are: with two of very uneven frequency it is too small.",
        hunted=9,
        formula=UNEVEN.format(least="2000"),
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
    source_words=corrected(
        "ntp.lemma7",
        "1/pi_min in place of N: the proof weighs a frequent sample against a rare one as if they were even.",
    ),
    standing=proved("docs/proofs.md#143-ntplemma7rederived", "sharp.lemma6", "sharp.lemma7", hunted=4),
)

CLAIMS = (PRINTED, REDERIVED)
