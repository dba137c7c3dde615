"""What the user's surroundings do to the commands: full disks, libraries that print, odd paths, signals."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from marginaudit.reports.command import start
from tests.command_line import SHORT, strict_json

ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
FULL = "marginaudit: standard output: got No space left on device, expected a file to read or write\n"


def redirected(how: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command run by a shell that redirects its streams."""
    command = [sys.executable, "-m", "marginaudit.reports", *arguments]
    shell = ["sh", "-c", f'exec "$0" "$@" {how}', *command]
    return subprocess.run(
        shell, capture_output=True, text=True, check=False, timeout=100, env=ENVIRONMENT | environment
    )


@pytest.mark.parametrize(
    ("how", "arguments", "err"),
    [(">/dev/full", ["--help"], FULL), (">/dev/full 2>/dev/full", ["claims", "--json"], "")],
)
def test_a_full_standard_output(how: str, arguments: list[str], err: str) -> None:
    answer = redirected(how, *arguments)
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", err)


NOISY = """
import ctypes, os
from dataclasses import replace
from marginaudit.reports import LEDGER

def noise(run=None):
    print("PYTHON")
    os.write(1, b"DESCRIPTOR\\n")
    ctypes.CDLL(None).puts(b"STDIO")

def measure(run):
    noise()
    return LEDGER["ntp.lemma3"].judgement.measure(run)

noise()
CLAIM = LEDGER["ntp.lemma3"]
CLAIMS = [replace(CLAIM, id="mine", judgement=replace(CLAIM.judgement, measure=measure))]
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["claims", "mine"],
        pytest.param(
            ["audit", "example-1", "free-20", "--claim", "mine", *SHORT, "--jobs", "2"], marks=pytest.mark.slow
        ),
        pytest.param(["hunt", "mine", "--seconds", "1"], marks=pytest.mark.slow),
    ],
)
def test_nothing_but_the_document_whatever_prints(own_folder: Path, arguments: list[str]) -> None:
    Path("mine.py").write_text(NOISY, encoding="utf-8")
    answer = redirected("", *arguments, "--claims", "mine.py", "--json")
    assert answer.returncode == 0, answer.stderr
    strict_json(answer.stdout)
    for noise in ("PYTHON", "DESCRIPTOR", "STDIO"):
        assert noise in answer.stderr
        assert noise not in answer.stdout
    assert not Path(".hypothesis").exists()


@pytest.mark.parametrize("error", [ZeroDivisionError("of a token")])
@pytest.mark.parametrize("urls", [[], ["Source, https://a.example", "Issues, https://b.example/new"]])
def test_an_error_of_the_program_itself_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], error: BaseException, urls: list[str]
) -> None:
    def fails() -> None:
        raise error

    monkeypatch.setattr("marginaudit.reports.command.cli.main", fails)
    monkeypatch.setattr("importlib.metadata.metadata", lambda _: SimpleNamespace(get_all=lambda _: urls))
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as ended:
            start.main()
    finally:
        gc.unfreeze()
        signal.signal(signal.SIGINT, before)
    out, err = capfd.readouterr()
    assert (ended.value.code, out) == (70, "")
    assert err.startswith("Traceback (most recent call last):\n")
    where = "https://b.example/new" if urls else "the marginaudit developers"
    kind = type(error).__name__
    last = f"marginaudit: internal error: {kind}; please report it, with the lines above, to {where}"
    assert err.splitlines()[-1] == last
