"""`marginaudit audit SPEC.toml`: a file that says what the arguments would."""

import html
import re
from pathlib import Path
from typing import Any

import pytest

from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.study.spec import read_spec
from tests.command_line import SHORT, SVOP, Command, dataset_file

CLAIMS = """from marginaudit.claims import Claim, exact_series
from marginaudit.claims.judgements import Equal
one = lambda run: exact_series([1])
CLAIMS = [Claim(id="mine.one", source="here", statement="1 = 1", formula="1=1", assumptions=(), paper="ntp",
                judgement=Equal(measure=one, expected=one))]
"""


def described(folder: Path, text: str) -> Path:
    (folder / "sub").mkdir(exist_ok=True)
    dataset_file(folder / "sub", SVOP, "svop.json")
    (folder / "sub" / "claims.py").write_text(CLAIMS, encoding="utf-8")
    path = folder / "sub" / "audit.toml"
    path.write_text(text, encoding="utf-8")
    return path


def same(left: Any, right: Any) -> bool:
    """Two reports in all but what is said of how they were asked for and of where the datasets are from."""
    for document in (left, right):
        del document["made"]
        for data in document["datasets"]:
            del data["origin"]
    return bool(left == right)


def test_it_is_the_command_that_it_describes(command: Command, own_folder: Path) -> None:
    path = described(
        own_folder,
        'datasets = ["svop.json", "example-1"]\n'
        'paper = "ntp"\n'
        'claims = ["ntp.theorem1.*", "mine.*"]\n'
        'claims_file = "claims.py"\n'
        "[settings]\n"
        "steps1 = 3e1\n"
        "steps2 = 6\n"
        "lr2 = 0.125\n"
        "at = [3, 1, 6]\n"
        "certify = true\n",
    )
    written = command.json("audit", path, "--out", "described")
    options = ("--steps1", 30, "--steps2", 6, "--lr2", 0.125, "--at", "1,3,6", "--certify")
    chosen = ("--paper", "ntp", "--claim", "ntp.theorem1.*", "--claim", "mine.*", "--claims", "sub/claims.py")
    typed = command.json("audit", "sub/svop.json", "example-1", *chosen, *options, "--out", "typed")
    assert written["config"]["ntp"] == {
        "steps1": 30,
        "steps2": 6,
        "lr1": None,
        "lr2": 0.125,
        "at": [1, 3, 6],
        "optimizer": "ngd",
        "certify": 900,
    }
    assert {row["claim"] for row in written["verdicts"]} == {
        "ntp.theorem1.norm",
        "ntp.theorem1.direction",
        "ntp.theorem1.direction.any-step",
        "mine.one",
    }
    assert same(written, typed)
    row = re.search("<code[^>]*>(marginaudit audit [^<]* --claim mine.one [^<]*)</code>", page_of("described"))
    assert row is not None
    assert f"--claims {(own_folder / 'sub' / 'claims.py').resolve()} " in row[1]


def test_certify_takes_a_number_and_nothing_else(command: Command, own_folder: Path) -> None:
    """From the command line, a description and a sweep; a DATASET is none."""
    short = ("--claim", "ntp.lemma2", "--steps1", 5, "--steps2", 2)
    for given in (("--certify", "example-1"), ("example-1", "--certify")):
        found = command.json("audit", *short, *given)
        assert [data["name"] for data in found["datasets"]] == ["example-1"]
        assert found["config"]["ntp"]["certify"] == 900
    for typed, value in (("--certify 7", 7), ("--certify=7", 7), ("--certify 1e1", 10), ("", 0)):
        found = command.json("audit", *short, *typed.split(), "example-1")
        assert found["config"]["ntp"]["certify"] == value
    for written, value in (("true", 900), ("7", 7), ("false", 0)):
        path = described(own_folder, f'datasets = ["example-1"]\n[settings]\ncertify = {written}\n')
        assert command.json("audit", path, *short)["config"]["ntp"]["certify"] == value
        sweep = f'paper = "ntp"\ndata = {{files = ["example-1"]}}\nsettings = {{certify = {written}}}\n'
        (config,) = read_spec(sweep, "s", "s", Path(), PAPERS).configs
        assert config.certify == value


def page_of(folder: str) -> str:
    return html.unescape(Path(folder, "report.html").read_text(encoding="utf-8"))


def test_options_go_before_what_it_says(command: Command, own_folder: Path) -> None:
    path = described(
        own_folder,
        'datasets = ["example-1"]\npaper = "snap"\nclaims = ["ntp.lemma6"]\nclaims_file = "none.py"\n'
        "[settings]\nsteps1 = 5\nsteps2 = 7\nat = 3\ncertify = 4\n",
    )
    given = (
        "--paper",
        "ntp",
        "--claim",
        "sharp.prop2",
        "--claims",
        "sub/claims.py",
        "--steps2",
        11,
        "--certify",
        6,
    )
    found = command.json("audit", path, *given)
    config = found["config"]["ntp"]
    assert (config["steps1"], config["steps2"], config["at"], config["certify"]) == (5, 11, [3], 6)
    assert {row["claim"] for row in found["verdicts"]} == {"sharp.prop2"}


def test_its_exports_are_written(command: Command, own_folder: Path) -> None:
    path = described(own_folder, 'datasets = ["svop.json"]\nclaims = ["ntp.lemma6"]\nexports = ["markdown"]\n')
    assert command("audit", path, *SHORT, "--out", "out").status == 0
    assert (own_folder / "out" / "tables" / "verdicts.md").is_file()
    assert command("audit", path, *SHORT, "--export", "parquet", "--out", "out").status == 0
    tables = {entry.name for entry in (own_folder / "out" / "tables").iterdir()}
    assert "verdicts.parquet" in tables
    assert "verdicts.md" not in tables


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("claims = [", "sub/audit.toml: got "),
        ("data = []", "sub/audit.toml: /data: got an unknown key, expected one of datasets, paper, claims, "),
        ("datasets = []", "sub/audit.toml: /datasets: got an array of 0 entries, expected at least 1"),
        ('datasets = ["none.json"]', "sub/audit.toml: datasets: sub/none.json: got No such file or directory"),
        ('datasets = ["none"]', "sub/audit.toml: datasets: 'sub/none': got no file of that name"),
        (
            'datasets = ["snap-single"]\npaper = "ntp"',
            "sub/audit.toml: datasets: 'snap-single': got a built-in case of",
        ),
        ('claims_file = "none.py"', "sub/audit.toml: claims_file: sub/none.py: got No such file or directory"),
        ("claims = [1]", "sub/audit.toml: /claims/0: got 1, expected a string"),
        ('claims = ["ntp.none"]', "sub/audit.toml: claims 'ntp.none': got no claim of that id"),
        ('paper = "third"', "sub/audit.toml: /paper: got 'third', expected one of ntp, snap, all"),
        ('claims_file = ""', "sub/audit.toml: /claims_file: got '', expected a string that is not empty"),
        ('exports = ["word"]', "sub/audit.toml: /exports: got 'word', expected one of latex, markdown, parquet, pdf"),
        ("settings = 1", "sub/audit.toml: /settings: got 1, expected an object"),
        ("[settings]\nstep = 1", "sub/audit.toml: /settings: got 'step', expected one of steps1, "),
        ("[settings]\nsteps1 = -1", "sub/audit.toml: /settings/steps1: got -1, expected a whole number from 0 to 1e18"),
        ("[settings]\nsteps1 = [1, 2]", "sub/audit.toml: /settings/steps1: got [1, 2], expected a whole number"),
        ('[settings]\nat = ["x"]', "sub/audit.toml: /settings/at: got ['x'], expected a whole number from 0"),
        ('[settings]\noptimizer = "adam"', "sub/audit.toml: /settings/optimizer: got 'adam', expected one of ngd, gd"),
        ('datasets = ["example-1"]\n[settings]\nlr_y = 0.5', "--lr-y: got sentences"),
    ],
)
def test_what_is_wrong_with_it_is_said_in_one_line(command: Command, own_folder: Path, text: str, line: str) -> None:
    described(own_folder, text)
    assert command.refused("audit", "sub/audit.toml").startswith(line)
    assert not (own_folder / "audit-report").exists()


def test_it_stands_alone_and_has_to_be_there(command: Command, own_folder: Path) -> None:
    described(own_folder, "")
    beside = command.refused("audit", "sub/audit.toml", "example-1")
    assert beside == "'sub/audit.toml': got another DATASET beside it, expected an audit's description alone"
    assert command.refused("audit", "none.toml").startswith(
        "none.toml: got No such file or directory, expected a TOML file"
    )


def test_the_example_is_a_description(command: Command) -> None:
    example = Path(__file__).parents[3] / "examples" / "audit.toml"
    found = command.json("audit", example, "--steps2", "20", "--claim", "sharp.prop2")
    assert [data["name"] for data in found["datasets"]] == ["example-1", "section-7"]
