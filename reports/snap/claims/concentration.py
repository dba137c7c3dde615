r"""Lemmas 10 to 12 of arXiv 2305.16380: how far counts, growth and rows of W are from their means."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, exp, log, log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw

from marginaudit.reports.claim import BeyondTheRun, Claim
from marginaudit.reports.judgements import Bounded, Equal, HiddenConstant
from marginaudit.reports.judgements.parts import Parts
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import Series, by_formula, series
from marginaudit.reports.snap.binomial import (
    LEVELS,
    Floats,
    Integers,
    Interval,
    counted,
    frequencies,
    outside,
    quantile,
)
from marginaudit.reports.snap.claims.rows import alone, drawn_classes
from marginaudit.reports.snap.conditions import RANGE_R, no_growth, no_inverse, outside_range_r
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit import continuous, h_star

LARGEST_N = 10**6
"""Steps up to which chances are followed; beyond, it is Hoeffding's theorem."""

MUCH_GREATER = 10
"""What stands for "much greater"."""

DECADES = 7
"""Of N, from where a statement speaks."""

A_DECADE = 4

FARTHEST = 10**12
"""Binomial tails are not computed beyond."""

SHOWN_LEVELS = (0.1, 0.01)
"""The delta at which hidden constants are fitted."""

LARGE_M = np.rint(np.geomspace(1e3, 1e9, 13)).astype(np.int64)
"""Other vocabularies at which eq. 62 is judged."""

EARLY = 9
"""The constant of eq. 62 with eta_Y Delta/3 (docs/proofs-snap.md, section 2.3)."""

ENOUGH = 2 * (sqrt(2) + 1) ** 2
"""sqrt(x/2) + 1 <= sqrt(x) exactly for x of this size on."""

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Counts:
    """Grids of delta, P(n) and N, flat, with the chance that N_n misses eq. 58's first and second interval.

    Attributes
    ----------
    delta, N : arrays
    first, second : arrays
        The two sides of the chain of eq. 58.
    misses : of each, value and radius of the chance
    label : tuple of str
    """

    delta: Floats
    N: Integers
    first: Floats
    second: Floats
    misses: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]
    label: tuple[str, ...]


@once_a_run
def counts(run: ClassRun) -> Counts:
    """Every delta of `LEVELS`, distinct P(n) and N, with ceil(N P(n)) in rational arithmetic."""
    exact, N = frequencies(run.dataset), counted(LARGEST_N)
    middle = np.array([[ceil(int(n) * p) for n in N] for p in exact], dtype=np.float64)
    shape = (len(LEVELS), len(exact), len(N))
    delta, p, number = (grid.ravel() for grid in np.meshgrid(LEVELS, [float(p) for p in exact], N, indexing="ij"))
    center = np.broadcast_to(middle, shape).ravel()
    evidence = number * np.log(2 / delta)
    first, second = np.sqrt(evidence / 2) + 1, np.sqrt(evidence)
    others = np.broadcast_to(np.array([float(1 - p) for p in exact])[:, np.newaxis], shape).ravel()
    missed = [outside(number, p, Interval.around(center, room), others) for room in (first, second)]
    label = tuple(
        f"delta = {d:g}, P(n) = {q:.4g}, N = {n}"
        for d, q, n in zip(delta.tolist(), p.tolist(), number.tolist(), strict=True)
    )
    return Counts(delta, number, first, second, (missed[0], missed[1]), label)


def _kept(run: ClassRun, *, enough: bool) -> NDArray[np.bool_]:
    """All entries, or with ``enough`` those with N ln(2/delta) of `ENOUGH` at least."""
    found = counts(run)
    return np.asarray(found.N * np.log(2 / found.delta) >= (ENOUGH if enough else 0.0))


def _missed(run: ClassRun, which: int, *, enough: bool) -> Series:
    found, kept = counts(run), _kept(run, enough=enough)
    value, radius = found.misses[which]
    return series(value[kept], radius=radius[kept], label=_labels(found, kept))


def _labels(found: Counts, kept: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, keep in zip(found.label, kept.tolist(), strict=True) if keep)


def _first(run: ClassRun, *, enough: bool) -> Series:
    found, kept = counts(run), _kept(run, enough=enough)
    return by_formula(found.first[kept], label=_labels(found, kept))


def _second(run: ClassRun, _: Floats, *, enough: bool) -> Floats:
    return np.asarray(counts(run).second[_kept(run, enough=enough)])


def _delta(run: ClassRun, _: Floats, *, enough: bool) -> Floats:
    return np.asarray(counts(run).delta[_kept(run, enough=enough)])


def _lemma10(*, enough: bool) -> Parts:
    return Parts(
        {
            "The chance of more than the first bound": Bounded(
                measure=lambda run: _missed(run, 0, enough=False), upper=partial(_delta, enough=False)
            ),
            "The first bound below the second": Bounded(
                measure=partial(_first, enough=enough), upper=partial(_second, enough=enough)
            ),
            "The chance of more than the second bound": Bounded(
                measure=lambda run: _missed(run, 1, enough=enough), upper=partial(_delta, enough=enough)
            ),
        }
    )


OVER = f"The chances are exact, at N from 1 to {LARGEST_N:.0e} and delta from {min(LEVELS):g} to {max(LEVELS):g}."

LEMMA10 = Claim(
    id="snap.lemma10",
    source="arXiv 2305.16380, Lemma 10 (eq. 58)",
    statement=(
        "With probability at least 1 - delta, |N_n - ceil(N P(n))| <= sqrt((N/2) ln(2/delta)) + 1 < sqrt(N "
        "ln(2/delta)). " + OVER
    ),
    formula=(r"\lvert N_n-\lceil N\mathbb P(n)\rceil\rvert\le\sqrt{\frac N2\ln\frac2\delta}+1<\sqrt{N\ln\frac2\delta}"),
    assumptions=(),
    judgement=_lemma10(enough=False),
    instead=(
        r"The first bound is true for all $N$ and $\delta$; it is below the second exactly for "
        r"$N\ln(2/\delta)>2(\sqrt2+1)^2=11.66$: snap.lemma10.rederived (docs/proofs-snap.md)."
    ),
)

LEMMA10_REDERIVED = Claim(
    id="snap.lemma10.rederived",
    source="docs/proofs-snap.md, for arXiv 2305.16380, Lemma 10",
    statement=(
        "With probability at least 1 - delta, |N_n - ceil(N P(n))| <= sqrt((N/2) ln(2/delta)) + 1, and this is at most "
        f"sqrt(N ln(2/delta)) where N ln(2/delta) >= 2 (sqrt(2)+1)^2. {OVER}"
    ),
    formula=(
        r"\lvert N_n-\lceil N\mathbb P(n)\rceil\rvert\le\sqrt{\frac N2\ln\frac2\delta}+1\le\sqrt{N\ln\frac2\delta}"
        r"\quad\text{for }N\ln\frac2\delta\ge2(\sqrt2+1)^2"
    ),
    assumptions=(),
    judgement=_lemma10(enough=True),
)


@dataclass(frozen=True)
class Means:
    """N-bar = ceil(N/K) and the level of h there.

    Attributes
    ----------
    N, mean : (records,) arrays
    x, excess : arrays
        M h(N-bar), and exp of it less 1.
    M : float or (records,) array
    eta : float
    """

    N: Integers
    mean: Floats
    x: Floats
    excess: Floats
    M: Any
    eta: float


def means(N: Integers, K: int, M: int, eta_Y: float) -> Means:
    """The mean count of N batch-1 steps on K uniform classes, and how far it brings h."""
    mean = -(-N // K)
    x = continuous(mean, M, eta_Y).logit.value
    return Means(N, mean.astype(np.float64), x, np.expm1(x), float(M), eta_Y)


def _time(at: Means, excess: Floats) -> Floats:
    """The s with exp(M h(s)) - 1 = excess (eq. 45)."""
    found: Floats = (excess + (at.M - 1) * np.log1p(excess)) / (at.M * at.eta)
    return found


def like_growth(at: Means, d: Floats) -> Interval:
    """The counts k with |h(k)/h(N-bar) - 1| <= d, of which there is no least one for d >= 1."""
    with np.errstate(over="ignore"):
        high = _time(at, np.expm1((1 + d) * at.x))
        low = np.where(d < 1, _time(at, np.expm1(np.maximum(1 - d, 0.0) * at.x)), -1.0)
    off = 16 * EPS * (1 + at.x)  # relative, of times
    return Interval((low - off * (1 + low), high * (1 + off)), (low + off * (1 + low), high * (1 - off)))


def like_share(at: Means, d: Floats) -> Interval:
    """The counts k whose share 1/(M-1+exp(M h(k))) is that of N-bar up to a factor 1 +- d.

    With the sum S = M + excess, S(k) lies between S/(1+d) and S/(1-d). Where the lower end is no sum, or the upper one
    is infinite, there is no least, or no greatest, count.
    """
    lost = 8 * EPS * (at.excess + np.minimum(d, 1.0) * at.M)  # of the excess, in which two terms nearly cancel
    off = 16 * EPS * (1 + at.x)
    below = (at.excess - d * at.M) / (1 + d)
    lows = [_lower(at, below - lost) * (1 - off), _lower(at, below + lost) * (1 + off)]
    with np.errstate(divide="ignore", over="ignore"):
        above = np.where(d < 1, (at.excess + d * at.M) / np.where(d < 1, 1 - d, 1.0), np.inf)
        high = _time(at, above)
    return Interval((lows[0], high * (1 + 2 * off)), (lows[1], high * (1 - 2 * off)))


def _lower(at: Means, excess: Floats) -> Floats:
    return np.where(excess >= 0, _time(at, np.maximum(excess, 0.0)), -1.0)


Likeness = Callable[[Means, Floats], Interval]


def radius_of(at: Means, delta: float) -> Floats:
    """Delta = ceil(sqrt(N ln(1/delta))), the source's radius."""
    return np.asarray(np.ceil(np.sqrt(at.N * log(1 / delta))))


def larger_zero(M: int) -> float:
    """(1 + omega_1) ln M, the larger zero of exp(x) = (M-1) x (Lemma 8), for M >= 4."""
    return float(-lambertw(-1 / (M - 1.0), -1).real)


def enough_steps(run: ClassRun, delta: float = 1.0) -> float:
    """N >> K^2, and N-bar >> Delta."""
    return float(max(MUCH_GREATER, MUCH_GREATER**2 * log(1 / delta)) * run.K**2)


def late_steps(run: ClassRun, delta: float = 1.0) -> float:
    """N >= 2 K (1 + omega_1) ln M/eta_Y, too."""
    return max(enough_steps(run, delta), 2 * run.K * larger_zero(run.M) / run.eta_Y)


def enough(run: ClassRun, delta: float = 1.0) -> Integers:
    """N of `DECADES` from where N >> K^2 and N-bar >> Delta on."""
    return _within(_steps(enough_steps(run, delta)), run, delta)


def late(run: ClassRun, delta: float = 1.0) -> Integers:
    """N of `DECADES` from `late_steps` on."""
    return _within(_steps(late_steps(run, delta)), run, delta)


def _within(N: Integers, run: ClassRun, delta: float) -> Integers:
    """Those with N-bar >> Delta, which rounding up can take from the first."""
    return N if delta == 1 else N[MUCH_GREATER * np.ceil(np.sqrt(N * log(1 / delta))) <= -(-N // run.K)]


def across_the_turn(run: ClassRun, _: float = 1.0) -> Integers:
    """As `enough`, or farther: half of the decades go a half beyond the N at which the scan ends and g changes most.

    A constant that is fitted to N well before it is far below what N at it need.

    Raises
    ------
    BeyondTheRun
        This is too late for binomial tails in float64.
    """
    first, turn = enough_steps(run), run.K * larger_zero(run.M) / run.eta_Y
    farthest = 10 * turn**2 / first
    if farthest > FARTHEST:
        raise BeyondTheRun(f"g changes most at N = {turn:.4g}, too late to fit a constant and to test it beyond")
    return _steps(first, farthest)


def _steps(first: float, farthest: float = 0.0) -> Integers:
    """`A_DECADE` of N a decade, `DECADES` from the first on, or to the farthest if that is more.

    Raises
    ------
    BeyondTheRun
        Too late for binomial tails in float64.
    """
    if first * 1e3 > FARTHEST:
        raise BeyondTheRun(f"it speaks from N = {first:.4g} on, beyond which no chance is computed here")
    decades = max(DECADES, log10(max(farthest, first) / first))
    last = min(first * 10.0**decades, FARTHEST)
    return np.unique(np.ceil(np.geomspace(first, last, ceil(A_DECADE * decades) + 1)).astype(np.int64))


Steps = Callable[[ClassRun, float], Integers]
"""The N at which a statement with probability 1 - delta is judged."""


@once_a_run
def along_steps(run: ClassRun, like: Likeness, steps: Steps, delta: float) -> Series:
    """The least relative deviation that N_n exceeds with a chance of delta at most, along N."""
    at = means(steps(run, delta), run.K, run.M, run.eta_Y)
    value, radius = quantile(at.N, np.full(len(at.N), 1 / run.K), delta, lambda d: like(at, d))
    return series(value, radius=radius, step=at.N, clock="N")


@dataclass(frozen=True)
class Chances:
    """Chances of a miss, and the delta that each is to be below, of the same entries."""

    missed: Series
    delta: Floats


@once_a_run
def other_vocabularies(run: ClassRun) -> Chances:
    """The chance of |g(N_n)/g(N-bar) - 1| > 9 eta_Y Delta/3, for other M at the N where the scan ends.

    That is N = K (1+omega_1) ln M/eta_Y, or where N >> K^2 begins; there g changes most.
    """
    firsts = [max(enough_steps(run), run.K * larger_zero(M) / run.eta_Y) for M in LARGE_M.tolist()]
    each = [means(_steps(first)[:1], run.K, M, run.eta_Y) for first, M in zip(firsts, LARGE_M.tolist(), strict=True)]
    return _early(run, each, lambda at, _: np.ones(len(at.N), dtype=bool))


@once_a_run
def slow_turns(run: ClassRun) -> Chances:
    """As `other_vocabularies`, at every M and N, the run's M among them, with ln M >> eta_Y Delta/3."""
    N = enough(run)
    each = [means(N, run.K, M, run.eta_Y) for M in [run.M, *LARGE_M.tolist()]]
    return _early(run, each, lambda at, delta: MUCH_GREATER * third_of_rate(at, delta) <= np.log(at.M))


def _early(run: ClassRun, each: list[Means], spoken_of: Callable[[Means, float], NDArray[np.bool_]]) -> Chances:
    """Of several M, at those N and delta of which it is spoken."""
    columns = ((m.N, m.mean, m.x, m.excess, np.full(len(m.N), m.M)) for m in each)
    N, mean, x, excess, M = (np.concatenate(column) for column in zip(*columns, strict=True))
    value, radius, levels, label = list[Floats](), list[Floats](), list[Floats](), list[str]()
    for delta in LEVELS:
        kept = spoken_of(Means(N, mean, x, excess, M, run.eta_Y), delta)
        at = Means(N[kept], mean[kept], x[kept], excess[kept], M[kept], run.eta_Y)
        chance, bar = outside(at.N, np.full(len(at.N), 1 / run.K), like_share(at, EARLY * third_of_rate(at, delta)))
        value, radius, levels = [*value, chance], [*radius, bar], [*levels, np.full(len(at.N), delta)]
        label += [f"delta = {delta:g}, M = {m:.0f}, N = {n}" for m, n in zip(at.M, at.N, strict=True)]
    missed = series(np.concatenate(value), radius=np.concatenate(radius), label=tuple(label))
    return Chances(missed, np.concatenate(levels))


@once_a_run
def undrawn(run: ClassRun) -> Series:
    """g(0)/g(N-bar) - 1 along late N: what a class that is never drawn has, with a chance of (1-1/K)^N."""
    at = means(late(run), run.K, run.M, run.eta_Y)
    return series(at.excess / at.M, radius=16 * EPS * (1 + at.x) * at.excess / at.M, step=at.N, clock="N")


def barely_drawn(run: ClassRun, N: Floats) -> Floats:
    """Delta/N-bar for half of (1-1/K)^N as delta."""
    evidence = log(2) - N * np.log1p(-1 / run.K)
    return np.asarray(np.ceil(np.sqrt(N * evidence)) / np.ceil(N / run.K))


def relative_radius(at: Means, delta: float) -> Floats:
    """Delta/N-bar."""
    return np.asarray(radius_of(at, delta) / at.mean)


def third_of_rate(at: Means, delta: float) -> Floats:
    """eta_Y Delta/3, the most that sigma' is to be."""
    return np.asarray(at.eta * radius_of(at, delta) / 3)


Shape = Callable[[Means, float], Floats]


def _in_steps(like: Likeness, shape: Shape, steps: Steps, delta: float) -> HiddenConstant:
    return HiddenConstant(
        measure=lambda run: along_steps(run, like, steps, delta),
        shape=lambda run, _: shape(means(steps(run, delta), run.K, run.M, run.eta_Y), delta),
    )


def no_fluctuation(run: ClassRun) -> str | None:
    """Why nothing fluctuates, or h is not computed; or None."""
    return "There is one class, N_n = N, and nothing fluctuates." if run.K == 1 else no_growth(run)


def no_transition(run: ClassRun) -> str | None:
    """Why eq. 62 has no two phases; or None."""
    if run.M < 4:
        return "M is below 4: omega_1 of Lemma 8, on which eq. 62 turns, does not exist."
    return no_fluctuation(run)


def _more_than_nine(measure: Callable[[ClassRun], Chances]) -> Bounded:
    return Bounded(measure=lambda run: measure(run).missed, upper=lambda run, _: measure(run).delta)


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
            "Eq. 62 with 9 times eta_Y Delta/3, the chance of more": _more_than_nine(slow_turns),
        }
    ),
    absent=no_transition,
)

LEMMA11_ANY_DELTA = replace(
    LEMMA11,
    id="snap.lemma11.any-delta",
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
            "Eq. 62 with 9 times eta_Y Delta/3 at other M, the chance of more": _more_than_nine(other_vocabularies),
            "Eq. 62 with Delta/N-bar, late, delta = (1-1/K)^N/2": HiddenConstant(measure=undrawn, shape=barely_drawn),
        }
    ),
    instead=(
        r"Eq. 61 and $\sigma'\le\eta_Y\Delta/3$ stay, with the constants 3 and 9. For $\delta$ below $(1-1/K)^N$ a "
        r"class that was never drawn counts: $\Delta/\bar N$ is of the order of $\sqrt K$ then, and what is to be "
        r"below a multiple of it is about $\eta_Y\bar N$ (docs/proofs-snap.md section 2.3)."
    ),
)


@once_a_run
def growth_of_steps(run: ClassRun) -> tuple[Series, Series]:
    """w_nn of SGD on class n alone, as Lemma 5's claim has it, and (M-1) h(N_n) as eq. 66 prints it."""
    found, _ = alone(run)
    if found.step is None:
        raise ValueError("no steps")
    h = continuous(found.step, run.M, run.eta_Y).h * (run.M - 1.0)
    return found, series(h.value, radius=h.error, step=found.step, clock="N_n")


def _of_some_class(run: ClassRun, at: Means, within: Callable[[float], Interval]) -> Chances:
    """The chance that some class's count lies outside; it is between a single class's and K times that."""
    least, most, label = [], [], []
    for delta in LEVELS:
        value, radius = outside(at.N, np.full(len(at.N), 1 / run.K), within(delta))
        least.append(value - radius)
        most.append(np.minimum(run.K * (value + radius), 1.0))
        label += [f"delta = {delta:g}, N = {N}" for N in at.N.tolist()]
    low, high = np.concatenate(least), np.concatenate(most)
    missed = series((low + high) / 2, radius=(high - low) / 2, label=tuple(label))
    return Chances(missed, np.repeat(LEVELS, len(at.N)))


def printed_theta(run: ClassRun, at: Means, delta: float) -> Floats:
    """(K/sqrt(N)) sqrt(ln(K/delta))."""
    return np.asarray(run.K / np.sqrt(at.N) * sqrt(log(run.K / delta)))


@once_a_run
def beyond_printed(run: ClassRun) -> Chances:
    """Theta = h*(N_n)/h*(N-bar) - 1 beyond the printed bound.

    H*(k) is h(k + lag), with a lag that grows with k; it is taken as anything from 0 to that of N.
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
    """Theta = h(N_n)/h(N-bar) - 1 beyond the printed bound, with the continuous h."""
    at = means(enough(run), run.K, run.M, run.eta_Y)
    return _of_some_class(run, at, lambda delta: like_growth(at, printed_theta(run, at, delta)))


@dataclass(frozen=True)
class Lagging:
    """h*(k) = h(k + lag), with a lag that grows with k, at the counts k up to N.

    Attributes
    ----------
    L : (records,) array
        What the lag is at most: docs/proofs-snap.md, section 2.4.
    lag : (records,) array
        Of N.
    """

    L: Floats
    lag: Floats

    def counts(self, times: Interval) -> Interval:
        """The k whose k + lag are such times; below, the lag is taken as anything from 0 to that of N."""
        (low, high), (least, most) = times.widest, times.narrowest
        return Interval((low - self.lag, high), (least, most - self.lag))


def lagging(run: ClassRun, N: Integers) -> Lagging:
    """How far h* leads h, up to N steps on one class."""
    went = h_star(N, run.M, run.eta_Y)
    x = went.level.logit.value - went.level.logit.error
    L = exp(run.eta_Y) / 2 * (np.logaddexp(log(run.M - 1), x) - log(run.M))
    return Lagging(L, went.lag.value + went.lag.error)


@once_a_run
def beyond_rederived(run: ClassRun) -> Chances:
    """Theta = h*(N_n)/h(N-bar) - 1 beyond (sqrt((N/2) ln(2K/delta)) + 1 + L)/N-bar."""
    at = means(enough(run), run.K, run.M, run.eta_Y)
    star = lagging(run, at.N)

    def within(delta: float) -> Interval:
        return star.counts(like_growth(at, (np.sqrt(at.N / 2 * log(2 * run.K / delta)) + 1 + star.L) / at.mean))

    return _of_some_class(run, at, within)


ROWS = Equal(
    measure=lambda run: drawn_classes(run).found,
    expected=lambda run: drawn_classes(run).stated,
    scale=lambda run: np.maximum(np.abs(drawn_classes(run).stated.value), 1e-3 * min(1.0, run.eta_Y)),
)
"""Rows (M-1) h*(N_n) zeta_n, in whatever order classes are drawn."""

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
            "The chance of a theta beyond its bound": Bounded(
                measure=lambda run: beyond_printed(run).missed, upper=lambda run, _: beyond_printed(run).delta
            ),
        }
    ),
    absent=lambda run: outside_range_r(run) or no_inverse(run) or no_fluctuation(run),
)

LEMMA12_ANY_STEP = replace(
    LEMMA12,
    id="snap.lemma12.any-step",
    source="arXiv 2305.16380, Lemma 12 (eqs. 66-69), without the sentence after Remark 2",
    statement=LEMMA12_STATEMENT.format(where="any eta_Y, ", h="h the continuous one of Lemma 6"),
    assumptions=("uniform_classes",),
    judgement=Parts(
        {
            "Eq. 66 against SGD": Equal(
                measure=lambda run: growth_of_steps(run)[0], expected=lambda run: growth_of_steps(run)[1]
            ),
            "The chance of a theta beyond its bound": Bounded(
                measure=lambda run: beyond_continuous(run).missed, upper=lambda run, _: beyond_continuous(run).delta
            ),
        }
    ),
    absent=lambda run: no_inverse(run) or no_fluctuation(run),
    instead=(
        r"SGD's rows are $(M-1)h^*(N_n)\zeta_n$, with $h^*$ of Lemma 5 for its continuous $h$; "
        r"$\theta_n=h^*(N_n)/h(\bar N)-1$ obeys a bound with explicit constants: snap.lemma12.rederived "
        "(docs/proofs-snap.md)."
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
            "The chance of a theta beyond its bound": Bounded(
                measure=lambda run: beyond_rederived(run).missed, upper=lambda run, _: beyond_rederived(run).delta
            ),
        }
    ),
    absent=lambda run: no_inverse(run) or no_fluctuation(run),
)

CLAIMS: tuple[Claim, ...] = (
    LEMMA10,
    LEMMA10_REDERIVED,
    LEMMA11,
    LEMMA11_ANY_DELTA,
    LEMMA12,
    LEMMA12_ANY_STEP,
    LEMMA12_REDERIVED,
)
