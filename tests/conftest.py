"""Hypothesis: the same examples on every run of the tests, many and other ones for `make fuzz`; no clock.

Audits run in one process unless a test says otherwise, and no test finds what another one's audit has kept but the
papers' own figures and pages of proofs, which depend on the code alone.
"""

import os
from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import settings

from marginaudit.reports.study.store import Store
from tests.command_line import Command

settings.register_profile("marginaudit", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("fuzz", deadline=None, max_examples=1000, database=None)
settings.load_profile("marginaudit")


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
def figures_drawn_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Share papers' figures and pages of proofs, which take most of a small audit's time, between all tests."""
    base = tmp_path_factory.getbasetemp()
    shared, once = Store((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "drawn"), Store.once
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "once", lambda own, *made: once(shared if own.cache and not own.fresh else own, *made))
        yield


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without parts of an earlier audit."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / f"cache-{next(_NUMBER)}"))


_NUMBER = count()


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Call the command line in this process."""
    return Command(capsys)
