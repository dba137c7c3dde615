"""Papers of installed packages, for the length of a test."""

from pathlib import Path

import pytest

from marginaudit.reports.bound_constants import measure
from marginaudit.reports.command.arguments import papers
from marginaudit.reports.study.grid import installed_papers


def install(
    folder: Path, value: str, monkeypatch: pytest.MonkeyPatch, name: str = "third", what: str = "paper"
) -> None:
    """An entry point in a package whose metadata lie in the folder, which Python then looks in."""
    metadata = folder / f"{name}_{what}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-{what}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[marginaudit.{what}s]\n{name} = {value}\n")
    monkeypatch.syspath_prepend(str(folder))
    forget_papers()


def forget_papers() -> None:
    """Have them looked for again."""
    for kept in (papers, installed_papers, measure.known_papers, measure.known_claims, measure.kept_run):
        kept.cache_clear()
    measure.LOADED.clear()
