"""Specs of the odd paper."""

from pathlib import Path

from marginaudit.reports.command.arguments import papers
from marginaudit.reports.study.spec import Spec, read_spec

ODD = """
paper = "odd"
seeds = 3
[data]
generator = "counting"
N = [1, 4]
[settings]
rate = [0.5, 1, 2]
"""

FIGURE = '[figure]\nx = "rate"\ny = "end"\nline = "N"\n'


def odd_spec(text: str = ODD) -> Spec:
    return read_spec(text, "odd", "odd.toml", Path(), papers())


def written(text: str = ODD, name: str = "odd.toml") -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path
