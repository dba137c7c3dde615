"""All examples of PEPit with the parameters of their docstrings: its number, its theory, and the proved worst case.

Usage: python benchmarks/pepit_examples.py [--seconds 60] [--only NAME ..]
An example is compiled with exact literals, divisions and square roots, so that its problem is rational; each runs in a
process. Cells: PEPit's number, its theory, the range stated for it (see pepit_ranges.py), the proved interval or
fraction, the verdict on "worst case <= theory", seconds of processor time of PEPit and of the proofs.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from fractions import Fraction
from typing import Any

import PEPit
from pepit_ranges import against_the_range
from pepit_source import examples, loaded

from marginaudit.margins.worst_case.from_pepit import Unsupported, from_pepit
from marginaudit.margins.worst_case.scalar import meant
from marginaudit.margins.worst_case.solve import worst_case

TITLES = (
    "example",
    "PEPit",
    "its theory",
    "inside / outside the stated range",
    "proved worst case",
    "theory",
    "PEPit, s",
    "proofs, s",
)


def run(name: str) -> dict[str, Any]:
    """One example: PEPit's number and theory, and the proved ends."""
    _, namespace, lines = loaded(name)
    answer: dict[str, Any] = {}
    original = PEPit.PEP.solve

    def solve(pep: Any, *_: Any, **__: Any) -> float:
        if "problem" not in answer and "reason" not in answer:
            try:
                answer["problem"] = from_pepit(pep)
            except Unsupported as reason:
                answer["reason"] = str(reason)
            except ValueError:
                answer["problem"], answer["floats"] = from_pepit(pep, floats=True), True
        start = time.process_time()
        answer["number"] = original(pep, wrapper="cvxpy", verbose=0, solver="CLARABEL")
        answer["PEPit, s"] = time.process_time() - start
        return float(answer["number"])

    PEPit.PEP.solve = solve
    for line in lines:
        exec(line, namespace)
        if "number" in answer:
            break
    theory = namespace.get("theoretical_tau")
    answer["theory"] = theory
    if "problem" in answer:
        expected = meant(theory) if isinstance(theory, int | float) else None
        start = time.process_time()
        found = worst_case(answer.pop("problem"), expected)
        answer["proofs, s"] = time.process_time() - start
        answer |= {"lower": found.lower, "upper": found.upper, "expected": expected}
    return answer


def cells(name: str, answer: dict[str, Any]) -> list[str]:
    """A line of the table."""
    lower, upper, theory = answer.get("lower"), answer.get("upper"), answer.get("theory")
    interval = answer.get("reason", "no end was proved").partition(",")[0]
    verdict = ""
    if lower is not None and lower == upper:
        interval = str(lower) if len(str(lower)) < 20 else f"{float(lower):.9g}, exact"
    elif lower is not None or upper is not None:
        interval = (
            f"[{'?' if lower is None else f'{float(lower):.9g}'}, {'?' if upper is None else f'{float(upper):.9g}'}]"
        )
    interval += ", for the steps as floats" if "floats" in answer else ""
    if theory is not None and (lower is not None or upper is not None):
        bound = answer["expected"] if answer["expected"] is not None else Fraction(float(theory))
        if upper is not None and upper <= bound:
            verdict = "tight" if lower == upper == bound else "holds"
        elif lower is not None and lower > bound * (1 + Fraction(1, 10**9)):
            verdict = "violated"
        else:
            verdict = "within the gap"
    numbers = [answer.get("number"), None if theory is None else float(theory)]
    shown = ["" if value is None else f"{value:.9g}" for value in numbers]
    times = ["" if answer.get(key) is None else f"{answer[key]:.2f}" for key in ("PEPit, s", "proofs, s")]
    return [name.removeprefix("PEPit.examples."), *shown, interval, verdict, *times]


def main() -> None:
    """Print the table, or run one example."""
    parser = argparse.ArgumentParser(description="Prove the worst cases of PEPit's examples.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        warnings.simplefilter("ignore")
        print(json.dumps(cells(given.one, run(given.one))))
        return
    print(f"| {' | '.join(TITLES)} |")
    print("| --- | ---: | ---: | --- | --- | --- | ---: | ---: |")
    for name in examples():
        if given.only and not any(part in name for part in given.only):
            continue
        short = name.removeprefix("PEPit.examples.")
        try:
            command = [sys.executable, __file__, "--one", name]
            done = subprocess.run(command, capture_output=True, text=True, timeout=given.seconds, check=False)
            lines = done.stdout.splitlines()
            reason = done.stderr.strip().splitlines()[-1:] or ["nothing was printed"]
            row = json.loads(lines[-1]) if lines and done.returncode == 0 else [short, "", "", reason[0], "", "", ""]
        except subprocess.TimeoutExpired:
            row = [short, "", "", f"more than {given.seconds:.0f} s", "", "", ""]
        row.insert(3, against_the_range(name))
        print("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |", flush=True)


if __name__ == "__main__":
    main()
