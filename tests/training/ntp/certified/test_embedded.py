"""Both stages on embeddings that are not orthonormal, in balls: against the oracle."""

import math
from dataclasses import replace

import flint
import pytest

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import CASES, Dataset, dataset_to_document
from marginaudit.orders.ntp.embed import between, embedded, gaussian, unit
from marginaudit.training.ntp.certified import embedded as module
from marginaudit.training.ntp.certified.embedded import last_distances
from marginaudit.training.ntp.certified.enclosure import NotEnclosable
from tests.oracle import descent as oracle
from tests.oracle.problem import problem
from tests.training.ntp.naive import off_direction

DATA = CASES["example-1"]()
REPEATING = Dataset.from_sentences("repeating", [list("SVOP"), list("VOP"), list("OPPP"), list("PP")])


def by_the_oracle(dataset: Dataset, steps1: int, steps2: int, eta0: float, eta: float) -> tuple[float, float]:
    """1 - cos after both stages in 300 bits, against the float64 solutions; W_ov = C E and W_kq = E^T K E."""
    with flint.ctx.workprec(300):
        p, E = problem(dataset_to_document(dataset)), flint.arb_mat(dataset.embeddings.tolist())
        C = oracle.stage1(p, p.gram, eta0, steps1)[-1]
        K = oracle.stage2(p, p.gram, oracle.logits(C, p.gram), None, eta, steps2)[-1].weights
        both = flint.arb_mat(C) * E, E.transpose() * flint.arb_mat(K) * E
        found = zip(both, (solve_ov(dataset), solve_kq(dataset)), strict=True)
        first, second = (off_direction(W.entries(), solution.optimal().matrix) for W, solution in found)
        return first, second


@pytest.mark.parametrize(("d", "share", "data"), [(4, 1.0, DATA), (6, 0.3, DATA), (2, 0.9, DATA), (4, 0.5, REPEATING)])
def test_a_few_steps_by_other_arithmetic(d: int, share: float, data: Dataset) -> None:
    data = embedded(data, between(gaussian(4, d, 2), share))
    found = last_distances(data, solve_ov(data), solve_kq(data), steps1=6, steps2=5, lr1=0.5, lr2=0.25)
    for distance, expected in zip(found, by_the_oracle(data, 6, 5, 0.5, 0.25), strict=True):
        assert abs(distance.one_minus_cos - expected) <= distance.radius + 4e-16 * expected
        assert 0 < distance.radius < 1e-15


def test_what_the_reference_leaves_open_is_in_the_radius() -> None:
    data = embedded(DATA, between(unit(4, 4, 0), 0.1))
    ov, kq = solve_ov(data), solve_kq(data).optimal()
    loose = replace(kq, direction_radius=1e-9)
    distance = last_distances(data, ov, loose, steps1=5, steps2=5)[1]
    apart = math.sqrt(2 * distance.one_minus_cos)
    assert distance.radius == pytest.approx(apart * 1e-9, rel=1e-3, abs=0)


def test_digits_are_doubled_until_they_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    data = embedded(DATA, between(unit(4, 4, 0), 1.0))
    ov, kq = solve_ov(data), solve_kq(data)
    many = last_distances(data, ov, kq, steps1=40, steps2=40, bits=1024)
    few = last_distances(data, ov, kq, steps1=40, steps2=40, bits=8)
    for one, other in zip(many, few, strict=True):
        assert abs(one.one_minus_cos - other.one_minus_cos) <= one.radius + other.radius
        assert other.radius < 1e-6 * other.one_minus_cos
    monkeypatch.setattr(module, "MOST_BITS", 16)
    with pytest.raises(NotEnclosable, match="16 bits are too few"):
        last_distances(data, ov, kq, steps1=40, steps2=40, bits=8)


def test_what_cannot_be_enclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    ov, kq = solve_ov(DATA), solve_kq(DATA)
    with pytest.raises(NotEnclosable, match="no step"):
        last_distances(DATA, ov, kq, steps1=3, steps2=0)
    cycle = Dataset.from_sentences("x", ["ab", "ba", "abba"])
    with pytest.raises(NotEnclosable, match="missing or 0"):
        last_distances(cycle, solve_ov(cycle), solve_kq(cycle), steps1=3, steps2=3)
    monkeypatch.setattr(module, "LARGEST", 10)
    with pytest.raises(NotEnclosable, match="large"):
        last_distances(DATA, ov, kq, steps1=3, steps2=3)
