"""The exact hard-margin engine beside cvxpy with Clarabel, on the same random rows, in one run.

Usage: python benchmarks/rational.py [ROWSxCOORDINATES ...]

Rows are normal, each number as its shortest decimal, so that they are in general position. Both solve the same problem
in one process: `exact_hard_margin` in rational arithmetic with all duals, Clarabel in float64. Each is the median of
several runs after one warm-up, in seconds of the processor, on one thread; the ratio is exact to Clarabel.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1"))

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import cvxpy as cp
import numpy as np

from marginaudit.margins.rational import exact_hard_margin, written

SIZES = ("16x36", "42x80", "120x180", "300x300", "1000x1000")

REPEATED = 5
LONG = 5.0
"""Seconds of a run that is not repeated."""


def clarabel(X: np.ndarray[Any, Any]) -> None:
    """The quadratic program, one matrix constraint."""
    w = cp.Variable(X.shape[1])
    cp.Problem(cp.Minimize(cp.sum_squares(w)), [X @ w >= 1]).solve(solver=cp.CLARABEL)


def seconds(run: Callable[[], object]) -> float:
    """The median of several runs; of one where it takes long."""
    found: list[float] = []
    while len(found) < REPEATED and max(found, default=0.0) < LONG:
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return median(found)


def main(sizes: list[str]) -> None:
    """Print a row for each size."""
    print(f"{'rows x coordinates':>18} {'support':>8} {'exact':>9} {'Clarabel':>9} {'ratio':>6}")
    clarabel(np.eye(3))
    for size in sizes:
        m, n = map(int, size.split("x"))
        X = np.random.default_rng(0).normal(size=(m, n))
        rows = written(X.tolist())
        support = len(exact_hard_margin(rows).support)
        exact, floats = seconds(lambda rows=rows: exact_hard_margin(rows)), seconds(lambda X=X: clarabel(X))
        print(f"{size:>18} {support:>8} {exact:9.3f} {floats:9.3f} {exact / floats:6.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or [*SIZES])
