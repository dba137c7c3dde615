"""The stated errors: each term written out by hand, and against the true error where one term is all there is."""

import math
from dataclasses import replace

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import CASES, Sample, broken
from marginaudit.training.ntp import sample_classes
from marginaudit.training.ntp.steps.iterate import EPS, Iterate
from marginaudit.training.ntp.steps.loss import Gradient, TokenGradient, row, rows_at
from marginaudit.training.ntp.steps.ov_loss import OV
from marginaudit.training.ntp.steps.spaces import EmbeddedKQ, EmbeddedOV, TokenKQ, TokenOV
from marginaudit.training.ntp.steps.stepper import Stepper
from tests.training.ntp.problems import SMALL, Fixed, at_scores, near, reduced, unreduced

# The iterate


def moved(lr: float = 0.5, *, normalised: bool = True, reference: NDArray[np.float64] | None = None) -> Iterate:
    """Two steps of unequal sizes and bounds."""
    iterate = Iterate((2,), lr, reference, normalised=normalised)
    first, second = np.array([0.6, 0.8]), np.array([1.0, 0.0])
    iterate.step(first, log_norm=math.log(3.0), rounding=1e-9, curvature=0.1, concavity=0.2)
    iterate.step(second, log_norm=math.log(5.0), rounding=4e-9, curvature=14.0, concavity=0.2)
    return iterate


def test_the_errors_of_steps_add_up() -> None:
    """Own errors lr (rounding + 4 EPS); growth by the arc, sqrt(0.8), and by 1.1 and 0.5 * 14 - 1 = 6."""
    iterate = moved()
    assert iterate.local_error == near(0.5 * (1e-9 + 4 * EPS) + 0.5 * (4e-9 + 4 * EPS), rel=1e-14)
    assert iterate.log_growth == near(math.sqrt(0.8) + math.log(1.1) + math.log(6.0), rel=1e-14)
    assert iterate.state_error == near(math.exp(iterate.log_growth) * iterate.local_error, rel=1e-14)
    np.testing.assert_allclose(iterate.rest, -0.5 * np.array([1.6, 0.8]), rtol=1e-15)
    # far below the rounding of a step
    iterate = Iterate((2,), 0.5, None)
    iterate.step(np.array([0.6, 0.8]), log_norm=0.0, rounding=0.0, curvature=0.0, concavity=0.0)
    assert iterate.local_error == 2 * EPS
    assert iterate.log_growth == 0.0


def test_plain_steps_have_the_gradient_s_length_and_no_arc() -> None:
    iterate = moved(normalised=False)
    lengths = 0.5 * 3, 0.5 * 5
    assert iterate.local_error == near(lengths[0] * (1e-9 + 4 * EPS) + lengths[1] * (4e-9 + 4 * EPS), rel=1e-14)
    assert iterate.log_growth == near(math.log(1.3) + math.log(2.5 * 14 - 1), rel=1e-14)
    assert iterate.along == 0


def test_growth_beyond_float64_is_no_bound() -> None:
    """An error of e^700 is the largest that is stated; a small one may grow by more."""
    iterate = Iterate((1,), 1.0, None)
    iterate.log_growth = 800.0
    assert iterate.state_error == 0
    iterate.local_error = 1e-300
    assert iterate.state_error == near(math.exp(800 - 300 * math.log(10)), rel=1e-12)
    iterate.local_error, iterate.log_growth = 1.0, 700.0
    assert iterate.state_error == near(math.exp(700), rel=1e-12)
    iterate.log_growth = 700.001
    assert iterate.state_error == math.inf


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-3, 0.4])
def test_what_rounding_does_to_a_direction(off: float) -> None:
    """W = (3, 4), What = (1, 0) / 2, of which 3/4 lie outside: |W| = 5, inside cos = 3/5."""
    iterate = Iterate((2,), 1.0, np.array([0.5, 0.0]), outside=0.75).placed(2, np.array([2.0, 4.0]))
    iterate.local_error = off
    found = iterate.direction()
    assert found.norm == 5
    gap = 1 - 0.5 * 0.6
    assert found.one_minus_cos == near(gap, rel=1e-15)
    assert found.distance == near(math.sqrt(2 * gap), rel=1e-15)
    lost = off + 4 * EPS * math.sqrt(20)
    expected = lost / (5 - lost) + 8 * EPS * found.distance
    assert found.distance_error == near(expected, rel=1e-13)
    assert found.error == near((1 + expected / found.distance) ** 2 - 1, rel=1e-12 if off else 0.2)


def test_a_direction_that_rounding_may_turn_anywhere() -> None:
    iterate = Iterate((2,), 1.0, np.array([1.0, 0.0])).placed(3, np.array([0.0, 4.0]))
    iterate.local_error = 3.0
    found = iterate.direction()
    assert found.distance_error == near(3 / (5 - 3), rel=1e-12)
    for off in (3.5, 5.0, 7.0):  # 3.5 / 1.5 is beyond 2 too
        iterate.local_error = off
        found = iterate.direction()
        assert (found.distance_error, found.error) == (2.0, math.inf)


def test_a_direction_without_a_distance() -> None:
    """Along the reference, and against it."""
    ahead = Iterate((2,), 1.0, np.array([1.0, 0.0])).placed(3, np.array([1.0, 0.0])).direction()
    assert (ahead.one_minus_cos, ahead.distance, ahead.error) == (0.0, 0.0, math.inf)
    assert 0 < ahead.distance_error < 2e-15
    back = Iterate((2,), 1.0, np.array([1.0, 0.0])).placed(0, np.array([-3.0, 4.0])).direction()
    assert back.one_minus_cos == near(1.6, rel=1e-15)
    exactly = Iterate((2,), 1.0, np.array([1.0, 0.0])).placed(5, np.zeros(2))
    found = exactly.direction()
    assert (found.norm, found.distance, found.distance_error, found.error) == (5.0, 0.0, 0.0, math.inf)
    exactly.local_error = 5.0
    assert (exactly.direction().distance_error, exactly.direction().error) == (2.0, math.inf)
    as_far = Iterate((2,), 1.0, np.array([1.0, 0.0])).placed(1, np.zeros(2))
    as_far.local_error = 1.0
    assert as_far.direction().norm == as_far.state_error == 1
    assert (as_far.direction().distance_error, as_far.direction().error) == (2.0, math.inf)
    nowhere = Iterate((2,), 1.0, np.array([1.0, 0.0])).placed(0, np.zeros(2)).direction()
    assert nowhere.norm == 0
    assert all(map(math.isnan, (nowhere.one_minus_cos, nowhere.distance, nowhere.error, nowhere.distance_error)))


def test_the_error_of_a_walk_of_many_steps() -> None:
    """Steps in one direction, each rounded alike, so that rounding is all there is and adds up."""
    what = np.array([0.6, 0.8])
    iterate = Iterate((2,), 0.1, what)
    with flint.ctx.workprec(300):
        exact = [flint.arb(0)] * 2
        for angle in [4.0] * 2000:
            unit = np.array([math.cos(angle), math.sin(angle)])
            true = [flint.arb(angle).cos(), flint.arb(angle).sin()]
            iterate.step(unit, log_norm=0.0, rounding=EPS / math.sqrt(2), curvature=0.0, concavity=0.0)
            exact = [w - flint.arb(0.1) * v for w, v in zip(exact, true, strict=True)]
        ours = [
            flint.arb(iterate.lr) * iterate.moves * flint.arb(w) + flint.arb(r)
            for w, r in zip(what.tolist(), iterate.rest.tolist(), strict=True)
        ]
        off = float(sum(((a - b) ** 2 for a, b in zip(exact, ours, strict=True)), flint.arb(0)).sqrt())
    assert iterate.local_error == near(2000 * 0.1 * (4 + 1 / math.sqrt(2)) * EPS, rel=1e-9)
    assert iterate.local_error / 20 < off <= iterate.local_error


# Gradients


def test_the_rounding_of_scores() -> None:
    """4 EPS of the largest entry of rho; inner products over d or 2 d numbers, of s What and of rho."""
    rest = np.array([[3.0, -5.0], [0.0, 1.0]])
    token = Iterate((2, 2), 0.5, np.eye(2)).placed(4, rest)
    assert TokenOV(2).rounding(token) == 4 * EPS * 5
    assert TokenOV(2).rounding(token.placed(4, rest / 20)) == 4 * EPS * 0.25
    E = np.array([[3.0, 4.0, 0.0], [1.0, 1.0, 1.0]])
    pairs = np.array([0, 1]), np.array([1, 0])
    wide = Iterate((2, 3), 0.5, None).placed(4, np.full((2, 3), 2.0))
    size = 2.0 + math.sqrt(24.0)
    assert EmbeddedOV(E).rounding(wide) == near(2 * (3 + 4) * EPS * size * 5, rel=1e-14)
    assert EmbeddedOV(E / 50).rounding(wide) == near(2 * (3 + 4) * EPS * size / 10, rel=1e-14)
    square = Iterate((3, 3), 0.5, None).placed(4, np.full((3, 3), 2.0))
    assert EmbeddedKQ(E, *pairs).rounding(square) == near(2 * (2 * 3 + 4) * EPS * (2.0 + 6.0) * 25, rel=1e-14)
    assert TokenKQ(2, *pairs).rounding(Iterate((2,), 1.0, None).placed(0, np.array([-2.0, 1.0]))) == 8 * EPS


def test_what_the_embedding_adds_to_the_rounding_of_a_gradient() -> None:
    E = np.array([[2.0, 0.0], [0.0, -3.0]])
    G, size = np.array([[1.0, -2.0], [0.0, 1.0]]), np.array([[2.0, 3.0], [1.0, 4.0]])
    token = TokenGradient(G, size, -7.0, 1e-9, 5.0, 2.0)
    anywhere = Iterate((2, 2), 1.0, None)
    plain = Fixed(TokenOV(2), token).gradient(anywhere)
    assert plain.rounding == near(1e-9 * np.linalg.norm(size), rel=1e-14)
    assert (plain.curvature, plain.concavity, plain.log_scale) == (5.0, 2.0, -7.0)
    found = Fixed(EmbeddedOV(E), replace(token, relative=0.0)).gradient(anywhere)
    assert found.rounding == near(2 * EPS * (2 + 4) * np.linalg.norm(size @ np.abs(E)), rel=1e-14)
    assert found.norm == near(np.linalg.norm(G @ E), rel=1e-15)
    assert (found.curvature, found.concavity) == near((45.0, 18.0), rel=1e-14)
    assert found.log_norm == near(math.log(found.norm) - 7, rel=1e-15)


def test_a_gradient_is_hidden_at_its_rounding() -> None:
    assert Gradient(np.ones(1), 1.0, 0.0, 1.0, 0.0, 0.0).hidden
    assert not Gradient(np.ones(1), 1.0, 0.0, np.nextafter(1.0, 0.0), 0.0, 0.0).hidden


def test_a_step_has_the_bounds_over_the_norm() -> None:
    problem = Fixed(TokenOV(1), TokenGradient(np.array([[4.0]]), np.array([[8.0]]), 3.0, 1e-9, 20.0, 2.0))
    iterate = Iterate((1, 1), 0.5, None)
    assert Stepper(problem).step(iterate)
    assert iterate.local_error == near(0.5 * (2e-9 + 4 * EPS), rel=1e-14)
    assert iterate.log_growth == near(math.log(1.5), rel=1e-14)
    hidden = Fixed(TokenOV(1), replace(problem.found, relative=0.5))
    assert not Stepper(hidden).step(iterate)
    assert (iterate.moves, iterate.local_error) == (1, math.inf)
    none = Fixed(TokenOV(1), TokenGradient(np.zeros((1, 1)), np.zeros((1, 1)), -math.inf, 0.0, 0.0, 0.0))
    still = Iterate((1, 1), 0.5, None)
    assert not Stepper(none).step(still)
    assert still.local_error == 0


def test_the_error_of_a_given_state_is_added_to_its_record_s() -> None:
    problem, iterate = reduced(SMALL, 9.0)
    rest = np.random.default_rng(0).normal(size=iterate.high.shape)
    own = row(problem, iterate.placed(50, rest), 50)
    [given] = rows_at(problem, iterate, [(50, rest, 0.125, 0.25)], "flow")
    assert given["error"] == 0.125 + own["error"] * 1.125
    assert given["distance_error"] == 0.25 + own["distance_error"]
    assert rows_at(problem, iterate, [(50, rest, 0.125, 2.0)], "flow")[0]["distance_error"] == 2.0


def test_the_rounding_of_stage_1() -> None:
    """32 operations, V labels summed, and exp of margins: relative 4 EPS of the largest; twice that of the scores."""
    problem = OV(TokenOV(3), np.array([1, 2, 0]), np.zeros((3, 3)))
    B = np.array([[0.0, 0.0, 7.0], [5.0, -2.0, 0.0], [0.5, 4.0, 0.0]])
    found = problem.token_gradient(Iterate((3, 3), 1.0, None).placed(0, B))
    assert found.relative == near(EPS * (32 + 3 + 4 * 7) + 2 * 4 * EPS * 7, rel=1e-14)
    P = np.exp(B) / np.exp(B).sum(axis=0)
    rivals = P.sum(axis=0) - P[[1, 2, 0], [0, 1, 2]]
    assert found.curvature * np.exp(found.log_scale) == near(2 * rivals.max(), rel=1e-12)
    assert found.concavity == 0
    assert np.abs(found.value).sum() == near(found.magnitude.sum(), rel=1e-14)
    assert found.magnitude.max() == near((rivals / np.exp(found.log_scale)).max(), rel=1e-12)


@pytest.mark.parametrize("form", ["common", "general"])
def test_the_rounding_of_stage_2(form: str) -> None:
    """32 operations, the sums, exp of logits up to the largest margin, exp of the shift; twice that of the scores."""
    data, A = broken(SMALL, "injective"), 2.5
    problem, classes = unreduced(data, A, form), sample_classes(data)
    scores = np.random.default_rng(1).normal(size=problem.space.shape)
    found = problem.token_gradient(at_scores(problem, scores))
    times = np.bincount(classes.pair).max() * np.bincount(classes.edge_class).max()
    margin = A if form == "common" else 2 * A
    expected = 32 + times + 4 * margin + 2 * abs(found.log_scale) + 8 * np.abs(scores).max()
    assert found.relative == near(EPS * expected, rel=1e-14)


def test_labels_of_equal_attention_leave_no_rounding_between_them() -> None:
    """At first S and V, both rivals of O, pull at each other with forces that are equal exactly."""
    data = CASES["example-1"]()
    samples = (*(sample for sample in data.samples if len(sample.tokens) == 1), Sample(("S", "V", "O"), "P"))
    problem = unreduced(replace(data, samples=samples, counts=(1,) * len(samples)), 2.5, "common")
    found = problem.token_gradient(at_scores(problem, np.zeros(problem.space.shape)))
    assert np.count_nonzero(found.value) == 3
    np.testing.assert_array_equal(found.magnitude, np.abs(found.value))
