"""What every call of every command keeps, however bad its arguments and its files are."""

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from marginaudit.reports.command.cli import main
from tests.command_line import Answer, refusal, strict_json


@contextmanager
def own_folder() -> Iterator[Path]:
    """An empty working directory."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        yield Path(folder)


def call(*arguments: str) -> Answer:
    """`marginaudit ARGUMENTS`, run in this process; any exception but its exit is one of the test."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert isinstance(ended.value.code, int)
    return Answer(ended.value.code, out.getvalue(), err.getvalue())


def kept(*arguments: str) -> Answer:
    """The answer, once it is found to keep the contract.

    Exit status 0, 1 or 2; 1 where `verify` refuses or a claim is violated; with 2 one line that says what was got
    and what is expected, and no file; JSON where it is asked for; no file half written; no traceback.
    """
    before = _files()
    answer = call(*arguments)
    new = {path for path in _files() if path not in before}
    assert answer.status in (0, 1, 2), answer
    assert "Traceback" not in answer.err
    assert all(line.isprintable() for line in (*answer.err.splitlines(), *answer.out.splitlines())), answer
    if answer.status == 2:
        refusal(answer)
        assert len(answer.err) < 1000, answer
        assert not new, new
    if answer.status == 1:
        assert arguments[0] == "verify" or "--fail-on" in arguments, answer
    if answer.status < 2 and "--json" in arguments:
        strict_json(answer.out)
    for path in new:
        assert not path.name.startswith("."), path
        if path.suffix == ".json":
            strict_json(path.read_text(encoding="utf-8"))
    return answer


def _files() -> set[Path]:
    return {Path(folder, name) for folder, _, names in os.walk(".") for name in names}
