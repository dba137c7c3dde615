"""Planted twins: a judgement made false just beyond what was measured, in a way of its kind.

`tests/test_contract.py` wants a violated one of every claim of every paper; other tests plant one on a run of theirs.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from marginaudit.claims import Claim
from marginaudit.claims.judgements import Bounded, Decided, Parts


def parts(claim: Claim) -> Mapping[str, Any]:
    """The parts of a claim's judgement by name; the judgement itself under "" where it has none."""
    return claim.judgement.parts if isinstance(claim.judgement, Parts) else {"": claim.judgement}


def part(claim: Claim, name: str) -> Any:
    """A part by the start of its name."""
    (found,) = (value for key, value in parts(claim).items() if key.startswith(name))
    return found


def twin(claim: Claim, name: str, **change: Any) -> Claim:
    """The claim with that part changed, and nothing else of its judgement."""
    judgement = replace(part(claim, name), **change)
    return replace(claim, judgement=judgement if not name else Parts({name: judgement}))


def scaled_bound(judgement: Bounded, side: str, factor: float) -> Bounded:
    """One side of a bound times a factor."""
    formula = getattr(judgement, side)
    change: dict[str, Any] = {side: lambda run, at: factor * np.asarray(formula(run, at))}
    return replace(judgement, **change)


def scaled(claim: Claim, name: str, side: str, factor: float) -> Claim:
    """The claim with one side of a part's bound times a factor."""
    judgement = scaled_bound(part(claim, name), side, factor)
    return replace(claim, judgement=judgement if not name else Parts({name: judgement}))


def decided_with(claim: Claim, **change: Any) -> Claim:
    """The claim's procedure with another constant."""
    judgement = claim.judgement
    assert isinstance(judgement, Decided)
    assert isinstance(judgement.decide, partial)
    return replace(claim, judgement=replace(judgement, decide=partial(judgement.decide, **change)))
