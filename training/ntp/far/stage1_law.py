"""Stage 1 in closed form: W_ov^(t) = t eta0 W*_ov / ||W*_ov|| for orthonormal tokens."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from marginaudit.margins.ntp import MaxMargin
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.infimum import infimum
from marginaudit.training.ntp.records import Stage1
from marginaudit.training.ntp.steps.iterate import EPS


def stage1_law(dataset: Dataset, eta0: float, steps: Sequence[int], ov_solution: MaxMargin) -> Stage1:
    """The record of stage 1 of normalised descent at any steps, however large.

    W*_ov has the columns e_{n(x)} - 1/V. Where W is a multiple of it, softmax is the same on all labels but
    n(x), and so the gradient, column by column e_{n(x)} - P(x), is the same multiple of W*_ov's; from zero on,
    each step is eta0 W*_ov / ||W*_ov||. With V tokens ||W*_ov||^2 = V - 1, all margins are
    M = t eta0 / ||W*_ov||, L0 = V log(1 + (V-1) exp(-M)) and ||grad|| = V root(V-1) / (exp(M) + V - 1).

    Parameters
    ----------
    dataset : Dataset
        Its embeddings orthonormal.
    eta0 : float
    steps : sequence of int
        The recorded t, increasing.
    ov_solution : MaxMargin
        W*_ov, exact: that it has these columns is checked, not assumed.

    Raises
    ------
    ValueError
        The solution is not the exact closed form.

    >>> from marginaudit.margins.ntp import solve_ov
    >>> from marginaudit.orders.ntp import CASES
    >>> data = CASES["example-1"]()
    >>> law = stage1_law(data, 0.1, [900, 10**18], solve_ov(data))
    >>> [f"{x:.12g}" for x in (*law.norm, *law.log_loss)]
    ['90', '1e+17', '-49.4766175773', '-5.7735026919e+16']
    """
    _require_closed_form(dataset, ov_solution)
    V = dataset.V
    t = np.asarray(steps, dtype=np.int64)
    norm = t.astype(np.float64) * eta0 if V > 1 else np.zeros(len(t))
    margin = norm / np.sqrt(V - 1) if V > 1 else np.full(len(t), np.nan)
    with np.errstate(divide="ignore"):
        # log of 1 + (V-1) exp(-M), and its log
        log_Z = infimum(V, margin) if V > 1 else np.zeros(len(t))
        log_log_Z = np.where(log_Z > EPS, np.log(log_Z), np.log(V - 1.0) - margin) if V > 1 else np.log(log_Z)
        log_gradient = np.log(V) + np.log(V - 1.0) / 2 - margin - log_Z if V > 1 else np.full(len(t), -np.inf)
    log_loss = np.log(V) + log_log_Z
    moved = norm > 0
    return Stage1(
        step=t,
        loss=np.exp(log_loss),
        log_loss=log_loss,
        norm=norm,
        one_minus_cos=np.where(moved, 0.0, np.nan),
        distance=np.where(moved, 0.0, np.nan),
        error=np.where(moved, np.inf, np.nan),
        distance_error=np.where(moved, 0.0, np.nan),
        gradient_norm=np.exp(log_gradient),
        log_gradient_norm=log_gradient,
        method=np.full(len(t), "law"),
        min_margin=margin,
        max_margin=margin,
        label_spread=np.zeros(len(t)),
    )


def _require_closed_form(dataset: Dataset, solution: MaxMargin) -> None:
    n, V, found = dataset.collocation.require_function(), dataset.V, solution.exact().weights_exact
    if V == 1:
        return
    # a column that holds the very objects that the first one does is compared with it by identity
    first = found.get(dataset.vocabulary[0], {})
    objects = {value: value for value in first.values()}
    low, high = (objects.get(value) for value in (Fraction(-1, V), Fraction(V - 1, V)))
    if any(found.get(x) != dict.fromkeys(dataset.vocabulary, low) | {n[x]: high} for x in dataset.vocabulary):
        raise ValueError("ov_solution: got another matrix than the exact W*_ov of orthonormal tokens")
