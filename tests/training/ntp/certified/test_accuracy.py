"""How narrow the balls of the enclosure are, and what cannot be enclosed."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import (
    CASES,
    Dataset,
    broken,
    check_assumption,
    free_dataset,
)
from marginaudit.training.ntp import loss_gradient, sample_classes
from marginaudit.training.ntp.certified.balls import alike, forward, merged_sentences
from marginaudit.training.ntp.certified.enclosure import NotEnclosable, accurate, enclose

BITS = 800
FREE = free_dataset(V=4, N=6, L=4, seed=2, max_count=3)


def test_what_counts_as_accurate() -> None:
    """A radius of 2^-53 of the centre, or of 2^-106."""
    assert accurate(flint.arb(0, 0.99 * 2.0**-106))
    assert not accurate(flint.arb(0, 1.01 * 2.0**-106))
    assert not accurate(flint.arb(1, flint.arb(2) ** -50))
    ball = next(b for b in (flint.arb(1, flint.arb(2) ** -k) for k in range(40, 70)) if b.rel_accuracy_bits() == 53)
    assert accurate(ball)
    assert not accurate(flint.arb(1, 2 * ball.rad()))


def test_precision_is_doubled_until_the_records_are_accurate() -> None:
    data = CASES["example-1"]()
    kq = solve_kq(data)
    done: list[int] = []
    few = enclose(data, kq, steps1=900, steps=400, at=[400], bits=64, progress=done.append)
    assert few.bits == 256
    assert done[-1] == 400
    assert done.count(400) == 1, "a run that has lost its digits goes on to the end"
    assert [float(x) for x in few.last] == [
        float(x) for x in enclose(data, kq, steps1=900, steps=400, at=[400], bits=256).last
    ]
    assert enclose(data, kq, steps1=900, steps=400, at=[400], most_bits=256).bits == 256
    with pytest.raises(NotEnclosable, match=r"128 bits .* 400 steps"):
        enclose(data, kq, steps1=900, steps=400, at=[400], most_bits=128)


@pytest.mark.parametrize("seed", range(6))
def test_the_gradient_is_eq_6_at_any_weights(seed: int) -> None:
    """Also where the optimal token has the least attention and brackets are negative."""
    data = [free_dataset(V=5, N=12, L=5, seed=seed, max_count=4), broken(FREE, "optimal_majority")][seed % 2]
    classes, rng = sample_classes(data), np.random.default_rng(seed)
    W = np.zeros((data.V, data.V))
    W[classes.key, classes.pair_query] = 2 * rng.normal(size=len(classes.key))
    A, answer = 1.7, [data.index[data.collocation.function[x]] for x in data.vocabulary]
    W_ov = np.zeros((data.V, data.V))
    W_ov[answer, np.arange(data.V)] = A
    # no two pairs are alike
    each = alike(merged_sentences(data, classes), [Fraction(k) for k in range(len(classes.key))])
    scores = [flint.arb(x) for x in W[classes.key, classes.pair_query].tolist()]
    found = forward(each, scores, flint.arb(A))
    gradient = np.array([float(g * found.log_scale.exp()) for g in found.gradient]) * A / sum(data.counts)
    textbook = loss_gradient(data, W_ov, W)[classes.key, classes.pair_query]
    np.testing.assert_allclose(gradient, textbook, rtol=1e-11, atol=1e-15)


def embedded(data: Dataset, rows: NDArray[np.float64]) -> Dataset:
    return replace(data, embedding=np.array(rows, dtype=float))


def test_orthonormal_embeddings_are_accepted_where_they_are_so_exactly() -> None:
    data = CASES["example-1"]()
    half = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    kq = solve_kq(data)
    one, other = (enclose(d, kq, steps1=100, steps=10, at=[10]) for d in (data, embedded(data, half)))
    assert [float(x) for x in one.last] == [float(x) for x in other.last]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    rotated = embedded(data, turn)
    assert check_assumption(rotated, "orthonormal").holds
    with pytest.raises(NotEnclosable, match="not exactly orthonormal"):
        enclose(rotated, kq, steps1=100, steps=10)


@pytest.mark.parametrize(
    ("data", "steps1", "reason"),
    [
        (broken(FREE, "orthonormal"), 100, "not exactly orthonormal"),
        (broken(FREE, "well_defined_orders"), 100, "does not exist"),
        (broken(FREE, "next_from_sentence"), 100, "n\\(x\\) of no token"),
        (Dataset.from_sentences("pairs", ["ab", "ba"]), 100, "no sample relates two tokens"),
        (FREE, 0, "stage 1 has no step"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_enclosed_says_why(data: Dataset, steps1: int, reason: str) -> None:
    with pytest.raises(NotEnclosable, match=reason) as caught:
        enclose(data, solve_kq(data), steps1=steps1, steps=10)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [{"steps": -1}, {"at": [-1]}, {"at": [11]}, {"at": []}, {"lr1": 0.0}, {"lr2": float("nan")}]
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        enclose(FREE, solve_kq(FREE), **({"steps1": 100, "steps": 10} | wrong))
