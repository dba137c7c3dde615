"""The sweep: a few random audits on every run of the tests, and lies planted in the rows and numbers of a real one."""

import dataclasses
import random
from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor
from typing import Any

import flint
import pytest

from marginaudit.claims.snap.theorems import CLAIMS
from tests.oracle.snap.assumptions import assumptions
from tests.oracle.snap.audited import Audited, audited
from tests.oracle.snap.chances import missed
from tests.oracle.snap.checking import NARROWEST, WIDEST, assumption_faults, check, number_faults, row_faults, truth
from tests.oracle.snap.numbers import BITS, Truth
from tests.oracle.snap.problem import Problem, ball
from tests.oracle.snap.random_classes import Settings, random_audit, random_document
from tests.oracle.snap.statements import STATEMENTS
from tests.oracle.sweep import HARMLESS

FIRST, AUDITS = 7000, 4
LONGEST = 50
"""Steps here; the sweep has long runs too."""

EXAMPLE = {
    "name": "example",
    "M": 5000,
    "classes": [
        {"next": "n0", "query": "q", "probabilities": {"a": 0.5, "b": 0.2, "the": 0.3}},
        {"next": "n1", "query": "q", "probabilities": {"c": 0.45, "d": 0.2, "the": 0.35}},
    ],
}

SETTINGS = Settings(0.5, 0.05, 10**6, (1, 30, 60, 200, 10**6), 3, 0)


def test_every_claim_is_known_with_what_it_assumes() -> None:
    assert {name: set(one.needs) for name, one in STATEMENTS.items()} == {
        name: set(claim.assumptions) for name, claim in CLAIMS.items()
    }


@pytest.mark.parametrize("seed", [*range(FIRST, FIRST + AUDITS), 99_162, 99_244])
def test_a_random_audit_is_right(seed: int) -> None:
    document, settings = random_audit(seed)
    steps = min(settings.steps, LONGEST)
    short = dataclasses.replace(settings, steps=steps, at=tuple({1, steps}), seeds=min(settings.seeds, 3))
    found = check(document, audited(document, short))
    assert [(claim, one) for claim, one in found if one.kind not in HARMLESS] == []


def test_entries_of_e_prime_are_compared_by_their_largest() -> None:
    """Of overlaps 1e-18 the diagonal of E' is -3e-36, of which float64 leaves 1e-33, and no more than its bar says."""
    rows = [{"c": 1e-9, f"d{n}": 1.0} for n in range(4)]
    classes = [{"next": f"n{n}", "query": "q", "probabilities": row} for n, row in enumerate(rows)]
    audit = audited({"name": "apart", "M": 107, "classes": classes}, Settings(0.5, 0.05, 1, None, 1, 0))
    row = dict(audit.rows["snap.lemma14"])
    T = truth(audit)
    with flint.ctx.workprec(BITS):
        known = assumptions(T.problem)
        for bound, faults in ((1.6e-33, 0), (1.6e-30, 1)):
            detail = "16 entries compared; largest relative difference 1.6e-15 (n1, n1), rounding allowance 2.0e-13."
            lie = row | {"measured": -3e-36, "bound": bound, "detail": detail}
            assert len(list(row_faults("snap.lemma14", lie, T, known))) == faults


@pytest.fixture(scope="module")
def example() -> Audited:
    audit = audited(EXAMPLE, SETTINGS)
    assert [(claim, one) for claim, one in check(EXAMPLE, audit) if one.kind not in HARMLESS] == []
    return audit


@pytest.fixture(scope="module")
def true(example: Audited) -> Truth:
    return truth(example)


@pytest.fixture(autouse=True)
def _bits() -> Iterator[None]:
    with flint.ctx.workprec(BITS):
        yield


def lies_found(true: Truth, audit: Audited, claim: str, **changes: Any) -> set[str]:
    """Kinds of what is found wrong with a claim's row once it is changed."""
    row = dict(audit.rows[claim]) | changes
    return {found.kind for found in row_faults(claim, row, true, assumptions(true.problem))}


NOT_REFUTED = {
    "snap.corollary2.any-classes",
    "snap.theorem3.gain.sgd",
    "snap.eq71.continuous",
}
"""What depends on how far it is looked: their sides alone are compared."""


@pytest.mark.parametrize("claim", sorted(STATEMENTS))
def test_a_verdict_turned_around_is_noticed(true: Truth, example: Audited, claim: str) -> None:
    verdict = example.rows[claim]["verdict"]
    assert lies_found(true, example, claim, verdict="broken") == {"broken"}
    if verdict == "not-applicable":
        assert "verdict" in lies_found(true, example, claim, verdict="holds")
        return
    if not claim.startswith("snap.theorem3.growth"):  # of which classes it speaks is not looked at
        assert "verdict" in lies_found(true, example, claim, verdict="not-applicable", evidence="exact")
    if verdict != "inconclusive" and claim not in NOT_REFUTED:
        other = {"holds": "violated", "violated": "holds"}[verdict]
        assert lies_found(true, example, claim, verdict=other) & {"verdict", "number"}


def test_a_number_that_is_off_is_noticed(true: Truth, example: Audited) -> None:
    noticed = []
    for claim, row in example.rows.items():
        if row["measured"]:
            off = row["measured"] * (1 + 1e-6)
            slack = row["slack"] and row["slack"] * (1 + 1e-6) ** (-1 if row["side"] == "upper" else 1)
            noticed += [claim] * (lies_found(true, example, claim, measured=off, slack=slack) == {"number"})
    assert len(noticed) >= 47, "whose measured value is known here"


def test_a_worst_step_at_which_assumption_2_does_not_hold_is_noticed(true: Truth, example: Audited) -> None:
    late = example.rows["snap.theorem2.distinct.from-zero"]
    assert late["worst_step"] == 10**6
    changes = {name: late[name] for name in ("worst_step", "measured", "bound", "slack", "detail")}
    assert lies_found(true, example, "snap.theorem2.distinct.from-zero", **changes) == set()
    assert lies_found(true, example, "snap.theorem2.distinct", **changes) == {"number"}


def test_a_slack_that_is_no_quotient_is_noticed(true: Truth, example: Audited) -> None:
    assert lies_found(true, example, "snap.lemma13", slack=2.0) == {"number"}


@pytest.mark.parametrize(("claim", "evidence"), [("snap.lemma6", "exact"), ("snap.lemma3", "exact")])
def test_other_evidence_than_there_is_is_noticed(true: Truth, example: Audited, claim: str, evidence: str) -> None:
    assert lies_found(true, example, claim, evidence=evidence) == {"evidence"}
    assert lies_found(true, example, claim, informative_from=3) == {"number"}


def test_assumptions_are_compared(true: Truth, example: Audited) -> None:
    lie = dataclasses.replace(example, assumptions={**example.assumptions, "small_overlap": False})
    assert [name for name, _ in assumption_faults(assumptions(true.problem), lie)] == ["small_overlap"]


def test_a_number_beyond_its_bar_and_a_bar_beyond_use_are_noticed(true: Truth, example: Audited) -> None:
    seen = {one.what: one for one in example.numbers if one.value}
    assert list(number_faults(true, tuple(seen.values()))) == []
    for what, one in seen.items():
        off = dataclasses.replace(one, value=one.value + 3 * one.error + 1e-3 * abs(one.value))
        wide = dataclasses.replace(one, error=one.error * 1e9 + 1e-3 * one.scale)
        narrow = dataclasses.replace(one, error=0.4e-12 * abs(one.value))
        assert what not in NARROWEST or [name for name, _ in number_faults(true, (narrow,))] == [what]
        for lie in (off, wide) if what in WIDEST else (off,):
            assert [name for name, _ in number_faults(true, (lie,))] == [what]


def test_a_tail_is_the_sum_of_its_terms() -> None:
    p, N, room = ball(3) / 10, 12, 1.5
    chance = sum(
        (
            flint.arb(flint.fmpz.bin_uiui(N, k)) * p**k * (1 - p) ** (N - k)
            for k in range(N + 1)
            if not ceil(3.6 - room) <= k <= floor(3.6 + room)
        ),
        flint.arb(0),
    )
    found = missed(N, Fraction(3, 10), Fraction(36, 10), flint.arb(room))
    assert abs(found - chance) < 1e-30


def test_random_documents_meet_and_break_every_assumption() -> None:
    found = [assumptions(Problem(random_document(random.Random(seed)))) for seed in range(150)]
    for name in found[0]:
        holding = [one[name] for one in found]
        assert 0 < holding.count(True) < len(found), name
        assert holding.count(False) > 0, name
    assert sum(all(one[name] for name in STATEMENTS["snap.theorem1.a"].needs) for one in found) > 20
