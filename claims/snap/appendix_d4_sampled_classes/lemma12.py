"""Lemma 12 of arXiv 2305.16380: rows of W after SGD, and their distance from the mean row."""

from collections.abc import Callable
from dataclasses import replace
from math import log, sqrt

import flint
import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal, Parts
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, certified, series
from marginaudit.claims.snap.appendix_d2_one_class.lemma5 import alone
from marginaudit.claims.snap.appendix_d4_sampled_classes.enough_steps import enough, no_fluctuation
from marginaudit.claims.snap.chances import Chances, chances, rarely
from marginaudit.claims.snap.conditions import RANGE_R, first_of, no_inverse, outside_range_r
from marginaudit.claims.snap.readings import H_STAR, NO_REFUGE, PAGE, ROUNDED, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.snap.some_classes import DENSE_CLASSES, DENSE_STEPS, DENSE_TOKENS, some_classes
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.balls.matrices import bits, features, sgd
from marginaudit.training.snap.counts.binomial import Interval
from marginaudit.training.snap.counts.mean_counts import Means, lagging, like_growth, means
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star

PROOF = PAGE + "24-snaplemma12rederived"


@once_a_run
def drawn_classes(run: ClassRun) -> tuple[Series, Series]:
    """W = F^T Y after SGD with the modified gradient on classes drawn at random, and rows (M-1) h*(N_n) zeta_n."""
    classes = some_classes(run, DENSE_CLASSES)
    K, M = len(classes), min(run.M, DENSE_TOKENS)
    names = [run.dataset.next_tokens[n] for n in classes]
    sequence = np.random.default_rng(2305_16380).integers(K, size=DENSE_STEPS).tolist()
    with flint.ctx.workprec(bits(run.eta_Y)):
        F = features(run.dataset.P[classes])
        h = [flint.arb(0)] * K
        for n in sequence:
            h[n] += flint.arb(run.eta_Y) / (M - 1 + (M * h[n]).exp())
        *_, (_, Y) = sgd(F, sequence, M, run.eta_Y)
        found = (F.transpose() * Y).entries()
        stated = [(M - 1) * h[n] if j == n else -h[n] for n in range(K) for j in range(M)]
        label = [f"w of {name} at token {j} of {M}" for name in names for j in range(M)]
        return certified(found, label=tuple(label)), certified(stated, label=tuple(label))


@once_a_run
def growth_of_steps(run: ClassRun) -> tuple[Series, Series]:
    """w_nn of SGD on class n alone, computed as for Lemma 5, and (M-1) h(N_n) as printed in eq. 66."""
    found, _ = alone(run)
    h = continuous(np.asarray(found.step), run.M, run.eta_Y).h * (run.M - 1.0)
    return found, series(h.value, radius=h.error, step=found.step, clock="N_n")


def _of_some_class(run: ClassRun, at: Means, within: Callable[[float], Interval]) -> Chances:
    """Probability that some class's count lies outside: between that of a single class and K times as much."""
    one = chances(run.K, lambda delta: (at.N, within(delta), (f"N = {N}" for N in at.N)))
    low, high = one.missed.lower, np.minimum(run.K * one.missed.upper, 1.0)
    return replace(one, missed=series((low + high) / 2, radius=(high - low) / 2, label=one.missed.label))


def printed_theta(run: ClassRun, at: Means, delta: float) -> Floats:
    """(K/sqrt(N)) sqrt(ln(K/delta))."""
    return np.asarray(run.K / np.sqrt(at.N) * sqrt(log(run.K / delta)))


@once_a_run
def beyond_printed(run: ClassRun) -> Chances:
    """Probability of theta = h*(N_n)/h*(N-bar) - 1 beyond the printed bound.

    H*(k) is h(k + lag), with a lag that grows with k. The lag ranges over 0 to that of N.
    """
    at = means(enough(run), run.K, run.M, run.eta_Y)
    lag = h_star(at.N, run.M, run.eta_Y).lag
    x = h_star(at.mean.astype(np.int64), run.M, run.eta_Y).level.logit
    least, most = (replace(at, x=end, excess=np.expm1(end)) for end in (x.value - x.error, x.value + x.error))

    def within(delta: float) -> Interval:
        d = printed_theta(run, at, delta)
        small, large = like_growth(least, d), like_growth(most, d)
        return Interval(
            (small.widest[0] - lag.value - lag.error, large.widest[1]),
            (large.narrowest[0], small.narrowest[1] - lag.value - lag.error),
        )

    return _of_some_class(run, at, within)


@once_a_run
def beyond_continuous(run: ClassRun) -> Chances:
    """Probability of theta = h(N_n)/h(N-bar) - 1, with the continuous h, beyond the printed bound."""
    at = means(enough(run), run.K, run.M, run.eta_Y)
    return _of_some_class(run, at, lambda delta: like_growth(at, printed_theta(run, at, delta)))


@once_a_run
def beyond_rederived(run: ClassRun) -> Chances:
    """Probability of theta = h*(N_n)/h(N-bar) - 1 beyond (sqrt((N/2) ln(2K/delta)) + 1 + L)/N-bar."""
    at = means(enough(run), run.K, run.M, run.eta_Y)
    star = lagging(at.N, run.M, run.eta_Y)

    def within(delta: float) -> Interval:
        return star.counts(like_growth(at, (np.sqrt(at.N / 2 * log(2 * run.K / delta)) + 1 + star.L) / at.mean))

    return _of_some_class(run, at, within)


ROWS = Equal(
    measure=lambda run: drawn_classes(run)[0],
    expected=lambda run: drawn_classes(run)[1],
    scale=lambda run: np.maximum(np.abs(drawn_classes(run)[1].value), 1e-3 * min(1.0, run.eta_Y)),
)
"""Rows (M-1) h*(N_n) zeta_n, for any order of the draws."""

LEMMA12_STATEMENT = (
    "Y(0) = 0, Z fixed, uniform classes, {where}N >> K^2: w_n(N) = (M-1) h(N_n) zeta_n = (1+theta_n) (M-1) h(N-bar) "
    "zeta_n, {h}, and with probability at least 1 - delta, |theta_n| <= (K/sqrt(N)) sqrt(ln(K/delta)) for all n. The "
    "chance is between a single class's, which is exact, and K times that."
)

LEMMA12 = Claim(
    id="snap.lemma12",
    source="arXiv 2305.16380, Lemma 12 (eqs. 66-69)",
    statement=LEMMA12_STATEMENT.format(where="range R, ", h="h standing for h*"),
    formula=(
        r"w_n(N)=(M-1)h(N_n)\zeta_n=(1+\theta_n)(M-1)h(\bar N)\zeta_n,\quad "
        r"\lvert\theta_n\rvert\lesssim\frac{K}{\sqrt N}\sqrt{\ln\frac K\delta}"
    ),
    assumptions=("uniform_classes", RANGE_R),
    judgement=Parts(
        {
            "Rows of SGD on whole matrices": ROWS,
            "The chance of a theta beyond its bound": rarely(beyond_printed),
        }
    ),
    absent=first_of(outside_range_r, no_inverse, no_fluctuation),
    standing=proved(PAGE + "27-snaplemma12-and-snaptheorem5", "snap.lemma5", hunted=24),
    source_words=quoted(
        "appendix D.4, Lemma 12, eqs. 66 to 69",
        "we have Y = (F')^{-T}(I + Theta')W'(N) .. with probability at least 1 - delta we have |theta_i| <= "
        "(K/sqrt(N)) sqrt(ln(K/delta))",
        f"{H_STAR} N >= 10 K^2. The bound on theta has the constant 1 that it is printed with, and is for all classes "
        "together.",
    ),
)

LEMMA12_ANY_STEP = variant(
    LEMMA12,
    "any-step",
    "At any step size, and with the continuous h.",
    source="arXiv 2305.16380, Lemma 12 (eqs. 66-69), without the sentence after Remark 2",
    statement=LEMMA12_STATEMENT.format(where="any eta_Y, ", h="h the continuous one of Lemma 6"),
    assumptions=("uniform_classes",),
    judgement=Parts(
        {
            "Eq. 66 against SGD": Equal(
                measure=lambda run: growth_of_steps(run)[0], expected=lambda run: growth_of_steps(run)[1]
            ),
            "The chance of a theta beyond its bound": rarely(beyond_continuous),
        }
    ),
    absent=first_of(no_inverse, no_fluctuation),
    instead=(
        r"SGD's rows are $(M-1)h^*(N_n)\zeta_n$, with $h^*$ of Lemma 5 for its continuous $h$; "
        r"$\theta_n=h^*(N_n)/h(\bar N)-1$ obeys a bound with explicit constants: snap.lemma12.rederived "
        "(docs/proofs-snap.md)."
    ),
    standing=refuted(
        PROOF,
        "snap.lemma5",
        severity=Severity.EVERYWHERE,
        wrong="With the continuous h in the place of h* the rows of SGD are missed: they follow the recursion.",
        hunted=2,
        weakest=NO_REFUGE,
    ),
    implications=(
        contradicts(
            "snap.lemma12.rederived",
            condition="h* is above h after every step",
            proof=PROOF,
            unseen=ROUNDED,
        ),
    ),
)

LEMMA12_REDERIVED = Claim(
    id="snap.lemma12.rederived",
    source="docs/proofs-snap.md, for arXiv 2305.16380, Lemma 12",
    statement=(
        "Y(0) = 0, modified gradient (Lemma 3): w_n(N) = (M-1) h*(N_n) zeta_n = (1+theta_n) (M-1) h(N-bar) zeta_n in "
        "whatever "
        "order classes are drawn. Uniform classes: with probability at least 1 - delta, |theta_n| <= (sqrt((N/2) "
        "ln(2K/delta)) + 1 + L)/N-bar for all n, L = (exp(eta_Y)/2) ln((M-1+exp(M h*(N)))/M)."
    ),
    formula=(
        r"\lvert\theta_n\rvert\le\frac{1}{\bar N}\left(\sqrt{\frac N2\ln\frac{2K}{\delta}}+1+"
        r"\frac{e^{\eta_Y}}{2}\ln\frac{M-1+\exp(Mh^*(N))}{M}\right)"
    ),
    assumptions=("uniform_classes",),
    judgement=Parts(
        {
            "Rows of SGD on whole matrices": ROWS,
            "The chance of a theta beyond its bound": rarely(beyond_rederived),
        }
    ),
    absent=first_of(no_inverse, no_fluctuation),
    standing=proved(PROOF, "snap.lemma5", "snap.lemma6", "snap.lemma10.rederived", hunted=44),
    source_words=rederived(
        "snap.lemma12", "h* for the rows, the continuous h for their mean, and a bound that has the lag."
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA12, LEMMA12_ANY_STEP, LEMMA12_REDERIVED)
