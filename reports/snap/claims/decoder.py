"""Theorem 5 and Corollary 1 of arXiv 2305.16380: Y in closed form, and how fast its residuals fall.

From Remark 2 on the source writes h for h*, and both are judged so. Theorem 5's variant for any step size, and the
re-derived Corollary 1, have the continuous h at N-bar, so that theta and sigma take up the difference.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, lambertw

from marginaudit.orders import counted
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.reports.claim import BeyondTheRun, Claim
from marginaudit.reports.judgements import Bounded, Equal, HiddenConstant
from marginaudit.reports.judgements.parts import Parts
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import Series, by_formula, rounded, series
from marginaudit.reports.snap.ball_sgd import bits_a_step, descended, dual, errors, features, of, rows_of
from marginaudit.reports.snap.binomial import LEVELS, outside
from marginaudit.reports.snap.claims.chance import DELTAS, DOUBT, Law, drawn, quantile
from marginaudit.reports.snap.claims.concentration import (
    Chances,
    Means,
    enough,
    lagging,
    larger_zero,
    like_share,
    means,
    no_transition,
)
from marginaudit.reports.snap.conditions import (
    RANGE_R,
    THEOREM_5,
    late_steps,
    least_rate,
    no_growth,
    no_inverse,
    outside_range_r,
    ratios,
)
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit import (
    Approximation,
    Fluctuation,
    class_sequences,
    continuous,
    fluctuation,
    stepped_fluctuation,
)

SOURCE = "arXiv 2305.16380"

OPERATIONS = 300_000
"""Of SGD on balls, times their digits over those of a float64, at most."""

RESIDUALS = 10.0 ** np.arange(1, 8)
"""1/epsilon, over six decades."""

LARGE_M = 10**9
"""Where steps are swept along the step size, so that range R leaves many decades of it."""

HALVINGS = 64
"""Enough to find a whole number in float64."""

EVIDENCE = 10.0 ** np.arange(9)
"""ln(1/delta)."""

SMALL_LEVELS = (0.5, 0.1, 0.01, 1e-6, 1e-30)
"""The delta at which steps are counted."""

NEAR, LATE = 0.3, 5
"""Docs/proofs-snap.md, section 2.6: how near to N-bar the counts are, and the constant there."""

STEADY_RESIDUAL = 100.0
"""1/epsilon where steps are swept along M or the step size."""


def sequence(run: ClassRun) -> NDArray[np.int64]:
    """Classes drawn by one seed in t = 10 K^2 steps, fewer where that would take too long."""
    late_steps(run, 1)
    digits = 2 + bits_a_step(run.overlap, run.eta_Y)
    steps = min(MUCH_GREATER * run.K**2, max(1, int(OPERATIONS / run.K**2 / digits)))
    found: NDArray[np.int64] = class_sequences(steps, run.dataset.frequencies, 1, run.config.seed)[0]
    return found


@once_a_run
def _descended(run: ClassRun) -> arb_mat:
    return descended(run.overlap, sequence(run), run.M, run.eta_Y)


def _rows(run: ClassRun, law: Law = fluctuation) -> Fluctuation:
    """Of where that leads."""
    return law(np.bincount(sequence(run), minlength=run.K), run.M, run.eta_Y)


def _entries(run: ClassRun, matrix: list[list[arb]]) -> Series:
    columns = (*run.dataset.next_tokens, "any other token")[: run.M]  # for K = M there is no other
    values = [rounded(x) for row in matrix for x in row[: len(columns)]]
    label = tuple(f"{n}, {column}" for n in run.dataset.next_tokens for column in columns)
    return series([value for value, _ in values], radius=[radius for _, radius in values], label=label)


def trained(run: ClassRun) -> Series:
    """Y in terms of f_1 .. f_K after SGD with the modified gradient, step by step."""
    return _entries(run, _descended(run).tolist())


def closed_form(run: ClassRun, law: Law = fluctuation) -> Series:
    """(I-E')(I+Theta) W-bar, rows (M-1) h(N-bar) zeta_n of W-bar, or (M-1) h*(N-bar) zeta_n."""
    at, M = _rows(run, law), run.M
    [h] = of(at.mean.h)
    grown = [(1 + theta) * h for theta in of(at.theta)]
    return _entries(run, (dual(run.overlap) * rows_of(grown, M)).tolist())


def _with_steps(run: ClassRun) -> Series:
    return closed_form(run, stepped_fluctuation)


def residuals(run: ClassRun) -> Series:
    """E_n - alpha_n of each class, from the softmax of F^T Y after those steps."""
    A = _descended(run)
    return _entries(run, [errors((f * A).tolist()[0], n, run.M) for n, f in enumerate(features(run.overlap))])


def eq_71(run: ClassRun, law: Law) -> Series:
    """(M-1)/(M-1+exp(M h(N-bar))) (1+sigma_n) zeta_n of each class, h the law's."""
    at, M = _rows(run, law), run.M
    [share] = of(at.mean.share)
    left = [(1 + sigma) * share for sigma in of(at.sigma)]
    return _entries(run, rows_of(left, M).tolist())


def _eq71(law: Law) -> Equal:
    expected = partial(eq_71, law=law)
    return Equal(measure=residuals, expected=expected, scale=_size(expected))


def _size(side: Callable[[ClassRun], Series]) -> Callable[[ClassRun], NDArray[np.float64]]:
    """The largest entry, which rounding is relative to."""
    return lambda run: np.asarray(np.abs(side(run).value).max())


def thetas(delta: float, law: Law) -> Callable[[ClassRun], Series]:
    """The (1-delta)-quantile of max |theta_n|, along N."""

    def measure(run: ClassRun) -> Series:
        found = drawn(run, law)
        return quantile(found.theta, found.step, delta)

    return measure


def sigmas(delta: float, late: bool) -> Callable[[ClassRun], Series]:
    """The (1-delta)-quantile of |sigma| of a class, along N, h standing for h*; all classes have one law."""

    def measure(run: ClassRun) -> Series:
        found = drawn(run, stepped_fluctuation)
        step = found.step
        kept = step >= (late_from(run, delta, step) if late else 0)
        if not kept.any():
            raise BeyondTheRun(f"N >> K(sqrt(N ln(1/delta)) + 2(1+omega_1) ln M/eta_Y) is not met by t = {step[-1]}")
        return quantile(Approximation(found.sigma.value[:, kept], found.sigma.error[:, kept]), step[kept], delta)

    return measure


def late_from(run: ClassRun, delta: float, N: NDArray[np.int64]) -> NDArray[np.float64]:
    """10 K (sqrt(N ln(1/delta)) + 2(1+omega_1) ln M/eta_Y), with (1+omega_1) ln M the larger root of e^x = (M-1) x."""
    root = -float(lambertw(-1 / (run.M - 1), -1).real)
    return np.asarray(MUCH_GREATER * run.K * (np.sqrt(N * np.log(1 / delta)) + 2 * root / run.eta_Y))


def small(delta: float, per_class: bool) -> Callable[[ClassRun, NDArray[np.float64]], ArrayLike]:
    """K/sqrt(N) sqrt(ln(1/delta)), with ln(K/delta) for all classes at once."""
    return lambda run, N: run.K / np.sqrt(N) * np.sqrt(np.log((1 if per_class else run.K) / delta))


def explicit(delta: float) -> Callable[[ClassRun, NDArray[np.float64]], NDArray[np.float64]]:
    """(sqrt((N/2) ln(2K/delta)) + 1)/N-bar."""
    return lambda run, N: np.asarray((np.sqrt(N / 2 * np.log(2 * run.K / delta)) + 1) / np.ceil(N / run.K))


def growing(delta: float) -> Callable[[ClassRun, NDArray[np.float64]], ArrayLike]:
    """Eta_Y sqrt(N ln(1/delta))."""
    return lambda run, N: run.eta_Y * np.sqrt(N * np.log(1 / delta))


def log_residual(M: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log(exp(M h)) at which ||e_n - alpha_n|| is epsilon: M - 1 + exp(M h) = sqrt(M (M-1))/epsilon."""
    return np.log(np.sqrt(M * (M - 1)) * inverse - (M - 1))


def steps_of_a_class(
    M: NDArray[np.float64], eta: NDArray[np.float64], inverse: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and most steps S on one class until its residual is epsilon.

    By Lemma 6 the continuous h is there at s = (exp(x) - 1 + (M-1) x)/(M eta_Y), and h* no later. It leads by a lag of
    at most exp(eta_Y)/2 (ln((M - 1 + exp(x))/M) + eta_Y): see `marginaudit.training.snap.limit.recursion.h_star`.
    """
    x = log_residual(M, inverse)
    s = (np.expm1(x) + (M - 1) * x) / (M * eta)
    lag = np.exp(eta) / 2 * (np.log((M - 1 + np.exp(x)) / M) + eta)
    return np.maximum(1, np.floor((s - lag) * (1 - 1e-12))), np.ceil(s * (1 + 1e-12))


def epochs(S: NDArray[np.float64], K: int, delta: float = DELTAS[1]) -> NDArray[np.float64]:
    """The least N after which each class has S steps with probability 1 - delta by the union bound."""
    low, high = S - 1, 4 * K * (S + 100)
    for _ in range(HALVINGS):
        middle = np.floor((low + high) / 2)
        fewer = betainc(middle - S + 1, S, 1 - 1 / K)  # P(Binomial(N, 1/K) < S)
        done = K * fewer <= delta
        low, high = np.where(done, low, middle), np.where(done, middle, high)
    return np.asarray(high)


def _swept(K: int, M: ArrayLike, eta: ArrayLike, inverse: ArrayLike, position: ArrayLike, clock: str) -> Series:
    M, eta, inverse = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (M, eta, inverse)))
    least, most = (epochs(S, K) for S in steps_of_a_class(M, eta, inverse))
    return series((least + most) / 2, radius=(most - least) / 2, step=np.asarray(position), clock=clock)


def along_residual(run: ClassRun) -> Series:
    """N until all residuals are epsilon, along 1/epsilon."""
    return _swept(run.K, run.M, run.eta_Y, RESIDUALS, RESIDUALS, "1/epsilon")


def along_M(run: ClassRun) -> Series:
    """N until all residuals are 0.01, along M from where range R begins."""
    least = max(1000.0, (MUCH_GREATER / run.eta_Y) ** (1 / 0.99))
    M = np.ceil(least * 10.0 ** np.linspace(0, 6, 25))
    return _swept(run.K, M, run.eta_Y, STEADY_RESIDUAL, M, "M")


def along_rate(run: ClassRun) -> Series:
    """N until all residuals are 0.01, along whole 1/eta_Y in range R at M = 10^9."""
    inverse = np.unique(np.floor(np.geomspace(2, 1 / least_rate(LARGE_M), 25)))
    return _swept(run.K, LARGE_M, 1 / inverse, STEADY_RESIDUAL, inverse, "1/eta_Y")


def rate(run: ClassRun, M: ArrayLike, eta: ArrayLike, inverse: ArrayLike) -> NDArray[np.float64]:
    """K/(eps eta_Y) ln(M/eps)."""
    M, eta, inverse = (np.asarray(x, dtype=float) for x in (M, eta, inverse))
    return np.asarray(run.K * inverse / eta * np.log(M * inverse))


def undrawn(run: ClassRun) -> Series:
    """The last N after which some class is undrawn, its residual near 1, with a chance above delta; along ln(1/delta).

    A class is with a chance of (1-1/K)^N.
    """
    return by_formula(np.floor(EVIDENCE / -np.log1p(-1 / run.K)), step=EVIDENCE, clock="ln(1/delta)")


def steps_enough(run: ClassRun) -> tuple[Series, NDArray[np.float64]]:
    """N until all residuals are epsilon by the union bound, and the most that is proved of it."""
    K = run.K
    M, eta, inverse = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(run.M, run.eta_Y, RESIDUALS))
    S = steps_of_a_class(M, eta, inverse)
    value, radius, bound, label = [], [], [], []
    for delta in SMALL_LEVELS:
        least, most = (epochs(one, K, delta) for one in S)
        value += ((least + most) / 2).tolist()
        radius += ((most - least) / 2).tolist()
        of_a_class = 2 * np.ceil((inverse + np.log(M * inverse)) / eta)
        bound += (K * np.maximum(of_a_class, 8 * np.log(K / delta))).tolist()
        label += [f"delta = {delta:g}, epsilon = {1 / x:g}" for x in inverse]
    return series(value, radius=radius, label=tuple(label)), np.array(bound)


@once_a_run
def sigma_beyond(run: ClassRun, *, late: bool) -> Chances:
    """The chance of sigma_n = g(N_n + lag)/g(N-bar) - 1 beyond eta_Y R or, late, 5 R/N-bar; R is in the statement."""
    at = means(enough(run), run.K, run.M, run.eta_Y)
    value, radius, levels, label = list[NDArray[np.float64]](), list[NDArray[np.float64]](), list[float](), list[str]()
    for delta in LEVELS:
        room = np.sqrt(at.N / 2 * np.log(2 / delta)) + 1
        spoken_of = room <= NEAR * at.mean if late else np.ones(len(at.N), dtype=bool)
        if late:
            spoken_of &= run.eta_Y * at.mean >= 2 * larger_zero(run.M)
        here = Means(at.N[spoken_of], at.mean[spoken_of], at.x[spoken_of], at.excess[spoken_of], at.M, at.eta)
        star = lagging(run, here.N)
        R = room[spoken_of] + star.L
        within = star.counts(like_share(here, LATE * R / here.mean if late else run.eta_Y * R))
        chance, bar = outside(here.N, np.full(len(here.N), 1 / run.K), within)
        value, radius, levels = [*value, chance], [*radius, bar], [*levels, *[delta] * len(here.N)]
        label += [f"delta = {delta:g}, N = {N}" for N in here.N.tolist()]
    missed = series(np.concatenate(value), radius=np.concatenate(radius), label=tuple(label))
    return Chances(missed, np.array(levels))


def leading(run: ClassRun) -> str:
    """By how much h* exceeds h where eq. 71 is compared."""
    counts = np.bincount(sequence(run), minlength=run.K)
    star, h = fluctuation(counts, run.M, run.eta_Y).rows.h.value, continuous(counts, run.M, run.eta_Y).h.value
    lead = float(np.max(star[counts > 0] / h[counts > 0] - 1))
    return (
        f"Y was trained for {counted(int(counts.sum()), 'step')} of eq. 26; the continuous h(N_n) is up to {lead:.2g} "
        "of itself below h*(N_n). Quantiles over seeds have bounds from the exact binomial law, each at level "
        f"{1 - DOUBT:g}. "
        f"{ratios(run)}"
    )


with_h_star = "theta and sigma are those of the rows of SGD, w_n = (M-1) h*(N_n) zeta_n"

THEOREM5_STATEMENT = (
    "{where} after N >> K^2 steps of eq. 26 from zero Y = F(I-E')(I+Theta) W-bar(N), rows (M-1) h(ceil(N/K)) zeta_n of "
    "W-bar, {h}, and with probability 1 - delta every |theta_n| is at most of the order of K/sqrt(N) "
    f"sqrt(ln(K/delta)); {with_h_star}."
)


def _theorem5(expected: Callable[[ClassRun], Series], law: Law) -> Parts:
    return Parts(
        {
            "Eq. 70": Equal(measure=trained, expected=expected, scale=_size(expected)),
            **{
                f"Theta, delta = {delta:g}": HiddenConstant(
                    measure=thetas(delta, law), shape=small(delta, per_class=False)
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
)

THEOREM5_ANY_STEP = replace(
    THEOREM5,
    id="snap.theorem5.any-step",
    source=f"{SOURCE}, Theorem 5, eq. 70, without the sentence after Remark 2",
    statement=THEOREM5_STATEMENT.format(where="At any eta_Y,", h="h the continuous one of Lemma 6"),
    assumptions=THEOREM_5,
    judgement=_theorem5(closed_form, fluctuation),
    absent=lambda run: None,
    instead=(
        r"With $h^*$ for $h$ in $\bar W$ it is true at every step size, with explicit constants: "
        r"snap.theorem5.rederived (docs/proofs-snap.md section 2.5). With $h$ the largest $\theta_n$ is at least "
        r"$h^*(\bar N)/h(\bar N)-1$, whatever is drawn, and the printed order is true exactly as far as this is of "
        r"that order: for $\eta_Y=O(1)$. At $\eta_Y=100$ and $M=5000$ it is at least 1 up to $\bar N=10^{16}$."
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
            "Eq. 70 with h*": Equal(measure=trained, expected=_with_steps, scale=_size(_with_steps)),
            **{
                f"Theta*, delta = {delta:g}": Bounded(measure=thetas(delta, stepped_fluctuation), upper=explicit(delta))
                for delta in DELTAS
            },
        },
        note=leading,
    ),
    absent=lambda run: no_inverse(run) or no_growth(run),
)

COROLLARY1 = Claim(
    id="snap.corollary1",
    source=f"{SOURCE}, Corollary 1, eq. 71",
    statement=(
        "There, h standing for h*, e_n - alpha_n = (M-1)/(M-1+exp(M h(N-bar))) (1+sigma) zeta_n; with probability 1 - delta |sigma| is at "
        "most of the order of eta_Y sqrt(N ln(1/delta)), and of K/sqrt(N) sqrt(ln(1/delta)) for N >> K(sqrt(N "
        "ln(1/delta)) + 2(1+omega_1) ln M/eta_Y); all ||e_n - alpha_n|| are at most epsilon after O(K/(epsilon eta_Y) "
        f"log(M/epsilon)) steps. Sigma is each class's own; {with_h_star}."
    ),
    formula=r"e_n-\alpha_n=\frac{M-1}{M-1+\exp(Mh(\overline N))}(1+\sigma)\zeta_n,\qquad "
    r"N(\epsilon)=O\Bigl(\frac{K}{\epsilon\eta_Y}\log\frac M\epsilon\Bigr)",
    assumptions=(*THEOREM_5, RANGE_R),
    judgement=Parts(
        {
            "Eq. 71": _eq71(stepped_fluctuation),
            **{
                f"Sigma, delta = {delta:g}": HiddenConstant(measure=sigmas(delta, late=False), shape=growing(delta))
                for delta in DELTAS
            },
            **{
                f"Late sigma, delta = {delta:g}": HiddenConstant(
                    measure=sigmas(delta, late=True), shape=small(delta, per_class=True)
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
)


def _rarely(*, late: bool) -> Bounded:
    return Bounded(
        measure=lambda run: sigma_beyond(run, late=late).missed,
        upper=lambda run, _: sigma_beyond(run, late=late).delta,
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
            "The chance of a sigma beyond eta_Y R": _rarely(late=False),
            "The chance of a sigma beyond 5 R/N-bar, late": _rarely(late=True),
            "Steps": Bounded(measure=lambda run: steps_enough(run)[0], upper=lambda run, _: steps_enough(run)[1]),
        },
        note=leading,
    ),
    absent=lambda run: no_inverse(run) or no_transition(run),
)

CLAIMS: tuple[Claim, ...] = (THEOREM5, THEOREM5_ANY_STEP, THEOREM5_REDERIVED, COROLLARY1, COROLLARY1_REDERIVED)
