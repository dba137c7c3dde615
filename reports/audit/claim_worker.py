"""Judge a user's claim in a forked worker, with a timeout."""

import os
import signal
import sys
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from marginaudit.claims.claim import Claim
from marginaudit.claims.row import ReportRow
from marginaudit.claims.run import BaseRun
from marginaudit.claims.verdict import Verdict
from marginaudit.reports.processes import forking, leave_with

LONGEST_WAIT = 2e6
"""Longest timeout in seconds: poll(2) counts milliseconds in 32 bits."""


def judged_in_worker(claim: Claim, run: BaseRun[Any], seconds: float) -> ReportRow:
    """`Claim.judge` in a forked worker; a `broken` row on timeout or without an answer."""
    answers, answer = Pipe(duplex=False)
    parent = os.getpid()
    with forking():
        worker = os.fork()
        if not worker:
            _answer(claim, run, answer, parent)
    answer.close()
    in_time, found = True, None
    try:
        with answers, suppress(Exception):  # any error of unpickling a partial or missing answer
            in_time = answers.poll(min(seconds, LONGEST_WAIT))
            found = answers.recv() if in_time else None
    finally:
        os.kill(worker, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    if isinstance(found, ReportRow):
        return found
    ended = f"exit status {status}" if status >= 0 else signal.strsignal(-status)
    late = f"Its code was ended after {seconds:g} s (--claim-timeout)."
    return claim.row(run, verdict=Verdict.BROKEN, detail=f"Its process gave no finding ({ended})." if in_time else late)


def _answer(claim: Claim, run: BaseRun[Any], answer: Connection, parent: int) -> None:
    """Judge in the worker and send the row; exit by `os._exit` to skip the parent's atexit handlers."""
    try:
        leave_with(parent)
        os.dup2(2, 1)
        printed = sys.stdout = sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        found = Claim.judge(claim, run)
        with suppress(ValueError, OSError):  # closed by the claim
            printed.flush()
        answer.send(found)
    finally:
        os._exit(1)
