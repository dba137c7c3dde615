"""Eqs. 87 and 89: iota and beta of Theorem 1 compared with E'."""

from functools import partial

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.appendix_d5_theorem1.theorem1 import ASSUMPTIONS, coefficients, compared, own_first
from marginaudit.claims.snap.conditions import outside_range_r
from marginaudit.claims.snap.readings import IN_RANGE_R, PAGE, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.approximation import Approximation


def delta_1(run: ClassRun) -> Approximation:
    """q_1 (1+theta_n) - 1 of each of `compared`'s records and classes."""
    theta = compared(run).at.theta
    return theta + (theta + 1.0) / (run.M - 1.0)


@once_a_run
def left_over(run: ClassRun) -> Approximation:
    """delta_2, then delta_3 of the other classes, for each record and class.

    Delta_2 is iota/(1+sigma) - (1-E'_nn)(1+delta_1), and delta_3 is beta/(1+sigma) - E'_nn' (1+delta_1).
    """
    K, E_prime, found = run.K, run.overlap.E_prime, coefficients(run)
    row = E_prime[np.arange(K)[:, np.newaxis], own_first(K)] * np.where(np.arange(K) == 0, -1.0, 1.0)
    row = row + np.where(np.arange(K) == 0, 1.0, 0.0)
    weights = Approximation(found.value.reshape(-1, K, K), found.radius.reshape(-1, K, K))
    sigma = compared(run).at.sigma + 1.0
    return weights / sigma[..., np.newaxis] - row * (delta_1(run) + 1.0)[..., np.newaxis]


def largest_delta_1(run: ClassRun) -> Floats:
    """The largest |delta_1| of each record's classes."""
    return np.asarray(np.abs(delta_1(run).value).max(axis=1))


def with_small_delta_1(run: ClassRun) -> np.ndarray:
    """Records with |delta_1| << 1."""
    return np.flatnonzero(largest_delta_1(run) <= 1 / MUCH_GREATER)


def sizes(run: ClassRun, own: bool) -> Series:
    """|delta_2|, or each class's largest |delta_3|, at every record, then at those with |delta_1| << 1."""
    part = left_over(run)[..., :1] if own else left_over(run)[..., 1:]
    value, error = np.abs(part.value).max(axis=2, initial=0.0), part.error.max(axis=2, initial=0.0)
    kept = np.concatenate([np.arange(len(value)), with_small_delta_1(run)])
    step = np.repeat(compared(run).step[kept], run.K)
    label = tuple(f"delta_{2 if own else 3} of {n}" for n in run.dataset.next_tokens) * len(kept)
    return series(value[kept].ravel(), radius=error[kept].ravel(), step=step, label=label)


def printed_bounds(run: ClassRun, _: Floats) -> Floats:
    """M/(M-1)^2 2 (1+3|delta_1|), then 3/M, at the entries of `sizes`."""
    first = run.M / (run.M - 1) ** 2 * 2 * (1 + 3 * largest_delta_1(run))
    return np.repeat(np.concatenate([first, np.full(len(with_small_delta_1(run)), 3 / run.M)]), run.K)


def near_E_prime(equation: int, delta: int, identity: str, formula: str, *, place: str, reading: str) -> Claim:
    """Claim that iota or beta is 1 - E'_nn or E'_nn', up to delta_2 or delta_3."""
    return Claim(
        id=f"snap.eq{equation}",
        source=f"{SOURCE}, Theorem 1's proof, eq. {equation}",
        source_words=quoted(
            f"appendix D.5, Theorem 1's proof, eq. {place}",
            "|delta_2|, |delta_3| <= M/(M-1)^2 x 2 (1+3|delta_1|) < 3/M",
            reading,
        ),
        statement=(
            f"After t >> K^2 steps {identity} with 1 + delta_1 = q_1 (1+theta_n), and |delta_{delta}| <= M/(M-1)^2 2 "
            "(1+3|delta_1|), |delta_1| the largest of all classes, which is below 3/M where |delta_1| << 1, as the "
            f"proof has it; {identity.partition('_')[0]} is what the gradient has."
        ),
        formula=rf"{formula},\quad\lvert\delta_{delta}\rvert\le\frac{{2M}}{{(M-1)^2}}(1+3\lvert\delta_1\rvert)<\frac3M",
        assumptions=ASSUMPTIONS,
        standing=proved(
            PAGE + "86-snapeq87-snapeq89-snapeq90",
            "snap.theorem1.form.rederived",
            "snap.lemma15",
            hunted=7,
        ),
        judgement=Bounded(measure=partial(sizes, own=delta == 2), upper=printed_bounds),
        absent=outside_range_r,
    )


EQ87 = near_E_prime(
    87,
    2,
    "iota_n = (1+sigma) [(1-E'_nn) (1+delta_1) + delta_2]",
    r"\iota_n=(1+\sigma)[(1-E'_{nn})(1+\delta_1)+\delta_2]",
    place="87 and below eq. 89",
    reading=f"{IN_RANGE_R}; t >= 10 K^2. delta_1 = q_1 (1+theta_n) - 1; in the bounds it is that of the class "
    "where it is largest, and at most 0.1 where it is much smaller than 1, as the text before has it.",
)

EQ89 = near_E_prime(
    89,
    3,
    "beta_nn' = (1+sigma) [E'_nn' (1+delta_1) + delta_3]",
    r"\beta_{nn'}=(1+\sigma)[E'_{nn'}(1+\delta_1)+\delta_3]",
    place="89 and below",
    reading="As in snap.eq87. beta is what the gradient has; eq. 88's sign does not change the bound.",
)

CLAIMS: tuple[Claim, ...] = (EQ87, EQ89)
