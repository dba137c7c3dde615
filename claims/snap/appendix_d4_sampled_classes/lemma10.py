"""Lemma 10 of arXiv 2305.16380: the distance of counts from their means."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import Claim, NotFollowed
from marginaudit.claims.judgements import Bounded, Parts
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, by_formula, series
from marginaudit.claims.snap.chances import LEVELS
from marginaudit.claims.snap.conditions import one_class
from marginaudit.claims.snap.readings import PAGE, variant
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.orders.arrays import Floats, Integers
from marginaudit.orders.snap import SequenceClasses
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.snap.counts.binomial import Interval, chance_outside, spaced_counts

PROOF = PAGE + "22-snaplemma10-and-snaplemma10rederived"

LARGE_ENOUGH = "N ln(2/delta) >= 2 (sqrt(2)+1)^2"
"""Condition for the second bound of eq. 58 to be at least the first."""

LARGEST_N = 10**6
"""Most steps with computed probabilities. Beyond, the lemma is Hoeffding's theorem."""

ENOUGH = 2 * (sqrt(2) + 1) ** 2
"""Threshold of x for sqrt(x/2) + 1 <= sqrt(x)."""


@dataclass(frozen=True)
class Counts:
    """Grids of delta, P(n) and N, flat, with the probability that N_n misses eq. 58's first and second interval.

    Attributes
    ----------
    delta, N : arrays
    first, second : Series and array
        The two sides of the chain of eq. 58.
    missed : tuple of Series
        Probability for each interval.
    """

    delta: Floats
    N: Integers
    first: Series
    second: Floats
    missed: tuple[Series, ...]


def frequencies(dataset: SequenceClasses, most: int = 20) -> list[Fraction]:
    """At most ``most`` of the distinct P(n), exact, including the least and the greatest."""
    weights = [Fraction(weight) for weight in dataset.weights or (1.0,) * dataset.K]
    total = sum(weights)
    found = sorted({weight / total for weight in weights})
    return [found[i] for i in evenly_spaced(len(found), most)]


@once_a_run
def counts(run: ClassRun) -> Counts:
    """Every delta of `LEVELS`, distinct P(n) and N, with ceil(N P(n)) in rational arithmetic."""
    exact, N = frequencies(run.dataset), spaced_counts(LARGEST_N)
    middle = np.array([[ceil(int(n) * p) for n in N] for p in exact], dtype=np.float64)
    shape = (len(LEVELS), len(exact), len(N))
    delta, p, number = (grid.ravel() for grid in np.meshgrid(LEVELS, [float(p) for p in exact], N, indexing="ij"))
    center = np.broadcast_to(middle, shape).ravel()
    evidence = number * np.log(2 / delta)
    first, second = np.sqrt(evidence / 2) + 1, np.sqrt(evidence)
    others = np.broadcast_to(np.array([float(1 - p) for p in exact])[:, np.newaxis], shape).ravel()
    chances = [chance_outside(number, p, Interval.around(center, room), others) for room in (first, second)]
    label = tuple(
        f"delta = {d:g}, P(n) = {q:.4g}, N = {n}"
        for d, q, n in zip(delta.tolist(), p.tolist(), number.tolist(), strict=True)
    )
    missed = tuple(series(value, radius=radius, label=label) for value, radius in chances)
    return Counts(delta, number, by_formula(first, label=label), second, missed)


Kept = Callable[[ClassRun], NDArray[np.bool_]]


def every(run: ClassRun) -> NDArray[np.bool_]:
    """All entries."""
    return np.ones(len(counts(run).N), dtype=np.bool_)


def enough(run: ClassRun) -> NDArray[np.bool_]:
    """Entries with N ln(2/delta) >= `ENOUGH`."""
    found = counts(run)
    return np.asarray(found.N * np.log(2 / found.delta) >= ENOUGH)


def many_steps(run: ClassRun) -> NDArray[np.bool_]:
    """Entries with N >> K^2."""
    return np.asarray(counts(run).N >= MUCH_GREATER * run.K**2)


def _rarely(which: int, kept: Kept) -> Bounded:
    """Judgement that N_n misses the first or the second interval with probability at most delta."""
    return Bounded(
        measure=lambda run: counts(run).missed[which].taken(kept(run)),
        upper=lambda run, _: counts(run).delta[kept(run)],
    )


def _lemma10(first: Kept, chain: Kept) -> Parts:
    """Claim of eq. 58: its first bound at some entries, the chain with the second at others."""
    return Parts(
        {
            "The chance of more than the first bound": _rarely(0, first),
            "The first bound below the second": Bounded(
                measure=lambda run: counts(run).first.taken(chain(run)),
                upper=lambda run, _: counts(run).second[chain(run)],
            ),
            "The chance of more than the second bound": _rarely(1, chain),
        }
    )


def _few_steps(run: ClassRun) -> str | None:
    """Reason why all computed numbers of steps are too small, or None."""
    least = MUCH_GREATER * run.K**2
    if least > LARGEST_N:
        raise NotFollowed(f"chances are computed up to N = {LARGEST_N:.0e}, and the statement applies from {least} on")
    return one_class(run)


OVER = f"The chances are exact, at N up to {LARGEST_N:.0e} and delta from {min(LEVELS):g} to {max(LEVELS):g}."

LEMMA10 = Claim(
    id="snap.lemma10",
    source="arXiv 2305.16380, Lemma 10 (eq. 58)",
    statement=(
        "K >= 2 classes, N >> K^2 steps: with probability at least 1 - delta, |N_n - ceil(N P(n))| <= sqrt((N/2) "
        "ln(2/delta)) + 1 < sqrt(N ln(2/delta)). " + OVER
    ),
    formula=(r"\lvert N_n-\lceil N\mathbb P(n)\rceil\rvert\le\sqrt{\frac N2\ln\frac2\delta}+1<\sqrt{N\ln\frac2\delta}"),
    assumptions=(),
    judgement=_lemma10(many_steps, many_steps),
    absent=_few_steps,
    standing=proved(PROOF, "snap.lemma10.rederived", hunted=43),
    source_words=quoted(
        "appendix D.4, Lemma 10, eq. 58",
        "with probability at least 1 - delta we have |N_n - ceil(NP(n))| <= sqrt((N/2)ln(2/delta)) + 1 < sqrt(N "
        "ln(2/delta))",
        'For each class by itself. Appendix D.1 has N large: "since N >> K^2. Details in Lemma 10 and Remark 4", which '
        f"is N >= {MUCH_GREATER} K^2, and there are several classes.",
    ),
)

LEMMA10_ANY_N = variant(
    LEMMA10,
    "any-N",
    "At every N and delta, where appendix D.1 has N >> K^2.",
    statement=LEMMA10.statement.replace("K >= 2 classes, N >> K^2 steps: with", "With"),
    judgement=_lemma10(every, every),
    absent=lambda _: None,
    instead=(
        r"The first bound is true for all $N$ and $\delta$; it is below the second exactly for "
        r"$N\ln(2/\delta)>2(\sqrt2+1)^2=11.66$: snap.lemma10.rederived (docs/proofs-snap.md)."
    ),
    standing=refuted(
        PROOF,
        "snap.lemma10.rederived",
        severity=Severity.EXTREME,
        wrong="Lemma 10's second bound needs N >> K^2, as its appendix has it: at N = 1 it is below the first.",
        hunted=1,
        weakest=LARGE_ENOUGH,
    ),
    implications=(contradicts("snap.lemma10.rederived", condition="N = 1, delta = 0.99 is a case of it", proof=PROOF),),
)

LEMMA10_REDERIVED = Claim(
    id="snap.lemma10.rederived",
    source="docs/proofs-snap.md, for arXiv 2305.16380, Lemma 10",
    statement=(
        "With probability at least 1 - delta, |N_n - ceil(N P(n))| <= sqrt((N/2) ln(2/delta)) + 1, and this is at most "
        f"sqrt(N ln(2/delta)) where {LARGE_ENOUGH}. {OVER}"
    ),
    formula=(
        r"\lvert N_n-\lceil N\mathbb P(n)\rceil\rvert\le\sqrt{\frac N2\ln\frac2\delta}+1\le\sqrt{N\ln\frac2\delta}"
        r"\quad\text{for }N\ln\frac2\delta\ge2(\sqrt2+1)^2"
    ),
    assumptions=(),
    judgement=_lemma10(every, enough),
    standing=proved(PROOF, hunted=336),
    source_words=rederived("snap.lemma10", "The second bound where N ln(2/delta) is large enough for it."),
)

CLAIMS: tuple[Claim, ...] = (LEMMA10, LEMMA10_ANY_N, LEMMA10_REDERIVED)
