"""The odd paper installed, and a folder of its own for what sweeps write."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reports.study.odd_paper import FOLDER
from tests.third_paper.installed import forget_papers, install

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("work", "once"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv(FOLDER, str(tmp_path / "once"))
    for folder in (ROOT, tmp_path / "site"):
        monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    monkeypatch.syspath_prepend(str(ROOT))  # as a worker that starts afresh gets the path of this process
    install(tmp_path / "site", "tests.reports.study.odd_paper:PAPER", monkeypatch, name="odd")
    yield
    forget_papers()
