"""Worst cases of the theorems of examples/first_order: proved in rationals by marginaudit, and as PEPit says them.

Usage: python benchmarks/pepit.py [--steps 5,10,20] [--theorem NAME ..]
For each theorem and n: whether the printed bound is proved and attained exactly, seconds of processor time for both
proved ends, PEPit's number relative to the bound and its seconds (cvxpy with Clarabel), rows of the proof.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

from marginaudit.margins.worst_case.from_pepit import from_pepit
from marginaudit.margins.worst_case.scalar import exactly
from marginaudit.margins.worst_case.solve import worst_case
from marginaudit.reports.processes import one_thread

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "first_order"))
from theorems import THEOREMS, Theorem


def row(theorem: Theorem, n: int) -> str:
    """A line of the table."""
    values = theorem.instance(n)
    bound = theorem.bound(SimpleNamespace(**values))
    pep = theorem.problem(exactly(SimpleNamespace(**values)))
    start = time.process_time()
    found = worst_case(from_pepit(pep), bound)
    ours = time.process_time() - start
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = pep.solve(verbose=0, wrapper="cvxpy", solver="CLARABEL")
    theirs = time.process_time() - start
    rows = "–" if found.proof is None else sum(map(len, found.proof.functions))
    outcome = "tight" if found.tight and found.upper == bound else f"[{found.lower}, {found.upper}]"
    error = said / float(bound) - 1
    return f"| {theorem.name} | {n} | {outcome} | {ours:.2f} | {theirs:.2f} | {error:.0e} | {rows} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Prove the theorems of examples/first_order, and time PEPit on them.")
    parser.add_argument("--steps", default="1,2,5,10", help="the n, with commas between them")
    parser.add_argument("--theorem", nargs="*", default=[theorem.name for theorem in THEOREMS])
    given = parser.parse_args()
    print("| theorem | n | bound | marginaudit, s | PEPit, s | PEPit's error | rows of the proof |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for n in map(int, given.steps.split(",")):
        for theorem in THEOREMS:
            if theorem.name in given.theorem:
                with one_thread():  # threads of BLAS that wait count as processor time
                    print(row(theorem, n), flush=True)


if __name__ == "__main__":
    main()
