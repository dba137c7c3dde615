"""Users' claims in workers: what they change, print or break stays there, and what they find comes back."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import marginaudit
from marginaudit.claims import Claim, Finding, Verdict
from marginaudit.claims.judgements import Decided
from marginaudit.claims.ntp import Config, Run
from marginaudit.orders.ntp import CASES
from marginaudit.reports.audit import auditing
from marginaudit.reports.audit.auditing import judged_apart
from marginaudit.reports.study import executor
from tests.command_line import SHORT, Command
from tests.papers import audit_only
from tests.reports.processes import children

FILE = """
import decimal, os, signal, sys, time
import matplotlib as mpl
import numpy as np
from marginaudit.claims import Claim, Finding, Verdict
from marginaudit.claims.judgements import Decided

HOLDS = Finding(Verdict.HOLDS)
CLAIMS = []

def claim(decide):
    judgement = Decided(decide, kind="test")
    name = "mine." + decide.__name__
    CLAIMS.append(Claim(id=name, source="", statement="", formula="1", assumptions=(), judgement=judgement))
"""


@pytest.fixture(autouse=True)
def own_folder(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    audit_only(monkeypatch, "ntp.prop")
    yield own_folder
    sys.modules.pop("claims_of_mine", None)


def audited(command: Command, text: str, *arguments: object) -> dict[str, dict[str, Any]]:
    """Rows of an audit of example-1 with the claims of a file, by claim."""
    Path("mine.py").write_text(FILE + text, encoding="utf-8")
    rows = command.json("audit", "example-1", "--claims", "mine.py", *SHORT, "--out", "mine", *arguments)["verdicts"]
    return {row["claim"].removeprefix("mine."): row for row in rows}


def claim(decide: Callable[[Run], Any]) -> Claim:
    judgement = Decided(decide, kind="test")
    return Claim(id="mine", source="", statement="", formula="1", assumptions=(), judgement=judgement)


def short() -> Run:
    return Run(CASES["example-1"](), Config(steps1=5, steps2=5))


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever threads other tests have left here."""
    for module in (auditing, executor):
        monkeypatch.setattr(module, "forkable", lambda **_: True)


ENDS = """
def raises(run): raise ValueError("x" * 10**6)
claim(raises)
def exits(run): sys.exit("bye")
claim(exits)
def leaves(run): os._exit(3)
claim(leaves)
def killed(run): os.kill(os.getpid(), signal.SIGKILL)
claim(killed)
def memory(run): return [0] * 10**18
claim(memory)
def deep(run): return deep(run)
claim(deep)
def endless(run):
    while True:
        try:
            time.sleep(9)
        except BaseException:
            pass
claim(endless)
def after(run): return HOLDS
claim(after)
"""
SAID = {
    "raises": "ValueError: xxx",
    "exits": "SystemExit: bye (in exits, mine.py line",
    "leaves": "Its process gave no finding (exit status 3).",
    "killed": "Its process was ended by the system (Killed).",
    "memory": "MemoryError (in memory",
    "deep": "RecursionError: maximum recursion depth exceeded",
    "endless": "Its process was ended after 1 s (--claim-timeout).",
}


def test_a_claim_that_gives_no_finding_is_broken_and_the_audit_goes_on(command: Command) -> None:
    before = children(os.getpid())
    rows = audited(command, ENDS, "free-20", "--jobs", 2, "--claim-timeout", 1)
    assert {name: row["verdict"] for name, row in rows.items() if row["claim"].startswith("mine.")} == {
        **dict.fromkeys(SAID, "broken"),
        "after": "holds",
    }
    for name, said in SAID.items():
        assert rows[name]["detail"].startswith(said), rows[name]["detail"][:300]
    assert len(rows["raises"]["detail"]) < 1100
    assert rows["ntp.prop1.norm"]["verdict"] == "holds"
    assert set(children(os.getpid())) <= set(before)


def test_what_a_claim_prints_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    def prints(_: Run) -> Finding:
        print("one")
        os.write(1, b"two\n")
        sys.stderr.write("three, half a line")
        return Finding(Verdict.HOLDS)

    assert judged_apart(claim(prints), short(), 9).verdict is Verdict.HOLDS
    assert capfd.readouterr() == ("", "one\ntwo\nthree, half a line")


def test_an_interrupt_ends_the_audit_whatever_the_claim_does_with_it(command: Command, own_folder: Path) -> None:
    Path("mine.py").write_text(
        FILE
        + """
def interrupts(run):
    os.kill(os.getppid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
claim(interrupts)
"""
    )
    before, beside = signal.getsignal(signal.SIGINT), children(os.getpid())
    answer = command("audit", "example-1", "--claims", "mine.py", *SHORT)
    assert (answer.status, answer.out, answer.err.strip()) == (130, "", "marginaudit: interrupted")
    assert signal.getsignal(signal.SIGINT) is before
    assert set(children(os.getpid())) <= set(beside)
    assert {path.name for path in own_folder.iterdir()} <= {"mine.py", "__pycache__"}


def facts(run: Run) -> Finding:
    threads = {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    witness = {"process": os.getpid(), "trained": "trained" in run.__dict__, "threads": sorted(threads)}
    return Finding(Verdict.HOLDS, witness=witness)


def test_a_claim_made_in_python_is_judged_in_a_worker_beside_threads_of_python() -> None:
    """On one thread, once the run is trained."""
    ended = threading.Event()
    beside = threading.Thread(target=ended.wait, args=[60])
    beside.start()
    try:
        with threadpool_limits(2):
            np.ones((300, 300)) @ np.ones((300, 300))
            report = marginaudit.audit("example-1", claims=[claim(lambda run: facts(run))], config={"steps2": 5})
    finally:
        ended.set()
        beside.join()
    found = report.verdict("mine").witness
    assert found is not None
    assert (found["trained"], found["threads"], found["process"] != os.getpid()) == (True, [1], True)


def test_where_nothing_can_be_forked_it_is_judged_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "forkable", lambda **_: False)
    found = marginaudit.audit("example-1", claims=[claim(facts)], config={"steps2": 5}).verdict("mine").witness
    assert found is not None
    assert found["process"] == os.getpid()
