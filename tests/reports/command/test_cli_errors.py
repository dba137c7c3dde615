"""Bad input: exit status 2 and one line that says where, what was got and what is expected; nothing written."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.command_line import SVOP, Command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], ["command 'nope': got no such command, expected one of audit, classify, solve, verify, train, "]),
        (["n\x1b[31m\n"], [r"command 'n\x1b[31m\n': got no such command"]),
        (["x" * 999], [f"command '{'x' * 57} …: got no such command"]),
        (["--nope"], ["option '--nope': got no such option, expected one of --version, --help"]),
        (
            ["audit", "--nope"],
            ["option '--nope': got no such option, expected one of --out, --fail-on, --export, "],
        ),
        (
            ["train", "example-1", "extra"],
            ["train: got unexpected extra argument (extra), expected `marginaudit train [OPTIONS] DATASET`"],
        ),
        (["classify"], ["DATASET: got nothing, expected `marginaudit classify [OPTIONS] DATASET`"]),
        (
            ["train", "example-1", "--at"],
            ["--at: got no value, expected a whole number from 0 to 1e18, such as 900 or 1e6, for each step"],
        ),
        (["train", "example-1", "--json=1"], ["--json: got a value, expected none"]),
        (["solve", "example-1", "--method", "x"], ["--method: got 'x', expected one of auto, exact, cvxpy"]),
        (
            ["solve", "example-1", "--method", "cvxpy", "--certificate", "new.json"],
            ["--certificate: got --method cvxpy, expected --method exact or auto"],
        ),
        (["solve", "example-1", "--certificate", ""], ["--certificate: got '', expected a path"]),
        (["audit", "example-1", "--out", "a\0b"], [r"--out: got 'a\x00b', expected a path"]),
        (["audit", "example-1", "--paper", ""], ["--paper: got '', expected one of ntp, snap, all"]),
        (["sweep", "list", "--paper", ""], ["--paper: got '', expected one of ntp, snap, or a Python file, .py"]),
        (["audit", "example-1", "--certify=x"], ["--certify: got 'x', expected a whole number from 0"]),
        (["audit", "example-1", "--certify", "-3"], ["--certify: got '-3', expected a whole number from 0"]),
        (["audit", "--certify", "no-such-case"], ["no-such-case"]),
        (["train", "example-1", "--at", "1,,2"], ["--at: got ", "expected a whole number"]),
        (["hunt", "ntp.theorem2.floor", "--seed", "1.5"], ["--seed: got '1.5', expected a whole number"]),
        (["hunt", "ntp.theorem2.floor", "--seed", "9" * 5000], ["--seed: got '999", "999 …, expected a whole number"]),
        (["hunt", "ntp.theorem2.floor", "--seconds", "0"], ["--seconds: got '0', expected a positive number"]),
        (["hunt", "ntp.theorem2.floor", "--out", "a.txt"], ["--out a.txt: got the ending '.txt', expected .json"]),
        (["hunt", "nope"], ["claim 'nope': got no claim of that id, expected an id that `marginaudit claims` lists"]),
        (["hunt", "ntp.theorem2.floor", "--without", "x" * 99], [f"--without '{'x' * 57} …: got an assumption that "]),
        (["claims", ""], ["claim '': got no claim of that id"]),
        (["claims", "ntp.lemma44"], ["got no claim of that id", "lists, such as ntp.lemma4"]),
        (["audit", "--claim", "ntp.theorem2.rat"], ["--claim 'ntp.theorem2.rat': got no claim", "ntp.theorem2.rate"]),
        (
            ["audit", "--claim", "ntp.*", "--claim", "x*"],
            ["--claim 'x*': got no claim whose id matches"],
        ),
        (["audit", "--claim", "NTP.LEMMA4"], ["--claim 'NTP.LEMMA4': got no claim of that id"]),
        (["audit", "--claim", "ntp.lemma4", "--paper", "snap"], ["--claim 'ntp.lemma4': got no claim of that id"]),
        (
            ["audit", "snap-single", "--claim", "ntp.*"],
            ["--claim: got claims about other data alone, expected"],
        ),
        (["figure", "nope"], ["figure 'nope': got no figure of that name, expected list, or one of ntp-2"]),
        (["figure", "ntp-2", "--out", "f.txt"], ["--out f.txt: got the ending '.txt', expected one of .svg"]),
        (
            ["figure", "ntp-2", "--out", "none/f.svg"],
            ["--out none/f.svg: got No such file or directory, expected a file to write"],
        ),
    ],
)
def test_arguments(command: Command, own_folder: Path, arguments: list[str], said: list[str]) -> None:
    line = command.refused(*arguments)
    for words in said:
        assert words in line
    assert len(line) < 420
    assert not list(own_folder.iterdir())


FILES = {
    "missing.txt": (None, "missing.txt: got No such file or directory, expected a dataset file"),
    "missing": (None, "'missing': got no file of that name, expected a path or one of example-1, section-7, free-20"),
    "\x1b[31m\n.txt": (None, r"\x1b[31m\n.txt: got No such file"),
    "y" * 300 + ".txt": (None, "got File name too long"),
    "folder.json": ("folder", "folder.json: got Is a directory, expected a dataset file"),
    "table.csv": (b"a", "table.csv: got the ending '.csv', expected a .json or .txt dataset"),
    "list.json": (b"[]", "list.json: got an array of 0 entries, expected an object"),
    "token.json": (b'{"sentences": [["a", 1]]}', "token.json: /sentences/0/1: got 1, expected a string"),
}


def test_a_time_that_is_none_is_refused_before_there_is_work(
    command: Command, monkeypatch: pytest.MonkeyPatch, own_folder: Path
) -> None:
    for given in ("253402300800", "abc", "1e9", "9" * 5000):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
        for arguments in (["audit", "example-1"], ["figure", "orders", "example-1", "--out", "o.pdf"]):
            line = command.refused(*arguments)
            assert line.startswith("environment variable SOURCE_DATE_EPOCH: got '")
            assert line.endswith(", expected whole seconds since 1970, up to the year 9999")
    assert list(own_folder.iterdir()) == []
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "253402300799")
    assert command("figure", "orders", "example-1", "--out", "o.pdf").status == 0


@pytest.mark.parametrize("name", FILES)
def test_dataset_files(command: Command, own_folder: Path, name: str) -> None:
    content, said = FILES[name]
    if content == "folder":
        (own_folder / name).mkdir()
    elif isinstance(content, bytes):
        (own_folder / name).write_bytes(content)
    for arguments in (["classify"], ["solve"], ["train"], ["audit", "--out", "report"], ["audit", "example-1"]):
        assert said in command.refused(*arguments, name)
    assert not (own_folder / "report").exists()
    assert not (own_folder / "audit-report").exists()


CLAIMS_FILE = """
from dataclasses import replace
from marginaudit.reports import LEDGER

CLAIMS = [replace(LEDGER["ntp.lemma3"], id="mine")]
"""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("d.json", ["solve", "d.json", "--certificate", "d.json"]),
        ("link.json", ["solve", "d.json", "--certificate", "link.json"]),
        ("report/report.html", ["compare", "report", "report", "--out", "report/report.html"]),
        ("d.html", ["compare", "d.html", "d.html", "--out", "d.html"]),
        ("d.json", ["realize", "d.json", "--out", "d.json"]),
        ("d.csv", ["realize", "d.csv", "--table", "d.csv"]),
        ("d.png", ["realize", "d.png", "--plot", "d.png"]),
        ("d.csv", ["relax", "d.csv", "--table", "d.csv"]),
        ("d.json", ["hunt", "ntp.lemma3", "--claims", "d.json", "--out", "d.json"]),
        ("d.svg", ["figure", "snap-7", "--text", "d.svg", "--out", "d.svg"]),
    ],
)
def test_no_input_is_written_over(command: Command, own_folder: Path, name: str, arguments: list[str]) -> None:
    Path("report").mkdir()
    for path in ("d.json", "d.html", "d.csv", "d.png", "d.svg", "report/report.html"):
        Path(path).write_text(json.dumps(SVOP), encoding="utf-8")
    Path("link.json").symlink_to("d.json")
    if "hunt" in arguments:
        Path("d.json").write_text(CLAIMS_FILE, encoding="utf-8")
    before = Path(name).read_bytes()
    option = next(word for word in reversed(arguments) if word.startswith("--"))
    assert command.refused(*arguments) == f"{option} {name}: got a file that is read, expected another one to write"
    assert Path(name).read_bytes() == before


def test_an_unwritable_folder_is_refused_before_the_audit_runs(
    command: Command, svop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("the audit ran")

    monkeypatch.setattr("marginaudit.reports.study.audit.audit_datasets", run)
    (svop.parent / "file").write_text("mine")
    assert "file: got Not a directory, expected a folder to write" in command.refused("audit", svop, "--out", "file")
    (svop.parent / "folder").mkdir()
    monkeypatch.chdir(svop.parent / "folder")
    for out in ("..", "/"):
        line = command.refused("audit", svop, "--out", out)
        assert line.startswith(f"{out}: got a folder of files that are no report, expected a folder to write")
    name = "n" * 256
    assert f"{name}: got File name too long" in command.refused("audit", svop, "--out", name)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "new: got Permission denied" in command.refused("audit", svop, "--out", "new")
    assert sorted(path.name for path in svop.parent.rglob("*")) == ["file", "folder", "svop.json"]


def test_help_and_no_arguments(command: Command, own_folder: Path) -> None:
    for arguments in ([], ["-h"], ["--help"]):
        answer = command(*arguments)
        assert (answer.status, answer.err) == (0, "")
        assert answer.out.startswith("Usage: marginaudit [OPTIONS] COMMAND")
        assert "..." not in answer.out.partition("Commands:")[2]
    assert command("--version").out.split()[0] == "marginaudit"
    assert not list(own_folder.iterdir())


@pytest.mark.parametrize(
    "arguments", [("solve", "two.json"), ("table", "direction", "two.json"), ("figure", "orders", "two.json")]
)
def test_a_dataset_of_another_kind_is_named(arguments: tuple[str, ...], command: Command, own_folder: Path) -> None:
    classes = [{"next": n, "query": "q", "probabilities": {n + n: 1.0}} for n in "ab"]
    (own_folder / "two.json").write_text(json.dumps({"M": 9, "classes": classes}), encoding="utf-8")
    line = command.refused(*arguments)
    assert line.endswith("two.json: got sequence classes, expected a dataset of sentences")


@pytest.mark.parametrize("name", ["audit", "train"])
def test_the_help_of_an_option_of_two_papers_says_which_is_whose(name: str, command: Command) -> None:
    said = " ".join(command(name, "--help").out.split())
    assert re.search(
        r"ntp: [^[]*both stages[^[]* \[default: every step.* snap: [^[]* \[default: about 20 a decade\]", said
    )
    assert re.search(r"ntp: [^[]*stage 1\..* snap: [^[]*eta_Y[^[]* \[default: 0\.5\]", said)
