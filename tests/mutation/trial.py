"""Running the tests that cover a module on a copy of the tree in which one mistake was made.

Each file of tests runs in a process that is forked from one which has the libraries imported, and nothing of the tree:
a fork takes milliseconds where the imports take seconds.
"""

import ast
import math
import os
import re
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tests.mutation.mutate import Mutation

ROOT = Path(__file__).parents[2]
PACKAGES = ("margins", "orders", "reports", "training")
MEMORY = 12 * 2**30
"""Bytes of address space that a mutant may take."""
LIBRARIES = (
    "click",
    "cvxpy",
    "flint",
    "jinja2",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
    "mpmath",
    "networkx",
    "numba",
    "pandas",
    "pytest",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse.csgraph",
)
"""Other people's code, imported once, in the process that each trial is forked from.

Without hypothesis and other plugins of pytest's, whose asserts it rewrites when it imports them.
"""

OUTPUT = Path(".scratch", "output")
NO_TESTS = 5
"""pytest's exit status where a file has slow tests alone."""

_forks = get_context("forkserver")
_forks.set_forkserver_preload(list(LIBRARIES))


@dataclass(frozen=True)
class Outcome:
    """What the tests said: if one was red; which, or "timeout" past the limit, or a signal; the processor's seconds."""

    killed: bool
    by: str
    seconds: float


class Tree:
    """A copy of the working tree that is imported in its stead.

    An editable install shows the working tree as `marginaudit`. The copy has a folder of the same name with links to
    its own packages, and to the files of `package/`, which comes first on PYTHONPATH.

    Parameters
    ----------
    origin : path
        The tree to copy.
    folder : path
        Where to; does not exist yet.
    """

    def __init__(self, origin: Path, folder: Path) -> None:
        self.folder = folder
        self.running: ForkServerProcess | None = None
        self.tried = 0
        ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "audit-report")
        shutil.copytree(origin, folder, ignore=ignored)
        names = folder / ".import" / "marginaudit"
        names.mkdir(parents=True)
        (folder / ".scratch").mkdir()
        for path in (*(folder / package for package in PACKAGES), *(folder / "package").glob("[!.]*.py")):
            if path.exists():
                (names / path.name).symlink_to(path)
        self.kernels = kernel_modules(folder)

    def test(self, test: str, limit: float | None = None, *, fresh_kernels: bool = False) -> Outcome:
        """Run a test, a file of tests or a package's doctests until one is red, in a process of its own.

        It has ``limit`` seconds of the processor, and ten times that in all.

        Raises
        ------
        FileNotFoundError
            The test is not in the tree: pytest's complaint would pass for a red test.
        """
        if "/" in test and not (self.folder / test.partition("::")[0]).is_file():
            raise FileNotFoundError(f"got the test {test}, expected one of the tree")
        receiver, sender = _forks.Pipe(duplex=False)
        kernels = ".kernels-of-a-mutant" if fresh_kernels else ".kernels"
        self.running = _forks.Process(target=_trial, args=(self.folder, test, limit, kernels, sender))
        self.running.start()
        sender.close()
        try:
            self.running.join(None if limit is None else 10 * limit)
            code = self.running.exitcode
            seconds = receiver.recv() if receiver.poll() else limit
        except EOFError:
            seconds = limit
        finally:
            self.stop()
            receiver.close()
        output = (self.folder / OUTPUT).read_text(encoding="utf-8", errors="replace")
        red = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        by = red[1] if red else output.strip().rpartition("\n")[2]
        if code is None or code < 0:
            by = "timeout" if code in (None, -signal.SIGXCPU) else signal.Signals(-code).name
        killed = code not in (0, NO_TESTS)
        return Outcome(killed, by if killed else "", seconds or 0.0)

    def stop(self) -> None:
        """End the tests that run here, with all their processes."""
        if self.running is not None and self.running.pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.running.pid, signal.SIGKILL)
            self.running.join()

    def try_mutation(self, module: str, mutation: Mutation, tests: list[str], limit: Callable[[str], float]) -> Outcome:
        """Run the tests, each within its limit, with the mistake in the module; the module is restored after that.

        Each mutant has a time of its own, by which its bytecode is told from others'; kernels that numba compiled are
        not taken from disk where they could be of another text.
        """
        self.tried += 1
        path, fresh_kernels = self.folder / module, module in self.kernels
        text, times = path.read_bytes(), path.stat()
        seconds = 0.0
        try:
            path.write_text(mutation.source, encoding="utf-8")
            os.utime(path, (times.st_atime, times.st_mtime + 60 * self.tried))
            for test in tests:
                outcome = self.test(test, limit(test), fresh_kernels=fresh_kernels)
                seconds += outcome.seconds
                if outcome.killed:
                    return Outcome(True, outcome.by, seconds)
            return Outcome(False, "", seconds)
        finally:
            path.write_bytes(text)
            os.utime(path, (times.st_atime, times.st_mtime))
            shutil.rmtree(self.folder / ".kernels-of-a-mutant", ignore_errors=True)


def _trial(folder: Path, test: str, limit: float | None, kernels: str, sender: Connection) -> None:
    """Run a test as the copy of the tree in ``folder`` has it, say what it cost, and exit with pytest's status."""
    os.setsid()
    output = os.open(folder / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, file in enumerate((os.open(os.devnull, os.O_RDONLY), output, output)):
        os.dup2(file, stream)
    os.chdir(folder)
    os.environ |= {
        "PYTHONPATH": str(folder / ".import"),
        "NUMBA_CACHE_DIR": str(folder / kernels),
        "TMPDIR": str(folder / ".scratch"),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "",  # the next trial reads what this one compiled
    }
    sys.dont_write_bytecode = False
    import_module("numba.core.config").reload_config()
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    if any(name.startswith("marginaudit") for name in sys.modules):
        raise RuntimeError("got a process that has imported marginaudit, expected one that will import the mutant")
    sys.path[:] = [str(folder), str(folder / ".import"), *(p for p in sys.path if p not in ("", str(ROOT)))]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    start = _seconds()
    if limit is not None:
        ceiling = math.ceil(start + limit)
        resource.setrlimit(resource.RLIMIT_CPU, (ceiling, ceiling + 5))
    options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", f"--basetemp={folder}-pytest"]
    options.append("--timeout=0")  # of the clock on the wall
    code = import_module("pytest").main([*options, test])
    sender.send(_seconds() - start)
    sys.exit(int(code))


def _seconds() -> float:
    """The processor's seconds that this process and its children have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def covering_tests(root: Path, module: str) -> list[str]:
    """What pytest is asked to run for a module: its own tests and doctests, then the package's.

    Of the package's tests those that import the module, or call its command, come first, those that name it most often
    before others, and then those that import from its folder, each with the nearest rooms before others; of the tests
    above the packages only those that import the module do run.

    >>> covering_tests(Path(), "margins/exact.py")[:2]
    ['tests/margins/test_exact.py', 'marginaudit.margins']
    """
    package, own = module.partition("/")[0], f"test_{Path(module).stem}.py"
    importing, beside = _imports_of(module), _imports_of(str(Path(module).parent))
    tests = [path.relative_to(root) for path in sorted((root / "tests" / package).rglob("test_*.py"))]
    room = Path("tests", module).parent
    tests.sort(key=lambda path: -len(os.path.commonpath([path, room])))
    above = [path.relative_to(root) for path in sorted((root / "tests").glob("test_*.py"))]
    mirrored = [path for path in tests if path.name == own and room.is_relative_to(path.parent)]
    near = [path for path in tests if path not in mirrored and importing.search((root / path).read_text("utf-8"))]
    named = re.compile(rf"\b{Path(module).stem}\b")
    near.sort(key=lambda path: (path.name != own, -len(named.findall((root / path).read_text("utf-8")))))
    rest = [path for path in tests if path not in mirrored and path not in near]
    rest.sort(key=lambda path: beside.search((root / path).read_text("utf-8")) is None)
    last = [path for path in above if importing.search((root / path).read_text("utf-8"))]
    return [*map(str, mirrored), f"marginaudit.{package}", *map(str, (*near, *rest, *last))]


def _imports_of(module: str) -> re.Pattern[str]:
    """What a file of tests says that imports the module or, where that is a command's, calls the command by name."""
    name = "marginaudit." + module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, child = name.rpartition(".")
    called = rf'|[(\[]\s*"{child}"' if parent.rpartition(".")[2] in ("command", "commands") else ""
    return re.compile(
        rf"^\s*(from {re.escape(name)} import|import {re.escape(name)}\b)"
        rf"|^\s*from {re.escape(parent)} import (\([^)]*|.*)\b{child}\b{called}",
        re.MULTILINE,
    )


def kernel_modules(root: Path) -> set[str]:
    """The modules that numba compiles, and those that they import from: a kernel keeps the globals that it saw."""
    found: set[str] = set()
    for path in (path for package in PACKAGES for path in (root / package).rglob("*.py")):
        imports = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
        names = [node.module for node in imports if node.module is not None]
        if any(name.partition(".")[0] == "numba" or name == "marginaudit.orders.jit" for name in names):
            found.add(str(path.relative_to(root)))
            found |= {
                name.removeprefix("marginaudit.").replace(".", "/") + ".py" for name in names if "marginaudit" in name
            }
    return found
