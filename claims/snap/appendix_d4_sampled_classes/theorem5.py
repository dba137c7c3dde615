"""Theorem 5 of arXiv 2305.16380: Y in closed form."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Equal, HiddenConstant, Parts
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.series import Series
from marginaudit.claims.snap.appendix_d4_sampled_classes.decoder import (
    OF_SGD,
    descended_run,
    entries,
    leading,
    rows_at,
    size_of,
)
from marginaudit.claims.snap.appendix_d4_sampled_classes.quantiles import (
    DELTAS,
    deviation_shape,
    largest_theta,
    quantile_along,
)
from marginaudit.claims.snap.conditions import (
    RANGE_R,
    THEOREM_5,
    first_of,
    no_growth,
    no_inverse,
    one_class,
    outside_range_r,
)
from marginaudit.claims.snap.readings import H_STAR, PAGE, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Implication, Severity, proved, refuted
from marginaudit.training.snap.balls.coefficients import enclosures, inverse_gram, rows_of
from marginaudit.training.snap.limit.fluctuation import FluctuationLaw, fluctuation, stepped_fluctuation

PROOF = PAGE + "25-snaptheorem5rederived"

SMALL_STEPS = "eta_Y <= 1 and K >= 2: the constant is 6"


def large_steps(run: ClassRun) -> str | None:
    """Reason why theta's constant 6 is not proved, or None."""
    return one_class(run) or (None if run.eta_Y <= 1 else "eta_Y is above 1")


def trained(run: ClassRun) -> Series:
    """Coefficients of Y in f_1 .. f_K after SGD with the modified gradient, step by step."""
    return entries(run, descended_run(run))


def closed_form(run: ClassRun, law: FluctuationLaw = fluctuation) -> Series:
    """(I-E')(I+Theta) W-bar, rows (M-1) h(N-bar) zeta_n of W-bar, or (M-1) h*(N-bar) zeta_n."""
    at, M = rows_at(run, law), run.M
    [h] = enclosures(at.mean.h)
    grown = [(1 + theta) * h for theta in enclosures(at.theta)]
    return entries(run, inverse_gram(run.overlap) * rows_of(grown, M))


def _with_steps(run: ClassRun) -> Series:
    return closed_form(run, stepped_fluctuation)


def thetas(run: ClassRun, delta: float, law: FluctuationLaw) -> Series:
    """The (1-delta)-quantile of max |theta_n|, along N."""
    step, found = largest_theta(run, law)
    return quantile_along(step, found, delta)


def explicit(delta: float) -> Callable[[ClassRun, NDArray[np.float64]], NDArray[np.float64]]:
    """(sqrt((N/2) ln(2K/delta)) + 1)/N-bar."""
    return lambda run, N: np.asarray((np.sqrt(N / 2 * np.log(2 * run.K / delta)) + 1) / np.ceil(N / run.K))


THEOREM5_STATEMENT = (
    "{where} after N >> K^2 steps of eq. 26 from zero Y = F(I-E')(I+Theta) W-bar(N), rows (M-1) h(ceil(N/K)) zeta_n of "
    "W-bar, {h}, and with probability 1 - delta every |theta_n| is at most of the order of K/sqrt(N) "
    f"sqrt(ln(K/delta)); {OF_SGD}."
)


def _theorem5(expected: Callable[[ClassRun], Series], law: FluctuationLaw) -> Parts:
    return Parts(
        {
            "Eq. 70": Equal(measure=trained, expected=expected, scale=size_of(expected)),
            **{
                f"Theta, delta = {delta:g}": HiddenConstant(
                    measure=partial(thetas, delta=delta, law=law), shape=deviation_shape(delta, per_class=False)
                )
                for delta in DELTAS
            },
        },
        note=leading,
    )


THEOREM5 = Claim(
    id="snap.theorem5",
    source=f"{SOURCE}, Theorem 5, eq. 70",
    statement=THEOREM5_STATEMENT.format(where="Range R:", h="h standing for h*"),
    formula=r"Y=F(I-E')(I+\Theta)\overline W(N),\qquad \lvert\theta_n\rvert\lesssim"
    r"\frac{K}{\sqrt N}\sqrt{\ln\frac K\delta}",
    assumptions=(*THEOREM_5, RANGE_R),
    judgement=_theorem5(_with_steps, stepped_fluctuation),
    absent=outside_range_r,
    standing=proved(PAGE + "27-snaplemma12-and-snaptheorem5", "snap.lemma12", "snap.theorem5.rederived", hunted=7),
    source_words=quoted(
        "appendix D.4, Theorem 5, eq. 70",
        "Y = .. F(I - E')(I + Theta)W-bar(N) .. with probability at least 1 - delta we have |theta_i| <~ "
        "(K/sqrt(N)) sqrt(ln(K/delta))",
        f'{H_STAR} N >= 10 K^2. "Less than about" is an unknown constant.',
    ),
)

THEOREM5_ANY_STEP = variant(
    THEOREM5,
    "any-step",
    "At any step size, and with the continuous h.",
    source=f"{SOURCE}, Theorem 5, eq. 70, without the sentence after Remark 2",
    statement=THEOREM5_STATEMENT.format(where="At any eta_Y,", h="h the continuous one of Lemma 6"),
    assumptions=THEOREM_5,
    judgement=_theorem5(closed_form, fluctuation),
    absent=lambda _: None,
    instead=(
        r"With $h^*$ for $h$ in $\bar W$ it is true at every step size, with explicit constants: "
        r"snap.theorem5.rederived (docs/proofs-snap.md section 2.5). With $h$ the largest $\theta_n$ is at least "
        r"$h^*(\bar N)/h(\bar N)-1$, whatever is drawn, and the printed order is true exactly as far as this is of "
        r"that order: for $\eta_Y=O(1)$. At $\eta_Y=100$ and $M=5000$ it is at least 1 up to $\bar N=10^{16}$."
    ),
    standing=refuted(
        PROOF,
        "snap.theorem5.rederived",
        severity=Severity.EXTREME,
        cause="snap.lemma12.any-step",
        wrong="At step sizes such as 100 the recursion h* is long far ahead of the continuous h.",
        hunted=10,
        settings={"lr_y": 100.0},
        weakest=SMALL_STEPS,
    ),
    implications=(
        Implication(
            sources=("snap.lemma12.rederived", "snap.lemma6"),
            condition=SMALL_STEPS,
            proof=PAGE + "59-snaptheorem5any-step-for-small-step-sizes",
            unmet=large_steps,
        ),
    ),
)

THEOREM5_REDERIVED = Claim(
    id="snap.theorem5.rederived",
    source="docs/proofs-snap.md, for arXiv 2305.16380, Theorem 5",
    statement=(
        "After N steps of eq. 26 from zero, at any eta_Y, Y = F(I-E')(I+Theta*) W*(N), rows (M-1) h*(ceil(N/K)) zeta_n "
        "of W*; uniform classes: with probability at least 1 - delta every |theta*_n| is at most (sqrt((N/2) "
        "ln(2K/delta)) + 1)/ceil(N/K). Audited at N >> K^2."
    ),
    formula=r"Y=F(I-E')(I+\Theta^*)W^*(N),\qquad \lvert\theta^*_n\rvert\le\frac{1}{\lceil N/K\rceil}"
    r"\left(\sqrt{\frac N2\ln\frac{2K}\delta}+1\right)",
    assumptions=("uniform_classes",),
    judgement=Parts(
        {
            "Eq. 70 with h*": Equal(measure=trained, expected=_with_steps, scale=size_of(_with_steps)),
            **{
                f"Theta*, delta = {delta:g}": Bounded(
                    measure=partial(thetas, delta=delta, law=stepped_fluctuation), upper=explicit(delta)
                )
                for delta in DELTAS
            },
        },
        note=leading,
    ),
    absent=first_of(no_inverse, no_growth),
    standing=proved(PROOF, "snap.lemma5", "snap.lemma10.rederived", hunted=38),
    source_words=rederived("snap.theorem5", "At any step size, with h* for h and every constant known."),
)

CLAIMS: tuple[Claim, ...] = (THEOREM5, THEOREM5_ANY_STEP, THEOREM5_REDERIVED)
