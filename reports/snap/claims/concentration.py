r"""Lemmas 10 to 12 of arXiv 2305.16380: how far counts, growth and rows of W are from their means."""

from collections.abc import Callable
from dataclasses import dataclass
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
from marginaudit.reports.series import Series, series
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
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.snap.setting import no_growth, no_inverse
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
    return series(found.first[kept], label=_labels(found, kept))


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


def enough_steps(run: ClassRun) -> float:
    """N >> K^2."""
    return float(MUCH_GREATER * run.K**2)


def late_steps(run: ClassRun) -> float:
    """N >= 2 K (1 + omega_1) ln M/eta_Y, too."""
    return max(enough_steps(run), 2 * run.K * larger_zero(run.M) / run.eta_Y)


def enough(run: ClassRun) -> Integers:
    """N of `DECADES` from where N >> K^2 on."""
    return _steps(enough_steps(run))


def late(run: ClassRun) -> Integers:
    """N of `DECADES` from `late_steps` on."""
    return _steps(late_steps(run))


def across_the_turn(run: ClassRun) -> Integers:
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


@once_a_run
def along_steps(run: ClassRun, like: Likeness, steps: Callable[[ClassRun], Integers], delta: float) -> Series:
    """The least relative deviation that N_n exceeds with a chance of delta at most, along N."""
    at = means(steps(run), run.K, run.M, run.eta_Y)
    value, radius = quantile(at.N, np.full(len(at.N), 1 / run.K), delta, lambda d: like(at, d))
    return series(value, radius=radius, step=at.N, clock="N")


@dataclass(frozen=True)
class Chances:
    """Chances of a miss, and the delta that each is to be below, of the same entries."""

    missed: Series
    delta: Floats


@once_a_run
def other_vocabularies(run: ClassRun) -> Chances:
    """The chance of |g(N_n)/g(N-bar) - 1| > eta_Y Delta, for other M at the N where the scan ends.

    That is N = K (1+omega_1) ln M/eta_Y, or where N >> K^2 begins; there g changes most.
    """
    firsts = [max(enough_steps(run), run.K * larger_zero(M) / run.eta_Y) for M in LARGE_M.tolist()]
    each = [means(_steps(first)[:1], run.K, M, run.eta_Y) for first, M in zip(firsts, LARGE_M.tolist(), strict=True)]
    N, mean, x, excess = (np.concatenate(c) for c in zip(*((m.N, m.mean, m.x, m.excess) for m in each), strict=True))
    at = Means(N, mean, x, excess, LARGE_M.astype(np.float64), run.eta_Y)
    p = np.full(len(N), 1 / run.K)
    found = [outside(N, p, like_share(at, 3 * third_of_rate(at, delta))) for delta in LEVELS]
    value, radius = (np.concatenate(column) for column in zip(*found, strict=True))
    label = tuple(f"delta = {delta:g}, M = {M}, N = {n}" for delta in LEVELS for M, n in zip(LARGE_M, N, strict=True))
    return Chances(series(value, radius=radius, label=label), np.repeat(LEVELS, len(N)))


def relative_radius(at: Means, delta: float) -> Floats:
    """Delta/N-bar."""
    return np.asarray(radius_of(at, delta) / at.mean)


def third_of_rate(at: Means, delta: float) -> Floats:
    """eta_Y Delta/3, the most that sigma' is to be."""
    return np.asarray(at.eta * radius_of(at, delta) / 3)


Shape = Callable[[Means, float], Floats]


def _in_steps(like: Likeness, shape: Shape, steps: Callable[[ClassRun], Integers], delta: float) -> HiddenConstant:
    return HiddenConstant(
        measure=lambda run: along_steps(run, like, steps, delta),
        shape=lambda run, _: shape(means(steps(run), run.K, run.M, run.eta_Y), delta),
    )


def no_fluctuation(run: ClassRun) -> str | None:
    """Why nothing fluctuates, or h is not computed; or None."""
    return "There is one class, N_n = N, and nothing fluctuates." if run.K == 1 else no_growth(run)


def no_transition(run: ClassRun) -> str | None:
    """Why eq. 62 has no two phases; or None."""
    if run.M < 4:
        return "M is below 4: omega_1 of Lemma 8, on which eq. 62 turns, does not exist."
    return no_fluctuation(run)


LEMMA11 = Claim(
    id="snap.lemma11",
    source="arXiv 2305.16380, Lemma 11 (eqs. 61, 62)",
    statement=(
        "Uniform classes, N-bar = ceil(N/K), Delta = ceil(sqrt(N ln(1/delta))) and N >> K^2: with probability at "
        "least 1 - "
        "delta, |h(N_n) - h(N-bar)| <= C h(N-bar) Delta/N-bar, and the share g = 1/(M-1+exp(M h)) has |g(N_n) - "
        "g(N-bar)| "
        "<= C g(N-bar) sigma', with sigma' <= eta_Y Delta/3, and sigma' <= C Delta/N-bar for N >= 2 K (1+omega_1) ln "
        "M/eta_Y. Quantiles of the binomial law are exact."
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
                f"{name}, delta = {delta:g}": part
                for delta in SHOWN_LEVELS
                for name, part in (
                    ("Eq. 61", _in_steps(like_growth, relative_radius, enough, delta)),
                    ("Eq. 62 with eta_Y Delta/3", _in_steps(like_share, third_of_rate, across_the_turn, delta)),
                    ("Eq. 62 with Delta/N-bar, late", _in_steps(like_share, relative_radius, late, delta)),
                )
            },
            "Eq. 62 with 3 times eta_Y Delta/3 at other M, the chance of more": Bounded(
                measure=lambda run: other_vocabularies(run).missed, upper=lambda run, _: other_vocabularies(run).delta
            ),
        }
    ),
    absent=no_transition,
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


@once_a_run
def beyond_printed(run: ClassRun) -> Chances:
    """Theta = h(N_n)/h(N-bar) - 1 beyond (K/sqrt(N)) sqrt(ln(K/delta))."""
    at = means(enough(run), run.K, run.M, run.eta_Y)
    return _of_some_class(
        run, at, lambda delta: like_growth(at, np.asarray(run.K / np.sqrt(at.N) * sqrt(log(run.K / delta))))
    )


@once_a_run
def beyond_rederived(run: ClassRun) -> Chances:
    """Theta = h*(N_n)/h(N-bar) - 1 beyond (sqrt((N/2) ln(2K/delta)) + 1 + L)/N-bar.

    H*(k) is h(k + lag), with a lag that grows with k; below, it is taken as anything from 0 to that of N.
    """
    at = means(enough(run), run.K, run.M, run.eta_Y)
    went = h_star(at.N, run.M, run.eta_Y)
    x = went.level.logit.value - went.level.logit.error
    L = exp(run.eta_Y) / 2 * (np.logaddexp(log(run.M - 1), x) - log(run.M))
    lag = went.lag.value + went.lag.error

    def within(delta: float) -> Interval:
        of_h = like_growth(at, (np.sqrt(at.N / 2 * log(2 * run.K / delta)) + 1 + L) / at.mean)
        (low, high), (least, most) = of_h.widest, of_h.narrowest
        return Interval((low - lag, high), (least, most - lag))

    return _of_some_class(run, at, within)


LEMMA12 = Claim(
    id="snap.lemma12",
    source="arXiv 2305.16380, Lemma 12 (eqs. 66-69)",
    statement=(
        "Y(0) = 0, Z fixed, uniform classes, N >> K^2: w_n(N) = (M-1) h(N_n) zeta_n = (1+theta_n) (M-1) h(N-bar) "
        "zeta_n, and "
        "with probability at least 1 - delta, |theta_n| <= (K/sqrt(N)) sqrt(ln(K/delta)) for all n. The chance is "
        "between a "
        "single class's, which is exact, and K times that."
    ),
    formula=(
        r"w_n(N)=(M-1)h(N_n)\zeta_n=(1+\theta_n)(M-1)h(\bar N)\zeta_n,\quad "
        r"\lvert\theta_n\rvert\lesssim\frac{K}{\sqrt N}\sqrt{\ln\frac K\delta}"
    ),
    assumptions=("uniform_classes",),
    judgement=Parts(
        {
            "Eq. 66 against SGD": Equal(
                measure=lambda run: growth_of_steps(run)[0], expected=lambda run: growth_of_steps(run)[1]
            ),
            "The chance of a theta beyond its bound": Bounded(
                measure=lambda run: beyond_printed(run).missed, upper=lambda run, _: beyond_printed(run).delta
            ),
        }
    ),
    absent=lambda run: no_fluctuation(run) or no_inverse(run),
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
            "Rows of SGD on whole matrices": Equal(
                measure=lambda run: drawn_classes(run).found,
                expected=lambda run: drawn_classes(run).stated,
                scale=lambda run: np.maximum(np.abs(drawn_classes(run).stated.value), 1e-3 * min(1.0, run.eta_Y)),
            ),
            "The chance of a theta beyond its bound": Bounded(
                measure=lambda run: beyond_rederived(run).missed, upper=lambda run, _: beyond_rederived(run).delta
            ),
        }
    ),
    absent=lambda run: no_fluctuation(run) or no_inverse(run),
)

CLAIMS: tuple[Claim, ...] = (LEMMA10, LEMMA10_REDERIVED, LEMMA11, LEMMA12, LEMMA12_REDERIVED)
