"""The enclosure of stage 2: it contains an independent naive run in high precision, narrowly."""

from fractions import Fraction
from typing import TypeAlias

import flint
import numpy as np
import pytest
from hypothesis import given, settings

from marginaudit.margins.ntp import Exact, solve_kq
from marginaudit.orders.ntp import (
    CASES,
    Dataset,
    Sample,
    broken,
    free_dataset,
    prefix_closed_dataset,
)
from marginaudit.training.ntp.certified.enclosure import COLUMNS, Enclosure, enclose
from tests.oracle.descent import Matrix, ball, inner
from tests.strategies import realizable_datasets
from tests.training.ntp.naive import exact_states, other_weight

BITS = 800
NAIVE_ROUNDING = 1e-150
MINORITY = broken(free_dataset(V=4, N=6, L=4, seed=2, max_count=3), "optimal_majority")


Columns: TypeAlias = dict[str, flint.arb]


def naive(data: Dataset, steps1: int, steps: int, at: tuple[int, ...], kq: Exact) -> dict[int, tuple[Matrix, Columns]]:
    """Stage 2 by the oracle, 800 bits without a bound: {step: (W, columns)}."""
    with flint.ctx.workprec(BITS):
        A = steps1 * flint.arb(0.2 / np.sqrt(data.V)) / flint.arb(data.V - 1).sqrt()
        eta = Fraction(0.05 / np.sqrt(data.V))
        p, states = exact_states(data, A, eta, steps)
        star = {
            (data.index[x], data.index[q]): ball(w) for q, column in kq.weights_exact.items() for x, w in column.items()
        }
        length = sum((w * w for w in star.values()), flint.arb(0)).sqrt()
        what, found = {i: w / length for i, w in star.items()}, {}
        for t in at:
            state = states[t]
            W, descent = state.scores, state.descent or []
            downhill = inner(what, descent)
            along_W = inner({(i, j): w for i, row in enumerate(W) for j, w in enumerate(row)}, descent)
            columns = {
                "norm": state.norm,
                "one_minus_cos": 1 - inner(what, W) / state.norm,
                "log_loss": state.log_loss,
                "log_other_weight": other_weight(p, state).log(),
                "log_excess": state.log_excess or flint.arb.nan(),
                "descent_reference": downhill,
                "descent_rest": along_W - t * ball(eta) * downhill,
                "log_gradient_norm": state.gradient_norm.log(),
            }
            found[t] = W, columns
        return found


def columns_contain(found: Enclosure, true: dict[int, tuple[Matrix, Columns]]) -> bool:
    """Whether every recorded column holds the true value, at every step, computed in float64 as a user would."""
    with flint.ctx.workprec(BITS):
        return all(
            flint.arb(float(value - radius)) - NAIVE_ROUNDING
            <= true[t][1][name].mid()
            <= flint.arb(float(value + radius)) + NAIVE_ROUNDING
            for name, (values, radii) in found.columns.items()
            for t, value, radius in zip(found.step.tolist(), values, radii, strict=True)
            if not (name == "one_minus_cos" and t == 0)
        )


def state_contains(found: Enclosure, true: dict[int, tuple[Matrix, Columns]]) -> bool:
    """Whether each score is in its ball, up to the naive run's own rounding."""
    W, keys = true[int(found.step[-1])][0], zip(found.key.tolist(), found.query.tolist(), strict=True)
    return all(
        ball.overlaps(flint.arb(W[key][query], NAIVE_ROUNDING))
        for (key, query), ball in zip(keys, found.last, strict=True)
    )


def assert_encloses(data: Dataset, steps1: int, steps: int, at: tuple[int, ...]) -> None:
    kq = solve_kq(data).exact()
    true = naive(data, steps1, steps, at, kq)
    found = enclose(data, kq, steps1=steps1, steps=steps, at=at)
    assert found.step.tolist() == list(at)
    assert set(found.columns) == set(COLUMNS) == set(true[steps][1])
    assert columns_contain(found, true)
    for name, (values, radii) in found.columns.items():
        started = found.step > 0 if name == "one_minus_cos" else slice(None)
        assert np.all(radii[started] <= 4e-16 * np.abs(values[started]) + 1e-30)
    for t in at:
        assert state_contains(enclose(data, kq, steps1=steps1, steps=t, at=[t]), true)


SMALL = {
    "example-1": (CASES["example-1"](), 900, 300),
    "section-7": (CASES["section-7"](), 900, 20),
    "free-20": (CASES["free-20"](), 900, 20),
    "counts": (free_dataset(V=5, N=12, L=5, seed=7, max_count=4), 300, 150),
    "prefix-closed": (prefix_closed_dataset(V=5, N=12, L=5, seed=2), 500, 150),
    "no optimal majority": (MINORITY, 200, 150),
    "confused tokens": (broken(free_dataset(V=4, N=6, L=4, seed=2, max_count=3), "no_confused_tokens"), 200, 100),
    "one direction": (
        Dataset("pair", ("a", "b"), (Sample(("a", "b"), "b"),), (1,), next_token={"a": "b", "b": "a"}),
        50,
        30,
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_it_contains_a_naive_run_in_high_precision(name: str) -> None:
    data, steps1, steps = SMALL[name]
    assert_encloses(data, steps1, steps, (0, 1, 2, steps // 2, steps))


@given(realizable_datasets().filter(lambda data: data.V < 10 and len(data.relations)))
@settings(max_examples=10)
def test_it_contains_a_naive_run_on_any_realizable_dataset(data: Dataset) -> None:
    assert_encloses(data, 100, 12, (1, 12))
