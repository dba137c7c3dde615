"""Hypothesis: the same examples on every run of the tests, many and other ones for `make fuzz`; no clock.

Audits run in one process unless a test says otherwise, and no test finds what another one's audit has kept but the
graphs of statements and pages of proofs, which depend on the code alone. Every test works in an empty folder.
"""

import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from marginaudit.claims.paper import Figure, Paper
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.study import audit as study
from marginaudit.reports.study.audit import figure_task, formulas_task, proofs_task
from marginaudit.reports.study.executor import Task
from marginaudit.reports.study.store import Store
from tests.command_line import SVOP, Command, dataset_file

settings.register_profile("marginaudit", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("fuzz", deadline=None, max_examples=1000, database=None)
settings.load_profile("marginaudit")


THOROUGH = frozenset((Path(__file__).parent / "thorough.txt").read_text(encoding="utf-8").split())
"""Tests that `make test-fast` leaves out: their node ids, those of their functions or files, or folders."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that a line of `THOROUGH` names."""
    for item in items:
        if any(item.nodeid[: end.start()] in THOROUGH for end in re.finditer(r"[/[]|::|$", item.nodeid)):
            item.add_marker("thorough")


@pytest.fixture(autouse=True, scope="session")
def one_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Audit in this process, keep its parts in a folder that goes, print as wide as by default; without a clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOKY_MAX_CPU_COUNT", "1")
        patch.delenv("COLUMNS", raising=False)
        patch.setenv("SOURCE_DATE_EPOCH", "0")
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def pages_made_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Share graphs of statements, formulas and pages of proofs between all tests: most of a small audit's time."""
    base = tmp_path_factory.getbasetemp()
    shared = Store((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "drawn")

    def once(task: Task) -> Task:
        def compute(*progress: Any) -> Any:
            key = task.key() if task.key else None
            if (found := shared.read(key)) is None:
                shared.write(key, found := task.compute(*progress))
            return found

        return replace(task, compute=compute)

    def graph_task(paper: Paper, figure: Figure, exports: Sequence[str]) -> Task:
        task = figure_task(paper, figure, exports)
        return once(task) if paper in PAPERS and figure.name.startswith("statements of ") else task

    def shared_by(task_of: Callable[[Paper], Task]) -> Callable[[Paper], Task]:
        return lambda paper: once(task_of(paper)) if paper in PAPERS else task_of(paper)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "figure_task", graph_task)
        patch.setattr(study, "proofs_task", shared_by(proofs_task))
        patch.setattr(study, "formulas_task", shared_by(formulas_task))
        yield


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without parts of an earlier audit."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / f"cache-{next(_NUMBER)}"))


_NUMBER = count()


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> Iterator[None]:
    """Let an interrupt reach the processes that tests start, also where a shell in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def svop(own_folder: Path) -> Path:
    """A dataset's file in that folder."""
    return dataset_file(own_folder, SVOP, "svop.json")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Call the command line in this process."""
    return Command(capsys)
