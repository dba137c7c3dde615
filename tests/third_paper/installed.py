"""Papers of installed packages, for the length of a test."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from marginaudit.reports.audit.built_in import GROUP
from marginaudit.reports.bound_constants import measure
from marginaudit.reports.command.arguments import papers

AT_IMPORT = ("audit", "table", "tighten", "train")
"""Commands whose options are those of the papers there were when they were imported."""


def install(folder: Path, value: str, monkeypatch: pytest.MonkeyPatch, name: str = "third") -> None:
    """An entry point in a package whose metadata lie in the folder, which Python then looks in."""
    metadata = folder / f"{name}_paper-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-paper\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {value}\n")
    package = import_module("marginaudit.reports.command")
    without = {command: import_module(f"{package.__name__}.{command}") for command in AT_IMPORT}
    monkeypatch.syspath_prepend(str(folder))
    for command, module in without.items():
        monkeypatch.setattr(package, command, module)
        monkeypatch.delitem(sys.modules, module.__name__)
    forget_papers()


def forget_papers() -> None:
    """Have them looked for again."""
    for kept in (papers, measure._papers, measure._ledger, measure._run):
        kept.cache_clear()
    measure._LOADED.clear()
