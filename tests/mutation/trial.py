"""Running the tests that cover a module on a copy of the tree in which one mistake was made."""

import ast
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutate import Mutation

PACKAGES = ("margins", "orders", "reports", "training")
MEMORY = 12 * 2**30
"""Bytes of address space that a mutant may take."""


@dataclass(frozen=True)
class Outcome:
    """What the tests said: whether one was red, which ("timeout" past the limit), and after how many seconds."""

    killed: bool
    by: str
    seconds: float


class Tree:
    """A copy of the working tree that is imported in its stead.

    An editable install shows the working tree as `marginaudit`, a namespace package. The copy has a folder of the
    same name with links to its own packages, which comes first on PYTHONPATH.

    Parameters
    ----------
    origin : path
        The tree to copy.
    folder : path
        Where to; does not exist yet.
    """

    def __init__(self, origin: Path, folder: Path) -> None:
        self.folder = folder
        self.running: subprocess.Popen[bytes] | None = None
        self.tried = 0
        ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "audit-report")
        shutil.copytree(origin, folder, ignore=ignored)
        names = folder / ".import" / "marginaudit"
        names.mkdir(parents=True)
        (folder / ".scratch").mkdir()
        for package in PACKAGES:
            if (folder / package).is_dir():
                (names / package).symlink_to(folder / package)

    def test(self, tests: list[str], limit: float | None = None, *, fresh_kernels: bool = False) -> Outcome:
        """Run the tests until one is red, for at most ``limit`` seconds of the processor and ten times that in all.

        Raises
        ------
        FileNotFoundError
            A test is not in the tree: pytest's complaint would pass for a red test.
        """
        for test in tests:
            if "/" in test and not (self.folder / test.partition("::")[0]).is_file():
                raise FileNotFoundError(f"got the test {test}, expected one of the tree")
        kernels = self.folder / (".kernels-of-a-mutant" if fresh_kernels else ".kernels")
        environment = os.environ | {
            "PYTHONPATH": str(self.folder / ".import"),
            "NUMBA_CACHE_DIR": str(kernels),
            "TMPDIR": str(self.folder / ".scratch"),
            "OPENBLAS_NUM_THREADS": "1",
        }
        options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", f"--basetemp={self.folder}/.pytest"]
        command = [sys.executable, "-m", "pytest", *options, *tests]

        def confine() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))

        start = time.monotonic()
        self.running = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=confine,
        )
        try:
            output = self.running.communicate(timeout=None if limit is None else 10 * limit)[0].decode(errors="replace")
            red = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
            by = red[1] if red else output.strip().rpartition("\n")[2]
            by = "timeout" if self.running.returncode == -signal.SIGXCPU else by
        except subprocess.TimeoutExpired:
            by = "timeout"
        finally:
            self.stop()
            if fresh_kernels:
                shutil.rmtree(kernels, ignore_errors=True)
        killed = self.running.returncode != 0
        return Outcome(killed, by if killed else "", time.monotonic() - start)

    def stop(self) -> None:
        """End the tests that run here, with all their processes."""
        if self.running is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()
            if self.running.stdout is not None:
                self.running.stdout.close()

    def try_mutation(self, module: str, mutation: Mutation, tests: list[str], limit: float) -> Outcome:
        """Run the tests with the mistake in the module; the module is restored after that.

        Each mutant has a time of its own, by which its bytecode is told from others'; kernels that numba compiled are
        not taken from disk where they could be of another text.
        """
        self.tried += 1
        path = self.folder / module
        text, times = path.read_bytes(), path.stat()
        try:
            path.write_text(mutation.source, encoding="utf-8")
            os.utime(path, (times.st_atime, times.st_mtime + 60 * self.tried))
            return self.test(tests, limit, fresh_kernels=module in kernel_modules(self.folder))
        finally:
            path.write_bytes(text)
            os.utime(path, (times.st_atime, times.st_mtime))


def covering_tests(root: Path, module: str) -> list[str]:
    """What pytest is asked to run for a module: its own tests and doctests, then the package's.

    Of the package's tests those that import the module come first, and then those that import from its folder; of the
    tests above the packages only those that import the module do run.

    >>> covering_tests(Path(), "margins/exact.py")[:2]
    ['tests/margins/test_exact.py', 'marginaudit.margins']
    """
    package, own = module.partition("/")[0], f"test_{Path(module).stem}.py"
    importing, beside = _imports_of(module), _imports_of(str(Path(module).parent))
    tests = [path.relative_to(root) for path in sorted((root / "tests" / package).rglob("test_*.py"))]
    above = [path.relative_to(root) for path in sorted((root / "tests").glob("test_*.py"))]
    mirrored = [path for path in tests if path.name == own]
    near = [path for path in tests if path not in mirrored and importing.search((root / path).read_text("utf-8"))]
    rest = [path for path in tests if path not in mirrored and path not in near]
    rest.sort(key=lambda path: beside.search((root / path).read_text("utf-8")) is None)
    last = [path for path in above if importing.search((root / path).read_text("utf-8"))]
    return [*map(str, mirrored), f"marginaudit.{package}", *map(str, (*near, *rest, *last))]


def _imports_of(module: str) -> re.Pattern[str]:
    name = "marginaudit." + module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, child = name.rpartition(".")
    return re.compile(
        rf"^\s*(from {re.escape(name)} import|import {re.escape(name)}\b)"
        rf"|^\s*from {re.escape(parent)} import .*\b{child}\b",
        re.MULTILINE,
    )


def kernel_modules(root: Path) -> set[str]:
    """The modules that numba compiles, and those that they import from: a kernel keeps the globals that it saw."""
    found: set[str] = set()
    for path in (path for package in PACKAGES for path in (root / package).rglob("*.py")):
        imports = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
        names = [node.module for node in imports if node.module is not None]
        if any(name.partition(".")[0] == "numba" or name == "marginaudit.training.jit" for name in names):
            found.add(str(path.relative_to(root)))
            found |= {
                name.removeprefix("marginaudit.").replace(".", "/") + ".py" for name in names if "marginaudit" in name
            }
    return found
