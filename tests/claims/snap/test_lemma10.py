"""Lemma 10: chances against sums, and where the chain of eq. 58 begins."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, comb, log, sqrt

import pytest

from marginaudit.claims.claim import NotFollowed
from marginaudit.claims.snap.appendix_d4_sampled_classes import lemma10
from marginaudit.claims.snap.appendix_d4_sampled_classes.lemma10 import counts, frequencies
from marginaudit.orders.snap import CASES, SequenceClasses
from tests.claims.snap.samples import on


def test_where_the_chain_begins() -> None:
    for x, holds in ((11.656, False), (11.658, True)):
        assert (sqrt(x / 2) + 1 <= sqrt(x)) is holds
        assert (x >= lemma10.ENOUGH) is holds


def test_counts_are_centered_on_exact_ceilings() -> None:
    """P(n) = 1/49 in float64 times 49 is below 1; 3 weights of 1e16 to 1."""
    data = SequenceClasses.from_weights("49", 100, [(f"n{i}", "q", {"a": 1, f"d{i}": 1}) for i in range(49)])
    assert frequencies(data) == [Fraction(1, 49)]
    found = counts(on(data))
    for name, value, radius in zip(found.missed[0].label, found.missed[0].value, found.missed[0].radius, strict=True):
        n = int(name.rsplit(" = ", 1)[1])
        if not name.startswith("delta = 0.99") or n > 120:
            continue
        room = sqrt(n / 2 * log(2 / 0.99)) + 1
        terms = [
            comb(n, k) * Fraction(1, 49) ** k * Fraction(48, 49) ** (n - k)
            for k in range(n + 1)
            if abs(k - ceil(Fraction(n, 49))) > room
        ]
        assert abs(value - float(sum(terms))) <= radius + 1e-15
    uneven = replace(CASES["snap-symmetric"](), weights=(1.0, 2.0, 3.0))
    assert frequencies(uneven) == [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]


def test_a_class_that_nearly_all_steps_draw_has_its_chances_to_their_digits() -> None:
    """1 - P(n) is 1e-12 and 1e-60, of which P(n) in float64 keeps four digits, and none."""
    for rare in (1e-12, 1e-60):
        uneven = on(replace(CASES["snap-single"](), weights=(1.0, rare)))
        found, _ = lemma10.counts(uneven).missed
        at = found.label.index("delta = 0.99, P(n) = 1, N = 4")
        value, radius = found.value[at], found.radius[at]
        missed = 4 * rare**3  # |N_n - 4| > 2.19: three draws of the other class
        assert abs(value - missed) <= radius + 4 * rare * missed
        assert radius <= 1e-8 * missed


def test_the_chain_is_judged_where_it_is_stated() -> None:
    """At delta = 0.99, N ln(2/delta) reaches 2 (sqrt(2)+1)^2 = 11.66 with N = 17; N >= 10 K^2 is from 40 on."""
    run = on(CASES["snap-single"]())
    judged = {
        "snap.lemma10": {16: [False] * 3, 17: [False] * 3, 40: [True] * 3},
        "snap.lemma10.any-N": {1: [True] * 3, 16: [True] * 3},
        "snap.lemma10.rederived": {1: [True, False, False], 16: [True, False, False], 17: [True] * 3},
    }
    for claim in lemma10.CLAIMS:
        labels = [part.measure(run).label for part in claim.judgement.parts.values()]  # type: ignore[attr-defined]
        for N, there in judged[claim.id].items():
            assert [f"delta = 0.99, P(n) = 0.5, N = {N}" in each for each in labels] == there


def test_of_one_class_and_of_too_many_nothing_is_said() -> None:
    [claim] = (claim for claim in lemma10.CLAIMS if claim.id == "snap.lemma10")
    one = SequenceClasses.from_weights("one", 100, [("n", "q", {"a": 1})])
    assert claim.absent(on(one)) == "there is one class"
    many = SequenceClasses.from_weights("many", 1000, [(f"n{i}", "q", {f"d{i}": 1}) for i in range(400)])
    with pytest.raises(NotFollowed, match="from 1600000 on"):
        claim.absent(on(many))
