"""Papers with other members, such as the first with less to judge and to draw."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from marginaudit.claims.paper import Paper
from marginaudit.claims.verdict import Verdict
from marginaudit.reports.ntp.paper import PAPER


def changed(paper: Paper, **members: Any) -> Paper:
    """The paper with other members."""
    members = {"__module__": type(paper).__module__, "claims": paper.claims} | members
    found: Paper = type("Changed", (type(paper),), members)()
    return found


def with_claims(*beginnings: str, name: str = "ntp") -> Paper:
    """A paper that has only the claims whose ids begin so, and draws nothing."""
    claims = tuple(
        replace(claim, paper=name, implications=()) for claim in PAPER.claims if claim.id.startswith(beginnings)
    )
    assert claims
    return changed(
        PAPER, name=name, claims=claims, figures=[one for one in PAPER.figures if one.of not in ("run", "runs")]
    )


def audit_only(monkeypatch: pytest.MonkeyPatch, *beginnings: str) -> None:
    """Let `marginaudit audit` judge those claims, and draw nothing."""
    monkeypatch.setattr("marginaudit.reports.command.audit.papers", lambda: (with_claims(*beginnings),))


def unmet(paper: Paper, target: str, verdict: Verdict | None = None) -> Callable[[Any], str | None]:
    """The condition of the one implication that decides a claim (so): why a run does not meet it, or None."""
    [claim] = [claim for claim in paper.claims if claim.id == target]
    [found] = [one for one in claim.implications if verdict in (None, one.verdict)]
    return found.unmet
