"""False twins of a claim: the same judgement with a tightened constant, a wrong exponent or a swapped sign."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from marginaudit.reports import Claim, Series
from marginaudit.reports.judgements import Bounded, Decided, Equal, HiddenConstant, Limit
from marginaudit.reports.ntp.claims.lemma5 import LEMMA5_PARTS
from marginaudit.reports.ntp.sharper.lemma7 import decide_lemma7

Twin = Callable[[Claim], Claim]


def bounded(**change: Any) -> Twin:
    """A bound with other fields and no threshold."""

    def twin(claim: Claim) -> Claim:
        assert isinstance(claim.judgement, Bounded)
        return replace(claim, judgement=replace(claim.judgement, threshold=None, **change))

    return twin


def scaled_bound(judgement: Bounded, side: str, factor: float) -> Bounded:
    """One side of a bound times a factor."""
    formula = getattr(judgement, side)
    change: dict[str, Any] = {side: lambda run, t: factor * np.asarray(formula(run, t))}
    return replace(judgement, **change)


def scaled(side: str, factor: float) -> Twin:
    """The same of a claim, without its threshold."""

    def twin(claim: Claim) -> Claim:
        assert isinstance(claim.judgement, Bounded)
        return replace(claim, judgement=scaled_bound(replace(claim.judgement, threshold=None), side, factor))

    return twin


def shifted(by: float) -> Twin:
    """An upper bound on a logarithm, lowered."""

    def twin(claim: Claim) -> Claim:
        assert isinstance(claim.judgement, Bounded)
        formula = claim.judgement.upper
        assert formula is not None
        return bounded(upper=lambda run, t: np.asarray(formula(run, t)) - by)(claim)

    return twin


def swapped_sides(claim: Claim) -> Claim:
    """The upper bound as a lower one and the other way round."""
    assert isinstance(claim.judgement, Bounded)
    return bounded(upper=claim.judgement.lower, lower=claim.judgement.upper, largest=np.inf)(claim)


def with_expected(change: Callable[[Series], Series]) -> Twin:
    """An equality with another right side."""

    def twin(claim: Claim) -> Claim:
        judgement = claim.judgement
        assert isinstance(judgement, Equal)
        return replace(claim, judgement=replace(judgement, expected=lambda run: change(judgement.expected(run))))

    return twin


def times(factor: float) -> Twin:
    """An equality whose right side is so many times as large."""
    return with_expected(lambda right: replace(right, value=factor * right.value))


def apart(by: float) -> Twin:
    """An equality whose right side is larger."""
    return with_expected(lambda right: replace(right, value=right.value + by))


def wrong_exponent(factor: float) -> Twin:
    """A hidden constant before a shape whose logarithm is so many times as large."""

    def twin(claim: Claim) -> Claim:
        judgement = claim.judgement
        assert isinstance(judgement, HiddenConstant)
        shape = judgement.shape
        return replace(claim, judgement=replace(judgement, shape=lambda run, t: factor * np.asarray(shape(run, t))))

    return twin


def opposite_order(claim: Claim) -> Claim:
    """A hidden constant before the negative of the quantity."""
    judgement = claim.judgement
    assert isinstance(judgement, HiddenConstant)

    def negative(run: Any) -> Series:
        found = judgement.measure(run)
        return replace(found, value=-found.value)

    return replace(claim, judgement=replace(judgement, measure=negative))


def double_rate(claim: Claim) -> Claim:
    """A limit of twice the value."""
    judgement = claim.judgement
    assert isinstance(judgement, Limit)
    twice = replace(judgement, predicted=lambda run: 2 * judgement.predicted(run), positive=False)
    return replace(claim, judgement=twice)


def decided_with(**change: Any) -> Twin:
    """The claim's procedure with another constant."""

    def twin(claim: Claim) -> Claim:
        judgement = claim.judgement
        assert isinstance(judgement, Decided)
        assert isinstance(judgement.decide, partial)
        return replace(claim, judgement=replace(judgement, decide=partial(judgement.decide, **change)))

    return twin


def lemma5_with(part: str, by: float) -> Twin:
    """One part of Lemma 5 with its bound, a logarithm, lowered."""
    [name] = [name for name in LEMMA5_PARTS if part in name]
    formula = LEMMA5_PARTS[name].upper
    assert formula is not None
    lowered = replace(LEMMA5_PARTS[name], upper=lambda run, t: np.asarray(formula(run, t)) - by)
    return decided_with(parts={**LEMMA5_PARTS, name: lowered})


def lemma7_with(factor: float) -> Twin:
    """Lemma 7 with another a_t, and from t = 1 on."""

    def twin(claim: Claim) -> Claim:
        judgement = claim.judgement
        assert isinstance(judgement, Decided)
        assert isinstance(judgement.decide, partial)
        allowed = judgement.decide.keywords["allowed"]
        decide = partial(decide_lemma7, allowed=lambda run, norm: factor * allowed(run, norm), threshold=None)
        return replace(claim, judgement=replace(judgement, decide=decide))

    return twin
