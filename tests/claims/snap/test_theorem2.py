"""Theorem 2 and Corollary 2 as claims: of which tokens they speak, and for how long Assumption 2 holds."""

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_e_attention import theorem2
from marginaudit.claims.snap.appendix_e_attention.corollary2 import no_constant_common, not_as_in_corollary_2
from marginaudit.claims.snap.appendix_e_attention.eq10 import (
    common_beside_distinct,
    distinct_pairs,
    how_long_assumption_2_holds,
    meets_assumption_2,
    rates_along,
)
from marginaudit.claims.snap.appendix_e_attention.token_gains import extreme
from marginaudit.orders.snap import CASES, SequenceClasses, check_assumption
from marginaudit.reports import LEDGER
from tests.claims.snap.samples import run

HOLDS, VIOLATED, ABSENT = Verdict.HOLDS, Verdict.VIOLATED, Verdict.NOT_APPLICABLE


def test_a_common_token_is_judged_under_the_queries_that_have_a_distinct_one() -> None:
    """The class of p has the common token alone, which stays as it is there: z-dot = 0."""
    classes = [("n0", "q", {"a": 5, "b": 4, "x": 1}), ("n1", "p", {"x": 1})]
    on = ClassRun(SequenceClasses.from_weights("one-query", 100_000, classes))
    assert [on.logits.names[i] for i in common_beside_distinct(on)] == [("q", "x")]
    for claim in (theorem2.COMMON, theorem2.COMMON_FROM_ZERO):
        found = claim.judge(on)
        assert (found.verdict, "x under q" in found.detail) == (HOLDS, True)
    assert not_as_in_corollary_2(on) is not None
    assert LEDGER["snap.corollary2.any-classes"].judge(on).verdict is VIOLATED


@pytest.mark.parametrize(
    ("one", "other", "stays"),
    [
        ({"c": 1, "d": 1, "a": 8}, {"c": 1, "d": 1}, True),
        ({"c": 1, "d": 2, "a": 8}, {"c": 1, "d": 2}, False),
        ({"c": 1, "d": 2, "a": 8}, {"c": 1, "d": 1}, False),
        ({"a": 1, "b": 2}, {"d": 1}, False),
    ],
)
def test_common_tokens_that_no_class_tells_apart_stay(
    one: dict[str, float], other: dict[str, float], stays: bool
) -> None:
    on = ClassRun(SequenceClasses.from_weights("two", 50_000, [("m", "p", one), ("n", "q", other)]))
    assert (no_constant_common(on) is None) == stays


def test_the_printed_statements_speak_where_attention_as_it_is_then_meets_assumption_2() -> None:
    on = run("snap-single")
    E = np.array([float(f[0] @ f[1]) for f in map(on.path.logits.attended, rates_along(on).path.z.value)])
    at = meets_assumption_2(on)
    assert (at == (E >= 6 / 5000**0.5)).all()
    assert at.any()
    assert not at.all()
    printed, stronger = (extreme(on, distinct_pairs, 1, where_assumption_2=where) for where in (True, False))
    assert printed.step is not None
    assert stronger.step is not None
    assert (printed.step == rates_along(on).step[at]).all()
    assert (stronger.step == rates_along(on).step).all()
    later = overlaps_from_one_third()
    assert not check_assumption(later.dataset, "small_overlap").holds
    assert LEDGER["snap.theorem2.distinct"].judge(later).verdict is HOLDS
    assert theorem2.DISTINCT_FROM_ZERO.judge(later).verdict is ABSENT


def overlaps_from_one_third() -> ClassRun:
    """Three classes whose |lambda_1| falls below 1/3 on the way."""
    rows = [{"a": 1.0, "x": 0.5}, {"b": 1.0, "x": 0.5}, {"c": 1.0, "x": 0.5}]
    named = [(f"n{n}", "q", row) for n, row in enumerate(rows)]
    return ClassRun(SequenceClasses.from_weights("later", 5000, named), ClassConfig(steps=10**6))


def test_how_long_assumption_2_keeps_holding() -> None:
    on = run("snap-single")
    found = how_long_assumption_2_holds(on)
    E = []
    for z in rates_along(on).path.z.value:
        f = on.path.logits.attended(z)
        E.append(float(f[0] @ f[1]))
    fails = rates_along(on).step[np.array(E) < 6 / 5000**0.5][0]
    assert f"|lambda_i| >= 6/sqrt(M) is not met from t = {fails} on" in found
    assert "t_0' = 34.07, t_0 = 87.25, eta_Y/eta_Z = 10" in found
    assert "lambda_1" not in found
    short = ClassRun(on.dataset, ClassConfig(steps=100))
    assert "to t = 100" in how_long_assumption_2_holds(short)


def test_attention_that_becomes_dependent_on_its_way_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def dependent(*_: object) -> None:
        raise ValueError("F: got linearly dependent columns, expected independent ones")

    monkeypatch.setattr("marginaudit.claims.snap.appendix_e_attention.eq10.rates", dependent)
    found = theorem2.DISTINCT.judge(ClassRun(CASES["snap-single"](), ClassConfig(at=(1, 10), steps=10)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "at t = 1 " in found.detail
    assert "dependent" in found.detail
