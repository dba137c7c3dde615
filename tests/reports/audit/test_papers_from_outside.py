"""Papers of installed packages that cannot be had, and cases that cannot be made: one line, and the rest goes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from marginaudit import audit, dataset
from marginaudit.reports import LEDGER
from tests.command_line import Command, strict_json
from tests.third_paper.installed import forget_papers, install

THIRD = (
    "from dataclasses import replace\nfrom tests.papers import changed\nfrom tests.third_paper.paper import PAPER\n"
    "from marginaudit.claims.paper import Figure, Paper\n"
    "THIRD = changed(PAPER, figures=())\n"
)

SETTING = THIRD + (
    "from dataclasses import dataclass\nfrom marginaudit.claims.settings import SEED, setting\n"
    "@dataclass\nclass Config:\n    steps1: int = setting(0, SEED, 'What it is.')\n"
)

KIND = THIRD + "numbers = THIRD.kind.cases['three-numbers']\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    yield
    forget_papers()


def plant(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch, value: str = "planted:PAPER") -> None:
    """A package of one module, of a name that no other test's has: Python keeps what it imported."""
    site = folder / "site"
    site.mkdir()
    module = f"planted_by_{folder.name.replace('-', '_')}"
    (site / f"{module}.py").write_text(text, encoding="utf-8")
    install(site, value.replace("planted", module), monkeypatch, name="planted")


REFUSED = [
    ("x = 1 / 0", "got ZeroDivisionError: division by zero, expected Python that runs"),
    ("import sys\nsys.exit()", "got SystemExit, expected Python that runs"),
    ("PAPER = 3", "got 3, expected a Paper"),
    (
        THIRD + "PAPER = changed(THIRD, name='all', claims=())",
        "got a paper named all, expected another name, as --paper all",
    ),
    (THIRD + "PAPER = changed(THIRD, name='ntp', claims=())", "got the name 'ntp', which another"),
    (
        THIRD + "PAPER = changed(THIRD, claims=(replace(THIRD.claims[0], id='ntp.lemma2'),))",
        "got the claim 'ntp.lemma2', which another paper has, expected one of its own",
    ),
    (
        THIRD + "PAPER = changed(THIRD, kind=replace(THIRD.kind, cases={'example-1': print}))",
        "got the case 'example-1', which another",
    ),
    (THIRD + "PAPER = changed(THIRD, figures=[Figure('ntp-2', print)])", "got the figure 'ntp-2', which"),
    (
        THIRD + "PAPER = changed(THIRD, tables=(type('T', (type(THIRD.tables[0]),), {'name': 'direction'})(),))",
        "got the table 'direction', which another",
    ),
    (
        THIRD + "PAPER = changed(THIRD, commands={'realize': ('x', 'Realize.')})",
        "got the command 'realize', which",
    ),
    (THIRD + "PAPER = changed(THIRD, commands={'solve': ('x', 'Solve.')})", "got the command 'solve', which"),
    (
        THIRD + "class Bare(Paper):\n    name = 'bare'\nPAPER = Bare()",
        "got ValueError: paper Bare: got no source, kind, config, run, claims, expected one, expected",
    ),
    (
        THIRD + "class Own(type(PAPER)):\n    claims = (replace(THIRD.claims[0], paper=''),)\n"
        "    figures = ()\n    def __init__(self): pass\nPAPER = Own()",
        "got a Own whose __init__ does not call super().__init__(), expected that call",
    ),
    (
        SETTING + "PAPER = changed(THIRD, config=Config)",
        "got the setting steps1: a whole number from 0 to 2^63, expected as ntp has it: a whole number",
    ),
    (
        THIRD + "PAPER = changed(THIRD, name='fourth')",
        "got ValueError: claim third.below-largest: got the paper third, expected fourth, expected",
    ),
    (
        THIRD + "PAPER = changed(THIRD, claims=(replace(THIRD.claims[0], assumptions=('odd',)),))",
        "got ValueError: claim third.below-largest: got the assumption odd, expected one of",
    ),
]
"""Modules whose PAPER cannot be had, and what is said of it."""


@pytest.mark.parametrize(
    ("value", "text", "said"),
    [
        *(("planted:PAPER", *given) for given in REFUSED),
        ("planted", "x = 1", ", expected a Paper"),
        ("not a value", "", "not a value: got "),
    ],
)
def test_a_paper_that_cannot_be_had_is_told_in_one_line_and_left_out(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, text: str, said: str
) -> None:
    plant(tmp_path, text, monkeypatch, value)
    answer = command("claims", "--json")
    assert answer.status == 0
    assert [entry["id"] for entry in strict_json(answer.out)] == list(LEDGER)
    assert answer.err.startswith("planted-paper: entry point planted = ")
    assert said in answer.err
    assert answer.err.endswith("; the paper is left out\n")
    assert answer.err.count("\n") == 1


def test_a_paper_that_cannot_be_had_is_a_warning_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, "x = 1 / 0", monkeypatch)
    for asked in (lambda: dataset("example-1"), lambda: audit("example-1", "ntp.lemma3", {"steps1": 2, "steps2": 2})):
        with pytest.warns(UserWarning, match=r"planted = .*: got ZeroDivisionError.*; the paper is left out"):
            asked()


def test_a_run_that_forgets_its_base_is_told_what_to_add(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = "class Run(THIRD.run):\n    def __init__(self, data, config, progress): self.dataset = data\n"
    plant(tmp_path, THIRD + run + "PAPER = changed(THIRD, run=Run)", monkeypatch)
    assert command.refused("audit", "three-numbers") == (
        "Run.__init__: got no call of super().__init__, expected super().__init__(dataset, progress) as its first line"
    )


def test_what_a_paper_prints_goes_to_standard_error(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, "print('loading')\n" + THIRD + "PAPER = THIRD", monkeypatch)
    answer = command("classify", "three-numbers", "--json")
    assert strict_json(answer.out)["mean"] == 3
    assert answer.err == "loading\n"


def test_a_paper_brings_commands_of_its_own(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "average.py").write_text(
        "import click\n@click.command(help='Say an average.')\ndef average() -> int:\n    click.echo('3')\n    return 0"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    plant(tmp_path, THIRD + "PAPER = changed(THIRD, commands={'average': ('average', 'Say an average.')})", monkeypatch)
    assert command("average") == (0, "3\n", "")
    assert "average Say an average." in " ".join(command("--help").out.split())


def test_a_paper_needs_six_members(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    members = "{name: getattr(THIRD, name) for name in ('name', 'source', 'kind', 'config', 'run', 'claims')}"
    plant(tmp_path, THIRD + f"PAPER = type('Bare', (Paper,), {members})()", monkeypatch)
    answer: Any = command.json("audit", "three-numbers")
    assert [row["verdict"] for row in answer["verdicts"]] == ["holds"]
    assert command("classify", "three-numbers").status == 0
    line = "got a dataset without recorded training, expected one with it"
    assert command.refused("train", "three-numbers").endswith(line)
    line = "expected a dataset of a paper with the method conformity, which compares recorded runs with its algorithm"
    assert command.refused("conform", "three-numbers", "none.npz").endswith(line)


SOME_CASES = KIND + "PAPER = changed(THIRD, kind=replace(THIRD.kind, cases={'none': lambda: 1 / 0, 'some': numbers}))"
NO_CASES = KIND + "PAPER = changed(THIRD, kind=replace(THIRD.kind, cases={'none': lambda: 1 / 0}))"
LINE = "case none of paper third: got ZeroDivisionError: division by zero, expected Python that runs"


@pytest.mark.parametrize("arguments", [("audit", "--paper", "third"), ("table", "means")])
def test_a_case_that_cannot_be_made_is_told_in_one_line_and_left_out(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    plant(tmp_path, SOME_CASES, monkeypatch)
    answer = command(*arguments, "--json")
    assert answer.status == 0
    assert [data["name"] for data in strict_json(answer.out)["datasets"]] == ["three-numbers"]
    assert answer.err.splitlines()[0] == f"{LINE}; the case is left out"
    assert answer.err.count("left out") == 1


@pytest.mark.parametrize("arguments", [("audit", "none"), ("classify", "none"), ("table", "means", "none")])
def test_a_case_that_cannot_be_made_is_an_error_where_it_is_asked_for(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    plant(tmp_path, SOME_CASES, monkeypatch)
    assert command.refused(*arguments) == LINE


def test_an_audit_of_no_case_is_an_error(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, NO_CASES, monkeypatch)
    answer = command("audit", "--paper", "third")
    assert answer.status == 2
    assert answer.err == (
        f"{LINE}; the case is left out\n"
        "marginaudit: built-in cases: got none that can be loaded, expected at least one, or a DATASET\n"
    )
    assert not list(Path.cwd().iterdir())
