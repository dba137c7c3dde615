"""Lemma 11 of arXiv 2305.16380: the distance of h and of its share from their values at the mean count."""

from collections.abc import Callable
from math import log

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import HiddenConstant, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.appendix_d4_sampled_classes.enough_steps import (
    FARTHEST,
    MAY_BE_UNDRAWN,
    enough,
    enough_steps,
    no_transition,
    steps_from,
    within,
)
from marginaudit.claims.snap.chances import Chances, Missed, chances, rarely
from marginaudit.claims.snap.conditions import one_class
from marginaudit.claims.snap.readings import MUCH, PAGE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.orders.arrays import Floats, Integers
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.snap.counts.binomial import Interval, deviation_quantile
from marginaudit.training.snap.counts.mean_counts import EPS, Means, like_growth, like_share, means, radius_of
from marginaudit.training.snap.growth import larger_zero

PROOF = PAGE + "23-snaplemma11-and-snaplemma11any-delta"

SHOWN_LEVELS = (0.1, 0.01)
"""Values of delta for fitting hidden constants."""

LARGE_M = np.rint(np.geomspace(1e3, 1e9, 13)).astype(np.int64)
"""Other vocabulary sizes for eq. 62."""

EARLY = 9
"""The constant of eq. 62 with eta_Y Delta/3 (docs/proofs-snap.md, section 2.3)."""


def late_steps(run: ClassRun, delta: float = 1.0) -> float:
    """`enough_steps`, and N >= 2 K (1 + omega_1) ln M/eta_Y."""
    return max(enough_steps(run, delta), run.snap_start)


def late(run: ClassRun, delta: float = 1.0) -> Integers:
    """`DECADES` of N from `late_steps` on."""
    return within(steps_from(late_steps(run, delta)), run, delta)


def across_the_turn(run: ClassRun, _: float = 1.0) -> Integers:
    """`enough`, extended if necessary so that the scan ends half a decade before its middle.

    g changes most at the end of the scan, and a constant fitted well before it is far too small there.

    Raises
    ------
    BeyondTheRun
        The end of the scan is too late for binomial tails in float64.
    """
    first, turn = enough_steps(run), run.snap_start / 2
    farthest = 10 * turn**2 / first
    if farthest > FARTHEST:
        raise BeyondTheRun(f"g changes most at N = {turn:.4g}, too late to fit a constant and to test it beyond")
    return steps_from(first, farthest)


Likeness = Callable[[Means, Floats], Interval]

StepsAt = Callable[[ClassRun, float], Integers]
"""N for judging a statement with probability 1 - delta."""


@once_a_run
def along_steps(run: ClassRun, like: Likeness, steps: StepsAt, delta: float) -> Series:
    """The least relative deviation that N_n exceeds with probability at most delta, along N."""
    at = means(steps(run, delta), run.K, run.M, run.eta_Y)
    value, radius = deviation_quantile(at.N, np.full(len(at.N), 1 / run.K), delta, lambda d: like(at, d))
    return series(value, radius=radius, step=at.N, clock="N")


@once_a_run
def other_vocabularies(run: ClassRun) -> Chances:
    """Probability of |g(N_n)/g(N-bar) - 1| > 9 eta_Y Delta/3, for other M at the end of the scan.

    The end is N = K (1+omega_1) ln M/eta_Y, where g changes most, or the start of N >> K^2 if that is later.
    """
    turns = run.K * larger_zero(np.log(LARGE_M)) / run.eta_Y
    firsts = np.maximum(enough_steps(run), turns).tolist()
    each = [
        means(steps_from(first)[:1], run.K, M, run.eta_Y) for first, M in zip(firsts, LARGE_M.tolist(), strict=True)
    ]
    return _early(run, each, lambda at, _: np.ones(len(at.N), dtype=bool))


@once_a_run
def slow_turns(run: ClassRun) -> Chances:
    """`other_vocabularies` at every M and N with ln M >> eta_Y Delta/3, including the run's M."""
    N = enough(run)
    each = [means(N, run.K, M, run.eta_Y) for M in [run.M, *LARGE_M.tolist()]]
    return _early(run, each, lambda at, delta: MUCH_GREATER * third_of_rate(at, delta) <= np.log(at.M))


def _early(run: ClassRun, each: list[Means], covered: Callable[[Means, float], NDArray[np.bool_]]) -> Chances:
    """Series over several M, at the N and delta of the statement."""
    columns = zip(*((m.N, m.mean, m.x, m.excess, m.M) for m in each), strict=True)
    N, mean, x, excess, M = (np.concatenate(column) for column in columns)
    every = Means(N, mean, x, excess, M, run.eta_Y)

    def missed(delta: float) -> Missed:
        at = every.taken(covered(every, delta))
        names = (f"M = {M:.0f}, N = {N}" for M, N in zip(at.M, at.N, strict=True))
        return at.N, like_share(at, EARLY * third_of_rate(at, delta)), names

    return chances(run.K, missed)


@once_a_run
def undrawn(run: ClassRun) -> Series:
    """g(0)/g(N-bar) - 1 along late N: the deviation of a class that is never drawn, of probability (1-1/K)^N."""
    at = means(late(run), run.K, run.M, run.eta_Y)
    return series(at.excess / at.M, radius=16 * EPS * (1 + at.x) * at.excess / at.M, step=at.N, clock="N")


def barely_drawn(run: ClassRun, N: Floats) -> Floats:
    """Delta/N-bar for half of (1-1/K)^N as delta."""
    evidence = log(2) - N * np.log1p(-1 / run.K)
    return np.asarray(np.ceil(np.sqrt(N * evidence)) / np.ceil(N / run.K))


def relative_radius(at: Means, delta: float) -> Floats:
    """Delta/N-bar."""
    return np.asarray(radius_of(at.N, delta) / at.mean)


def third_of_rate(at: Means, delta: float) -> Floats:
    """eta_Y Delta/3, the upper bound on sigma'."""
    return np.asarray(at.eta * radius_of(at.N, delta) / 3)


Shape = Callable[[Means, float], Floats]


def _in_steps(like: Likeness, shape: Shape, steps: StepsAt, delta: float) -> HiddenConstant:
    return HiddenConstant(
        measure=lambda run: along_steps(run, like, steps, delta),
        shape=lambda run, _: shape(means(steps(run, delta), run.K, run.M, run.eta_Y), delta),
    )


LEMMA11 = Claim(
    id="snap.lemma11",
    source="arXiv 2305.16380, Lemma 11 (eqs. 61, 62)",
    statement=(
        "Uniform classes, N-bar = ceil(N/K), Delta = ceil(sqrt(N ln(1/delta))), N >> K^2 and N-bar >> Delta: with "
        "probability at least 1 - delta, |h(N_n) - h(N-bar)| <= C h(N-bar) Delta/N-bar, and the share g = "
        "1/(M-1+exp(M h)) has |g(N_n) - g(N-bar)| <= C g(N-bar) sigma', with sigma' <= eta_Y Delta/3 where that is << "
        "ln M, and sigma' <= C Delta/N-bar for N >= 2 K (1+omega_1) ln M/eta_Y. Quantiles of the binomial law are "
        "exact."
    ),
    formula=(
        r"\lvert h(N_n)-h(\bar N)\rvert\lesssim h(\bar N)\frac{\Delta}{\bar N},\quad "
        r"\left\lvert\frac{1}{M-1+\exp(Mh(N_n))}-\frac{1}{M-1+\exp(Mh(\bar N))}\right\rvert\lesssim"
        r"\frac{\sigma'}{M-1+\exp(Mh(\bar N))}"
    ),
    assumptions=("uniform_classes",),
    judgement=Parts(
        {
            **{
                f"{name}, delta = {delta:g}": _in_steps(like, relative_radius, steps, delta)
                for delta in SHOWN_LEVELS
                for name, like, steps in (
                    ("Eq. 61", like_growth, enough),
                    ("Eq. 62 with Delta/N-bar, late", like_share, late),
                )
            },
            "Eq. 62 with 9 times eta_Y Delta/3, the chance of more": rarely(slow_turns),
        }
    ),
    absent=no_transition,
    standing=proved(PROOF, "snap.lemma6", hunted=15),
    source_words=quoted(
        "appendix D.4, Lemma 11, eqs. 61 and 62",
        "|h(N_n) - h(N-bar)| <~ h(N-bar) Delta/N-bar .. sigma' > 0 is some constant such that sigma' <= eta_Y "
        "Delta/3 << ln(M)",
        f"{MUCH}: N >= 10 K^2, N-bar >= 10 Delta (eq. 60), uniform classes (Remark 4), and ln M >= 10 eta_Y Delta/3 "
        'for the first bound on sigma\'. "Less than about" is one unknown constant for every N.',
    ),
)

LEMMA11_ANY_DELTA = variant(
    LEMMA11,
    "any-delta",
    "Without Delta << N-bar and eta_Y Delta/3 << ln M, at every delta in (0, 1).",
    source="arXiv 2305.16380, Lemma 11 without Delta << N-bar and eta_Y Delta/3 << ln M",
    statement=LEMMA11.statement.replace(", N >> K^2 and N-bar >> Delta:", ", N >> K^2, any delta:").replace(
        " where that is << ln M", ""
    ),
    judgement=Parts(
        {
            **{
                f"Eq. 62 with eta_Y Delta/3, delta = {delta:g}": _in_steps(
                    like_share, third_of_rate, across_the_turn, delta
                )
                for delta in SHOWN_LEVELS
            },
            "Eq. 62 with 9 times eta_Y Delta/3 at other M, the chance of more": rarely(other_vocabularies),
            "Eq. 62 with Delta/N-bar, late, delta = (1-1/K)^N/2": HiddenConstant(measure=undrawn, shape=barely_drawn),
        }
    ),
    instead=(
        r"Eq. 61 and $\sigma'\le\eta_Y\Delta/3$ stay, with the constants 3 and 9. For $\delta$ below $(1-1/K)^N$ a "
        r"class that was never drawn counts: $\Delta/\bar N$ is of the order of $\sqrt K$ then, and what is to be "
        r"below a multiple of it is about $\eta_Y\bar N$ (docs/proofs-snap.md section 2.3)."
    ),
    standing=refuted(
        PROOF,
        "snap.lemma6",
        severity=Severity.EXTREME,
        wrong="Without Delta << N-bar Lemma 11 fails for tiny delta, where a class that was never drawn counts.",
        hunted=1,
        weakest="N-bar >= 10 Delta (snap.lemma11)",
    ),
    implications=(
        contradicts(
            "snap.lemma6",
            condition=MAY_BE_UNDRAWN,
            proof=PROOF,
            unmet=one_class,
            unseen="no N is large enough",
        ),
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA11, LEMMA11_ANY_DELTA)
