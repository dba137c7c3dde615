"""Every lemma's claim, and its sharper form, has planted false twins that come out violated."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal

import flint
import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset, Sample
from marginaudit.reports import Claim, Series, Verdict
from marginaudit.reports.judgements import Bounded, Decided, Equal
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims import CLAIMS as ALL
from marginaudit.reports.ntp.claims import corollary1
from marginaudit.reports.ntp.claims.corollary1 import decide_corollary1
from marginaudit.reports.ntp.claims.lemma5 import LEMMA5_PARTS
from marginaudit.reports.ntp.claims.lemma6 import LEMMA6_LOWER, LEMMA6_UPPER
from marginaudit.reports.ntp.sharper.floor import decide_floor
from marginaudit.reports.ntp.sharper.lemma7 import decide_lemma7
from marginaudit.training.ntp.model.infimum import log_infimum_ball

CLAIMS: dict[str, Claim] = {
    name: claim
    for name, claim in ALL.items()
    if name.startswith(("ntp.lemma", "ntp.corollary1", "sharp.lemma", "sharp.floor")) or name == "sharp.theorem1"
}

Twin = Callable[[Claim], Claim]


@cache
def run(steps2: int = 900) -> Run:
    at = None if steps2 == 900 else tuple(np.unique(np.geomspace(1, steps2, 600).astype(int)).tolist())
    return Run(CASES["example-1"](), Config(steps2=steps2, at=at))


def scaled(side: str, factor: float) -> Twin:
    def twin(claim: Claim) -> Claim:
        assert isinstance(claim.judgement, Bounded)
        return replace(claim, judgement=scaled_bound(claim.judgement, side, factor))

    return twin


def scaled_bound(judgement: Bounded, side: str, factor: float) -> Bounded:
    formula = getattr(judgement, side)
    change: dict[str, Any] = {side: lambda run, t: factor * np.asarray(formula(run, t))}
    return replace(judgement, **change)


def with_expected(change: Callable[[Series], Series]) -> Twin:
    def twin(claim: Claim) -> Claim:
        judgement = claim.judgement
        assert isinstance(judgement, Equal)
        return replace(claim, judgement=replace(judgement, expected=lambda run: change(judgement.expected(run))))

    return twin


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


def floor_of(labels: Callable[[int], int]) -> Callable[[int, flint.arb], flint.arb]:
    return lambda V, A: log_infimum_ball(labels(V) + 1, A)


FLOOR_TWINS: tuple[Twin, ...] = (
    decided_with(claimed=floor_of(lambda V: V)),
    decided_with(claimed=floor_of(lambda V: V - 2)),
    decided_with(claimed=lambda V, A: log_infimum_ball(V, A * (1 + 1e-9))),
    decided_with(rate=lambda run: 2 * run.eta / run.norm_kq),
    decided_with(rate=lambda run: 1.0067 * run.eta / run.norm_kq),
)

FALSE_LEMMA_TWINS: dict[str, tuple[Twin, ...]] = {
    "ntp.lemma2": (scaled("upper", 0.9),),
    "ntp.lemma3": (with_expected(lambda right: replace(right, value=right.value + 1e-9)),),
    "ntp.corollary1.lower": (decided_with(factor=7),),
    "ntp.corollary1.lower.rederived": (decided_with(factor=7),),
    "ntp.lemma4": (
        with_expected(lambda right: replace(right, value=-right.value)),
        with_expected(lambda right: replace(right, value=right.value * (1 + 1e-9))),
    ),
    "ntp.lemma5": (
        lemma5_with("never decreases", 0.02),
        lemma5_with("each other position", 1e-9),
        lemma5_with("each other token", 1e-9),
        lemma5_with("summed", 1e-9),
    ),
    "ntp.lemma6": (
        decided_with(lower=scaled_bound(LEMMA6_LOWER, "lower", 9)),
        decided_with(upper=scaled_bound(LEMMA6_UPPER, "upper", 1 - 1e-11)),
    ),
    "ntp.lemma7": (lemma7_with(1e-6), lemma7_with(-1)),
    "ntp.lemma7.rederived": (lemma7_with(1e-6),),
    "sharp.lemma6": (scaled("lower", 2.2),),
    "sharp.lemma7": (lemma7_with(1 / 1100), lemma7_with(-1)),
    "sharp.theorem1": (scaled("upper", 1e-5),),
    "sharp.floor": FLOOR_TWINS,
    "sharp.floor.any-step": FLOOR_TWINS,
}

FOUND_FALSE_LEMMAS = {"ntp.corollary1.upper", "ntp.corollary1.upper.rederived"}
"""Statements that are themselves violated wherever they apply."""


def test_every_lemma_has_a_twin() -> None:
    assert set(FALSE_LEMMA_TWINS) | FOUND_FALSE_LEMMAS == set(CLAIMS)


@pytest.mark.parametrize(
    ("claim", "number"), [(claim, number) for claim, twins in FALSE_LEMMA_TWINS.items() for number in range(len(twins))]
)
def test_false_twin_is_violated(claim: str, number: int) -> None:
    on = run(50_000 if claim.startswith("sharp.floor") else 900)
    assert CLAIMS[claim].judge(on).verdict in {Verdict.HOLDS, Verdict.VACUOUS}
    found = FALSE_LEMMA_TWINS[claim][number](CLAIMS[claim]).judge(on)
    assert found.verdict is Verdict.VIOLATED, found


@pytest.mark.parametrize("claim", sorted(FOUND_FALSE_LEMMAS))
def test_the_true_factor_holds_where_the_printed_one_is_violated(claim: str) -> None:
    """All margins are 4 ||W*_ov|| A, and 4 sqrt 3 = 6.93 for four tokens."""
    assert CLAIMS[claim].judge(run()).verdict is Verdict.VIOLATED
    assert decided_with(factor=6)(CLAIMS[claim]).judge(run()).verdict is Verdict.VIOLATED
    assert decided_with(factor=7)(CLAIMS[claim]).judge(run()).verdict is Verdict.HOLDS


@pytest.mark.parametrize("suffix", ["", ".rederived"])
def test_the_largest_whole_factor_that_is_true_from_below(suffix: str) -> None:
    claim = CLAIMS[f"ntp.corollary1.lower{suffix}"]
    assert decided_with(factor=6)(claim).judge(run()).verdict is Verdict.HOLDS


def test_a_constant_above_the_attained_one_is_seen_on_a_single_pair() -> None:
    """sharp.lemma6 is an equality there."""
    data = Dataset("pair", ("a", "b"), (Sample(("b", "a"), "a"),), (1,), next_token={"a": "b", "b": "a"})
    on = Run(data, Config(steps2=50))
    assert CLAIMS["sharp.lemma6"].judge(on).verdict is Verdict.HOLDS
    assert scaled("lower", 1 + 1e-11)(CLAIMS["sharp.lemma6"]).judge(on).verdict is Verdict.VIOLATED


def test_the_planted_procedures_are_the_claims_own() -> None:
    for claim, decide in (("ntp.corollary1.lower", decide_corollary1), ("sharp.floor", decide_floor)):
        judgement = CLAIMS[claim].judgement
        assert isinstance(judgement, Decided)
        assert isinstance(judgement.decide, partial)
        assert judgement.decide.func is decide


@pytest.mark.parametrize(("side", "margin"), [("lower", 1.0), ("upper", 2.0)])
def test_corollary_1_is_about_the_margin_nearest_to_its_bound(
    side: Literal["lower", "upper"], margin: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corollary1, "label_margins", lambda *_: np.array([1.5, 1.0, 2.0]))
    found = decide_corollary1(Run(CASES["example-1"](), Config(steps1=5, steps2=2)), side, 4, 3)
    assert found.measured == margin
