"""sharp.theorem1.squared: its constants by hand, and what it says of data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from marginaudit.margins import spread as room
from marginaudit.orders.ntp import CASES, Dataset
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.ntp import Config, Run, bounds
from marginaudit.reports.ntp.claims import theorem1_squared
from marginaudit.reports.ntp.claims.theorem1_squared import DRIFT, coercivity, law, reduced
from tests.measured import measured
from tests.proof_instances import descent, reference
from tests.reports.ntp.claims.stars import bound, light_across, star
from tests.test_proofs_rates import idle_edge

CLAIM = measured(LEDGER["sharp.theorem1.squared"])


@pytest.mark.parametrize("counts", [(1, 1, 1), (1, 50, 7), (3,)])
@pytest.mark.parametrize(("eta", "lr1"), [(0.01, 0.2), (30.0, 0.2), (0.8, 1e100)])
def test_the_constants_of_one_query(counts: tuple[int, ...], eta: float, lr1: float) -> None:
    """One optimal token before k: multipliers 1/(k+1), ||W*||^2 = k/(k+1), c = 1/k; the weights are pi, and 1 of q."""
    k = len(counts) + 1
    data, norm, pi = star(k, *counts), np.sqrt(k / (k + 1)), min(counts) / sum(counts)
    run = Run(data, Config(steps1=5, steps2=1, lr1=lr1, lr2=eta))
    found = law(run)
    K = np.log(2 / pi) + 0.8
    assert coercivity(reduced(run)) == pytest.approx(1 / k, rel=1e-9, abs=0)
    assert found.beta == 0
    assert found.alpha == pytest.approx(norm * (2 * k * (K + eta / np.sqrt(2)) + eta) / eta, rel=1e-9, abs=0)
    Lambda, A = np.log(2 * 3**3 / pi), 5 * lr1 / np.sqrt(data.V - 1)
    near = np.exp(brentq(lambda s: np.log(16 * norm**2 * bound(np.exp(s), norm, Lambda, eta)), 0, 60))
    far = np.log(8 * 2 * max(1, A)) * 2 * np.sqrt(2) * norm**2 / eta
    assert (far > near) == (lr1 > 1 and k == 2)
    first = max(near, far)
    start = first + 2 * np.sqrt(2) / (eta / k) * first * eta * np.sqrt(2 * bound(first, norm, Lambda, eta)) + 1
    assert start * (1 - 1e-9) <= found.start <= 1.02 * start + 2


@pytest.mark.parametrize("data", [CASES["free-20"](), light_across()], ids=lambda data: data.name)
def test_edges_out_of_the_span_wait_until_they_carry_nothing(data: Dataset) -> None:
    """Condition (i), and what it adds to the constant."""
    run = Run(data, Config(steps2=1))
    model, found, eta, norm = reduced(run), law(run), run.eta, run.norm_kq
    part = model.support.component
    out = part[model.merged.winner] != part[model.merged.loser]
    assert out.any()
    assert not model.support.tight[out].any()
    omega = model.merged.weight
    K = np.log(omega.sum() / omega[model.support.carried].min()) + 0.8 + DRIFT
    c = coercivity(model)
    within = 2 * (K + eta / np.sqrt(2)) / c + eta
    offset = found.alpha * eta / norm - within - eta
    # that offset is Y(t_1), from which t_1 follows
    Lambda = np.log(2 * data.L_max**3 * sum(data.counts) / min(data.counts))
    first = brentq(lambda s: s * eta * np.sqrt(2 * bound(s, norm, Lambda, eta)) - offset, 1, 1e20)
    sigma = min(float(model.exact.slack[e]) for e in np.flatnonzero(out))
    assert 16 * norm**2 * bound(first, norm, Lambda, eta) <= sigma**2 * (1 + 1e-6)
    assert 16 * norm**2 * bound(first / 1.02, norm, Lambda, eta) > sigma**2
    assert found.start == pytest.approx(first + 2 * np.sqrt(2) / (eta * c) * offset, rel=1e-6, abs=0)


@pytest.mark.parametrize("eta", [0.5, 20.0])
def test_the_constants_where_a_tight_constraint_carries_no_multiplier(eta: float) -> None:
    """b > q carries none; without it two stars of three tokens: multipliers 1/3, ||W*||^2 = 4/3, X = -1/2 and 1/2."""
    run = Run(idle_edge(), Config(steps1=5, steps2=1, lr2=eta))
    found, w, X, c, K = law(run), np.sqrt(4 / 3), np.sqrt(6 / 4), 1 / 4, np.log(6) + 0.8
    assert coercivity(reduced(run)) == pytest.approx(c, rel=1e-9, abs=0)
    Lambda = np.log(2 * 3**3 * 3)
    first = np.exp(brentq(lambda s: np.log(16 * w**2 * bound(np.exp(s), w, Lambda, eta)), 0, 60))
    assert first * (1 - 1e-9) <= found.start <= 1.01 * first + 1
    Y = found.start * eta * np.sqrt(2 * bound(found.start, w, Lambda, eta))
    near = (K + 0.72 * eta) / c
    reached = near + 2 * eta + (near + eta) * (np.sqrt(2) / c) ** 0.5
    h0 = K + np.sqrt(2) * reached + (np.sqrt(2) + w) * eta
    assert found.beta == pytest.approx(2 * w * X / eta, rel=1e-9, abs=0)
    assert found.alpha == pytest.approx(w / eta * (Y + 2 * X * h0 + near + 2 * eta + np.sqrt(eta * w)), rel=1e-9, abs=0)


@pytest.mark.parametrize("eta", [1.0, 3.0, 500.0])
@pytest.mark.parametrize("data", [star(3, 1, 1), star(3, 1, 1000), idle_edge()], ids=["even", "uneven", "idle"])
def test_long_steps_stay_below_it(eta: float, data: Dataset) -> None:
    """Steps of another program, whose rounding is far below the part of W across the reference."""
    found, W = law(Run(data, Config(steps1=20, steps2=1, lr2=eta))), reference(data)
    checked = 0
    for t, S, _ in descent(data, 4.0, eta, int(found.start) + 100):
        if t >= found.start:
            along = float(np.sum(S * W)) / float(np.linalg.norm(W))
            across = float(np.linalg.norm(S - W * along / np.linalg.norm(W)))
            gap = across**2 / (along**2 + across**2) / 2
            assert 0 < gap * t**2 <= (found.alpha + found.beta * np.log(t)) ** 2
            checked += 1
    assert checked >= 99


def test_a_run_that_ends_before_its_step_leaves_it_to_the_proof() -> None:
    run = Run(CASES["example-1"](), Config(steps2=900))
    found = CLAIM.judge(run)
    assert found.verdict is Verdict.HOLDS
    assert "it follows from what is proved" in found.detail
    assert found.informative_from == law(run).start


def test_it_bounds_late_records_where_a_tight_constraint_carries_no_multiplier() -> None:
    run = Run(idle_edge(), Config(steps2=10**9, lr2=0.1))
    found = CLAIM.judge(run)
    assert found.verdict is Verdict.HOLDS
    assert found.measured is not None
    t, gap = run.training.stage2.step[-1], run.training.stage2.one_minus_cos[-1]
    assert 1e-6 < gap / ((law(run).alpha + law(run).beta * np.log(t)) / t) ** 2 < 1


def test_a_step_beyond_float64_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "direction_bound", lambda run, t: np.ones(()))
    found = CLAIM.judge(Run(CASES["example-1"](), Config(steps2=1)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "beyond the largest float64" in found.detail


def test_multipliers_lost_in_rounding_are_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorem1_squared, "spread", lambda *ends: replace(room.spread(*ends), residual=1.0))
    found = CLAIM.judge(Run(CASES["example-1"](), Config(steps2=1)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "lost in rounding" in found.detail


def test_the_reduced_model_is_the_one_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not made a second time, and it is what would have been made."""
    run = Run(CASES["free-20"](), Config(steps1=30, steps2=30))
    made = []
    monkeypatch.setattr(theorem1_squared, "exact_reference", lambda *_: made.append(1))
    model = theorem1_squared.reduced(run)
    known = run.training.reduced
    assert known is not None
    assert model.merged is known.merged
    assert model.exact is known.exact
    assert made == []
    monkeypatch.undo()
    without = Run(CASES["free-20"](), Config(steps1=30, steps2=30))
    without.__dict__["trained"] = replace(run.training, reduced=None)
    again = theorem1_squared.reduced(without)
    assert again.exact is not model.exact
    assert again.exact.norm_squared == model.exact.norm_squared
    assert [*again.exact.slack] == [*model.exact.slack]
    assert [*again.merged.winner] == [*model.merged.winner]
