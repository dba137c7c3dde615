"""Long runs of stage 2 in high precision, kept in reference_runs.json for the tests to compare with.

Usage: python -m tests.training.ntp.reference_runs [NAME ...]

One step takes 0.2 ms on four tokens and 5 to 10 ms on free-20, whose 100,000 steps take about a quarter of an hour.
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, free_dataset, prefix_closed_dataset
from tests.training.ntp import naive

FILE = Path(__file__).with_name("reference_runs.json")
STEPS1 = 900
AT = (1, 2, 3, 5, 10, 30, 100, 300, 1000, 2000, 3000, 5000, 10_000, 20_000, 30_000, 50_000, 100_000)


@dataclass(frozen=True)
class Case:
    data: Dataset
    steps: int = AT[-1]
    steps1: int = STEPS1


RUNS = {
    "example-1": Case(CASES["example-1"]()),
    "four tokens": Case(free_dataset(V=4, N=9, L=5, seed=1, max_count=3)),
    "small margins of W_ov": Case(free_dataset(V=5, N=12, L=5, seed=3, max_count=3), steps1=20),
    "eight tokens": Case(free_dataset(V=8, N=24, L=6, seed=1, max_count=3), steps=50_000),
    "prefix-closed": Case(prefix_closed_dataset(V=8, N=20, L=6, seed=2), steps=50_000),
    "free-20": Case(CASES["free-20"]()),
}


def bits(case: Case, norm_squared: float) -> int:
    """Enough for some 60 digits, where the formula subtracts numbers that agree to exp(-A - t eta / ||W*||)."""
    V = case.data.V
    A = case.steps1 * 0.2 / np.sqrt(V * (V - 1))
    margin = 0.05 / np.sqrt(V) * case.steps / np.sqrt(norm_squared)
    return max(700, int(200 + 1.45 * (A + margin)))


def run(case: Case) -> dict[str, object]:
    solution = solve_kq(case.data).exact()
    precision = bits(case, solution.norm_squared)
    rows = naive.descend(case.data, case.steps1, [t for t in AT if t <= case.steps], solution.weights_exact, precision)
    return {"bits": precision, "rows": [[t, *values] for t, values in rows.items()]}


if __name__ == "__main__":
    for name in sys.argv[1:] or RUNS:
        start = time.perf_counter()
        found = run(RUNS[name])
        stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
        stored[name] = found
        FILE.write_text(
            json.dumps({key: stored[key] for key in RUNS if key in stored}, indent=1) + "\n", encoding="utf-8"
        )
        print(f"{name}: {found['bits']} bits, {time.perf_counter() - start:.0f} s", flush=True)
