"""Corollary 1 of arXiv 2305.16380: how fast the residuals e_n - alpha_n fall."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.reports.claim import BeyondTheRun, Claim
from marginaudit.reports.judgements import Bounded, Equal, HiddenConstant, Parts
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import Series
from marginaudit.reports.snap.ball_sgd import of, rows_of
from marginaudit.reports.snap.binomial import Chances, Missed, chances, rarely
from marginaudit.reports.snap.claims.corollary1_steps import (
    LARGE_M,
    STEADY_RESIDUAL,
    along_M,
    along_rate,
    along_residual,
    rate,
    steps_enough,
    undrawn,
)
from marginaudit.reports.snap.conditions import RANGE_R, THEOREM_5, no_inverse, one_class, outside_range_r
from marginaudit.reports.snap.decoder import OF_SGD, entries, leading, residuals, rows_at, size_of
from marginaudit.reports.snap.mean_counts import (
    MAY_BE_UNDRAWN,
    enough,
    lagging,
    like_share,
    means,
    no_transition,
)
from marginaudit.reports.snap.quantiles import DELTAS, Law, deviation_shape, drawn, quantile
from marginaudit.reports.snap.readings import H_STAR, PAGE, SOURCE
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.source_words import quoted, rederived
from marginaudit.reports.standing import Severity, contradicts, proved, refuted
from marginaudit.training.snap.limit.fluctuation import fluctuation, stepped_fluctuation

PROOF = PAGE + "26-snapcorollary1rederived"

NEAR, LATE = 0.3, 5
"""Distance of the counts from N-bar, and the constant there: docs/proofs-snap.md, section 2.6."""


def eq_71(run: ClassRun, law: Law) -> Series:
    """(M-1)/(M-1+exp(M h(N-bar))) (1+sigma_n) zeta_n of each class, h the law's."""
    at, M = rows_at(run, law), run.M
    [share] = of(at.mean.share)
    left = [(1 + sigma) * share for sigma in of(at.sigma)]
    return entries(run, rows_of(left, M))


def _eq71(law: Law) -> Equal:
    expected = partial(eq_71, law=law)
    return Equal(measure=residuals, expected=expected, scale=size_of(expected))


def sigmas(run: ClassRun, delta: float, *, late: bool) -> Series:
    """The (1-delta)-quantile of |sigma| of a class, along N, h standing for h*; all classes have one law."""
    found = drawn(run, stepped_fluctuation)
    step = found.step
    kept = step >= (late_from(run, delta, step) if late else 0)
    if not kept.any():
        raise BeyondTheRun(f"N >> K(sqrt(N ln(1/delta)) + 2(1+omega_1) ln M/eta_Y) is not met by t = {step[-1]}")
    return quantile(found.sigma[:, kept], step[kept], delta)


def late_from(run: ClassRun, delta: float, N: NDArray[np.int64]) -> NDArray[np.float64]:
    """10 (K sqrt(N ln(1/delta)) + t_0), t_0 = 2 K (1+omega_1) ln M/eta_Y where the snap starts."""
    return np.asarray(MUCH_GREATER * (run.K * np.sqrt(N * np.log(1 / delta)) + run.snap_start))


def growing(delta: float) -> Callable[[ClassRun, NDArray[np.float64]], ArrayLike]:
    """eta_Y sqrt(N ln(1/delta))."""
    return lambda run, N: run.eta_Y * np.sqrt(N * np.log(1 / delta))


@once_a_run
def sigma_beyond(run: ClassRun, *, late: bool) -> Chances:
    """The chance of sigma_n = g(N_n + lag)/g(N-bar) - 1 beyond eta_Y R or, late, 5 R/N-bar; R is in the statement."""
    at = means(enough(run), run.K, run.M, run.eta_Y)

    def missed(delta: float) -> Missed:
        room = np.sqrt(at.N / 2 * np.log(2 / delta)) + 1
        spoken_of = room <= NEAR * at.mean if late else np.ones(len(at.N), dtype=bool)
        if late:
            spoken_of &= run.K * at.mean >= run.snap_start
        here = at.taken(spoken_of)
        star = lagging(run, here.N)
        R = room[spoken_of] + star.L
        within = star.counts(like_share(here, LATE * R / here.mean if late else run.eta_Y * R))
        return here.N, within, (f"N = {N}" for N in here.N)

    return chances(run.K, missed)


COROLLARY1 = Claim(
    id="snap.corollary1",
    source=f"{SOURCE}, Corollary 1, eq. 71",
    statement=(
        "There, h standing for h*, e_n - alpha_n = (M-1)/(M-1+exp(M h(N-bar))) (1+sigma) zeta_n; with probability "
        "1 - delta |sigma| is at most of the order of eta_Y sqrt(N ln(1/delta)), and of K/sqrt(N) sqrt(ln(1/delta)) "
        "for N >> K(sqrt(N ln(1/delta)) + 2(1+omega_1) ln M/eta_Y); all ||e_n - alpha_n|| are at most epsilon after "
        f"O(K/(epsilon eta_Y) log(M/epsilon)) steps. Sigma is each class's own; {OF_SGD}."
    ),
    formula=r"e_n-\alpha_n=\frac{M-1}{M-1+\exp(Mh(\overline N))}(1+\sigma)\zeta_n,\qquad "
    r"N(\epsilon)=O\Bigl(\frac{K}{\epsilon\eta_Y}\log\frac M\epsilon\Bigr)",
    assumptions=(*THEOREM_5, RANGE_R),
    judgement=Parts(
        {
            "Eq. 71": _eq71(stepped_fluctuation),
            **{
                f"Sigma, delta = {delta:g}": HiddenConstant(
                    measure=partial(sigmas, delta=delta, late=False), shape=growing(delta)
                )
                for delta in DELTAS
            },
            **{
                f"Late sigma, delta = {delta:g}": HiddenConstant(
                    measure=partial(sigmas, delta=delta, late=True), shape=deviation_shape(delta, per_class=True)
                )
                for delta in DELTAS
            },
            "Steps along epsilon": HiddenConstant(
                measure=along_residual, shape=lambda run, x: rate(run, run.M, run.eta_Y, x)
            ),
            "Steps along M": HiddenConstant(
                measure=along_M, shape=lambda run, M: rate(run, M, run.eta_Y, STEADY_RESIDUAL)
            ),
            "Steps along eta_Y": HiddenConstant(
                measure=along_rate, shape=lambda run, x: rate(run, LARGE_M, 1 / x, STEADY_RESIDUAL)
            ),
            "Steps along delta": HiddenConstant(
                measure=undrawn,
                shape=lambda run, x: np.full(len(x), float(rate(run, run.M, run.eta_Y, STEADY_RESIDUAL))),
            ),
        },
        note=leading,
    ),
    absent=outside_range_r,
    instead=(
        r"The number of steps has no $\delta$ in it, and after $N$ of them a class is undrawn with a chance of "
        r"$(1-1/K)^N$. With $8K\ln(K/\delta)$ steps at least it is true, and the bounds on $\sigma$ have explicit "
        "constants: snap.corollary1.rederived (docs/proofs-snap.md section 2.6)."
    ),
    standing=refuted(
        PROOF,
        "snap.corollary1.rederived",
        severity=Severity.EVERYWHERE,
        wrong=(
            "The number of steps has no delta in it, and after any number of steps a class may not have been drawn."
        ),
        hunted=1,
        weakest="8 K ln(K/delta) steps at least, and the bounds on sigma of snap.corollary1.rederived",
    ),
    source_words=quoted(
        "appendix D.4, Corollary 1, eq. 71",
        "to let ||x_{T+1} - alpha_n||_2 <= eps .. we need the total number of training epochs to be at most "
        "O((K/(eps eta_Y)) log(M/eps))",
        f'{H_STAR} "Less than about" and O(.) are unknown constants, the same for every delta.',
    ),
    implications=(
        contradicts(
            "snap.corollary1.rederived",
            condition=MAY_BE_UNDRAWN,
            proof=PROOF,
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
            "Steps": Bounded(measure=lambda run: steps_enough(run)[0], upper=lambda run, _: steps_enough(run)[1]),
        },
        note=leading,
    ),
    absent=lambda run: no_inverse(run) or no_transition(run),
    standing=proved(PROOF, "snap.lemma5", "snap.lemma6", "snap.lemma12.rederived", hunted=4),
    source_words=rederived("snap.corollary1", "The number of steps, which has no delta in it, and explicit constants."),
)

CLAIMS: tuple[Claim, ...] = (COROLLARY1, COROLLARY1_REDERIVED)
