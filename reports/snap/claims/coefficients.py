"""Eqs. 87, 89 and 90 of arXiv 2305.16380: what iota and beta are beside E', and how large E' is."""

from functools import partial

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.orders.snap.overlap import eigenpairs
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import FORMULA_ROUNDING, Series, series
from marginaudit.reports.snap.claims.backpropagated import ASSUMPTIONS, coefficients, compared
from marginaudit.reports.snap.claims.conditions import ASSUMPTION_2, outside_range_r
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit import Approximation

SOURCE = "arXiv 2305.16380"


def delta_1(run: ClassRun) -> Approximation:
    """q_1 (1+theta_n) - 1 of each of `compared`'s records and classes."""
    theta = compared(run).at.theta
    return theta + (theta + 1.0) / (run.M - 1.0)


@once_a_run
def left_over(run: ClassRun) -> Approximation:
    """Delta_2, then delta_3 of the others, of each record and class: what iota and beta leave beside E'.

    Iota/(1+sigma) less (1-E'_nn)(1+delta_1), beta/(1+sigma) less E'_nn' (1+delta_1).
    """
    K, E_prime, found = run.K, run.overlap.E_prime, coefficients(run)
    own_first = np.array([[n, *(k for k in range(K) if k != n)] for n in range(K)])
    row = E_prime[np.arange(K)[:, np.newaxis], own_first] * np.where(np.arange(K) == 0, -1.0, 1.0)
    row = row + np.where(np.arange(K) == 0, 1.0, 0.0)
    weights = Approximation(found.value.reshape(-1, K, K), found.radius.reshape(-1, K, K))
    sigma = compared(run).at.sigma + 1.0
    return weights / sigma[..., np.newaxis] - row * (delta_1(run) + 1.0)[..., np.newaxis]


def _largest(run: ClassRun) -> Floats:
    """The largest |delta_1| of each record's classes."""
    return np.asarray(np.abs(delta_1(run).value).max(axis=1))


def _small(run: ClassRun) -> np.ndarray:
    """Records with |delta_1| << 1."""
    return np.flatnonzero(_largest(run) <= 1 / MUCH_GREATER)


def sizes(run: ClassRun, own: bool) -> Series:
    """|delta_2|, or each class's largest |delta_3|, at every record, then at those with |delta_1| << 1."""
    part = left_over(run)[..., :1] if own else left_over(run)[..., 1:]
    value, error = np.abs(part.value).max(axis=2, initial=0.0), part.error.max(axis=2, initial=0.0)
    kept = np.concatenate([np.arange(len(value)), _small(run)])
    step = np.repeat(compared(run).step[kept], run.K)
    label = tuple(f"delta_{2 if own else 3} of {n}" for n in run.dataset.next_tokens) * len(kept)
    return series(value[kept].ravel(), radius=error[kept].ravel(), step=step, label=label)


def printed_bounds(run: ClassRun, _: Floats) -> Floats:
    """M/(M-1)^2 2 (1+3|delta_1|), then 3/M, at the entries of `sizes`."""
    first = run.M / (run.M - 1) ** 2 * 2 * (1 + 3 * _largest(run))
    return np.repeat(np.concatenate([first, np.full(len(_small(run)), 3 / run.M)]), run.K)


def _claim(equation: int, delta: int, coefficient: str, formula: str, place: str) -> Claim:
    return Claim(
        id=f"snap.eq{equation}",
        source=f"{SOURCE}, Theorem 1's proof, eq. {equation}",
        statement=(
            f"After t >> K^2 steps {place} with 1 + delta_1 = q_1 (1+theta_n), and |delta_{delta}| <= M/(M-1)^2 2 "
            "(1+3|delta_1|), |delta_1| the largest of all classes, which is below 3/M where |delta_1| << 1, as the "
            f"proof has it; {coefficient} is what the gradient has."
        ),
        formula=formula,
        assumptions=ASSUMPTIONS,
        judgement=Bounded(measure=partial(sizes, own=delta == 2), upper=printed_bounds),
        absent=outside_range_r,
    )


EQ87 = _claim(
    87,
    2,
    "iota",
    r"\iota_n=(1+\sigma)[(1-E'_{nn})(1+\delta_1)+\delta_2],\quad\lvert\delta_2\rvert\le"
    r"\frac{2M}{(M-1)^2}(1+3\lvert\delta_1\rvert)<\frac3M",
    "iota_n = (1+sigma) [(1-E'_nn) (1+delta_1) + delta_2]",
)

EQ89 = _claim(
    89,
    3,
    "beta",
    r"\beta_{nn'}=(1+\sigma)[E'_{nn'}(1+\delta_1)+\delta_3],\quad\lvert\delta_3\rvert\le"
    r"\frac{2M}{(M-1)^2}(1+3\lvert\delta_1\rvert)<\frac3M",
    "beta_nn' = (1+sigma) [E'_nn' (1+delta_1) + delta_3]",
)


def three_sides(run: ClassRun) -> tuple[Series, Floats]:
    """The largest |E'_kn|, the largest |lambda_i(E')| and K/(K-1) |lambda_1|, and what each is at most."""
    found = run.overlap.E_prime
    own, _, own_error = eigenpairs((found.value + found.value.T) / 2)
    own_error += float(np.linalg.norm(found.error))
    overlap, factor = run.dataset.overlap, run.K / (run.K - 1)
    eigenvalue, scaled = float(np.abs(own).max()), factor * overlap.largest
    value = np.array([np.abs(found.value).max(), eigenvalue, scaled])
    bars = np.array([found.error.max() + own_error, own_error, 0.0]) + factor * overlap.eigenvalue_error
    sides = ("the largest |E'_kn|", "the largest |lambda_i(E')|", "|lambda_1|/(1-1/K)")
    upper = np.array([eigenvalue, scaled, 1 / (run.K - 1)])
    return series(value, radius=bars + FORMULA_ROUNDING * value, label=sides), upper


EQ90 = Claim(
    id="snap.eq90",
    source=f"{SOURCE}, Theorem 1's proof, eq. 90",
    statement="|E'_kn| <= max |lambda_i(E')| <= |lambda_1|/(1-1/K) <= 1/(K-1).",
    formula=r"\lvert E'_{kn}\rvert\le\max_i\lvert\lambda_i(E')\rvert\le\frac1{1-1/K}\lvert\lambda_1\rvert"
    r"\le\frac1{K-1}",
    assumptions=ASSUMPTION_2,
    judgement=Bounded(measure=lambda run: three_sides(run)[0], upper=lambda run, _: three_sides(run)[1]),
)

CLAIMS: tuple[Claim, ...] = (EQ87, EQ89, EQ90)
