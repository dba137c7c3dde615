"""What the source says between its theorems: each statement against numbers found another way."""

from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.reports import Verdict
from marginaudit.reports.snap import common_token, decoder
from marginaudit.reports.snap.claims import eq87_eq89, eq112, eq132_eq133, lemma12_y, remark3, remark4
from marginaudit.reports.snap.decoder import sequence
from marginaudit.reports.snap.ledger import CLAIMS
from marginaudit.reports.snap.run import ClassRun
from tests.reports.snap.twins import on, parts, run
from tests.training.snap.growth import precise_logit

SINGLE = CASES["snap-single"]


def verdict(claim: str, at: ClassRun) -> Verdict:
    return CLAIMS[claim].judge(at).verdict


@pytest.mark.parametrize("eta", [0.02, 0.5, 0.99])
def test_remark_3_fails_by_one_sign_alone(eta: float) -> None:
    found = {name: part.judge(on(SINGLE(), lr_y=eta)).verdict for name, part in parts(remark3.REMARK3).items()}
    assert {name for name, one in found.items() if one is Verdict.VIOLATED} == {"M^-(1-omega_0) > M^-0.99"}
    assert set(found.values()) == {Verdict.VIOLATED, Verdict.HOLDS}
    assert verdict("snap.remark3.rederived", on(SINGLE(), lr_y=eta)) is Verdict.HOLDS
    assert verdict("snap.remark3", on(SINGLE(), lr_y=1.0)) is Verdict.NOT_APPLICABLE


def test_remark_3s_zero_is_where_the_two_are_equal() -> None:
    at = on(SINGLE())
    last = remark3.sides_in_time(at).step[199]  # type: ignore[index]
    x = precise_logit(last, at.M, at.eta_Y)
    assert mp.exp(x) < (at.M - 1) * x < mp.exp(x) * (1 + mp.mpf("1e-4"))
    assert mp.exp(precise_logit(1, at.M, at.eta_Y)) < (at.M - 1) * precise_logit(1, at.M, at.eta_Y)


def test_the_chance_beyond_two_radii_is_that_of_the_draws() -> None:
    found = remark4.missed(run("snap-single"))
    place = found.label.index("delta = 0.99, N = 40")
    drawn = np.random.default_rng(0).binomial(40, 0.5, 200_000)
    assert found.value[place] == pytest.approx((np.abs(drawn - 20) > 2).mean(), abs=5e-3)


def dense(at: ClassRun) -> tuple[Any, Any, Any]:
    """Y of eq. 26 and of steps on W', and F', on whole matrices in float64."""
    F, M, K = at.dataset.overlap.F, at.M, at.K
    u = np.linalg.qr(np.column_stack([F, np.eye(len(F))]))[0][:, K]
    leaning = F[:, np.argmax(decoder.counts(at))] / 2 + u
    full = np.column_stack([F, leaning])
    back = np.linalg.pinv(full.T)
    found = []
    for moves in (F @ np.linalg.inv(F.T @ F), back[:, :K]):
        Y = np.zeros((len(F), M))
        for n in sequence(at):
            alpha = np.exp(F[:, n] @ Y)
            Y += at.eta_Y * np.outer(moves[:, n], np.eye(M)[n] - alpha / alpha.sum())
        found.append(Y)
    return found[0], found[1], (F, u)


def test_lemma_12s_formula_is_that_of_whole_matrices() -> None:
    at = on(replace(SINGLE(), M=60), steps=40)
    by_features, by_rows, (F, u) = dense(at)
    basis = np.linalg.pinv(np.column_stack([F, u]))
    for measure, Y in ((lemma12_y.by_features, by_features), (lemma12_y.by_rows, by_rows)):
        expected = (basis @ Y)[:, : at.K + 1]
        assert measure(at).value.reshape(3, 3) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert lemma12_y.LEMMA12_Y.judgement.judge(at).verdict is Verdict.HOLDS
    assert verdict("snap.lemma12.Y.eq26", at) is Verdict.VIOLATED
    full = SequenceClasses.from_weights("full", 2, [("a", "a", {"a": 1}), ("b", "a", {"a": 1, "b": 1})])
    assert lemma12_y.LEMMA12_Y.judgement.judge(on(full)).verdict is Verdict.HOLDS
    assert verdict("snap.lemma12.Y.eq26", on(full)) is Verdict.NOT_APPLICABLE


def test_what_is_left_beside_e_prime_is_of_the_order_of_1_in_M() -> None:
    """At M = 5000, with classes drawn alike, delta_2 is E'_12/M and delta_3 (1 - E'_11)/M."""
    at = run("snap-single")
    E_prime, late = at.overlap.E_prime.value, eq87_eq89.left_over(at).value[7]
    assert late[:, 0] == pytest.approx(np.full(2, E_prime[0, 1] / at.M), rel=1e-2, abs=0)
    own = 1 - E_prime[[1, 0], [1, 0]]
    assert late[:, 1] == pytest.approx(own / at.M, rel=1e-2, abs=0)


def test_eq_112_lacks_the_2_of_the_derivative() -> None:
    """R along eq. 10, differenced in time."""
    steps = (10**4, 10**4 + 1, 10**4 + 2)
    at = on(SINGLE(), steps=steps[-1], at=steps)
    sides = eq112.both_sides(at)
    pick = [i for i, label in enumerate(sides[0].label) if label == f"a over b of n0, t = {steps[1]}"]
    i, j = (at.path.logits.position(0, token) for token in "ab")
    z = at.path.z.value
    r = (0.5 / 0.2) ** 2 * np.exp(2 * (z[:, i] - z[:, j]))
    [rate], [printed] = (side.value[pick] for side in sides)
    assert rate == pytest.approx((r[2] - r[0]) / 2, rel=1e-4, abs=0)
    assert printed == pytest.approx(rate / 2, rel=1e-9, abs=0)


def test_late_b_goes_on_where_the_run_ends() -> None:
    at = run("snap-single")
    last = common_token.along(at, np.array([1e18]))
    u = np.log(np.log(at.M * at.eta_Y * 1e18 / at.K))
    assert last.value[0] == pytest.approx(
        np.logaddexp(0.0, eq132_eq133.log_A(at) - np.log(common_token.C0(at)) + 2 * u) / 4, rel=1e-9, abs=0
    )


@pytest.mark.parametrize(("lr_z", "said"), [(0.05, "met by this run"), (0.051, "not met by this run")])
def test_statements_on_eq_10_say_whether_assumption_1_c_is_met(lr_z: float, said: str) -> None:
    at = on(SINGLE(), steps=50, lr_z=lr_z)
    told = [name for name, claim in CLAIMS.items() if claim.proof_uses]
    assert "snap.theorem2.distinct" in told
    assert not any(name.endswith((".rederived", ".sgd", ".any-classes")) for name in told)
    for name in ("snap.theorem2.distinct", "snap.eq112"):
        found = CLAIMS[name].judge(at)
        assert f"Assumption 1 (c), eta_Y >> eta_Z: 10 times or more: {said}" in found.detail
        assert found.verdict is CLAIMS[name].judge(on(SINGLE(), steps=50)).verdict
