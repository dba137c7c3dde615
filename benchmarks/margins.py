"""W*_kq three ways on the same seeded datasets, in one run.

Usage: python benchmarks/margins.py [V ...]

* exact: the whole command `marginaudit solve DATA --only kq --json --certificate FILE`, less its start-up: reading,
  orders, minimum cuts, exact check, and writing the answer and the certificate;
* vectorised: reading, orders, and cvxpy with Clarabel over the pairs that occur, one matrix constraint,
  in one process; no answer is written;
* one by one: cvxpy with a full matrix variable and one constraint object a row, small sizes only.

Each is the median of several runs, in a process of its own and after one warm-up; the ratio is exact to
vectorised. Seconds of the processor, on one thread, so that other work on the machine matters little.
"""

import audit  # sets the number of threads before it is too late  # isort: skip

import contextlib
import io
import sys
import tempfile
import time
from pathlib import Path

SMALL = 20
REPEATS = 5


def exact(path: str, scratch: str) -> None:
    """The whole command."""
    from marginaudit.reports.command.cli import main

    certificate = Path(scratch, "certificate.json")
    certificate.unlink(missing_ok=True)  # a file system may wait for the disk where a file is replaced
    arguments = ["solve", path, "--only", "kq", "--json", "--certificate", str(certificate)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(arguments)


def vectorised(path: str, scratch: str) -> None:
    """One matrix constraint over the pairs that occur."""
    import cvxpy as cp
    import numpy as np
    from scipy import sparse

    from marginaudit.orders.ntp import read_dataset

    data = read_dataset(path)
    rows = data.relations
    code = np.concatenate([rows.query * data.V + rows.winner, rows.query * data.V + rows.loser])
    pairs, column = np.unique(code, return_inverse=True)
    count = len(rows)
    sign = np.repeat([1.0, -1.0], count)
    A = sparse.csr_array((sign, (np.tile(np.arange(count), 2), column)), shape=(count, len(pairs)))
    w = cp.Variable(len(pairs))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w)), [A @ w >= 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)


def one_by_one(path: str, scratch: str) -> None:
    """A full matrix variable and one constraint object a row, as published attention-SVM code does it."""
    import cvxpy as cp
    import numpy as np

    from marginaudit.orders.ntp import read_dataset

    data = read_dataset(path)
    rows, unit = data.relations, np.eye(data.V)
    W = cp.Variable((data.V, data.V))
    constraints = [
        (unit[winner] - unit[loser]) @ W @ unit[query] >= 1
        for query, winner, loser in zip(rows.query, rows.winner, rows.loser, strict=True)
    ]
    cp.Problem(cp.Minimize(cp.norm(W, "fro")), constraints).solve(solver=cp.CLARABEL)


def measure(name: str, path: str) -> None:
    """Print the median CPU seconds and the process's peak memory."""
    run = {"exact": exact, "vectorised": vectorised, "one_by_one": one_by_one}[name]
    seconds = []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range((1 if name == "one_by_one" else REPEATS) + 1):
            start = time.process_time()
            run(path, scratch)
            seconds.append(time.process_time() - start)
    audit.tell(seconds[1:])


def compare(sizes: tuple[int, ...]) -> None:
    """Print the table."""
    print("| V | N | relations | exact, s | vectorised, s | one by one, s | exact / vectorised | exact, MB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for V in sizes:
            path, samples, relations = audit.written(V, Path(folder))
            exactly, vector = (audit.told(__file__, name, str(path)) for name in ("exact", "vectorised"))
            single = f"{audit.told(__file__, 'one_by_one', str(path))['seconds']:.2f}" if V <= SMALL else "–"
            ratio = exactly["seconds"] / vector["seconds"]
            print(
                f"| {V} | {samples} | {relations} | {exactly['seconds']:.3f} | {vector['seconds']:.3f} "
                f"| {single} | {ratio:.2f} | {exactly['megabytes']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
    else:
        compare(tuple(int(size) for size in sys.argv[1:]) or audit.SIZES)
