"""The paper-less paper of named instances, and the claims about them."""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

from marginaudit.claims.claim import NOT_STATED, Claim
from marginaudit.claims.instances.instance import KIND, Instance, in_words, plain
from marginaudit.claims.paper import Paper
from marginaudit.claims.run import BaseRun, Progress
from marginaudit.claims.verdict import Evidence, Finding, Verdict

NAME = "instances"

MOST_BITS = 4096
"""Most bits of balls in which a claim is judged again."""


@dataclass(frozen=True)
class InstanceConfig:
    """Settings: an instance has none."""


class InstanceRun(BaseRun[Instance]):
    """Stand-in for a run: claims are judged on the instance's value."""

    kind = KIND

    def __init__(self, data: Instance, config: InstanceConfig | None = None, progress: Progress | None = None) -> None:
        super().__init__(data, progress)
        self.config = config or InstanceConfig()

    @property
    def subject(self) -> Any:
        """Value of the instance."""
        return self.dataset.value

    def judged(self, judgement: Any) -> Finding:
        """Finding of a judgement; if overlapping balls leave it open, in more bits, up to `MOST_BITS`."""
        found = super().judged(judgement)
        return found if not _open_in_balls(found) else _in_more_bits(super().judged, judgement, found)


class InstancePaper(Paper):
    """Named instances; their claims are users' own."""

    name = NAME
    source = "named instances"
    kind = KIND
    config = InstanceConfig
    run = InstanceRun
    claims = ()

    @property
    def own_claims(self) -> str:
        """Data of its claims."""
        return self.source

    def judges(self, claim: Claim) -> bool:
        """Whether the claim is about instances."""
        return assumes_functions(claim) and not is_across(claim)

    def about(self, claim: Claim, run: BaseRun[Any]) -> bool:
        """Whether the instance has the claim's subject, or the claim's code fails to say so."""
        try:
            with redirect_stdout(sys.stderr):
                return claim.applies_to(run)
        except Exception:  # judging it reports the error
            return True

    def facts(self, run: BaseRun[Any]) -> dict[str, Any]:
        """Values of the instance."""
        return {"values": in_words(run.dataset), "instance": plain(run.dataset.values)}


def _open_in_balls(found: Any) -> bool:
    return isinstance(found, Finding) and (found.verdict, found.evidence) == (Verdict.INCONCLUSIVE, Evidence.CERTIFIED)


def _in_more_bits(judged: Callable[[Any], Finding], judgement: Any, found: Finding) -> Finding:
    """Finding with the bits of flint's context doubled until it is decided, or no longer changes."""
    import flint

    bits = flint.ctx.prec
    while bits < MOST_BITS:
        bits *= 2
        with flint.ctx.workprec(bits):
            again = judged(judgement)
        if again == found:
            break
        found = again
        if not _open_in_balls(found):
            return replace(found, detail=f"{found.detail} Balls of {bits} bits decide it.".strip())
    return found


INSTANCES = InstancePaper()


def is_across(claim: Claim) -> bool:
    """Whether a claim is about all instances together."""
    return bool(getattr(claim.judgement, "across", False))


def assumes_functions(claim: Claim) -> bool:
    """Whether a claim names no other paper, and its assumptions are functions of an instance."""
    assumed = () if claim.assumptions == NOT_STATED else claim.assumptions
    return claim.paper in ("", NAME) and all(name in claim.predicates for name in (*assumed, *claim.setting))


def is_about_instances(claim: Claim, beside_instances: bool = False) -> bool:
    """Whether a claim names the instances as its paper, has a box, or has functions as its only assumptions.

    ``beside_instances``: whether it has no other data, as in a file with instances or in an audit of some.
    """
    if claim.paper:
        return claim.paper == NAME
    if claim.box or is_across(claim):
        return True
    if claim.assumptions in ((), NOT_STATED):
        return beside_instances
    return all(name in claim.predicates for name in claim.assumptions)


def about_instances(claim: Claim) -> Claim:
    """The claim as one about instances, for which unstated assumptions are none."""
    stated = () if claim.assumptions == NOT_STATED else claim.assumptions
    if (claim.paper, claim.assumptions) == (NAME, stated):
        return claim
    return replace(claim, paper=NAME, assumptions=stated)
