"""What `new-paper` and `new-claim` write runs as it is, and nothing is written over."""

import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.orders import InputError
from marginaudit.reports.audit.ledger import all_papers
from marginaudit.reports.audit.reserved import PAPER_FILE
from marginaudit.reports.starts import paper
from tests.command_line import Command

PROGRAM = (sys.executable, "-m", "marginaudit")


def answered(folder: Path, *arguments: str) -> Any:
    """The answer of a process of its own: settings of the paper of `--paper` are options of its commands."""
    ended = subprocess.run([*PROGRAM, *arguments, "--json"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_a_new_paper_is_audited_and_its_test_passes(command: Command, tmp_path: Path) -> None:
    assert command("new-paper", tmp_path / "mean").status == 0
    (tmp_path / "two.json").write_text('{"numbers": [1, 3]}', encoding="utf-8")
    datasets = ("three-numbers", "two.json", "--jobs", "2")
    report = answered(tmp_path, "audit", *datasets, "--paper", "mean/paper.py", "--rate", "0.25")
    rows = {(row["claim"], row["dataset"]): row["verdict"] for row in report["verdicts"]}
    assert set(rows) == {(f"mean.below-{of}", on) for of in ("largest", "smallest") for on in ("three-numbers", "two")}
    assert all(verdict == ("holds" if "largest" in claim else "violated") for (claim, _), verdict in rows.items())
    assert report["config"] == {"mean": {"rate": 0.25}}
    assert list(report["made"]["files"]) == ["mean/paper.py"]
    page = (tmp_path / "audit-report/report.html").read_text(encoding="utf-8")
    assert "--claim mean.below-largest --paper mean/paper.py --rate 0.25" in page
    descent = answered(tmp_path, "train", "three-numbers", "--paper", "mean/paper.py")["descent"]
    assert descent[:2] == [{"step": 1, "w": 1.5}, {"step": 2, "w": 2.25}]
    tight = answered(tmp_path, "tighten", "mean.below-largest", "--paper", "mean/paper.py", "--rate", "0.25")
    assert set(tight["verdicts"]) == {"holds"}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=tmp_path / "mean", capture_output=True, text=True
    )
    assert "8 passed" in ended.stdout, ended.stdout
    with pytest.raises(InputError, match="none: /numbers: got an array of 0 entries, expected at least 1"):
        paper.from_document({"numbers": []}, "none", "none")


COMPARED = """
from marginaudit.claims.answers.conformity import Conformity
from marginaudit.reports.starts.paper import MeanConfig, MeanPaper
from marginaudit.training.departure import StageComparison


class ComparedPaper(MeanPaper):
    recorded_config = MeanConfig

    def conformity(self, data, origin, file, config, progress):
        stage = StageComparison("w", config.rate, records=20, decided=20, departs_at=None)
        return Conformity(data.name, str(file), (stage,), "descent", place=str)


PAPER = ComparedPaper()
"""


def test_the_next_command_of_conform_names_the_file_of_the_paper(tmp_path: Path) -> None:
    (tmp_path / "own paper.py").write_text(COMPARED, encoding="utf-8")
    np.savez(tmp_path / "mine.npz", w=3 * (1 - 0.5 ** np.arange(1, 21)))
    words = ("conform", "three-numbers", "mine.npz", "--paper", "own paper.py")
    ended = subprocess.run([*PROGRAM, *words], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    said = ended.stdout.splitlines()[0]
    following = "marginaudit audit three-numbers --trajectory mine.npz --paper 'own paper.py'"
    assert said.endswith(f"next: {following}"), ended
    rows = answered(tmp_path, *shlex.split(following)[1:])["verdicts"]
    assert Counter(row["verdict"] for row in rows if row["run"]) == {"holds": 1, "violated": 1}


def test_a_new_claim_holds_and_its_control_is_violated(command: Command, tmp_path: Path) -> None:
    hint = command("new-claim", tmp_path / "mine.py").out
    assert hint == f"Audit it: marginaudit audit --claims {tmp_path / 'mine.py'}\n"
    options = ("--claims", tmp_path / "mine.py", "--out", tmp_path / "report")
    rows = command.json("audit", *options)["verdicts"]
    found = Counter((row["claim"], row["verdict"], row["evidence"], row["control_of"]) for row in rows)
    assert found == {
        ("mine.descent", "holds", "exact", None): 1,
        ("mine.descent-control", "violated", "exact", "mine.descent"): 1,
        ("mine.descent", "not-applicable", "exact", None): 1,
        ("mine.descent-control", "not-applicable", "exact", "mine.descent"): 1,
    }
    answer = command("audit", *options, "--fail-on", "violated")
    assert answer.status == 0  # a control that is violated is no failure
    assert "1 of 1 control notices the mistake." in answer.out


def test_nothing_is_written_over(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").touch()
    for arguments in (("new-claim", tmp_path / "mine.py"), ("new-paper", tmp_path)):
        line = command.refused(*arguments)
        assert line == f"{arguments[1]}: got a path that exists, expected a new one"
    assert command.refused("new-claim", tmp_path / "a.txt").endswith("a.txt: got the ending '.txt', expected .py")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1 / 0", "bad.py:1: got ZeroDivisionError: division by zero, expected Python that runs"),
        ("x = 1", "bad.py: got no PAPER, expected PAPER = .., the paper to audit"),
        ("PAPER = 3", "bad.py: got 3, expected a Paper"),
        (None, "bad.py: got No such file or directory, expected a Python file with a PAPER"),
    ],
)
def test_a_file_without_a_paper_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, said: str
) -> None:
    path = tmp_path / "bad.py"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    monkeypatch.setenv(PAPER_FILE, str(path))
    with pytest.raises(InputError, match=f"{re.escape(said)}$"):
        all_papers(print)


def test_commands_on_a_dataset_know_one_paper_by_its_name(command: Command) -> None:
    assert command("classify", "example-1", "--paper", "ntp").out.startswith("example-1: collocation")
    for words in (["classify", "example-1"], ["train", "example-1"], ["conform", "example-1", "run.npz"]):
        line = command.refused(*words, "--paper", "snap")
        assert line.startswith("'example-1': got a built-in case of sentences, expected sequence classes: ")
    for words in (["solve", "snap-single"], ["verify", "snap-single", "run.py"]):
        Path("run.py").write_text("{}", encoding="utf-8")
        line = command.refused(*words, "--paper", "snap")
        assert line == "--paper: got snap, which has no hard-margin problems, expected one of ntp"
    for name in ("hunt", "tighten"):
        assert command.refused(name, "ntp.lemma3", "--paper", "snap").startswith("claim 'ntp.lemma3': got no claim")


def test_names_of_tables_and_problems_are_those_of_one_paper(command: Command) -> None:
    assert command.json("table", "list", "--paper", "ntp")["tables"] == ["direction", "proposition2"]
    line = command.refused("table", "direction", "--paper", "snap")
    assert line == "NAME: got 'direction', expected one of list"
    line = command.refused("solve", "example-1", "--paper", "ntp", "--only", "svm")
    assert line == "--only: got 'svm', expected one of ov, kq for sentences"


def test_claims_sweeps_and_figures_are_of_one_paper_by_its_name(command: Command) -> None:
    assert {claim["id"].split(".")[0] for claim in command.json("claims", "--paper", "snap")} == {"snap"}
    assert command.json("sweep", "list", "--paper", "ntp") == {"sweeps": []}
    assert "snap-3" not in command.json("figure", "list", "--paper", "ntp")["figures"]
    assert command.refused("claims", "--paper", "tf").startswith("--paper: got 'tf', expected one of ntp, snap")
