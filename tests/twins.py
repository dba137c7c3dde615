"""Planted twins: a judgement made false just beyond what was measured, in a way of its kind.

`tests/test_contract.py` wants a violated one of every claim of every paper; other tests plant one on a run of theirs.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from marginaudit.claims import Claim, Series
from marginaudit.claims.claim import Judgement
from marginaudit.claims.judgements import Bounded, Decided, Equal, HiddenConstant, Limit, Parts
from marginaudit.claims.judgements.compare import FADED
from marginaudit.claims.series import as_series


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


def one_entry_off(judgement: Judgement) -> Equal:
    """One entry of what is expected is moved by five error bars or roundings, and not by what may have underflowed."""
    assert isinstance(judgement, Equal)

    def moved(at: Any) -> Series:
        left, right = as_series(judgement.measure(at), "measure"), as_series(judgement.expected(at), "expected")
        value = right.value.copy()
        if value.dtype == object:
            value[-1] += 1
            return replace(right, value=value)
        entry = int(np.argmax(np.abs(value)))
        value[entry] += 5 * (left.radius[entry] + right.radius[entry]) + 5e-16 * abs(value[entry]) + 2 * FADED
        return replace(right, value=value)

    return replace(judgement, expected=moved)


def tightened(judgement: Bounded, room: float = 1e-6) -> Bounded:
    """Every bound moved, by a factor if it is positive, to this much beyond the entry with the least room."""
    upper, lower, measure = judgement.upper, judgement.lower, cache(judgement.measure)

    def measured(at: Any, formula: Any) -> tuple[Series, Any]:
        found = as_series(measure(at), "measure")
        places = np.arange(len(found)) if found.step is None else found.step
        return found, np.broadcast_to(np.asarray(formula(at, places.astype(float)), dtype=float), (len(found),))

    def below(at: Any, steps: Any) -> Any:
        assert upper is not None
        found, bound = measured(at, upper)
        if not found.log and (bound > 0).all():
            return np.asarray(upper(at, steps)) * float((found.lower / bound).max()) * (1 - room)
        return np.asarray(upper(at, steps)) - (bound - found.lower + room * np.abs(found.value)).min()

    def above(at: Any, steps: Any) -> Any:
        assert lower is not None
        found, bound = measured(at, lower)
        return np.asarray(lower(at, steps)) + (found.upper - bound + room * np.abs(found.value)).min()

    return replace(judgement, measure=measure, upper=upper and below, lower=lower and above, threshold=None)


def turned(judgement: Bounded) -> Bounded:
    """The upper bound as a lower one, for a quantity that is 0."""
    return replace(judgement, upper=None, lower=judgement.upper, largest=np.inf, threshold=None)


def steeper(judgement: HiddenConstant) -> HiddenConstant:
    """The shape with a power more of the position, on the side on which less is left; e^(-t/5) for a logarithm."""

    def shape(at: Any, position: Any) -> Any:
        found = np.asarray(judgement.shape(at, position))
        if judgement.measure(at).log:
            return found - 0.2 * position
        return found * position**2.0 if judgement.side == "lower" else found / (1 + 1e4 * position) ** 2

    return replace(judgement, shape=shape)


def opposite(judgement: HiddenConstant) -> HiddenConstant:
    """The same of the negative of the quantity."""

    def negative(run: Any) -> Series:
        found = judgement.measure(run)
        return replace(found, value=-found.value)

    return replace(judgement, measure=negative)


def elsewhere(judgement: Limit) -> Limit:
    """A tenth more is predicted."""
    return replace(judgement, predicted=lambda at: 1.1 * judgement.predicted(at), positive=False)


OF_KIND: Mapping[type, Callable[[Any], Judgement]] = {
    Equal: one_entry_off,
    Bounded: tightened,
    HiddenConstant: steeper,
    Limit: elsewhere,
}
