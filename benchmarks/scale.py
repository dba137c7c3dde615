"""How time and memory grow with the dataset: `classify`, `solve`, `train` and `audit`, in one run.

Usage: python benchmarks/scale.py [V ...]
       python benchmarks/scale.py default [V ...]
       python benchmarks/scale.py sparse

The datasets and the way of measuring are those of benchmarks/audit.py: 20 samples a token of up to 32 tokens, seconds
of the processor on one thread, the process's largest memory. An exponent p says that the quantity grows as the number
of relations to the p: the least-squares slope between logarithms, with its standard error. It ends with status 1
where an exponent is above `MOST` by more than two standard errors.

With `default`, `train`, `audit` and `table direction` with the steps that they take unless told, each once and a whole
process, from start-up to report.

With `sparse`, what makes no array of all pairs of tokens, at V = 10,000, N = 100,000: `classify`, and the exact W*_kq
with Proposition 2's closed form for every query, each a whole process.
"""

import audit  # sets the number of threads before it is too late  # isort: skip

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COMMANDS = ("classify", "solve", "train", "audit")
SIZES = (100, 200, 400, 800)
DEFAULT_SIZES = (100, 400, 1000)
MOST = {"s": 1.2, "MB": 1.0}
"""Of exponents: for a sort beside linear work, and for memory, of which a part is always there."""


def exponent(relations: list[int], values: list[float]) -> tuple[float, float]:
    """The slope of log(values) over log(relations), and its standard error.

    >>> slope, error = exponent([1, 10, 100, 1000], [2.0, 20.0, 200.0, 2000.0])
    >>> round(slope, 12), error < 1e-12
    (1.0, True)
    """
    x, y = np.log(relations), np.log(values)
    x -= x.mean()
    slope = float(x @ y / (x @ x))
    left = y - y.mean() - slope * x
    return slope, float(np.sqrt(left @ left / max(1, len(x) - 2) / (x @ x)))


def compare(sizes: tuple[int, ...]) -> bool:
    """Print the table and the exponents; whether each is as it should be."""
    columns = [f"{command}, {unit}" for unit in MOST for command in COMMANDS]
    print("| V | N | relations | " + " | ".join(columns) + " |")
    print("| ---: |" + " ---: |" * (2 + len(columns)))
    relations: list[int] = []
    found: dict[str, list[float]] = {column: [] for column in columns}
    with tempfile.TemporaryDirectory() as folder:
        small, *_ = audit.written(min(audit.SIZES), Path(folder))
        for V in sizes:
            path, samples, count = audit.written(V, Path(folder))
            relations.append(count)
            for command in COMMANDS:
                one = audit.measured(command, path, small)
                found[f"{command}, s"].append(one["seconds"])
                found[f"{command}, MB"].append(one["megabytes"])
            cells = [f"{found[column][-1]:.{2 if column.endswith('s') else 0}f}" for column in columns]
            print(f"| {V} | {samples} | {count} | " + " | ".join(cells) + " |", flush=True)
    right = True
    for column in columns:
        slope, error = exponent(relations, found[column])
        most = MOST[column.rpartition(", ")[2]]
        right &= slope - 2 * error <= most
        print(f"{column}: relations^({slope:.2f} ± {error:.2f}), at most {most}")
    return right


def sparse() -> None:
    """Print seconds of the processor and the largest memory at V = 10,000."""
    from marginaudit.orders.ntp import dataset_to_document, free_dataset

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "10000.json"
        data = free_dataset(V=10_000, N=100_000, L=8, seed=10_000)
        path.write_text(json.dumps(dataset_to_document(data)), encoding="utf-8")
        print(f"V = {data.V}, N = {data.N}, {len(data.relations)} relations")
        for command in (("classify",), ("solve", "--only", "kq")):
            seconds, megabytes = whole(*command, str(path), "--json")
            print(f"{' '.join(command)}: {seconds:.1f} s, {megabytes:.0f} MB", flush=True)


def whole(*command: str) -> tuple[float, float]:
    """Seconds of the processor and the largest memory of a command."""
    process = subprocess.Popen([sys.executable, "-m", "marginaudit", *command], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(1)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def default(sizes: tuple[int, ...]) -> None:
    """Print the table of whole commands with default steps, after one run on the smallest data (compiled kernels)."""
    with tempfile.TemporaryDirectory() as folder:
        new = ("--fresh", "--jobs", "1", "--out", f"{folder}/report")
        small, *_ = audit.written(min(audit.SIZES), Path(folder))
        whole("audit", str(small), *new)
        print("| V | N | relations | train, s | audit, s | table direction, s | train, MB | audit, MB |")
        print("| ---: |" + " ---: |" * 7)
        for V in sizes:
            path, samples, count = audit.written(V, Path(folder))
            train, audited, table = (
                whole(*command)
                for command in (
                    ("train", str(path), "--json"),
                    ("audit", str(path), *new),
                    ("table", "direction", str(path)),
                )
            )
            print(
                f"| {V} | {samples} | {count} | {train[0]:.1f} | {audited[0]:.1f} | {table[0]:.1f} "
                f"| {train[1]:.0f} | {audited[1]:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:] == ["sparse"]:
        sys.exit(sparse())
    if sys.argv[1:2] == ["default"]:
        sys.exit(default(tuple(int(size) for size in sys.argv[2:]) or DEFAULT_SIZES))
    sys.exit(0 if compare(tuple(int(size) for size in sys.argv[1:]) or SIZES) else 1)
