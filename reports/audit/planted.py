"""Planted twins: controls of claims, false just beyond what was measured, in a way of their kind."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from marginaudit.claims.claim import Claim, Judgement
from marginaudit.claims.judgements import Bounded, Equal, HiddenConstant, Limit, Parts
from marginaudit.claims.judgements.compare import FADED
from marginaudit.claims.quotation import UNQUOTED, Form
from marginaudit.claims.series import Series, as_series


def measured_once(measure: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Measure each run or instance once; an instance may be unhashable."""
    known: dict[int, tuple[Any, Any]] = {}

    def found(at: Any) -> Any:
        if id(at) not in known:
            known[id(at)] = at, measure(at)  # kept, so that no other object gets its number
        return known[id(at)][1]

    return found


def one_entry_off(judgement: Equal) -> Equal:
    """Move one expected entry by five error bars or roundings, and by more than what may have underflowed."""

    def moved(at: Any) -> Series:
        left = as_series(judgement.measure(at), "measure")
        right = judgement.stated(at, left)
        value = right.value.copy()
        if value.dtype == object:
            value[-1] += 1
            return replace(right, value=value)
        entry = int(np.argmax(np.abs(value)))
        value[entry] += 5 * (left.radius[entry] + right.radius[entry]) + 5e-16 * abs(value[entry]) + 2 * FADED
        return replace(right, value=value)

    return replace(judgement, expected=moved)


def tightened(judgement: Bounded, room: float = 1e-6) -> Bounded:
    """Move every bound, by a factor if it is positive, to this much beyond the entry with the least room."""
    upper, lower, measure = judgement.upper, judgement.lower, measured_once(judgement.measure)

    def measured(at: Any, formula: Any) -> tuple[Series, Any]:
        found = as_series(measure(at), "measure")
        places = np.arange(len(found)) if found.step is None else found.step
        return found, np.broadcast_to(np.asarray(formula(at, places.astype(float)), dtype=float), (len(found),))

    def below(at: Any, steps: Any, upper: Any = upper) -> Any:
        found, bound = measured(at, upper)
        if not found.log and (bound > 0).all() and (found.lower > 0).any():
            return np.asarray(upper(at, steps)) * float((found.lower / bound).max()) * (1 - room)
        return (
            np.asarray(upper(at, steps))
            - (bound - found.lower + room * (np.abs(found.value) + np.abs(bound)) + found.radius).min()
        )

    def above(at: Any, steps: Any, lower: Any = lower) -> Any:
        found, bound = measured(at, lower)
        return np.asarray(lower(at, steps)) + (found.upper - bound + room * np.abs(found.value)).min()

    ends: dict[str, Any] = {"upper": below if upper else None, "lower": above if lower else None}
    return replace(judgement, measure=measure, threshold=None, **ends)


def turned(judgement: Bounded) -> Bounded:
    """The upper bound as a lower one, for a quantity that is 0."""
    return replace(judgement, upper=None, lower=judgement.upper, largest=np.inf, threshold=None)


def steeper(judgement: HiddenConstant) -> HiddenConstant:
    """The shape with other powers of the position, on the side on which less is left; e^(-t/5) for a logarithm."""

    def shape(at: Any, position: Any) -> Any:
        found = np.asarray(judgement.shape(at, position))
        if judgement.measure(at).log:
            return found - 0.2 * position
        return found * position**4.0 if judgement.side == "lower" else found / (1 + 1e4 * position) ** 2

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
"""Mistake planted in a judgement by its kind."""

IN_WORDS = {
    Equal: "one expected entry is moved beyond the error bars",
    Bounded: "its bound is moved just beyond what was measured",
    HiddenConstant: "its rate has another power of the position",
    Limit: "its limit is a tenth too large",
}

SUFFIX = ".planted"


def planted_twin(claim: Claim) -> Claim | None:
    """Control of a claim: a copy with a planted mistake; None for judgements by other procedures."""
    parts = claim.judgement.parts if isinstance(claim.judgement, Parts) else {"": claim.judgement}
    name = next((name for name, part in parts.items() if type(part) in OF_KIND), None)
    if name is None:
        return None
    kind = type(parts[name])
    twin = OF_KIND[kind](parts[name])
    return replace(
        claim,
        id=f"{claim.id}{SUFFIX}",
        control_of=claim.id,
        statement=f"False on purpose{f', in the part {name}' if name else ''}: {IN_WORDS[kind]}. {claim.statement}",
        formula="",
        instead="",
        defence="",
        source_words=UNQUOTED,
        judgement=Parts({name: twin}) if name else twin,
    )


def with_controls(claims: Iterable[Claim]) -> list[Claim]:
    """The claims, and a planted twin of each printed or own one that has no control."""
    known = list(claims)
    controlled = {claim.control_of for claim in known}
    stated = (one for one in known if one.form in (Form.PRINTED, Form.OWN) and one.id not in controlled)
    return known + [twin for twin in map(planted_twin, stated) if twin is not None]
