"""One thing is told as one: "1 verdict", not "1 verdicts", wherever a count is printed."""

import ast
import re
from importlib.resources import files
from pathlib import Path

import pytest

from marginaudit.orders import counted
from tests.command_line import SVOP, Command, dataset_file

PACKAGES = ("orders", "margins", "training", "reports")

VARYING = re.compile(
    r"^len\(|\bsum\(|^(self\.)?[VNKM]$|\.(V|N|K|M|tried|runs|count|statements)$|_count$|\bcount\b|^seeds$"
)
"""Of an f-string: what may be 1."""

NEVER_ONE = {
    "dataset.V",
    "len(CELLS)",
    "len(BELOW)",
    "len(cycle)",
    "len(found)",
    "len(given)",
    "len(more) + 1",
    "len(order.graph)",
    "len(panel.part.graph)",
    "len(dataset.orders)",
    "len(str(FARTHEST_STEP)) - 1",
    "run.K",
    "tried.count",
    "shown(total)",
    "spec.runs",
}
"""Constants of 2 or more, orders of two tokens or more, what is told only of several, and what is beyond a limit."""


def plurals(source: str) -> list[str]:
    """Counts in f-strings before a noun in the plural."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if (
                isinstance(value, ast.FormattedValue)
                and isinstance(after, ast.Constant)
                and isinstance(after.value, str)
            ):
                said = ast.unparse(value.value)
                noun = re.match(r" (?:[a-z-]+ )?([a-z]+s)\b", after.value)
                if noun and VARYING.search(said) and said not in NEVER_ONE and noun[1] not in ("is", "has", "does"):
                    found.append(f"{{{said}}}{after.value[:30]}")
    return found


def test_the_search_finds_what_it_looks_for() -> None:
    assert plurals("f'{len(rows)} verdicts: {counts}'") == ["{len(rows)} verdicts: "]
    assert plurals("f'{len(rows)} more lines'") == ["{len(rows)} more lines"]
    assert plurals("f'{counted(len(rows), \"verdict\")}: {x} verdicts'") == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_count_stands_before_a_plural(package: str) -> None:
    folder = files(f"marginaudit.{package}")
    paths = sorted(Path(str(folder)).rglob("*.py"))
    assert paths
    found = [f"{path.name}: {one}" for path in paths for one in plurals(path.read_text(encoding="utf-8"))]
    assert found == []


def test_one_of_each(command: Command, tmp_path: Path) -> None:
    one = dataset_file(tmp_path, SVOP)
    said = command(
        "audit", one, "--claim", "ntp.prop2.closed-form", "--steps1", "2", "--steps2", "2", "--out", tmp_path / "out"
    )
    assert "\n1 verdict: 1 holds.\n" in said.out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "none of 1 statement fails" in page.lower()
    assert ", 1 dataset: <b>1 holds</b>." in page
    spec = tmp_path / "one.toml"
    spec.write_text(
        f'paper = "ntp"\nkeep = ["ntp.prop2.closed-form:*"]\n[data]\nfiles = ["{one}"]\n'
        "[settings]\nsteps1 = 2\nsteps2 = 2\n",
        encoding="utf-8",
    )
    planned = command("sweep", spec, "--out", tmp_path / "swept", "--jobs", "1", "--plan").out
    assert "1 of 1 run to compute, in 1 part, to " in planned
    assert " on 1 process.\n" in planned
    assert "1 run: 1 done.\n" in command("sweep", spec, "--out", tmp_path / "swept", "--jobs", "1").out
    swept = (tmp_path / "swept" / "sweep.html").read_text(encoding="utf-8")
    assert "1 of 1 audit done. 0 of 1 statement fail in at least one of them." in swept


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 classes fail"), (1, "1 class fails"), (2, "2 classes fail")], ids=str
)
def test_a_count_with_its_noun(count: int, said: str) -> None:
    assert counted(count, "class fails", "classes fail") == said
