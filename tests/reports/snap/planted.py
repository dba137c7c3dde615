"""False twins of claims, by changing a judgement or one of its parts."""

from dataclasses import replace
from typing import Any

from marginaudit.reports import Claim
from marginaudit.reports.judgements import Parts


def part(claim: Claim, name: str) -> Any:
    """A part of the claim's judgement, by the start of its name; the judgement itself for ""."""
    if not name:
        return claim.judgement
    assert isinstance(claim.judgement, Parts)
    (found,) = (value for key, value in claim.judgement.parts.items() if key.startswith(name))
    return found


def twin(claim: Claim, name: str, **change: Any) -> Claim:
    """The claim with that part changed, and nothing else of its judgement."""
    judgement = replace(part(claim, name), **change)
    return replace(claim, judgement=judgement if not name else Parts({name: judgement}))


def scaled(claim: Claim, name: str, side: str, factor: float) -> Claim:
    """The claim with one side of a bound times a factor."""
    formula = getattr(part(claim, name), side)
    return twin(claim, name, **{side: lambda run, at: factor * formula(run, at)})
