"""A part of an audit: one dataset, to be judged in this process or in another."""

import io
import pickle
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import cloudpickle

from marginaudit.reports.audit.auditing import Audited, Progress, Shown, audited
from marginaudit.reports.audit.ledger import all_papers
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.claim import Claim
from marginaudit.reports.page.shown import drawn
from marginaudit.reports.paper import Paper
from marginaudit.reports.verdict import Finding


@dataclass(frozen=True)
class Part:
    """What has to be known to audit a dataset.

    Attributes
    ----------
    source : Source
    claims : tuple of Claim
    config : how its run is made
    exports : names of `marginaudit.reports.page.exports.FORMATS`
    claim_timeout : float
        Seconds that a claim from outside may take.
    """

    source: Source
    claims: tuple[Claim, ...]
    config: Any
    exports: tuple[str, ...]
    claim_timeout: float


@dataclass(frozen=True)
class Found:
    """What an audit of a dataset has found, without its run: it can be sent to another process, or kept.

    Attributes
    ----------
    findings, document, shown : as `Audited` has them; the findings without their curves, which are drawn
    """

    findings: Mapping[str, Finding]
    document: Mapping[str, Any]
    shown: Shown

    def of(self, source: Source) -> Audited:
        """The dataset with it."""
        return Audited(source, self.findings, self.document, shown=self.shown)


def compute(part: Part, progress: Progress) -> Found:
    """Judge and draw the part's dataset in this process."""
    name = part.source.dataset.name
    found = audited(part.source, part.claims, part.config, progress, part.claim_timeout)
    shown = drawn(found, part.exports, lambda text: ignored(progress(name, text.removeprefix(f"{name}: "))))
    findings = {claim: replace(finding, curve=None) for claim, finding in found.findings.items()}
    return Found(findings, found.document, shown)


def ignored(_: object) -> None:
    """Nothing of a value."""


def packed(part: Part) -> bytes:
    """The part for another process: papers and their claims by name, claims from outside with their code.

    Raises
    ------
    Exception
        It holds what cannot be sent: whatever pickling raises.
    """
    file = io.BytesIO()
    _Pickler(file).dump(part)
    return file.getvalue()


def compute_packed(data: bytes) -> Found:
    """What `compute` finds, in a process of its own; what is printed goes to standard error."""
    with redirect_stdout(sys.stderr):
        part = _Unpickler(io.BytesIO(data)).load()
        return compute(part, lambda *_: ignored)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Names papers and their own claims, which the other process has."""

    def persistent_id(self, value: Any) -> tuple[str, ...] | None:
        if isinstance(value, Paper):
            if _papers().get(value.name) is not value:
                raise pickle.PicklingError(f"the paper {value.name} is not installed")
            return ("paper", value.name)
        if isinstance(value, Claim) and value.paper in _papers():
            paper = _papers()[value.paper]
            return ("claim", paper.name, value.id) if paper.has(value) else None
        return None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, place: tuple[str, ...]) -> Any:
        paper = _papers()[place[1]]
        return paper if place[0] == "paper" else next(claim for claim in paper.claims if claim.id == place[2])


@cache
def _papers() -> dict[str, Paper]:
    return {paper.name: paper for paper in all_papers(ignored)}


def has_own_claims(part: Part) -> bool:
    """Whether it is judged by claims that do not come with its paper."""
    return any(not part.source.paper.has(claim) for claim in judged_by(part))


def judged_by(part: Part) -> Sequence[Claim]:
    """The claims that are about the part's dataset."""
    return [claim for claim in part.claims if part.source.paper.judges(claim)]
