"""Lemmas 2 and 18: identities by brute force, chances by sums, and attention by drawing."""

from math import comb, log, sqrt

import numpy as np
import pytest
from scipy.stats import binomtest

from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.reports.judgements import Bounded, Limit
from marginaudit.reports.snap.claims.lemma2 import LEMMA2, likeness
from marginaudit.reports.snap.claims.lemma18 import LEMMA18, misses
from marginaudit.reports.snap.sequences import identities
from marginaudit.reports.verdict import Verdict
from tests.reports.snap.twins import NAMES, on, one_entry_off, parts, run, tightened, with_part


@pytest.mark.parametrize("case", NAMES)
@pytest.mark.parametrize("claim", [LEMMA2, LEMMA18], ids=lambda claim: claim.id)
def test_holds(case: str, claim: object) -> None:
    assert claim in (LEMMA2, LEMMA18)
    found = (LEMMA2 if claim is LEMMA2 else LEMMA18).judge(run(case))
    assert found.verdict is Verdict.HOLDS


@pytest.mark.parametrize("case", NAMES)
def test_twins_are_violated(case: str) -> None:
    for claim in (LEMMA2, LEMMA18):
        for name, part in parts(claim).items():
            if isinstance(part, Bounded):
                twin = with_part(claim, name, tightened(part))
            elif isinstance(part, Limit):
                elsewhere = Limit(measure=part.measure, predicted=lambda _: 0.9, regime=part.regime)
                twin = with_part(claim, name, elsewhere)
            else:
                twin = with_part(claim, name, one_entry_off(part))
            assert twin.judge(run(case)).verdict is Verdict.VIOLATED, name


@pytest.mark.parametrize("attention", [True, False])
def test_identities_are_exact_and_compare_whole_matrices(attention: bool) -> None:
    found, stated = identities(run("snap-medium"), attention=attention)
    assert len(found) == len(stated) == len(found.label) > 100
    assert found.value.tolist() == stated.value.tolist()
    off = [
        i for i, name in enumerate(found.label) if " and " in name and len(set(name.split(", ")[1].split(" and "))) == 2
    ]
    assert off
    assert not any(found.value[off])
    sums = [i for i, name in enumerate(found.label) if name.endswith(", sum")]
    assert len(sums) == (4 if attention else 0)
    assert any(value < 0 for value in found.value) is not attention


def test_chances_are_sums_of_binomial_terms() -> None:
    missed, delta = misses(run("snap-single"))
    seen = 0
    for name, value, radius, d in zip(missed.label, missed.value, missed.radius, delta, strict=True):
        n = int(name.rsplit(" = ", 1)[1])
        if "P(l|n) = 0.2," not in name or n > 30:
            continue
        room = sqrt(log(2 / d) / 2 / n)
        terms = [comb(n, k) * 0.2**k * 0.8 ** (n - k) for k in range(n + 1) if abs(k / n - 0.2) > room]
        assert abs(value - sum(terms)) <= radius + 1e-12
        assert radius <= 1e-8
        seen += 1
    assert seen == 7 * 30


def test_chances_are_those_of_draws() -> None:
    """A million lengths of 40 tokens, at the level 1e-6 (Clopper and Pearson)."""
    missed, _ = misses(run("snap-single"))
    entry = missed.label.index("delta = 0.5, P(l|n) = 0.3, T - 1 = 25")
    q = np.random.default_rng(1).binomial(25, 0.3, size=1_000_000) / 25
    outside = int((np.abs(q - 0.3) > sqrt(log(4) / 50)).sum())
    interval = binomtest(outside, 1_000_000).proportion_ci(1 - 1e-6, method="exact")
    assert interval.low < missed.value[entry] < interval.high


def test_attention_is_followed_for_six_decades_and_more() -> None:
    found = likeness(run("snap-single"))
    assert found.step is not None
    assert found.step[:8].tolist() == [10**k for k in range(1, 9)]
    assert (len(found), found.step[-1]) == (16, 10**9)
    assert found.clock == "T - 1"
    away = (1 - found.value)[[*range(8), -1]]
    assert ((away[:-1] / away[1:] > 2.5) & (away[:-1] / away[1:] < 4)).all()
    assert (found.radius < 0.3 * (1 - found.value)).all()
    assert (found.radius > 0).all()


def test_the_quantile_of_attention_is_that_of_a_plain_simulation() -> None:
    """One class of two tokens; z as in the claim would be drawn, so that only the size is compared."""
    data = SequenceClasses.from_weights("one", 9, [("n", "q", {"a": 1, "b": 1})])
    found = likeness(on(data))
    # |b_a - c_a| <= e^|z|/4 |q - 1/2| 4; with q's standard deviation 1/(2 sqrt(T-1))
    assert found.step is not None
    assert (1 - found.value[3:] < 2 / np.sqrt(found.step[3:])).all()
    assert (1 - found.value[3:] > 0.02 / np.sqrt(found.step[3:])).all()


def test_few_seeds_say_nothing() -> None:
    found = LEMMA2.judge(on(CASES["snap-single"](), seeds=3))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert (likeness(on(CASES["snap-single"](), seeds=3)).radius > 0.1).all()
