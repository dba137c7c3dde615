"""Cost of an audit beside the training that it audits, on the same seeded datasets, in one run.

Usage: python benchmarks/audit.py [V ...]
       python benchmarks/audit.py default
       python benchmarks/audit.py shares

* train: the whole command `marginaudit train DATA --json`, less its start-up: reading, orders, both solutions, both
  stages, and writing the answer;
* audit: the whole command `marginaudit audit DATA`, less its start-up: all that `train` does, every claim, the figures
  and the report.

Both with `--steps1 50 --steps2 50`. Each is the median of several runs, in a process of its own and after one run on
the smallest size, in seconds of the processor; the memory is the process's largest. One thread.

`default` times `marginaudit audit`, start-up included, of each paper and of both, with one process, with as many as
it takes unless told, and once more from what was kept: seconds of the clock and of all processors, the median
of several runs in turn. Say what else the machine did.

`shares` says where the processor's seconds of such an audit go, in one process, what was kept not read: each part
without the others that it calls, the median of several runs.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1"))

import contextlib
import io
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

SIZES = (20, 100, 300, 1000)
SAMPLES_PER_TOKEN = 20
LONGEST = 32
STEPS = ("--steps1", "50", "--steps2", "50")
REPEATS = 3

PAPERS = ("ntp", "snap", "all")

PARTS = {
    "training": (
        "marginaudit.training.ntp:train",
        "marginaudit.training.snap.sgd:train_sampled",
        "marginaudit.training.snap.attention.path:follow",
        "marginaudit.training.snap.attention.common:follow_common",
        "marginaudit.training.snap.attention.descent:descend_both",
    ),
    "solving": ("marginaudit.margins.ntp:solve_ov", "marginaudit.margins.ntp:solve_kq"),
    "judging": ("marginaudit.reports.audit.auditing:audited",),
    "drawing": ("marginaudit.reports.page.pictures:drawn", "marginaudit.reports.page.pictures:rendered_as"),
    "writing": ("marginaudit.reports.page.proofs:proof_pages", "marginaudit.reports.page.write:write_report"),
}
"""Functions whose time is a part's, but for what they call of other parts."""


def run(*arguments: str) -> None:
    """A command of marginaudit, its output discarded."""
    from marginaudit.reports.command.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
        try:
            main([*arguments])
        except SystemExit as end:
            if end.code:
                raise SystemExit(told.getvalue()) from None


def measure(command: str, path: str, small: str) -> None:
    """Print the processor's seconds of a run and the process's peak memory."""
    seconds = []
    with tempfile.TemporaryDirectory() as scratch:
        steps = STEPS if command in {"train", "audit"} else ()
        end = ["--fresh", "--jobs", "1", "--out", f"{scratch}/report"] if command == "audit" else ["--json"]
        run(command, small, *steps, *end)
        for _ in range(REPEATS):
            start = time.process_time()
            run(command, path, *steps, *end)
            seconds.append(time.process_time() - start)
    tell(seconds)


def tell(seconds: list[float]) -> None:
    """Print the median of several runs and the peak memory of this process, for `told`."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": statistics.median(seconds), "megabytes": peak}))


def told(script: str, *arguments: str) -> dict[str, float]:
    """Run a script with --measure in a new process and read the measurement that it prints."""
    done = subprocess.run([sys.executable, script, "--measure", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def measured(command: str, path: Path, small: Path) -> dict[str, float]:
    """Median seconds and peak memory of one command."""
    return told(__file__, command, str(path), str(small))


def written(V: int, folder: Path) -> tuple[Path, int, int]:
    """A dataset file, its number of samples and of relations."""
    from marginaudit.orders.ntp import dataset_to_document, free_dataset

    classes = {"optimal": (1, min(8, V // 4)), "non_optimal": (min(16, V // 4), min(48, V // 2))}
    data = free_dataset(V=V, N=SAMPLES_PER_TOKEN * V, L=LONGEST, seed=V, **classes)
    path = folder / f"{V}.json"
    path.write_text(json.dumps(dataset_to_document(data)), encoding="utf-8")
    return path, data.N, len(data.relations)


def compare(sizes: tuple[int, ...]) -> None:
    """Print the table."""
    print("| V | N | relations | train, s | audit, s | audit / train | train, MB | audit, MB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        small, *_ = written(min(SIZES), Path(folder))
        for V in sizes:
            path, samples, relations = written(V, Path(folder))
            train, audit = measured("train", path, small), measured("audit", path, small)
            print(
                f"| {V} | {samples} | {relations} | {train['seconds']:.2f} | {audit['seconds']:.2f} "
                f"| {audit['seconds'] / train['seconds']:.1f} | {train['megabytes']:.0f} | {audit['megabytes']:.0f} |",
                flush=True,
            )


def timed(*arguments: str) -> tuple[float, float]:
    """Seconds of the clock, and of all processors, that a command takes from its start to its end."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "marginaudit", "audit", *arguments], check=True, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def default() -> None:
    """Print the table of the default audits, of each way the run of the median time."""
    print("| papers | --jobs 1, s (of processors) | as many as it takes | again, from what is kept |")
    print("| --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        for paper in PAPERS:
            chosen = ("--paper", paper, "--out", f"{folder}/report")
            timed(*chosen, "--fresh")  # kernels are compiled
            ways = ((*chosen, "--fresh", "--jobs", "1"), (*chosen, "--fresh"), chosen)
            rounds = [[timed(*way) for way in ways] for _ in range(REPEATS)]
            found = [sorted(way)[REPEATS // 2] for way in zip(*rounds, strict=True)]
            print(f"| {paper} | {' | '.join(f'{wall:.1f} ({cpu:.1f})' for wall, cpu in found)} |", flush=True)


class Clock:
    """Seconds of the processor by part, each second of the innermost part that is under way."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(("imports", *PARTS, "other"), 0.0) | {"imports": time.process_time()}
        self.part, self.since = "other", time.process_time()

    def enter(self, part: str) -> str:
        """Go over to a part; answers the one before."""
        now = time.process_time()
        self.spent[self.part] += now - self.since
        before, self.part, self.since = self.part, part, now
        return before

    def charge(self, part: str, name: str) -> None:
        """Charge a function's time to a part, wherever it was imported."""
        module, _, attribute = name.partition(":")
        function = getattr(import_module(module), attribute)

        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            before = self.enter(part)
            try:
                return function(*arguments, **named)
            finally:
                self.enter(before)

        for known in [one for one in sys.modules.values() if getattr(one, attribute, None) is function]:
            setattr(known, attribute, timed)


def share(paper: str) -> None:
    """Print the seconds of the parts of one audit, in this process."""
    from marginaudit.reports.audit import ledger
    from marginaudit.reports.plots.style import load_drawing

    load_drawing()
    for one in ledger.PAPERS:
        one.load()
        for module in ("page.write", "study.audit", f"{one.name}.claims", f"{one.name}.run", f"{one.name}.figures"):
            import_module(f"marginaudit.reports.{module}")
    clock = Clock()
    for part, functions in PARTS.items():
        for function in functions:
            clock.charge(part, function)
    with tempfile.TemporaryDirectory() as folder:
        run("audit", "--paper", paper, "--fresh", "--jobs", "1", "--out", f"{folder}/report")
    clock.enter("other")
    print(json.dumps(clock.spent))


def shares() -> None:
    """Print the table of where the time goes."""
    columns = ("imports", *PARTS, "other")
    print(f"| papers | {' | '.join(f'{part}, s' for part in columns)} |")
    print(f"| --- |{' ---: |' * len(columns)}")
    for paper in PAPERS:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--share", paper]
            environ = os.environ | {"XDG_CACHE_HOME": folder}
            runs = [subprocess.run(command, check=True, capture_output=True, env=environ) for _ in range(REPEATS)]
        found = [json.loads(one.stdout) for one in runs]
        seconds = {part: statistics.median(one[part] for one in found) for part in columns}
        whole = sum(seconds.values())
        print(f"| {paper} | {' | '.join(f'{s:.1f} ({s / whole:.0%})' for s in seconds.values())} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
    elif sys.argv[1:2] == ["--share"]:
        share(sys.argv[2])
    elif sys.argv[1:] == ["default"]:
        default()
    elif sys.argv[1:] == ["shares"]:
        shares()
    else:
        compare(tuple(int(size) for size in sys.argv[1:]) or SIZES)
