"""What the user's surroundings do to the commands: full disks, libraries that print, odd paths, signals."""

import gc
import hashlib
import json
import math
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from marginaudit import audit
from marginaudit.orders import InputError
from marginaudit.reports.audit.provenance import date
from marginaudit.reports.command import start
from marginaudit.reports.plots.measured import rendered
from marginaudit.reports.plots.style import styled
from tests.command_line import NO_FUNCTION, SHORT, SVOP, Command, dataset_file, strict_json

ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
FULL = "marginaudit: standard output: got No space left on device, expected room for all of it\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
        ["audit", "example-1", "free-20", "--claim", "mine", *SHORT, "--jobs", "2"],
        ["hunt", "mine", "--seconds", "1"],
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


@pytest.mark.parametrize("error", [ZeroDivisionError("of\x1b[31m a token"), BaseException("a panic in Rust")])
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
    assert all(line.isprintable() for line in err.splitlines())
    where = "https://b.example/new" if urls else "the marginaudit developers"
    kind = type(error).__name__
    last = f"marginaudit: internal error: {kind}; please report it, with the lines above, to {where}"
    assert err.splitlines()[-1] == last


@pytest.mark.parametrize("given", ["253402300800", "9" * 5000, "-5", "abc", "1.5", "１"])
def test_a_time_that_no_date_can_say_is_refused_before_anything_runs(
    command: Command, own_folder: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    for arguments in (["audit", "example-1"], ["figure", "statements"], ["classify", "example-1"]):
        line = command.refused(*arguments)
        assert line.startswith("SOURCE_DATE_EPOCH: got '")
        assert line.endswith("expected whole seconds since 1970, from 0 to 253402300799")
    assert not list(own_folder.iterdir())
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH"):
        audit("no dataset is looked for")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "253402300799")
    assert date() == "9999-12-31T23:59:59Z"


def test_settings_of_this_process_are_not_used_and_are_kept() -> None:
    def draw() -> Figure:
        figure = Figure(figsize=(2, 2))
        figure.subplots().set_title("a title")
        return figure

    plain = rendered(styled(draw)(), ".svg")
    with mpl.rc_context({"text.usetex": True, "font.size": 30.0, "axes.facecolor": "red", "savefig.bbox": "tight"}):
        assert rendered(styled(draw)(), ".svg") == plain
        assert mpl.rcParams["font.size"] == 30


@pytest.mark.parametrize(
    "environment",
    [
        {"NUMBA_DISABLE_JIT": "1"},
        pytest.param({"NUMBA_CACHE_DIR": "/proc/x", "HOME": "/proc/x"}, marks=pytest.mark.slow),  # compiles anew
    ],
)
def test_without_numbas_compiler_and_cache(command: Command, own_folder: Path, environment: dict[str, str]) -> None:
    arguments = ["train", str(dataset_file(own_folder, SVOP)), *SHORT, "--json"]
    answer = redirected("", *arguments, **environment)
    assert (answer.returncode, answer.stderr) == (0, "")
    found, expected = strict_json(answer.stdout), command.json(*arguments[:-1])
    assert len(found["stage2"]) == len(expected["stage2"]) > 3
    for row, other in zip(found["stage2"], expected["stage2"], strict=True):
        assert row["step"] == other["step"]
        assert math.isclose(row["norm"], other["norm"], rel_tol=1e-12)
        assert math.isclose(row["loss"], other["loss"], rel_tol=1e-12)


INTERRUPTED = """
import os, signal, sys
left = int(sys.argv.pop(1))
def interrupt(event, details):
    global left
    if event == "import":
        left -= 1
        if not left:
            signal.raise_signal(signal.SIGINT)
sys.addaudithook(interrupt)
from marginaudit.reports.command.start import main
main()
"""


def test_what_libraries_made_is_not_searched_for_garbage_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which takes half a second of a command that takes one."""
    monkeypatch.setattr(sys, "argv", ["marginaudit", "--version"])
    before = signal.getsignal(signal.SIGINT)
    gc.unfreeze()
    try:
        with pytest.raises(SystemExit):
            start.main()
        assert gc.get_freeze_count() > 1000
    finally:
        gc.unfreeze()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [30, 800])
def test_interrupted_while_it_imports(own_folder: Path, number: int) -> None:
    arguments = [sys.executable, "-c", INTERRUPTED, str(number), "train", "example-1", *SHORT]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=100, env=ENVIRONMENT)
    assert (answer.returncode, answer.stdout, answer.stderr) == (130, "", "marginaudit: interrupted\n")
    assert not list(own_folder.iterdir())


def test_a_path_that_is_not_utf_8(command: Command, own_folder: Path) -> None:
    path = os.fsdecode(os.fsencode(own_folder) + b"/a\xff\x1b.json")
    Path(path).write_text(json.dumps({"sentences": [["a", "b"], ["a", "a"]]}))
    assert command("classify", path).status == 0
    found = command.json("audit", path, *SHORT, "--out", os.fsdecode(b"report\xff"))
    assert found["datasets"][0]["name"] == r"a\udcff\x1b"
    assert found["datasets"][0]["origin"] == str(own_folder) + r"/a\udcff\x1b.json"
    text = Path(os.fsdecode(b"report\xff"), "report.json").read_text(encoding="utf-8")
    assert strict_json(text)["datasets"] == found["datasets"]
    assert r"a\udcff\x1b.json" in Path(os.fsdecode(b"report\xff"), "report.html").read_text(encoding="utf-8")
    assert r"no\udcff.json: got No such file" in command.refused("classify", os.fsdecode(b"no\xff.json"))


def test_the_stated_hash_is_of_the_bytes_that_were_parsed(
    command: Command, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = dataset_file(own_folder, NO_FUNCTION)
    content, read = path.read_bytes(), Path.read_bytes

    def read_and_change(file: Path) -> bytes:
        found = read(file)
        path.write_text("[]")
        return found

    monkeypatch.setattr(Path, "read_bytes", read_and_change)
    found = command.json("audit", path, *SHORT)["datasets"][0]
    assert (found["name"], found["sha256"]) == ("no-function", hashlib.sha256(content).hexdigest())


def test_what_is_no_file(command: Command, own_folder: Path) -> None:
    os.mkfifo("pipe.json")
    Path("zero.json").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.json")
        for name, kind in (("pipe", "a named pipe"), ("zero", "a device"), ("socket", "a socket")):
            for arguments in (["classify"], ["solve"], ["train"], ["audit"]):
                assert (
                    command.refused(*arguments, f"{name}.json") == f"{name}.json: got {kind}, expected a dataset file"
                )
            line = command.refused("verify", "example-1", f"{name}.json")
            assert line == f"{name}.json: got {kind}, expected a certificate, as `solve --certificate` writes it"
            line = command.refused("claims", "--claims", f"{name}.json")
            assert line == f"{name}.json: got {kind}, expected a Python file of claims"
    assert not Path("audit-report").exists()


def test_a_long_path_is_shown_without_its_middle(command: Command, own_folder: Path) -> None:
    path = own_folder / ("x" * 200) / ("y" * 200) / "missing.json"
    line = command.refused("classify", path)
    assert line.startswith(str(own_folder)[:50])
    assert "yyyy/missing.json: got No such file or directory, expected a dataset file" in line
    assert len(line) < 280


@pytest.mark.parametrize("arguments", [["classify", "snap-single"], ["audit", "--help"]])
def test_what_judges_nothing_imports_little(arguments: list[str]) -> None:
    """No claim, no compiler and no library that draws or computes."""
    code = (
        "import json, sys\n"
        "from marginaudit.reports.command.cli import main\n"
        f"try: main({arguments})\n"
        "except SystemExit: print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = json.loads(found.stderr)
    assert sum(name.startswith("marginaudit") for name in modules) <= 110
    heavy = {"cvxpy", "flint", "hypothesis", "loky", "matplotlib", "numba", "pandas", "scipy"}
    assert heavy.isdisjoint(modules)
    assert [name for name in modules if name.endswith(".claims") and "command" not in name] == []
