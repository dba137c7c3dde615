"""Corollary 1 of arXiv 2305.16380: the rate of decay of the residuals e_n - alpha_n."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import Bounded, Equal, HiddenConstant, Parts
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series
from marginaudit.claims.snap.appendix_d4_sampled_classes.corollary1_steps import (
    LARGE_M,
    along_M,
    along_rate,
    along_residual,
    covered,
    first_covered,
    largest_residual,
    least_for_any,
    rate,
    steps_enough,
    undrawn,
)
from marginaudit.claims.snap.appendix_d4_sampled_classes.decoder import (
    OF_SGD,
    entries,
    leading,
    residuals,
    rows_at,
    size_of,
)
from marginaudit.claims.snap.appendix_d4_sampled_classes.enough_steps import MAY_BE_UNDRAWN, enough, no_transition
from marginaudit.claims.snap.appendix_d4_sampled_classes.quantiles import (
    DELTAS,
    deviation_shape,
    first_sigma,
    quantile_along,
)
from marginaudit.claims.snap.chances import Chances, Missed, chances, rarely
from marginaudit.claims.snap.conditions import RANGE_R, THEOREM_5, first_of, no_inverse, one_class, outside_range_r
from marginaudit.claims.snap.readings import H_STAR, PAGE, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.snap.balls.coefficients import enclosures, rows_of
from marginaudit.training.snap.counts.binomial import Interval
from marginaudit.training.snap.counts.mean_counts import lagging, like_share, means
from marginaudit.training.snap.limit.fluctuation import FluctuationLaw, fluctuation, stepped_fluctuation
from marginaudit.training.snap.limit.recursion import h_star

PROOF = PAGE + "28-snapcorollary1"

REDERIVED_PROOF = PAGE + "26-snapcorollary1rederived"

NEAR, LATE = 0.3, 5
"""Distance of the counts from N-bar, and the constant at that distance (docs/proofs-snap.md, section 2.6)."""

EARLY_STEPPED, LATE_STEPPED = 10.4, 52
"""Constants of both printed bounds on sigma (docs/proofs-snap.md, section 2.8)."""


def eq_71(run: ClassRun, law: FluctuationLaw) -> Series:
    """(M-1)/(M-1+exp(M h(N-bar))) (1+sigma_n) zeta_n of each class, h of the law."""
    at, M = rows_at(run, law), run.M
    [share] = enclosures(at.mean.share)
    left = [(1 + sigma) * share for sigma in enclosures(at.sigma)]
    return entries(run, rows_of(left, M))


def _eq71(law: FluctuationLaw) -> Equal:
    expected = partial(eq_71, law=law)
    return Equal(measure=residuals, expected=expected, scale=size_of(expected))


def sigmas(run: ClassRun, delta: float, *, late: bool, any_delta: bool = False) -> Series:
    """(1-delta)-quantile of |sigma| of a class along N, with h for h*. All classes have the same distribution.

    Raises
    ------
    BeyondTheRun
        The run records no N that the statement covers.
    """
    step, found = first_sigma(run, stepped_fluctuation)
    kept = step >= (late_from(run, delta, step) if late else 0)
    if not any_delta:
        kept &= covered(step, run.K, delta)
    if not kept.any():
        also = " and N >> K(sqrt(N ln(1/delta)) + 2(1+omega_1) ln M/eta_Y)" if late else ""
        raise BeyondTheRun(f"N-bar >> Delta{also} is not met by t = {step[-1]}")
    return quantile_along(step[kept], found[:, kept], delta)


def late_from(run: ClassRun, delta: float, N: NDArray[np.int64]) -> NDArray[np.float64]:
    """10 (K sqrt(N ln(1/delta)) + t_0), t_0 = 2 K (1+omega_1) ln M/eta_Y the start of the snap."""
    return np.asarray(MUCH_GREATER * (run.K * np.sqrt(N * np.log(1 / delta)) + run.snap_start))


def growing(delta: float) -> Callable[[ClassRun, NDArray[np.float64]], ArrayLike]:
    """eta_Y sqrt(N ln(1/delta))."""
    return lambda run, N: run.eta_Y * np.sqrt(N * np.log(1 / delta))


@once_a_run
def sigma_beyond(run: ClassRun, *, late: bool) -> Chances:
    """Probability of sigma_n = g(N_n + lag)/g(N-bar) - 1 beyond eta_Y R or, late, 5 R/N-bar, R as in the statement."""
    at = means(enough(run), run.K, run.M, run.eta_Y)

    def missed(delta: float) -> Missed:
        room = np.sqrt(at.N / 2 * np.log(2 / delta)) + 1
        reached = room <= NEAR * at.mean if late else np.ones(len(at.N), dtype=bool)
        if late:
            reached &= run.K * at.mean >= run.snap_start
        here = at.taken(reached)
        star = lagging(here.N, run.M, run.eta_Y)
        R = room[reached] + star.L
        within = star.counts(like_share(here, LATE * R / here.mean if late else run.eta_Y * R))
        return here.N, within, (f"N = {N}" for N in here.N)

    return chances(run.K, missed)


@once_a_run
def stepped_sigma_beyond(run: ClassRun, *, late: bool) -> Chances:
    """Probability of sigma_n, h* for h, beyond 10.4 eta_Y sqrt(N ln(1/delta)) or, late, 52 K/sqrt(N) sqrt(ln(1/delta)).

    H*(k) is h(k + lag), with a lag that grows with k. The lag ranges over 0 to that of N.
    """
    at = means(enough(run), run.K, run.M, run.eta_Y)
    x = h_star(at.mean.astype(np.int64), run.M, run.eta_Y).level.logit
    least, most = (replace(at, x=end, excess=np.expm1(end)) for end in (x.value - x.error, x.value + x.error))

    def missed(delta: float) -> Missed:
        reached = covered(at.N, run.K, delta)
        if late:
            reached &= late_from(run, delta, at.N) <= at.N
        N = at.N[reached]
        lag = lagging(N, run.M, run.eta_Y).lag
        d = np.sqrt(log(1 / delta) / N) * (LATE_STEPPED * run.K if late else EARLY_STEPPED * run.eta_Y * N)
        small, large = like_share(least.taken(reached), d), like_share(most.taken(reached), d)
        within = Interval((small.widest[0] - lag, large.widest[1]), (large.narrowest[0], small.narrowest[1] - lag))
        return N, within, (f"N = {N}" for N in N)

    return chances(run.K, missed)


def _sigma_parts(*, any_delta: bool) -> dict[str, HiddenConstant]:
    """Both bounds on sigma: the first from the start, the second late."""
    return {
        f"{name}, delta = {delta:g}": HiddenConstant(
            measure=partial(sigmas, delta=delta, late=late, any_delta=any_delta),
            shape=deviation_shape(delta, per_class=True) if late else growing(delta),
        )
        for name, late in (("Sigma", False), ("Late sigma", True))
        for delta in DELTAS
    }


STATEMENT = (
    "{where} h standing for h*, e_n - alpha_n = (M-1)/(M-1+exp(M h(N-bar))) (1+sigma) zeta_n; with probability "
    "1 - delta |sigma| is at most of the order of eta_Y sqrt(N ln(1/delta)), and of K/sqrt(N) sqrt(ln(1/delta)) "
    "for N >> K(sqrt(N ln(1/delta)) + 2(1+omega_1) ln M/eta_Y); all ||e_n - alpha_n|| are at most epsilon after "
    "O(K/(epsilon eta_Y) log(M/epsilon)) steps. Sigma is each class's own; {how}."
)

COROLLARY1 = Claim(
    id="snap.corollary1",
    source=f"{SOURCE}, Corollary 1, eq. 71",
    statement=STATEMENT.format(
        where="Range R, N >> K^2, N-bar = ceil(N/K) >> Delta = ceil(sqrt(N ln(1/delta))):",
        how=f"chances with known constants are exact, and {OF_SGD}",
    ),
    formula=r"e_n-\alpha_n=\frac{M-1}{M-1+\exp(Mh(\overline N))}(1+\sigma)\zeta_n,\qquad "
    r"N(\epsilon)=O\Bigl(\frac{K}{\epsilon\eta_Y}\log\frac M\epsilon\Bigr)",
    assumptions=(*THEOREM_5, RANGE_R),
    judgement=Parts(
        {
            "Eq. 71": _eq71(stepped_fluctuation),
            **_sigma_parts(any_delta=False),
            "The chance of a sigma beyond 10.4 times its order": rarely(partial(stepped_sigma_beyond, late=False)),
            "The chance of a sigma beyond 52 times its order, late": rarely(partial(stepped_sigma_beyond, late=True)),
            "Steps along epsilon": HiddenConstant(
                measure=along_residual, shape=lambda run, x: rate(run, run.M, run.eta_Y, x)
            ),
            "Steps along M": HiddenConstant(
                measure=along_M, shape=lambda run, M: rate(run, M, run.eta_Y, largest_residual(run))
            ),
            "Steps along eta_Y": HiddenConstant(
                measure=along_rate, shape=lambda run, x: rate(run, LARGE_M, 1 / x, largest_residual(run))
            ),
            "Steps for each delta": Bounded(
                measure=lambda run: steps_enough(run, first_covered)[0],
                upper=lambda run, _: steps_enough(run, first_covered)[1],
            ),
        },
        note=leading,
    ),
    absent=outside_range_r,
    standing=proved(PROOF, "snap.corollary1.rederived", "snap.lemma6", "snap.lemma12.rederived", hunted=16),
    source_words=quoted(
        "appendix D.4, Corollary 1, eq. 71; appendix D.1, notation: Delta/N-bar << 1",
        "to let ||x_{T+1} - alpha_n||_2 <= eps .. we need the total number of training epochs to be at most "
        "O((K/(eps eta_Y)) log(M/eps))",
        f'{H_STAR} The notation list (appendix D.1) has "Delta/N-bar .. << 1 since N >> K^2", and the proof combines '
        "Lemma 5 and Lemma 11: N >= 10 K^2 and N-bar >= 10 Delta, by which delta is not too small. It is proved "
        'without Lemma 11\'s eta_Y Delta/3 << ln M. "Less than about" and O(.) are unknown constants, the same for '
        "every delta.",
    ),
)

COROLLARY1_ANY_DELTA = variant(
    COROLLARY1,
    "any-delta",
    "Without Delta << N-bar, at every delta in (0, 1).",
    source=f"{SOURCE}, Corollary 1, eq. 71, without Delta << N-bar",
    statement=STATEMENT.format(where="Range R, N >> K^2, any delta:", how=OF_SGD),
    judgement=Parts(
        {
            **_sigma_parts(any_delta=True),
            "Steps along delta": HiddenConstant(
                measure=undrawn,
                shape=lambda run, x: np.full(len(x), float(rate(run, run.M, run.eta_Y, largest_residual(run)))),
            ),
        }
    ),
    instead=(
        r"The number of steps has no $\delta$ in it, and after $N$ of them a class is undrawn with a chance of "
        r"$(1-1/K)^N$. With $8K\ln(K/\delta)$ steps at least it is true, with explicit constants: "
        "snap.corollary1.rederived (docs/proofs-snap.md section 2.6)."
    ),
    standing=refuted(
        REDERIVED_PROOF,
        "snap.corollary1.rederived",
        severity=Severity.EXTREME,
        wrong="For tiny delta a class may not have been drawn after that many steps, which have no delta in them.",
        defence="The notation list has Delta << N-bar, and with it the statement is true.",
        hunted=1,
        weakest="N-bar >= 10 Delta (snap.corollary1), or 8 K ln(K/delta) steps at least (snap.corollary1.rederived)",
    ),
    implications=(
        contradicts(
            "snap.corollary1.rederived",
            condition=MAY_BE_UNDRAWN,
            proof=REDERIVED_PROOF,
            unmet=one_class,
        ),
    ),
)


COROLLARY1_REDERIVED = Claim(
    id="snap.corollary1.rederived",
    source="docs/proofs-snap.md, for arXiv 2305.16380, Corollary 1",
    statement=(
        "After N steps of eq. 26 from zero e_n - alpha_n = (M-1)/(M-1+exp(M h(N-bar))) (1+sigma_n) zeta_n, N-bar = "
        "ceil(N/K); uniform classes: with probability at least 1 - delta |sigma_n| <= eta_Y R, R = sqrt((N/2) "
        "ln(2/delta)) + 1 + L, L = (exp(eta_Y)/2) ln((M-1+exp(M h*(N)))/M), and <= 5 R/N-bar where R - L <= 0.3 N-bar "
        "and eta_Y N-bar >= 2 (1+omega_1) ln M; and all ||e_n - alpha_n|| <= epsilon < 1 for N >= K max(2 "
        "ceil((1/epsilon + ln(M/epsilon))/eta_Y), 8 ln(K/delta)). Audited at N >> K^2; chances are exact."
    ),
    formula=r"\lvert\sigma_n\rvert\le\eta_YR,\quad\lvert\sigma_n\rvert\le\frac{5R}{\bar N},\qquad "
    r"N(\epsilon,\delta)\le K\max\Bigl(2\left\lceil\frac1{\eta_Y}\Bigl(\frac1\epsilon+\ln\frac M\epsilon\Bigr)"
    r"\right\rceil,\ 8\ln\frac K\delta\Bigr)",
    assumptions=("uniform_classes",),
    judgement=Parts(
        {
            "Eq. 71": _eq71(fluctuation),
            "The chance of a sigma beyond eta_Y R": rarely(partial(sigma_beyond, late=False)),
            "The chance of a sigma beyond 5 R/N-bar, late": rarely(partial(sigma_beyond, late=True)),
            "Steps": Bounded(
                measure=lambda run: steps_enough(run, least_for_any)[0],
                upper=lambda run, _: steps_enough(run, least_for_any)[1],
            ),
        },
        note=leading,
    ),
    absent=first_of(no_inverse, no_transition),
    standing=proved(REDERIVED_PROOF, "snap.lemma5", "snap.lemma6", "snap.lemma12.rederived", hunted=4),
    source_words=rederived(
        "snap.corollary1",
        "Any delta, on which the number of steps depends, the continuous h, and explicit constants.",
    ),
)

CLAIMS: tuple[Claim, ...] = (COROLLARY1, COROLLARY1_ANY_DELTA, COROLLARY1_REDERIVED)
