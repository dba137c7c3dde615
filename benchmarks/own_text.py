"""Cost of `marginaudit audit` on texts of the kinds that users bring, beside that of the steps that it cannot avoid.

Usage: python benchmarks/own_text.py [NAME ...]

Texts lie in Python's standard library, in packages that are installed with marginaudit[dev], and in packages of Debian
(`apt-get install fortunes abcm2ps`); a text that is not there is left out. Of each, `marginaudit realize` takes the
largest part that meets Assumption 1, and `marginaudit audit` judges it with default settings, on one thread: seconds of
the processor, start-up, figures and report included, after one run on the first text (compiled kernels are cached).

The yardstick is the time of the 10,000 true steps before a fast-forward, each as long as one pass over the arrays of
its formulas (an index and a ratio for each edge; frequency, absent labels and query for each class; four numbers for
each pair of tokens).
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1"))

import subprocess
import sys
import sysconfig
import tempfile
import time
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import NamedTuple

import numpy as np

STEPS = 10_000
MOST_SECONDS = 20.0


class Text(NamedTuple):
    """A text: what it is, where it lies, and options of `realize`."""

    kind: str
    place: str
    options: tuple[str, ...] = ()


TEXTS = {
    "source": Text("Python source", "stdlib:argparse.py"),
    "characters": Text("prose, characters", "stdlib:pydoc_data/topics.py", ("--unit", "char", "--max-length", "48")),
    "words": Text("prose, 1,000 words", "stdlib:pydoc_data/topics.py", ("--prose", "--max-vocabulary", "1000")),
    "licences": Text("prose, characters", "pyarrow:LICENSE.txt", ("--unit", "char", "--max-length", "48")),
    "sentences": Text("prose, long sentences", "pyarrow:LICENSE.txt", ("--prose", "--max-length", "1000")),
    "changes": Text("log of changes", "stdlib:idlelib/ChangeLog"),
    "log": Text("log of packages", "/var/log/dpkg.log"),
    "tunes": Text("tune book", "/usr/share/doc/abcm2ps/examples/*.abc"),
    "poems": Text("poems", "/usr/share/games/fortunes/songs-poems"),
    "fortunes": Text("fortunes, 245 kB", "/usr/share/games/fortunes/cookie"),
}


def found(place: str) -> list[Path]:
    """The files of a text; none if its package is not installed."""
    package, _, name = place.rpartition(":")
    if package == "stdlib":
        path = Path(sysconfig.get_path("stdlib")) / name
        return [path] if path.is_file() else []
    if package:
        try:
            return [Path(str(file.locate())) for file in files(package) or () if file.name == name]
        except PackageNotFoundError:
            return []
    return sorted(Path("/").glob(place.lstrip("/")))


def run(*command: str) -> float:
    """Seconds of the processor that a command takes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "marginaudit", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    told = process.stderr.read() if process.stderr else ""
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(told)
    return used.ru_utime + used.ru_stime


def yardstick(path: Path) -> tuple[str, float]:
    """Sizes of a dataset, and seconds of `STEPS` passes over a step's arrays."""
    from marginaudit.orders.ntp import read_dataset
    from marginaudit.training.ntp import sample_classes
    from marginaudit.training.ntp.model.edges import sentence_edges

    data = read_dataset(path)
    classes = sample_classes(data)
    edges = len(sentence_edges(classes, data.V))
    sizes = 12 * edges, 16 * len(classes), 32 * len(classes.key)
    arrays = [np.ones(-(-size // 8)) for size in sizes]
    best = np.inf
    for _ in range(5):
        start = time.process_time()
        for _ in range(STEPS // 100):
            for array in arrays:
                array.sum()
        best = min(best, 100 * (time.process_time() - start))
    return f"{data.V} | {data.N} | {edges}", best


def main(names: list[str]) -> int:
    """Print the table; 1 if an audit takes longer than `MOST_SECONDS`."""
    print("| text | | V | N | edges | audit, s | passes, s |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    status, warm = 0, False
    with tempfile.TemporaryDirectory() as folder:
        for name in names or TEXTS:
            kind, place, options = TEXTS[name]
            text = Path(folder) / f"{name}.txt"
            parts = [path.read_text(encoding="utf-8", errors="replace") for path in found(place)]
            if not parts:
                print(f"| {name} | {kind}: {place} is not there | | | | | |")
                continue
            text.write_text("\n".join(parts), encoding="utf-8")
            data = text.with_suffix(".json")
            run("realize", str(text), "--out", str(data), *options)
            audit = ("audit", str(data), "--fresh", "--jobs", "1", "--out", f"{folder}/report")
            if not warm:
                run(*audit)
                warm = True
            seconds = run(*audit)
            sizes, passes = yardstick(data)
            status |= seconds > MOST_SECONDS
            print(f"| {name} | {kind} | {sizes} | {seconds:.1f} | {passes:.2f} |", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
