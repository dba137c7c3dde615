"""What the surroundings do to the commands: full disks, pipes, libraries that print, signals; what is imported when."""

import gc
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from marginaudit.reports.command import start
from tests.command_line import SHORT, strict_json

ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": ""}
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
    print("PYT" "HON")
    os.write(1, b"DESC" b"RIPTOR\\n")
    ctypes.CDLL(None).puts(b"ST" b"DIO")

def measure(run):
    noise()
    return LEDGER["ntp.lemma3"].judgement.measure(run)

noise()
CLAIM = LEDGER["ntp.lemma3"]
CLAIMS = [replace(CLAIM, id="mine", judgement=replace(CLAIM.judgement, measure=measure))]
"""
"""Prints words that its text, which is in the document, does not have."""


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


@pytest.mark.parametrize("urls", [[], ["Source, https://a.example", "Issues, https://b.example/new"]])
def test_an_error_of_the_program_itself_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], urls: list[str]
) -> None:
    def fails() -> None:
        raise ZeroDivisionError("of a token")

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
    last = f"marginaudit: internal error: ZeroDivisionError; please report it, with the lines above, to {where}"
    assert err.splitlines()[-1] == last


def test_a_reader_that_leaves_early_is_neither_a_violation_nor_a_refusal() -> None:
    """A shell with `pipefail` takes the status of `marginaudit .. | head` for the answer."""
    for arguments in (["classify", "section-7", "--json"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        command = [sys.executable, "-m", "marginaudit.reports", *arguments]
        answer = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=100)
        os.close(writing)
        assert (answer.returncode, answer.stderr) == (141, b"")


def test_interrupted_while_it_runs(own_folder: Path) -> None:
    program = (
        "from marginaudit.reports.command.cli import main; print('ready', flush=True); "
        "main(['audit', 'example-1', '--steps1', '1e9', '--out', 'report'])"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err.strip()) == (130, "", "marginaudit: interrupted")
    assert not list(own_folder.iterdir())


@pytest.mark.parametrize("arguments", [["--help"], ["audit", "--help"], ["classify", "example-1"], ["figure", "list"]])
def test_what_is_imported_before_it_is_needed(arguments: list[str]) -> None:
    program = (
        "import json, sys\n"
        "from marginaudit.reports.command.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, timeout=100
    )
    imported = set(json.loads(answer.stderr))
    ours = {name for name in imported if name.partition(".")[0] == "marginaudit"}
    assert "--help" not in arguments or len(ours) <= 60, ours
    heavy = {"cvxpy", "clarabel", "hypothesis", "jinja2", "matplotlib", "pandas", "scipy.optimize", "scipy.sparse"}
    if "figure" not in arguments:
        heavy |= {"flint", "loky", "networkx", "numba", "numpy.ma", "scipy"}
    assert not heavy & imported
