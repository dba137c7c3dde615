"""The smallest constants that make the paper's bounds true, over a grid of kinds and sizes of datasets.

Usage: python docs/constants.py [--jobs N]

Writes docs/constants.md.
"""

import argparse
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np

from marginaudit.orders.ntp import Dataset, free_dataset, prefix_closed_dataset
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.ntp import Run
from marginaudit.reports.page.files import write_whole

PAGE = Path(__file__).with_name("constants.md")

KINDS = ("prefix-closed", "free")
VOCABULARIES = (5, 10, 20, 50, 100)
SAMPLES_A_TOKEN = (2, 3)
SEEDS = (0, 1, 2)
LONGEST = 6

FITTED = ("ntp.prop1.loss", "ntp.theorem3.order", "ntp.theorem3.order.rederived")
"""Claims that hide a constant: the tightest that an audit to step 1e18 finds."""

PRINTED = {"ntp.theorem1.direction": 54.0}
"""Claims with a printed constant: what would be enough in its place at every step."""

THRESHOLDS = ("ntp.theorem2.weight", "ntp.theorem2.loss")
"""Claims whose threshold hides c0: the smallest for t, T = 900."""

HEADER = """# The smallest constants

What the paper's bounds need on {datasets} random datasets: two kinds, V tokens, {samples} samples a token, longest
sentence {longest}, {seeds} seeds each, audited with the paper's step sizes, T = {steps1}, to step 1e18. For each V the
least and the largest of the constants; at the end the exponent p of the largest one's growth like V^p, fitted to all V.

* `ntp.prop1.loss`: the smallest C in L0 <= C exp(-eta0 t / (4 ||W*_ov||^2)). It depends on V alone and grows with it:
  no absolute constant serves, O(.) is one for each V.
* `ntp.theorem3.order`, `.rederived`: the largest C > 0 with both differences of scores >= C t, from t = 1, and over the
  last decade. The paper has one for each dataset, so that p says nothing against it.
* `ntp.theorem1.direction`: what could stand in place of 54, from t = 2.
* `ntp.theorem2.weight`, `ntp.theorem2.loss`: the smallest c0 of t >= c0 N L_max^4 ||W*_kq||^6 log^2 t / eta; 0 where
  the bound is true at every step.

`python docs/constants.py` makes this page.

"""

Constants: TypeAlias = dict[str, float]


def datasets() -> list[Dataset]:
    """The grid."""
    made = {"prefix-closed": prefix_closed_dataset, "free": free_dataset}
    return [
        made[kind](V=V, N=many * V, L=LONGEST, seed=seed, name=f"{kind} V={V} N={many * V} seed={seed}")
        for kind, V, many, seed in product(KINDS, VOCABULARIES, SAMPLES_A_TOKEN, SEEDS)
    ]


def largest_share(run: Run, claim: str) -> float:
    """The largest part of a claim's upper bound that is measured, over all steps, also those at which it is vacuous."""
    judgement = LEDGER[claim].judgement
    if not isinstance(judgement, Bounded) or judgement.upper is None:
        raise TypeError(f"{claim}: expected an upper bound")
    measured = judgement.measure(run)
    return float(np.max(measured.value / np.asarray(judgement.upper(run, np.asarray(measured.step, dtype=float)))))


def smallest_c0(run: Run, claim: str) -> float:
    """The smallest c0 for t that makes the claim true, by the last step at which its bound fails."""
    judgement = LEDGER[claim].judgement
    if not isinstance(judgement, Bounded) or judgement.upper is None:
        raise TypeError(f"{claim}: expected an upper bound")
    measured = judgement.measure(run)
    t = np.asarray(measured.step, dtype=float)
    fails = measured.value > np.asarray(judgement.upper(run, t)) + measured.radius
    if not fails.any():
        return 0.0
    data, last = run.dataset, t[fails][-1]
    return float(last * run.eta / (data.N * data.L_max**4 * run.norm_kq**6 * np.log(last) ** 2))


def constants(dataset: Dataset) -> Constants:
    """All of the table's constants on one dataset; NaN where the claim says nothing of it."""
    run = Run(dataset)
    found = {claim: LEDGER[claim].judge(run) for claim in FITTED}
    result = {
        claim: float("nan") if found[claim].constant is None else float(found[claim].constant) for claim in FITTED
    }
    for claim in (*PRINTED, *THRESHOLDS):
        if LEDGER[claim].judge(run).verdict is Verdict.NOT_APPLICABLE:
            result[claim] = float("nan")
        elif claim in PRINTED:
            result[claim] = PRINTED[claim] * largest_share(run, claim)
        else:
            result[claim] = smallest_c0(run, claim)
    return result


def growth(by_V: dict[int, list[float]]) -> float:
    """The exponent p of the largest constant's growth like V^p; NaN where some are 0 or none."""
    largest = {V: max(values) for V, values in by_V.items() if values and max(values) > 0}
    if len(largest) < len(VOCABULARIES):
        return float("nan")
    return float(np.polyfit(np.log(list(largest)), np.log(list(largest.values())), 1)[0])


def table(found: Iterable[tuple[Dataset, Constants]]) -> str:
    """The page's table."""
    rows = [["claim", "datasets", *(f"V = {V}" for V in VOCABULARIES), "p"]]
    rows.append(["---", "---", *["---:"] * (len(VOCABULARIES) + 1)])
    all_found = list(found)
    for claim, kind in product((*FITTED, *PRINTED, *THRESHOLDS), KINDS):
        by_V: dict[int, list[float]] = {V: [] for V in VOCABULARIES}
        for dataset, values in all_found:
            if dataset.name.startswith(kind) and np.isfinite(values[claim]):
                by_V[dataset.V].append(values[claim])
        p = growth(by_V)
        rows.append([f"`{claim}`", kind, *map(_range, by_V.values()), "–" if np.isnan(p) else f"{p:.2f}"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _range(values: list[float]) -> str:
    if not values:
        return "–"
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def main() -> None:
    """Audit the grid and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    grid = datasets()
    found = []
    with ProcessPoolExecutor(jobs) as pool:
        for dataset, values in zip(grid, pool.map(constants, grid), strict=True):
            found.append((dataset, values))
            print(f"[{len(found)}/{len(grid)}] {dataset.name}", file=sys.stderr, flush=True)
    header = HEADER.format(
        datasets=len(grid),
        samples=" or ".join(map(str, SAMPLES_A_TOKEN)),
        longest=LONGEST,
        seeds=len(SEEDS),
        steps1=Run(grid[0]).config.steps1,
    )
    write_whole(PAGE, header + table(found))


if __name__ == "__main__":
    main()
