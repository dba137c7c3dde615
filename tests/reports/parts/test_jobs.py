"""Audits in several processes: the same files to the last byte, whatever ends them leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from pickle import PicklingError

import pytest

from marginaudit.orders import InputError
from marginaudit.reports.audit.ledger import LEDGER, PAPERS
from marginaudit.reports.audit.sources import load
from marginaudit.reports.command.options import usual_jobs
from marginaudit.reports.ntp import Config
from marginaudit.reports.parts.auditing import audit_in_parts
from marginaudit.reports.parts.part import Part, compute, compute_packed, ignored, packed
from tests.command_line import Command
from tests.reports.processes import alive, children, until

CLAIMS = """
import os
import signal
import time
from pathlib import Path

from marginaudit.reports import Claim, Decided, Finding, Verdict

KNOWN = []


def judge(run):
    KNOWN.append(run.dataset.name)
    {code}
    return Finding(Verdict.HOLDS, measured=float(len(KNOWN)), detail=run.dataset.name)


COUNTS = Decided(judge, "a count")
CLAIMS = (Claim(id="mine", source="m", statement="m", formula="m", assumptions=(), judgement=COUNTS),)
"""
SMALL = ("--steps1", "5", "--steps2", "5", "--claim", "mine", "--claim", "ntp.theorem1.*", "--claims", "mine.py")
TWO = ("example-1", "section-7")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files(folder: str) -> dict[str, bytes]:
    found = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def written(code: str) -> None:
    Path("mine.py").write_text(CLAIMS.format(code=code), encoding="utf-8")


def test_a_part_comes_back_from_its_packing_as_it_was() -> None:
    part = Part(load("example-1", PAPERS), (LEDGER["ntp.theorem1.norm"],), Config(steps1=5, steps2=5), (), 1.0)
    found = compute_packed(packed(part))
    again = compute(part, lambda *_: ignored)
    assert found == again
    assert all(finding.curve is None for finding in found.findings.values())


def test_a_paper_goes_by_its_name_and_one_of_that_name_alone_is_refused() -> None:
    source = load("example-1", PAPERS)
    part = Part(replace(source, paper=replace(source.paper)), (), Config(), (), 1.0)
    with pytest.raises(PicklingError, match="the paper ntp is not installed"):
        packed(part)
    assert len(packed(replace(part, source=source))) < 10_000


def test_bad_input_is_the_same_in_another_process() -> None:
    import pickle

    error = InputError("a: b", got="c", expected="d")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.where, again.got, again.expected) == (str(error), "a: b", "c", "d")


@pytest.mark.slow
def test_one_process_and_two_write_the_same_bytes(command: Command) -> None:
    """With a claim of the user's, on both papers' datasets."""
    written("pass")
    for jobs in (1, 2):
        assert command("audit", *TWO, "snap-single", *SMALL, "--out", f"jobs-{jobs}", "--jobs", jobs).status == 0
    one = files("jobs-1")
    two = {name: data.replace(b"jobs-2 --jobs 2", b"jobs-1 --jobs 1") for name, data in files("jobs-2").items()}
    for found in (one, two):  # the page has the command, and both hashes follow from it
        found["report.json"] = re.sub(rb'"report.(html|json)": "\w+"', b"", found["report.json"])
    assert b'"mine"' in one["report.json"]
    assert one == two


@pytest.mark.slow
def test_a_process_that_is_killed_at_its_work_is_told_in_one_line(command: Command) -> None:
    written("os.kill(os.getppid(), signal.SIGKILL)")
    told = command.refused("audit", *TWO, *SMALL, "--out", "report", "--jobs", "2")
    assert told.startswith("the audit of ")
    assert "a process that was ended at its work" in told
    assert not Path("report").exists()
    assert not list(Path().glob(".report*"))


@pytest.mark.slow
def test_a_claim_without_end_is_broken_in_another_process_too(command: Command) -> None:
    written("time.sleep(60)")
    rows = command.json("audit", *TWO, *SMALL, "--out", "report", "--jobs", "2", "--claim-timeout", "1")["verdicts"]
    broken = [row for row in rows if row["claim"] == "mine"]
    assert [row["verdict"] for row in broken] == ["broken", "broken"]
    assert all("--claim-timeout" in row["detail"] for row in broken)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_audit(number: signal.Signals) -> None:
    written("Path(f'{os.getpid()}.begun').touch(); time.sleep(60)")
    arguments = ["audit", *TWO, *SMALL, "--out", "report", "--jobs", "2"]
    command = [sys.executable, "-m", "marginaudit", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            until(lambda: len(list(Path().glob("*.begun"))) == 2)
            begun = children(process.pid)
            assert len(begun) >= 2
            process.send_signal(number)
            _, told = process.communicate(timeout=100)
        finally:
            process.kill()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert told.splitlines()[-1] == "marginaudit: interrupted"
        assert not list(Path().glob(".report*"))
    until(lambda: not any(map(alive, begun)))
    assert not Path("report").exists()


def test_what_cannot_be_sent_is_judged_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a claim that holds a lock."""
    sources = [load(name, PAPERS) for name in TWO]
    here = []

    def packed(part: Part) -> bytes:
        raise TypeError("cannot pickle '_thread.lock' object")

    monkeypatch.setattr("marginaudit.reports.parts.auditing.packed", packed)
    monkeypatch.setattr("marginaudit.reports.parts.auditing.compute", lambda part, _: here.append(os.getpid()))
    with pytest.raises(AttributeError):  # of the None that stands for what was found
        audit_in_parts(
            sources,
            [LEDGER["ntp.theorem1.norm"]],
            {"ntp": Config(steps1=5, steps2=5)},
            jobs=2,
            progress=lambda *_: ignored,
            done=lambda *_: None,
        )
    assert here == [os.getpid()] * 2


@pytest.mark.parametrize("forkable", [True, False])
def test_before_anything_is_told_all_is_loaded_and_under_way(forkable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells a person may have a thread, beside which nothing is forked; new processes would load all again."""
    events: list[str] = []
    paper = replace(PAPERS[0], load=lambda: events.append("load"))
    sources = [replace(load(name, PAPERS), paper=paper) for name in TWO]

    def submitted(_pool: object, _compute: object, _data: bytes) -> "Future[None]":
        events.append("submitted")
        future: Future[None] = Future()
        future.set_result(None)
        return future

    def progress(name: str, what: str) -> Callable[[int], None]:
        events.append(f"{name}: {what}")
        return ignored

    module = "marginaudit.reports.parts.auditing"
    monkeypatch.setattr(f"{module}.packed", lambda _: b"")
    monkeypatch.setattr(f"{module}.submitted", submitted)
    monkeypatch.setattr(f"{module}.forkable", lambda: forkable)
    with pytest.raises(AttributeError):  # of the None that stands for what was found
        audit_in_parts(
            sources,
            [LEDGER["ntp.theorem1.norm"]],
            {"ntp": Config(steps1=5, steps2=5)},
            jobs=2,
            progress=progress,
            done=lambda name, _: events.append(name),
        )
    before = ["load"] * forkable + ["submitted"] * 2 + ["2 datasets: under way"]
    assert events[: len(before)] == before
    assert sorted(events[len(before) :]) == sorted(TWO)


def test_of_several_cores_one_has_two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, jobs in ((1, 1), (2, 3), (16, 17)):
        monkeypatch.setattr("marginaudit.reports.command.options.cores", lambda cores=cores: cores)
        assert usual_jobs() == jobs


def test_what_is_loaded_for_all_is_what_training_and_figures_load() -> None:
    code = (
        "import sys; from marginaudit.reports.ntp.paper import PAPER; known = set(sys.modules); PAPER.load(); "
        "from marginaudit.reports.plots.plotting import load_drawing; load_drawing(); print(*set(sys.modules) - known)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    late = {"scipy.integrate", "marginaudit.training.ntp.steps.compiled", "numba.core.typing.cffi_utils"}
    assert late | {"matplotlib.figure", "matplotlib.backends.backend_svg"} <= set(loaded)
