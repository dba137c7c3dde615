"""A setting of a user's paper may be called `seed`, with a range of its own."""

import csv
import subprocess
from pathlib import Path

import pytest

from tests.reports.command.test_new import PROGRAM, answered

PAPER = '''
"""Runs that are their seed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from marginaudit import Bounded, Claim, Paper, Series
from marginaudit.claims.answers.sweeps import Design, Generator, Sweeps, audit_results
from marginaudit.claims.run import BaseRun
from marginaudit.claims.settings import check, setting, whole
from marginaudit.reports.starts.paper import NUMBERS, NumberSpace, counting


@dataclass(frozen=True)
class SeedConfig:
    seed: int = setting(1, whole(0, 9), "Seed of the run.")

    def __post_init__(self):
        check(self)


class SeedRun(BaseRun):
    kind = NUMBERS

    def __init__(self, data, config=None, progress=None):
        super().__init__(data, progress)
        self.config = config or SeedConfig()

    @cached_property
    def w(self):
        return Series(np.array([1.0 + self.config.seed]), 0.0, np.array([1]))


class SeedSpace(NumberSpace):
    runs = {late: [(SeedConfig(), SeedConfig()), (SeedConfig(7), SeedConfig(7))] for late in (False, True)}


CLAIM = Claim(
    id="seeded.small",
    source="here",
    statement="1 + seed <= 4.",
    assumptions=(),
    judgement=Bounded(measure=lambda run: run.w, upper=lambda run, t: np.full(len(t), 4.0)),
)


class SeedPaper(Paper):
    name = "seeded"
    source = "here"
    kind = NUMBERS
    config = SeedConfig
    run = SeedRun
    claims = (CLAIM,)
    space = SeedSpace()
    sweeps = Sweeps(
        config=SeedConfig(),
        generators={"counting": Generator({"N": whole(1, 100)}, counting)},
        results=audit_results([CLAIM]),
        designs=(Design("counting", {"N": (3, 2)}),),
        factors={"N": lambda run: run.dataset.N},
    )


PAPER = SeedPaper()
'''

SPEC = 'paper = "seeded"\nkeep = ["*:verdict"]\nseeds = [0, 3, 4, 9]\n[data]\nfiles = ["three-numbers"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "paper.py").write_text(PAPER, encoding="utf-8")
    return tmp_path


def refused(folder: Path, *arguments: str) -> str:
    ended = subprocess.run([*PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout) == (2, "")
    return ended.stderr.strip()


def test_an_audit_and_tighten_take_the_seed_as_an_option_with_the_papers_range(folder: Path) -> None:
    for seed, verdict in (("3", "holds"), ("4", "violated")):
        report = answered(folder, "audit", "three-numbers", "--paper", "paper.py", "--seed", seed)
        assert [row["verdict"] for row in report["verdicts"]] == [verdict]
        assert report["config"] == {"seeded": {"seed": int(seed)}}
    page = (folder / "audit-report/report.html").read_text(encoding="utf-8")
    assert "--claim seeded.small --paper paper.py --seed 4" in page
    line = refused(folder, "audit", "three-numbers", "--paper", "paper.py", "--seed", "10")
    assert line == "marginaudit: --seed: got 10, expected a whole number from 0 to 9"
    tight = answered(folder, "tighten", "seeded.small", "--paper", "paper.py", "--seed", "2", "--seconds", "60")
    assert tight["sides"]["upper"]["constant"] == pytest.approx(0.75)


def test_a_hunt_keeps_its_own_seed_and_names_that_of_the_run(folder: Path) -> None:
    found = answered(folder, "hunt", "seeded.small", "--paper", "paper.py", "--seed", "12345", "--seconds", "20")
    assert found["found"]
    assert found["settings"] == {"seed": 7}


def test_a_sweep_fills_the_seed_and_checks_its_range(folder: Path) -> None:
    spec = folder / "spec.toml"
    spec.write_text(SPEC, encoding="utf-8")
    answered(folder, "sweep", "spec.toml", "--paper", "paper.py", "--out", "swept")
    with (folder / "swept/runs.csv").open(encoding="utf-8") as file:
        rows = [(row["seed"], row["seeded.small:verdict"]) for row in csv.DictReader(file)]
    assert rows == [("0", "holds"), ("3", "holds"), ("4", "violated"), ("9", "violated")]
    for old, new, said in (
        ("[0, 3, 4, 9]", "11", "/seeds: got 10, expected a whole number from 0 to 9"),
        ("[data]", "[settings]\nseed = 3\n[data]", "/settings: got 'seed', expected one of"),
    ):
        spec.write_text(SPEC.replace(old, new), encoding="utf-8")
        assert f"spec.toml: {said}" in refused(folder, "sweep", "spec.toml", "--paper", "paper.py", "--out", "other")
