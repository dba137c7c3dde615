"""Y of a run after SGD with the modified gradient from zero, step by step in balls (Theorem 5, Corollary 1)."""

from collections.abc import Callable

import numpy as np
from flint import arb_mat
from numpy.typing import NDArray

from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, enclosing
from marginaudit.claims.snap.conditions import late_steps, ratios
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders import counted
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.snap.balls.coefficients import bits_a_step, descended, residual_rows
from marginaudit.training.snap.counts.drawn import class_sequences
from marginaudit.training.snap.counts.quantiles import DOUBT
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.fluctuation import Fluctuation, FluctuationLaw, fluctuation

OPERATIONS = 300_000
"""Budget of SGD on balls: operations times digits, in digits of a float64."""


def sequence(run: ClassRun) -> NDArray[np.int64]:
    """Classes drawn by one seed in t = 10 K^2 steps, or fewer within the budget."""
    late_steps(run, 1)
    digits = 2 + bits_a_step(run.overlap, run.eta_Y)
    steps = min(MUCH_GREATER * run.K**2, max(1, int(OPERATIONS / run.K**2 / digits)))
    found: NDArray[np.int64] = class_sequences(steps, run.dataset.frequencies, 1, run.config.seed)[0]
    return found


def counts(run: ClassRun) -> NDArray[np.int64]:
    """N_n of `sequence`."""
    return np.bincount(sequence(run), minlength=run.K)


@once_a_run
def descended_run(run: ClassRun) -> arb_mat:
    """A with Y = F A after `sequence`."""
    return descended(run.overlap, sequence(run), run.M, run.eta_Y)


def rows_at(run: ClassRun, law: FluctuationLaw = fluctuation) -> Fluctuation:
    """Rows and their mean after `sequence`."""
    return law(counts(run), run.M, run.eta_Y)


def entries(run: ClassRun, matrix: arb_mat, *more: str) -> Series:
    """Entries of a matrix with a row per class, then the named extra rows."""
    columns = (*run.dataset.next_tokens, "any other token")[: run.M]  # for K = M there is no other
    label = tuple(f"{n}, {column}" for n in (*run.dataset.next_tokens, *more) for column in columns)
    return enclosing((x for row in matrix.tolist() for x in row[: len(columns)]), label=label)


def residuals(run: ClassRun) -> Series:
    """e_n - alpha_n of each class, from the softmax of F^T Y after `sequence`."""
    return entries(run, residual_rows(run.overlap, descended_run(run), run.M))


def size_of(side: Callable[[ClassRun], Series]) -> Callable[[ClassRun], NDArray[np.float64]]:
    """The largest entry: the scale of rounding."""
    return lambda run: np.asarray(np.abs(side(run).value).max())


def leading(run: ClassRun) -> str:
    """Note on the excess of h* over h at the steps of eq. 71's comparison."""
    N = counts(run)
    star, h = fluctuation(N, run.M, run.eta_Y).rows.h.value, continuous(N, run.M, run.eta_Y).h.value
    lead = float(np.max(star[N > 0] / h[N > 0] - 1))
    return (
        f"Y was trained for {counted(int(N.sum()), 'step')} of eq. 26; the continuous h(N_n) is up to {lead:.2g} "
        "of itself below h*(N_n). Quantiles over seeds have bounds from the exact binomial law, each at level "
        f"{1 - DOUBT:g}. "
        f"{ratios(run)}"
    )


OF_SGD = "theta and sigma are those of the rows of SGD, w_n = (M-1) h*(N_n) zeta_n"
