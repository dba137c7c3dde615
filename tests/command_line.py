"""The command line called in this process, and the tiny datasets that its tests give it."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from marginaudit.reports.command.cli import main

SHORT = ("--steps1", "30", "--steps2", "30")


class Answer(NamedTuple):
    """What one call left behind."""

    status: int
    out: str
    err: str


class Command:
    """`marginaudit ARGUMENTS`, run in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> Answer:
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = self.capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Answer(ended.value.code, out, err)

    def json(self, *arguments: object, status: int = 0) -> Any:
        """The one document that `--json` prints."""
        answer = self(*arguments, "--json")
        assert answer.status == status, answer.err
        return strict_json(answer.out)

    def refused(self, *arguments: object) -> str:
        """The one line by which bad input is refused."""
        return refusal(self(*arguments))


def refusal(answer: Answer) -> str:
    """The one line of an answer that refuses."""
    assert answer.status == 2, answer
    assert answer.out == ""
    assert answer.err.startswith("marginaudit: "), answer
    assert answer.err.endswith("\n")
    line = answer.err[:-1]
    assert line.isprintable(), answer
    assert "Traceback" not in line
    assert "got " in line, answer
    assert ", expected " in line, answer
    return line.removeprefix("marginaudit: ")


def strict_json(text: str) -> Any:
    """JSON without the words NaN and Infinity, which it does not have."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} in JSON")

    return json.loads(text, parse_constant=refuse)


def files_of(folder: str | Path) -> dict[str, bytes]:
    """The bytes of each file of a folder, by path in it."""
    found = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def dataset_file(folder: Path, document: Any, name: str = "data.json") -> Path:
    """A dataset as a file of the folder."""
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


SVOP = {"name": "svop", "sentences": [list("SVOP"), list("VOP"), list("OPP"), list("PSV")]}
NO_FUNCTION = {"name": "no-function", "samples": [{"tokens": ["a", "q"], "next": "b"}]}
