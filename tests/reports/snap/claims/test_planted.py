"""Every part of every claim has a false twin, made by its kind, that comes out violated where the part holds."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import latex2mathml.converter
import numpy as np
import pytest

from marginaudit.orders.snap import CASES
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Decided, Equal, HiddenConstant, Limit
from marginaudit.reports.judgements.parts import Judging, Parts
from marginaudit.reports.snap.claims.lemma17 import LEMMA17_BOUND
from marginaudit.reports.snap.claims.theorem1_a import XI_POSITIVE
from marginaudit.reports.snap.paper import PAPER
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.verdict import Verdict
from tests.reports.snap.twins import one_entry_off, tightened

CLAIMS = {claim.id: claim for claim in PAPER.claims}

DECIDED_BY: Mapping[str, Judging] = {"snap.lemma17": LEMMA17_BOUND, "snap.theorem1.a": XI_POSITIVE}
"""The bounds that procedures of their own judge by."""

FOUND_FALSE = {
    "snap.remark1": "",
    "snap.remark2": "One c serves every s",
    "snap.remark3": "M^-(1-omega_0) > M^-0.99",
    "snap.eq64": "The derivative",
    "snap.lemma12.Y.eq26": "",
    "snap.eq71.continuous": "",
    "snap.eq112": "The rate",
    "snap.theorem4.growth": "The bound's logarithm",
    "snap.theorem4.ends": "",
    "snap.theorem1.b": "After, at t_0 along ln M",
    "snap.lemma10": "The first bound below the second",
    "snap.lemma11.any-delta": "Eq. 62 with Delta/N-bar, late, delta = (1-1/K)^N/2",
    "snap.corollary1": "Steps along delta",
    "snap.lemma9.scan.any-t": "",
    "snap.lemma12.any-step": "Eq. 66 against SGD",
    "snap.theorem1.form": "",
    "snap.lemma4": "",
    "snap.theorem3.gain.sgd": "",
    "snap.eq13": "xi",
    "snap.theorem4.closed-form": "",
    "snap.theorem4.scan": "Eq. 14",
    "snap.theorem4.snap": "Eq. 14",
}
"""The parts of claims that are themselves violated; "" for a claim of one part."""


@cache
def run(case: str) -> ClassRun:
    return ClassRun(CASES[case](), replace(PAPER.config(), seeds=700))


def run_of(claim: Claim) -> ClassRun:
    if claim.id == "snap.fig6.direction":
        return run("snap-medium")
    return run("snap-single" if "single_common" in claim.assumptions else "snap-symmetric")


def parts(claim: Claim) -> Mapping[str, Any]:
    return (
        claim.judgement.parts if isinstance(claim.judgement, Parts) else {"": DECIDED_BY.get(claim.id, claim.judgement)}
    )


def steeper(judgement: HiddenConstant) -> HiddenConstant:
    """The shape with a power more of the position, on the side on which less is left; e^(-t/5) for a logarithm."""

    def shape(at: Any, position: Any) -> Any:
        found = np.asarray(judgement.shape(at, position))
        if judgement.measure(at).log:
            return found - 0.2 * position
        return found * position**2.0 if judgement.side == "lower" else found / (1 + 1e4 * position) ** 2

    return replace(judgement, shape=shape)


def elsewhere(judgement: Limit) -> Limit:
    return replace(judgement, predicted=lambda at: 1.1 * judgement.predicted(at))


TWINS: dict[type, Callable[[Any], Judging]] = {
    Equal: one_entry_off,
    Bounded: tightened,
    HiddenConstant: steeper,
    Limit: elsewhere,
}


def twinned() -> set[str]:
    """Claims each of whose parts has a twin; one with a procedure of its own needs a line in `DECIDED_BY`."""
    return {claim.id for claim in CLAIMS.values() if all(type(part) in TWINS for part in parts(claim).values())}


def test_only_procedures_are_named() -> None:
    assert set(DECIDED_BY) == {claim.id for claim in CLAIMS.values() if isinstance(claim.judgement, Decided)}


SLOW = {"snap.fig6.direction"}


@pytest.mark.parametrize(
    "claim", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CLAIMS]
)
def test_false_twins_are_violated(claim: str) -> None:
    on = run_of(CLAIMS[claim])
    for name, part in parts(CLAIMS[claim]).items():
        found = part.judge(on).verdict
        if FOUND_FALSE.get(claim) == name:
            assert found is Verdict.VIOLATED
            continue
        assert found is Verdict.HOLDS, name
        assert TWINS[type(part)](part).judge(on).verdict is Verdict.VIOLATED, name


def test_texts() -> None:
    for claim in CLAIMS.values():
        assert all(text.isprintable() for text in (claim.statement, claim.source, claim.instead))
        assert "\\" not in latex2mathml.converter.convert(claim.formula)
        assert not any(field in claim.statement + claim.instead for field in ("{start}", "{over}", "{first}"))
