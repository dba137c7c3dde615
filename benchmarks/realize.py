"""Cost of `marginaudit realize` on long random texts.

Usage: python benchmarks/realize.py [MB ...]

A text has 50,000 words, the i-th with a frequency proportional to 1/i, drawn one by one, in lines of 3 words and more,
20 on average. Each row is the whole command in a process of its own with its default options, in seconds of the
processor, with the largest memory of the process.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (1.0, 5.0, 20.0)
WORDS = 50_000
LINES_AT_ONCE = 5_000


def write_text(path: Path, megabytes: float, seed: int = 0) -> None:
    """A random text of about ``megabytes`` MB."""
    random = np.random.default_rng(seed)
    names = np.array([f"w{i}" for i in range(WORDS)])
    frequency = 1 / np.arange(1, WORDS + 1)
    with path.open("w") as file:
        while file.tell() < megabytes * 1e6:
            lengths = random.geometric(1 / 18, LINES_AT_ONCE) + 2
            words = names[random.choice(WORDS, lengths.sum(), p=frequency / frequency.sum())]
            for line in np.split(words, np.cumsum(lengths)[:-1]):
                file.write(" ".join(line) + "\n")
                if file.tell() >= megabytes * 1e6:
                    break


def measured(path: Path) -> dict[str, Any]:
    """The command's answer, with seconds and megabytes."""
    command = [sys.executable, "-m", "marginaudit.reports", "realize", path.name, "--json"]
    process = subprocess.Popen(command, cwd=path.parent, stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(status)
    found: dict[str, Any] = json.loads(printed)
    return found | {"seconds": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}


def main() -> None:
    """Print the table."""
    print("| MB | samples | collocation | part | at most | seconds | peak, MB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in [float(size) for size in sys.argv[1:]] or SIZES:
            path = Path(folder) / "text.txt"
            write_text(path, megabytes)
            row = measured(path)
            part = row["realizable"]
            shares = " | ".join(f"{part[end] / row['samples']:.3f}" for end in ("lower", "upper"))
            print(
                f"| {megabytes:g} | {row['samples']} | {row['collocation_share']:.3f} | {shares} | "
                f"{row['seconds']:.1f} | {row['peak']:.0f} |"
            )


if __name__ == "__main__":
    main()
