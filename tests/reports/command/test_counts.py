"""One thing is told as one: "1 verdict", not "1 verdicts", wherever a count is printed."""

from pathlib import Path

import pytest

from marginaudit.orders import counted
from tests.command_line import SVOP, Command, dataset_file


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
