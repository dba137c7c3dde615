"""Stage 1 in closed form, against true steps and against exact arithmetic."""

import flint
import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from marginaudit.training.ntp import stage1, stage1_law, train
from tests.solutions import known

EXAMPLE = CASES["example-1"]()

# n not injective: the closed form does not need it
MANY_TO_ONE = Dataset(
    "many to one",
    ("a", "b", "c"),
    (Sample(("a", "b"), "c"),),
    (1,),
    next_token={"a": "c", "b": "c", "c": "a"},
)
TWO = Dataset("two", ("a", "b"), (Sample(("a", "b"), "a"),), (1,), next_token={"a": "b", "b": "a"})


@pytest.mark.parametrize("data", [EXAMPLE, MANY_TO_ONE, TWO, free_dataset(V=9, N=20, L=4, seed=1)])
@pytest.mark.parametrize("eta0", [0.1, 7.0])
def test_against_true_steps(data: Dataset, eta0: float) -> None:
    ov = solve_ov(data)
    at = [0, 1, 2, 50, 1000]
    stepped = train(data, steps1=1000, steps2=0, lr1=eta0, at=at, ov_reference=ov).stage1
    law = stage1_law(data, eta0, at, ov)
    assert stepped.method.tolist() == ["steps"] * 5
    assert law.method.tolist() == ["law"] * 5
    for name in ("loss", "log_loss", "norm", "gradient_norm", "log_gradient_norm", "min_margin", "max_margin"):
        np.testing.assert_allclose(law.columns()[name], stepped.columns()[name], rtol=1e-11, atol=1e-300, err_msg=name)
    np.testing.assert_array_equal(np.isnan(law.one_minus_cos), [True, False, False, False, False])
    assert np.all(stepped.distance[1:] <= stepped.distance_error[1:])
    if eta0 < 1:  # larger steps are unstable, though not here
        assert np.all(stepped.distance_error[1:] < 1e-12)
    assert not law.distance[1:].any()
    assert not law.distance_error[1:].any()
    assert not law.label_spread.any()


@pytest.mark.parametrize("V", [2, 3, 40])
def test_against_exact_arithmetic_to_1e18(V: int) -> None:
    data = free_dataset(V=V, N=2 if V == 2 else V, L=3, seed=0, optimal=(1, 1), non_optimal=(1, 1))
    eta0 = 0.2 / np.sqrt(V)
    steps = [1, 10, 10**3, 10**6, 10**12, 10**18]
    law = stage1_law(data, eta0, steps, solve_ov(data))
    with flint.ctx.workprec(2000):
        for i, t in enumerate(steps):
            M = t * flint.arb(eta0) / flint.arb(V - 1).sqrt()
            rest = (V - 1) * (-M).exp()
            P = (-M).exp() / (1 + rest)
            # one column: V - 1 entries P, and one -(V-1) P
            gradient = (V * ((V - 1) * P**2 + ((V - 1) * P) ** 2)).sqrt()
            assert law.min_margin[i] == pytest.approx(float(M), rel=1e-15, abs=0)
            assert law.norm[i] == pytest.approx(float(t * flint.arb(eta0)), rel=1e-15, abs=0)
            if M < 40:
                assert law.log_loss[i] == pytest.approx(float((V * rest.log1p()).log()), rel=1e-14, abs=0)
                assert law.log_gradient_norm[i] == pytest.approx(float(gradient.log()), rel=1e-14, abs=1e-15)
            else:
                log_rest = float(-M + flint.arb(V - 1).log())
                # log1p(rest) = rest to rounding
                assert law.log_loss[i] == pytest.approx(log_rest + np.log(V), rel=1e-14, abs=1e-11)
    assert law.loss[-1] == 0
    assert np.isfinite(law.log_loss).all()
    assert np.isfinite(law.log_gradient_norm).all()


def test_records_that_rounding_hides_are_as_far_off_as_from_the_law() -> None:
    found = train(EXAMPLE, steps1=40, steps2=0, lr1=1e6, ov_reference=solve_ov(EXAMPLE)).stage1
    hidden = found.step >= 30
    length = np.abs(found.norm / np.maximum(found.step, 1) / 1e6 - 1)
    off = (found.distance + length + stage1.LAW_ROUNDING)[hidden]
    assert found.distance[hidden].min() > 0
    assert length[hidden].max() > 0
    np.testing.assert_allclose(found.distance_error[hidden], off, rtol=1e-6)
    np.testing.assert_allclose(found.error[hidden], (1 + off / found.distance[hidden]) ** 2 - 1, rtol=1e-6)


def test_training_changes_to_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage1, "STAGE1_STEPS", 100)
    ov, kq = solve_ov(EXAMPLE), solve_kq(EXAMPLE)
    at = [50, 100, 101, 600]
    long = train(EXAMPLE, steps1=600, steps2=600, at=at, ov_reference=ov, kq_reference=kq)
    assert long.stage1.method.tolist() == ["steps", "steps", "law", "law"]
    monkeypatch.setattr(stage1, "STAGE1_STEPS", 10**5)
    true = train(EXAMPLE, steps1=600, steps2=600, at=at, ov_reference=ov, kq_reference=kq)
    assert true.stage1.method.tolist() == ["steps"] * 4
    for name, column in true.stage1.columns().items():
        if name in ("error", "distance_error", "method", "one_minus_cos", "distance", "label_spread"):
            continue
        np.testing.assert_allclose(long.stage1.columns()[name], column, rtol=1e-12, err_msg=name)
    assert long.stage1.distance[-1] <= true.stage1.distance_error[-1]
    assert long.margin == pytest.approx(true.margin, rel=1e-14, abs=0)
    assert abs(long.margin - true.margin) <= long.margin_error + true.margin_error
    np.testing.assert_allclose(long.W_ov, true.W_ov, rtol=1e-13)
    np.testing.assert_allclose(long.stage2.one_minus_cos, true.stage2.one_minus_cos, rtol=1e-10)
    last = train(EXAMPLE, steps1=600, steps2=0, at=[10, 600], ov_reference=ov).stage1
    assert last.step.tolist() == [10, 600]


def test_many_tokens_take_few_true_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of the closed form are the same from its formulas and from its weights."""
    monkeypatch.setattr(stage1, "STAGE1_WORK", 16 * 30)
    ov = solve_ov(EXAMPLE)
    at = [0, 30, 31, 60]
    by_formula, by_weights = (
        train(EXAMPLE, steps1=60, steps2=0, at=at, ov_reference=reference).stage1
        for reference in (ov, known(ov.optimal().matrix))
    )
    for found in (by_formula, by_weights):
        assert found.method.tolist() == ["steps", "steps", "law", "law"]
    for name in ("loss", "log_loss", "norm", "gradient_norm", "log_gradient_norm", "min_margin", "max_margin"):
        np.testing.assert_allclose(by_formula.columns()[name], by_weights.columns()[name], rtol=1e-14, err_msg=name)
    assert by_weights.distance[-1] < 1e-15
    assert stage1.steps_before_the_law(10**4) == 1
