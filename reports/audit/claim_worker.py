"""Judge a claim in a forked worker, with a timeout."""

from functools import partial
from time import monotonic
from typing import Any, cast

from marginaudit.claims.claim import Claim
from marginaudit.claims.row import ReportRow
from marginaudit.claims.run import BaseRun
from marginaudit.claims.verdict import Verdict
from marginaudit.reports.processes import Died, called


def judged_in_worker(claim: Claim, run: BaseRun[Any], seconds: float) -> ReportRow:
    """`Claim.judge` in a forked worker; a `broken` row on timeout or without an answer."""
    detail = f"Its code was ended after {seconds:g} s (--claim-timeout)."
    for _, found in called([partial(Claim.judge, claim, run)], 1, monotonic() + seconds, fork=True):
        if not isinstance(found, Died):
            return cast(ReportRow, found)
        detail = f"Its process {found}."
    return claim.row(run, verdict=Verdict.BROKEN, detail=detail)
