"""Theorem 2 and Corollary 2 as claims: verdicts, eqs. 98 and 100 by hand, a token that is nearly distinct, twins."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.snap import (
    CASES,
    SequenceClasses,
    check_assumption,
    overlap_of,
    single_common_dataset,
    symmetric_dataset,
    weakly_correlated_dataset,
)
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.snap import ClassConfig, ClassRun
from marginaudit.reports.snap.claims import corollary2, theorem2
from marginaudit.reports.snap.eq10 import (
    common_pairs,
    distinct_pairs,
    how_long_assumption_2_holds,
    meets_assumption_2,
    overlaps_along,
    rates_along,
)
from marginaudit.reports.snap.token_gains import extreme
from marginaudit.training.snap.attention import off_by
from marginaudit.training.snap.limit import Approximation

ALL = (*theorem2.CLAIMS, *corollary2.CLAIMS)
CLAIMS = {claim.id.removeprefix("snap."): claim for claim in ALL}
HOLDS, VIOLATED, ABSENT, OPEN = Verdict.HOLDS, Verdict.VIOLATED, Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE


def nearly_distinct() -> SequenceClasses:
    """Two classes that meet Assumption 2; y occurs in both, hardly in the second."""
    classes = [
        ("n0", "q", {"a": 0.5, "x": 0.4, "y": 0.5}),
        ("n1", "q", {"b": 0.8, "x": 0.4, "y": 0.002}),
    ]
    return SequenceClasses.from_weights("nearly-distinct", 5000, classes)


@cache
def run(name: str, **settings: Any) -> ClassRun:
    made = {
        "nearly-distinct": nearly_distinct,
        "several-queries": lambda: single_common_dataset(K=3, M=5000, seed=4, queries=2),
        "weak": lambda: weakly_correlated_dataset(K=4, M=5000, seed=1, queries=2),
        "symmetric": lambda: symmetric_dataset(K=4, M=30000, seed=2),
        **CASES,
    }
    return ClassRun(made[name](), ClassConfig(**{"steps": 10**18, **settings}))


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


def test_an_error_of_z_is_one_of_the_eigenvalues() -> None:
    on = run("weak")
    z = on.path.z.value[5]
    own = rates_along(on).path.logits
    for moved in (1e-9, 1e-3, 0.3):
        off = off_by(Approximation(z, np.full_like(z, moved)))
        largest = overlap_of(own.attended(z)).largest
        for seed in range(5):
            other = z + moved * np.random.default_rng(seed).choice([-1, 1], len(z))
            assert abs(overlap_of(own.attended(other)).largest - largest) <= 3 * off * (1 + off) * largest
    found, exact = overlaps_along(on)[5], overlap_of(own.attended(rates_along(on).path.z.value[5]))
    assert found.eigenvalue_error > exact.eigenvalue_error


def test_the_nearly_distinct_token_gains_at_once() -> None:
    """K = 2 at Z = 0: z-dot is eta_Z gamma beta [(f_1^T f_2)(f_1l^2 + f_2l^2) - 2 f_1l f_2l]."""
    on = run("nearly-distinct")
    assert all(check_assumption(on.dataset, name).holds for name in corollary2.ANY_CLASSES.assumptions)
    found = corollary2.ANY_CLASSES.judge(on)
    assert found.first_violation == 1
    assert "y under q" in found.detail
    F, column = on.dataset.overlap.F, on.dataset.contextual.index("y")
    f_1, f_2 = F[column]
    bracket = (F[:, 0] @ F[:, 1]) * (f_1**2 + f_2**2) - 2 * f_1 * f_2
    first = rates_along(on).found[0]
    beta = first.gradient.beta.value[0, 1] * float(first.gradient.gamma.value)
    at = on.path.logits.position(0, "y")
    assert first.z_dot.value[at] == pytest.approx(beta * bracket, rel=1e-3, abs=0)
    assert first.z_dot.value[at] > 0


@pytest.mark.parametrize("name", ["snap-single", "several-queries"])
def test_eqs_98_and_100(name: str) -> None:
    on = run(name)
    data, logits = on.dataset, on.path.logits
    common = [logits.names[i][1] for i in common_pairs(on)]
    assert set(common) == {token for token in data.contextual if (data.P[:, data.contextual.index(token)] > 0).all()}
    for rate in rates_along(on).found[::10]:
        f, xi = rate.f.value, rate.gradient.xi.value
        for i, (query, token) in enumerate(logits.names):
            column = data.contextual.index(token)
            members = data.queries[query]
            if i in common_pairs(on):
                expected = -sum((1 - f[n, column] ** 2) * xi[n] for n in members)
            else:
                assert i in distinct_pairs(on)
                expected = sum(f[n, column] ** 2 * xi[n] for n in members)
            assert rate.z_dot.value[i] == pytest.approx(expected, rel=1e-8, abs=0)


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
    assert "Assumption 2 keeps holding along the path to t = 100" in how_long_assumption_2_holds(short)


def test_attention_that_becomes_dependent_on_its_way_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def dependent(*_: object) -> None:
        raise ValueError("F: got linearly dependent columns, expected independent ones")

    monkeypatch.setattr("marginaudit.reports.snap.eq10.rates", dependent)
    found = theorem2.DISTINCT.judge(ClassRun(CASES["snap-single"](), ClassConfig(at=(1, 10), steps=10)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "at t = 1 the classes' attention is linearly dependent" in found.detail


@pytest.mark.parametrize(("lr_z", "said"), [(0.05, "met by this run"), (0.051, "not met by this run")])
def test_statements_on_eq_10_say_whether_assumption_1_c_is_met(lr_z: float, said: str) -> None:
    at, usual = (ClassRun(CASES["snap-single"](), ClassConfig(steps=50, lr_z=rate)) for rate in (lr_z, 0.05))
    told = [name for name, claim in LEDGER.items() if name.startswith("snap.") and claim.proof_uses]
    assert "snap.theorem2.distinct" in told
    assert not any(name.endswith((".rederived", ".any-classes")) for name in told)
    for name in ("snap.theorem2.distinct", "snap.eq112"):
        found = LEDGER[name].judge(at)
        assert f"Assumption 1 (c), eta_Y >> eta_Z: 10 times or more: {said}" in found.detail
        assert found.verdict is LEDGER[name].judge(usual).verdict
