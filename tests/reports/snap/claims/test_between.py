"""What the source says between its theorems: each statement against numbers found another way."""

import numpy as np
import pytest

from marginaudit.orders.snap import CASES
from marginaudit.reports import Verdict
from marginaudit.reports.snap import common_token
from marginaudit.reports.snap.claims import eq87_eq89, eq112, eq132_eq133
from marginaudit.reports.snap.ledger import CLAIMS
from marginaudit.reports.snap.run import ClassRun
from tests.reports.snap.twins import on, run

SINGLE = CASES["snap-single"]


def verdict(claim: str, at: ClassRun) -> Verdict:
    return CLAIMS[claim].judge(at).verdict


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
