"""The enclosure of stage 2: it contains an independent naive run in high precision, and no wrong one."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from marginaudit.margins.ntp import Exact, solve_kq
from marginaudit.orders.ntp import (
    CASES,
    Dataset,
    Sample,
    broken,
    check_assumption,
    free_dataset,
    prefix_closed_dataset,
)
from marginaudit.training.ntp import loss_gradient, sample_classes, train
from marginaudit.training.ntp.certified.balls import alike, forward, merged_sentences
from marginaudit.training.ntp.certified.enclosure import COLUMNS, Enclosure, NotEnclosable, _accurate, enclose, outward
from tests.solutions import inexact
from tests.strategies import realizable_datasets

BITS = 800
NAIVE_ROUNDING = 1e-150

FREE = free_dataset(V=4, N=6, L=4, seed=2, max_count=3)


def centre(x: flint.arb) -> flint.arb:
    return flint.arb(x).mid()


def inner(a: dict[tuple[int, int], flint.arb], b: dict[tuple[int, int], flint.arb]) -> flint.arb:
    return centre(sum((x * b[i] for i, x in a.items() if i in b), flint.arb(0)))


def naive(
    data: Dataset,
    steps1: int,
    steps: int,
    at: tuple[int, ...],
    kq: Exact,
    eta_factor: flint.arb | int = 1,
    margin_factor: flint.arb | int = 1,
) -> dict[int, tuple[dict[tuple[int, int], flint.arb], dict[str, flint.arb]]]:
    """Stage 2 as printed, without balls: softmax minus one-hot, phi (g - sum phi g), sample by sample, 800 bits.

    Returns {step: (W, columns)}.
    """
    with flint.ctx.workprec(BITS):
        V, index, n = data.V, data.index, data.collocation.function
        label = [index[n[x]] for x in data.vocabulary]
        A = margin_factor * steps1 * flint.arb(0.2 / np.sqrt(V)) / flint.arb(V - 1).sqrt()
        eta = eta_factor * flint.arb(0.05 / np.sqrt(V))
        pi = [flint.arb(c) / sum(data.counts) for c in data.counts]
        samples = [[index[x] for x in s.tokens] for s in data.samples]
        nexts = [index[s.next] for s in data.samples]
        star = {
            (index[x], index[q]): flint.arb(flint.fmpq(w.numerator, w.denominator))
            for q, column in kq.weights_exact.items()
            for x, w in column.items()
        }
        length = inner(star, star).sqrt()
        what = {i: centre(w / length) for i, w in star.items()}
        floor = (1 + (V - 1) * (-A).exp()).log()
        W, found = {(x, s[-1]): flint.arb(0) for s in samples for x in s}, {}
        for t in range(steps + 1):
            loss, G, others = flint.arb(0), dict.fromkeys(W, flint.arb(0)), []
            for tokens, y, p in zip(samples, nexts, pi, strict=True):
                q = tokens[-1]
                e = [centre(W[x, q].exp()) for x in tokens]
                phi = [centre(a / sum(e, flint.arb(0))) for a in e]
                z = [flint.arb(0)] * V
                for x, f in zip(tokens, phi, strict=True):
                    z[label[x]] += A * f
                u = [centre(a.exp()) for a in z]
                P = [centre(a / sum(u, flint.arb(0))) for a in u]
                loss -= p * P[y].log()
                g = [A * (P[label[x]] - (label[x] == y)) for x in tokens]
                mean = sum((f * a for f, a in zip(phi, g, strict=True)), flint.arb(0))
                for x, f, a in zip(tokens, phi, g, strict=True):
                    G[x, q] = centre(G[x, q] + p * f * (a - mean))
                others.append(sum((f for x, f in zip(tokens, phi, strict=True) if label[x] != y), flint.arb(0)))
            size = centre(inner(G, G).sqrt())
            if t in at:
                norm, s = centre(inner(W, W).sqrt()), t * eta
                rest = {i: w - s * what.get(i, 0) for i, w in W.items()}
                found[t] = (
                    W,
                    {
                        "norm": norm,
                        "one_minus_cos": 1 - inner(W, what) / norm,
                        "log_loss": loss.log(),
                        "log_other_weight": max(centre(x) for x in others).log(),
                        "log_excess": (loss - floor).log(),
                        "descent_reference": -inner(G, what) / size,
                        "descent_rest": -inner(G, rest) / size,
                        "log_gradient_norm": size.log(),
                    },
                )
            W = {i: centre(w - eta * G[i] / size) for i, w in W.items()}
        return found


def columns_contain(
    found: Enclosure, true: dict[int, tuple[dict[tuple[int, int], flint.arb], dict[str, flint.arb]]]
) -> bool:
    """Whether every recorded column holds the true value, at every step, computed in float64 as a user would."""
    with flint.ctx.workprec(BITS):
        return all(
            flint.arb(float(value - radius)) - NAIVE_ROUNDING
            <= centre(true[t][1][name])
            <= flint.arb(float(value + radius)) + NAIVE_ROUNDING
            for name, (values, radii) in found.columns.items()
            for t, value, radius in zip(found.step.tolist(), values, radii, strict=True)
            if not (name == "one_minus_cos" and t == 0)
        )


def state_contains(
    found: Enclosure, true: dict[int, tuple[dict[tuple[int, int], flint.arb], dict[str, flint.arb]]]
) -> bool:
    """Whether each score is in its ball, up to the naive run's own rounding."""
    W, keys = true[int(found.step[-1])][0], zip(found.key.tolist(), found.query.tolist(), strict=True)
    return all(ball.overlaps(flint.arb(W[i], NAIVE_ROUNDING)) for i, ball in zip(keys, found.last, strict=True))


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


def minority() -> Dataset:
    return broken(free_dataset(V=4, N=6, L=4, seed=2, max_count=3), "optimal_majority")


SMALL = {
    "example-1": (CASES["example-1"](), 900, 300),
    "section-7": (CASES["section-7"](), 900, 20),
    "free-20": (CASES["free-20"](), 900, 20),
    "counts": (free_dataset(V=5, N=12, L=5, seed=7, max_count=4), 300, 150),
    "prefix-closed": (prefix_closed_dataset(V=5, N=12, L=5, seed=2), 500, 150),
    "no optimal majority": (minority(), 200, 150),
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


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_it_contains_900_naive_steps(name: str) -> None:
    assert_encloses(CASES[name](), 900, 900, (1, 10, 100, 300, 600, 900))


def changed_label(data: Dataset) -> Dataset:
    """One sample answered by another of its tokens."""
    n = data.collocation.function
    for k, sample in enumerate(data.samples):
        wrong = sorted({n[x] for x in sample.tokens} - {sample.next})
        if wrong:
            samples = (*data.samples[:k], Sample(sample.tokens, wrong[0]), *data.samples[k + 1 :])
            return replace(data, samples=samples)
    raise ValueError("no sample holds two tokens")


def one_more(data: Dataset) -> Dataset:
    """One count that is off by one."""
    return replace(data, counts=(*data.counts[:-1], data.counts[-1] + 1))


@pytest.mark.parametrize(
    ("wrong", "factors"),
    [
        (lambda data: data, {"eta_factor": 1 + flint.arb(2) ** -40}),
        (lambda data: data, {"margin_factor": 1 + flint.arb(10) ** -10}),
        (changed_label, {}),
        (one_more, {}),
    ],
    ids=["step size", "margin", "label", "count"],
)
def test_it_contains_no_wrong_run(wrong: Callable[..., Any], factors: dict[str, flint.arb]) -> None:
    data = free_dataset(V=5, N=12, L=5, seed=7, max_count=4)
    kq = solve_kq(data).exact()
    found = enclose(data, kq, steps1=300, steps=100, at=[1, 10, 100])
    run = naive(wrong(data), 300, 100, (1, 10, 100), kq, **factors)
    assert not state_contains(found, run)
    assert not columns_contain(found, run)
    assert state_contains(found, naive(data, 300, 100, (1, 10, 100), kq))


def test_samples_that_the_loss_cannot_tell_apart_merge() -> None:
    n = {"a": "b", "b": "c", "c": "a"}
    apart = Dataset(
        "apart",
        ("a", "b", "c"),
        (Sample(("a", "b", "c"), "b"), Sample(("b", "a", "c"), "b"), Sample(("b", "b", "a"), "c")),
        (2, 1, 4),
        next_token=n,
    )
    assert sorted(s.count for s in merged_sentences(apart, sample_classes(apart))) == [3, 4]
    assert_encloses(apart, 100, 20, (1, 20))


def test_more_bits_narrow_the_balls() -> None:
    data = CASES["example-1"]()
    kq = solve_kq(data)
    wide, narrow = (enclose(data, kq, steps1=900, steps=400, at=[400], bits=bits) for bits in (256, 512))
    assert (wide.bits, narrow.bits) == (256, 512)
    assert all(big.contains_interior(small) for big, small in zip(wide.last, narrow.last, strict=True))
    assert narrow.radius[0] < 1e-60 * wide.radius[0]


def test_what_counts_as_accurate() -> None:
    """A radius of 2^-53 of the centre, or of 2^-106."""
    assert _accurate(flint.arb(0, 0.99 * 2.0**-106))
    assert not _accurate(flint.arb(0, 1.01 * 2.0**-106))
    assert not _accurate(flint.arb(1, flint.arb(2) ** -50))
    ball = next(b for b in (flint.arb(1, flint.arb(2) ** -k) for k in range(40, 70)) if b.rel_accuracy_bits() == 53)
    assert _accurate(ball)
    assert not _accurate(flint.arb(1, 2 * ball.rad()))


@pytest.mark.parametrize("t", range(1, 9))
def test_the_radius_bounds_the_distance_from_the_centres(t: int) -> None:
    found = enclose(FREE, solve_kq(FREE), steps1=100, steps=t, at=[t])
    with flint.ctx.workprec(BITS):
        square = sum((ball.rad() ** 2 for ball in found.last), flint.arb(0))
        assert square <= flint.arb(found.radius[0]) ** 2 <= square * flint.arb(1 + 1e-7)


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
    with pytest.raises(NotEnclosable, match="128 bits are too few to follow 400 steps"):
        enclose(data, kq, steps1=900, steps=400, at=[400], most_bits=128)


@pytest.mark.parametrize("name", CASES)
def test_float64_training_is_within_its_stated_error(name: str) -> None:
    data = CASES[name]()
    kq = solve_kq(data).optimal()
    at = (1, 2, 10, 100, 300)
    stage = train(data, steps2=300, at=at, kq_reference=kq.scores).stage2
    true = enclose(data, kq, steps1=900, steps=300, at=at).columns
    value, radius = true["one_minus_cos"]
    assert np.all(np.abs(stage.one_minus_cos - value) <= stage.error * value + radius)
    assert np.all(stage.error < 1e-10)
    value, radius = true["norm"]
    assert np.all(np.abs(stage.norm - value) <= stage.distance_error * value + radius)
    for column in ("log_loss", "log_other_weight", "log_excess"):
        np.testing.assert_allclose(getattr(stage, column), true[column][0], rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_gradient_is_eq_6_at_any_weights(seed: int) -> None:
    """Also where the optimal token has the least attention and brackets are negative."""
    data = [free_dataset(V=5, N=12, L=5, seed=seed, max_count=4), minority()][seed % 2]
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


magnitudes = st.floats(-1e308, 1e308)  # a ball that reaches beyond the largest float64 has no finite bounds


@given(magnitudes, st.floats(0, 1e300), st.integers(-1, 1), st.integers(0, 200))
@example(1.0, 0.0, 0, 0)
@example(1.0, 2.0**-54, 1, 30)
@example(0.0, 5e-324, 0, 0)
@example(1.0, 3e16, 0, 0)
@example(2 - 2.0**-52, 0.9 * 2.0**-52, 1, 1)
def test_a_ball_is_rounded_outward(mid: float, rad: float, side: int, bits_below: int) -> None:
    with flint.ctx.workprec(BITS):
        ball = flint.arb(flint.arb(mid) * (1 + side * flint.arb(2) ** -(53 + bits_below)), flint.arb(rad))
        value, radius = outward(ball)
        assert flint.arb(value - radius) <= ball.lower()
        assert ball.upper() <= flint.arb(value + radius)
        assert radius <= 1.0001 * rad + 4e-16 * abs(value) + 1e-323


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


def test_a_numerical_solution_is_refused() -> None:
    with pytest.raises(NotEnclosable, match="not known exactly"):
        enclose(FREE, inexact(solve_kq(FREE)), steps1=100, steps=10)


@pytest.mark.parametrize(
    "wrong", [{"steps": -1}, {"at": [-1]}, {"at": [11]}, {"at": []}, {"lr1": 0.0}, {"lr2": float("nan")}]
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        enclose(FREE, solve_kq(FREE), **({"steps1": 100, "steps": 10} | wrong))


def test_recorded_steps_and_progress() -> None:
    kq = solve_kq(FREE)
    done: list[int] = []
    found = enclose(FREE, kq, steps1=100, steps=451, at=[451, 3, 3, 452], progress=done.append)
    assert found.step.tolist() == [3, 451]
    assert done[-1] == 451
    assert done == sorted(done) == list(dict.fromkeys(done))
    assert len(done) <= 201
    assert enclose(FREE, kq, steps1=100, steps=2).step.tolist() == [0, 1, 2]
    assert enclose(FREE, kq, steps1=1, steps=0).step.tolist() == [0]
    thousand: list[int] = []
    enclose(FREE, kq, steps1=100, steps=1000, at=[1000], progress=thousand.append)
    assert thousand[-200:] == list(range(5, 1001, 5))


def test_step_sizes_are_the_given_ones() -> None:
    kq = solve_kq(FREE)
    found = enclose(FREE, kq, steps1=1, steps=1, lr1=1e-6, lr2=0.3)
    value, radius = found.columns["norm"]
    assert value[1] == 0.3
    # A = 1e-6 / sqrt 3: the loss is log 4 up to that
    assert abs(found.columns["log_loss"][0][0] - np.log(np.log(4))) < 1e-6
    assert radius[1] < 1e-16
