"""Which direction did attention take? W_kq of eleven optimizers beside the max-margin solutions in four norms.

Usage: python which_direction.py [DATASET] [--random N] [--figure FILE]

Trains with `your_own_training.py`. Prints, for each optimizer and norm, the margin of W_kq over its norm as a share of
the maximum, and the largest cosine with a max-margin solution (in norms other than Frobenius' there may be many).
DATASET is a file or the name of a case. With --random the numbers are medians over N random datasets, with the range.
The last column counts the datasets on which the norm's share, and its cosine, is the largest of the four.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from statistics import median
from typing import Literal, NamedTuple, TypeVar

import cvxpy as cp
import numpy as np
from flint import fmpq
from matplotlib.figure import Figure
from your_own_training import STEPS, Weights, trained

from marginaudit import dataset
from marginaudit.margins import HardMargin
from marginaudit.margins.linear.numerical import Bounded, solve_numerically
from marginaudit.orders.ntp import Dataset
from marginaudit.orders.ntp.generate import free_dataset, prefix_closed_dataset


class MatrixNorm(NamedTuple):
    """A norm by its name in `HardMargin`, in NumPy and in cvxpy, and its dual in NumPy."""

    name: Literal["euclidean", "largest-entry", "nuclear", "spectral"]
    of: Callable[[Weights], float]
    convex: Callable[[cp.Variable], cp.Expression]
    dual: Callable[[Weights], float]


def frobenius(W: Weights) -> float:
    """Square root of the sum of squares."""
    return float(np.linalg.norm(W))


def nuclear(W: Weights) -> float:
    """Sum of the singular values."""
    return float(np.linalg.norm(W, "nuc"))


def spectral(W: Weights) -> float:
    """Largest singular value."""
    return float(np.linalg.norm(W, 2))


NORMS = {
    "Frobenius": MatrixNorm("euclidean", frobenius, lambda W: cp.norm(W, "fro"), frobenius),
    "largest entry": MatrixNorm(
        "largest-entry", lambda W: float(abs(W).max()), lambda W: cp.max(cp.abs(W)), lambda W: float(abs(W).sum())
    ),
    "nuclear": MatrixNorm("nuclear", nuclear, cp.normNuc, spectral),
    "spectral": MatrixNorm("spectral", spectral, cp.sigma_max, nuclear),
}

SHOWN = sorted({int(t) for t in np.geomspace(1, STEPS, 60).round()})
"""Steps at which shares are computed."""

GAP = 1e-5
"""Tolerance of the solver's margin, and of its cosine's upper bound."""

ROOM = 1e-7
"""Relative tolerance of a solution's norm: the solver needs an interior. Cosines come out up to .0003 too large."""

Matrix = TypeVar("Matrix", Weights, cp.Variable)


def solution(data: Dataset, norm: str) -> Bounded:
    """A max-margin solution, and proved bounds on the least norm."""
    relations = data.relations
    rows = np.zeros((len(relations), data.V, data.V), dtype=int)
    each = np.arange(len(relations))
    rows[each, relations.winner, relations.query] += 1
    rows[each, relations.loser, relations.query] -= 1
    exact = [[fmpq(int(value)) for value in row.ravel()] for row in rows]
    found = solve_numerically(HardMargin(exact, norm=NORMS[norm].name, shape=(data.V, data.V)))
    if not isinstance(found, Bounded):
        raise ValueError(f"{data.name}: no W_kq meets all relations")
    return found


def margins(data: Dataset, W: Matrix) -> Matrix:
    """(x - z)^T W_kq q of each x that beats z under a query q."""
    relations = data.relations
    found: Matrix = W[relations.winner, relations.query] - W[relations.loser, relations.query]
    return found


def share(data: Dataset, W: Weights, norm: str, least: float) -> float:
    """The margin of W over its norm, as a share of the largest, 1/least."""
    size = NORMS[norm].of(W)
    return float(margins(data, W).min()) / size * least if size > 0 else 0.0


def cosine(data: Dataset, W: Weights, norm: str, least: float) -> float:
    """The largest cosine with a max-margin solution.

    The cone of all solutions U is that of margins >= s and norm <= s least, s >= 0. The cosine is 1/|U| for the least U
    in it with U.W/|W| = 1.

    Raises
    ------
    ValueError
        The solver's U is not in the cone, or its multipliers leave room for a cosine that is larger by `GAP`.
    """
    unit = W / np.linalg.norm(W)
    U, s = cp.Variable(W.shape), cp.Variable(nonneg=True)
    rows = margins(data, U) >= s
    within = [rows, NORMS[norm].convex(U) <= s * least * (1 + ROOM), cp.sum(cp.multiply(U, unit)) == 1]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the arrays are checked instead
        cp.Problem(cp.Minimize(cp.sum_squares(U)), within).solve(solver=cp.CLARABEL)
    if U.value is None or share(data, U.value, norm, least) < 1 - GAP:
        raise ValueError(f"{data.name}: no solution in the {norm} norm near W_kq")
    found = cosine_of(U.value, unit)
    most = largest_cosine(data, unit, norm, least, U.value, np.maximum(rows.dual_value, 0))
    if most > found + GAP:
        raise ValueError(f"{data.name}: the cosine with solutions in the {norm} norm is from {found} to {most}")
    return found


def largest_cosine(data: Dataset, unit: Weights, norm: str, least: float, U: Weights, y: Weights) -> float:
    """Upper bound on the cosine of a unit matrix with solutions, for any U and multipliers y >= 0.

    It is the distance to any P with P.U <= 0 for all solutions U, such as P = D - sum y_i r_i with the rows r_i and the
    dual norm of D at most sum y_i / least.
    """
    relations, y = data.relations, y / (2 * np.sum(U**2))
    weighted = np.zeros_like(unit)
    np.add.at(weighted, (relations.winner, relations.query), y)
    np.add.at(weighted, (relations.loser, relations.query), -y)
    D = unit - U / np.sum(U**2) + weighted
    D = D * min(1.0, y.sum() / least / NORMS[norm].dual(D))
    return float(np.linalg.norm(unit - D + weighted))


def random_datasets(number: int) -> Iterator[Dataset]:
    """Random datasets of 10 tokens, by turns of free samples and of sentences with all their prefixes."""
    for seed in range(number):
        make, N = (free_dataset, 30) if seed % 2 == 0 else (prefix_closed_dataset, 40)
        yield make(V=10, N=N, L=6, seed=seed)


Shares = dict[str, dict[str, list[float]]]
"""By optimizer and norm, at `SHOWN` steps."""

Cosines = dict[str, dict[str, float]]
"""By optimizer and norm, at the last step."""


def compared(data: Dataset) -> tuple[Shares, Cosines]:
    """Shares along the steps, and cosines at the end; "late" is the cosine with the change of the second half."""
    found = {norm: solution(data, norm) for norm in NORMS}
    shares: Shares = {}
    cosines: Cosines = {}
    for name, run in trained(data):
        weights = list(run)
        last, late = weights[-1], weights[-1] - weights[STEPS // 2]
        shares[name] = {n: [share(data, weights[t], n, found[n].upper) for t in SHOWN] for n in NORMS}
        cosines[name] = {norm: cosine(data, last, norm, found[norm].upper) for norm in NORMS if norm != "Frobenius"}
        cosines[name]["Frobenius"] = cosine_of(last, found["Frobenius"].w)
        cosines[name]["late"] = cosine_of(last, late)
    return shares, cosines


def cosine_of(u: Weights, v: Weights) -> float:
    """The cosine of two arrays."""
    return float(np.ravel(u) @ np.ravel(v) / np.linalg.norm(u) / np.linalg.norm(v))


def table(results: list[tuple[Shares, Cosines]]) -> Iterator[str]:
    """A line for each optimizer and norm."""
    yield f"{'run':12}{'norm':14}{'share of the margin':>24}{'cosine':>24}{'first by share, cosine':>24}"
    for name in results[0][0]:
        for norm in NORMS:
            ends = [{n: shares[name][n][-1] for n in NORMS} for shares, _ in results]
            cosines = [{n: found[name][n] for n in NORMS} for _, found in results]
            firsts = [sum(max(one, key=one.__getitem__) == norm for one in of) for of in (ends, cosines)]
            spreads = f"{spread([end[norm] for end in ends]):>24}{spread([one[norm] for one in cosines]):>24}"
            yield f"{name:12}{norm:14}{spreads}{f'{firsts[0]}, {firsts[1]}':>24}"
        yield f"{name:12}{'late direction':14}{'':24}{spread([found[name]['late'] for _, found in results]):>24}"


def spread(values: list[float]) -> str:
    """Median and range."""
    whole = f" [{min(values):.3f}, {max(values):.3f}]" if len(values) > 1 else ""
    return f"{median(values):.3f}{whole}"


def drawn(shares: Shares) -> Figure:
    """Shares along the steps, a panel for each norm."""
    figure = Figure(figsize=(11, 6), layout="constrained")
    for axes, norm in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, NORMS, strict=True):
        for k, (name, of_norms) in enumerate(shares.items()):  # dashes of several lengths leave equal curves visible
            axes.semilogx(
                SHOWN, of_norms[norm], label=name, color=f"C{k % 10}", linestyle=("-", "--", ":", "-.")[k % 4]
            )
        axes.set(title=norm, ylim=(0, 1.03))
    figure.supxlabel("steps")
    figure.supylabel("margin over norm, as a share of the largest")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center")
    return figure


def main() -> None:
    """Train, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="section-7", help="a file, or the name of a case")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="compare on N random datasets instead")
    parser.add_argument("--figure", metavar="FILE", help="draw the shares along the steps of the first dataset")
    options = parser.parse_args()
    begun = time.perf_counter()
    data = list(random_datasets(options.random)) or [dataset(options.dataset)]
    results = [compared(one) for one in data]
    print(*table(results), sep="\n")
    print(f"{len(data)} dataset{'s' if len(data) > 1 else ''} in {time.perf_counter() - begun:.0f} s")
    if options.figure:
        drawn(results[0][0]).savefig(options.figure)


if __name__ == "__main__":
    main()
