"""A folder, a dataset's file and interrupts for the tests of the reports."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import SVOP, dataset_file


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
    return dataset_file(own_folder, SVOP, "svop.json")
