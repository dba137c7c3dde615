"""Judge a claim in a forked worker, with a timeout."""

import signal
from contextlib import suppress
from functools import partial
from typing import Any

from marginaudit.claims.claim import Claim
from marginaudit.claims.row import ReportRow
from marginaudit.claims.run import BaseRun
from marginaudit.claims.verdict import Verdict
from marginaudit.reports.processes import Worker

LONGEST_WAIT = 2e6
"""Longest timeout in seconds: poll(2) counts milliseconds in 32 bits."""


def judged_in_worker(claim: Claim, run: BaseRun[Any], seconds: float) -> ReportRow:
    """`Claim.judge` in a forked worker; a `broken` row on timeout or without an answer."""
    in_time, found = True, None
    worker = Worker([partial(Claim.judge, claim, run)], fork=True)
    try:
        worker.begin(0)
        with suppress(Exception):  # any error of unpickling a partial or missing answer
            in_time = worker.connection.poll(min(seconds, LONGEST_WAIT))
            found = worker.result() if in_time else None
    finally:
        status = worker.end()
    if isinstance(found, ReportRow):
        return found
    if not in_time:
        detail = f"Its code was ended after {seconds:g} s (--claim-timeout)."
    elif status < 0:
        detail = f"Its process was ended by the system ({signal.strsignal(-status)})."
    else:
        detail = f"Its process gave no finding (exit status {status})."
    return claim.row(run, verdict=Verdict.BROKEN, detail=detail)
