"""The examples of the pages, run as a reader would: each `bash` and `python` block, and what a `text` block says of it.

A `sh` block is shown and not run.
"""

import os
import re
import shutil
import subprocess
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.parsers.myst import CodeBlockParser, PythonCodeBlockParser

from tests.pages import ROOT

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
IN_PYTHON = [
    ROOT / "docs" / f"{name}.md"
    for name in (
        *("api/figures", "bound-constants", "commands", "instances", "worst-cases"),
        *("your-own-claim", "your-own-paper", "your-own-run"),
    )
]


def run(example: Example) -> None:
    """A shell's output; the block ends at the first command that fails."""
    environment = os.environ | {
        "COLUMNS": "200",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(
        ["bash", "-e", "-c", example.parsed],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    example.namespace["out"] = done.stdout


def compare(example: Example) -> str | None:
    """What the block before has printed, white space aside; ``...`` stands for anything."""
    said, flags = example.namespace["out"], ELLIPSIS | NORMALIZE_WHITESPACE
    return None if OutputChecker().check_output(example.parsed, said, flags) else f"printed:\n{said}"


EXAMPLES = Sybil([CodeBlockParser("bash", run), CodeBlockParser("text", compare), PythonCodeBlockParser()])


def go_through(page: Path) -> int:
    """Run all examples of a page in the current folder, in order."""
    examples = list(EXAMPLES.parse(page))
    for example in examples:
        example.evaluate()
    return len(examples)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_tutorial_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for script in ("your_own_training.py", "which_direction.py"):
        shutil.copy(ROOT / "examples" / script, tmp_path)
    assert go_through(page) >= 4


@pytest.mark.parametrize("page", IN_PYTHON, ids=lambda page: page.stem)
def test_the_python_of_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    known = {*sys.modules}
    try:
        assert go_through(page) >= 1
    finally:
        if "paper" not in known:  # of the reader's folder
            sys.modules.pop("paper", None)


def test_the_page_on_worst_cases_shows_what_its_python_prints(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "worst-cases.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```\n\n^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == text.count("```python") == 5
    namespace: dict[str, object] = {}
    for code, shown in blocks:
        exec(code, namespace)
        assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("```bash\necho 1\n```\n```text\n2\n```\n", "printed:\n1"),
        ("```bash\nfalse\necho on\n```\n", "assert 1 == 0"),
        ("```python\nraise ValueError('no')\n```\n", "no"),
    ],
)
def test_an_example_that_is_wrong_is_noticed(block: str, said: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(block, encoding="utf-8")
    with pytest.raises((Exception, pytest.fail.Exception), match=said):
        go_through(page)
