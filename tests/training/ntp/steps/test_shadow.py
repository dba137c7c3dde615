"""What the rounding of stage 1 does to stage 2, against runs with hundreds of bits."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.ntp import Dataset, Sample
from marginaudit.training.ntp import sample_classes, stage2, train
from marginaudit.training.ntp.steps import shadow as shadow_module
from marginaudit.training.ntp.steps.iterate import EPS, Iterate
from marginaudit.training.ntp.steps.kq_loss import CommonMargin, GeneralB
from marginaudit.training.ntp.steps.ov_loss import OV
from marginaudit.training.ntp.steps.shadow import CLOSE, SAFETY, Lockstep, Perturbed, Shadowed, perturbed, unlike
from marginaudit.training.ntp.steps.spaces import EmbeddedKQ, EmbeddedOV
from marginaudit.training.ntp.steps.stepper import Stepper
from tests.oracle.audited import audited
from tests.oracle.checking import check
from tests.oracle.random_audits import Settings
from tests.training.ntp.problems import SMALL, reduced

TWO = Dataset("two", ("a", "b"), (Sample(("a", "b"), "a"),), (1,), next_token={"a": "a", "b": "b"})

LONG_STEPS = [
    pytest.param(
        {
            "vocabulary": ["t0", "t1", "t2", "t3", "t4"],
            "next_token": {"t0": "t4", "t1": "t2", "t2": "t3", "t3": "t0", "t4": "t1"},
            "sentences": [["t1", "t2", "t2"], ["t4", "t1", "t1"]],
            "embedding": [[1, -1, 2, 1, -1], [-1, 1, 1, -1, 2], [-1, 2, -1, 1, -1], [2, 1, -2, 0, 0], [0, 0, 0, 2, 1]],
        },
        Settings(150, 151, 2.9164203709970233, 7.382237418323337e-07, (1, 6, 69, 82), 0),
        id="off by 1e-9 of the norm",
    ),
    pytest.param(
        {
            "vocabulary": ["t0", "t1", "t2"],
            "next_token": {"t0": "t1", "t1": "t0", "t2": "t2"},
            "samples": [{"tokens": ["t2", "t2", "t0", "t0", "t2", "t0"], "next": "t2"}],
            "embedding": [[-2, -2, 0], [1, 1, -2], [1, 1, -2]],
        },
        Settings(299, 7, 0.7219449902588387, 402440638.37504643, (1, 20, 62, 130, 188), 0),
        id="any two runs go the same way, and the true one not at all",
    ),
]


@pytest.mark.parametrize(("document", "settings"), LONG_STEPS)
def test_the_error_that_long_steps_of_stage_1_leave_is_within_the_bars(
    document: dict[str, Any], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And without what stage 2 inherits, it is not."""
    document = {"name": "oracle"} | document
    assert faults(document, settings) == set()
    monkeypatch.setattr(shadow_module, "SAFETY", 0.0)
    assert "train.norm" in faults(document, settings)


def faults(document: dict[str, Any], settings: Settings) -> set[str]:
    return {where for where, one in check(document, audited(document, settings)) if one.kind == "error bar"}


def test_perturbed_steps_are_off_by_their_rounding() -> None:
    rng = np.random.default_rng(5)
    E = rng.normal(size=(4, 4))
    space = EmbeddedOV(E)
    for normalised in (True, False):
        exact, other = (Iterate(space.shape, 0.25, None, normalised=normalised) for _ in range(2))
        ov = OV(space, np.array([1, 2, 3, 0]), exact.reference)
        assert Stepper(ov).step(exact)
        assert Perturbed(ov).step(other)
        assert other.local_error == exact.local_error > EPS * 0.1
        assert np.linalg.norm(other.rest - exact.rest) == pytest.approx(exact.local_error, rel=0.2, abs=0)
        assert np.count_nonzero(other.low - exact.low) == exact.low.size
        exact, first = other.copied(), other.local_error
        assert Stepper(ov).step(exact)
        assert Perturbed(ov).step(other)
        assert np.linalg.norm(other.rest - exact.rest) == pytest.approx(other.local_error - first, rel=0.2, abs=0)


def test_a_stage_whose_gradient_is_zero_is_not_perturbed() -> None:
    """A vocabulary of one token."""
    space = EmbeddedOV(np.array([[2.0]]))
    iterate = Iterate(space.shape, 0.25, None)
    assert not Perturbed(OV(space, np.array([0]), iterate.reference)).step(iterate)
    np.testing.assert_array_equal(iterate.rest, 0)


@pytest.mark.parametrize(("apart", "told"), [(0.9 * CLOSE / SAFETY, False), (1.1 * CLOSE / SAFETY, True)])
def test_runs_that_are_too_far_apart(apart: float, told: bool) -> None:
    weights = np.array([[3.0, 4.0]])
    assert unlike(weights, weights + 5 * apart * np.array([[0.6, 0.8]])) == told
    assert not unlike(np.zeros(2), np.zeros(2))


def test_values_are_off_by_at_most_so_much() -> None:
    off = perturbed(np.zeros((20, 20)), 1e-9)
    assert 0.9e-9 < off.max() <= 1e-9
    assert -1e-9 <= off.min() < -0.9e-9
    np.testing.assert_array_equal(perturbed(np.ones(3), 0.0), 1)


def test_both_run_some_steps_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the progress of the one is that of both. Neither goes on where the gradient of the first is hidden."""
    monkeypatch.setattr(shadow_module, "TOGETHER", 4)
    problem, iterate = reduced(SMALL, 9.0)
    other, shadow = reduced(SMALL, 9.0)
    goals: list[tuple[int, int]] = []

    class Told(Stepper):
        def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
            goals.append((iterate.moves, goal))
            super().advance(iterate, goal, report)

    told: list[int] = []
    Lockstep(problem, Told(other), shadow).advance(iterate, 10, told.append)
    assert goals == [(0, 4), (4, 8), (8, 10)]
    assert told[-1] == iterate.moves == shadow.moves == 10
    constant, still = reduced(SMALL, 0.0, exact=False)
    Lockstep(constant, Told(other), shadow).advance(still, 100, told.append)
    assert goals[3:] == [(10, 0)]
    assert (still.moves, shadow.moves) == (0, 10)


def beside(A: float, steps: int, *, lost: bool = False, moved: int = 0) -> tuple[Iterate, Iterate]:
    """Steps beside those on another A, of a shadow that has moved already: the iterate and its shadow."""
    problem, iterate = reduced(SMALL, 9.0)
    other, shadow = reduced(SMALL, A)
    shadow.moves = moved
    Shadowed(problem, other, shadow, lost=lost).advance(iterate, steps, lambda _: None)
    return iterate, shadow


def test_the_distance_of_both_is_inherited() -> None:
    iterate, shadow = beside(9.5, 20)
    assert shadow.moves == iterate.moves == 20
    apart = float(np.linalg.norm(iterate.weights - shadow.weights))
    assert iterate.inherited_error == SAFETY * apart > 1e-3
    own = math.exp(iterate.log_growth + math.log(iterate.local_error))
    assert iterate.state_error == own + iterate.inherited_error
    assert iterate.copied().state_error == iterate.state_error
    same, _ = beside(9.0, 20)
    assert same.inherited_error == 0
    assert same.state_error == own


def test_where_nothing_is_known() -> None:
    """Stage 1 was lost, or its shadow makes another number of steps."""
    for iterate, _ in (beside(9.0, 20, lost=True), beside(9.0, 20, moved=21)):
        assert iterate.state_error == math.inf
        assert iterate.direction().distance_error == 2


def test_an_error_is_inherited_before_the_first_step_of_one_s_own() -> None:
    iterate = Iterate((2,), 0.5, None)
    iterate.inherited_error = 3.0
    assert iterate.state_error == 3


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any, bool]]:
    """The losses of each run that has a shadow: its own and the shadow's, and whether stage 1 was lost."""
    found: list[tuple[Any, Any, bool]] = []
    make = Shadowed.__init__

    def told(descent: Shadowed, loss: Any, other: Any, shadow: Iterate, *, lost: bool) -> None:
        found.append((loss, other, lost))
        make(descent, loss, other, shadow, lost=lost)

    monkeypatch.setattr(Shadowed, "__init__", told)
    return found


def test_the_closed_form_of_stage_1_has_no_shadow(made: list[Any]) -> None:
    train(SMALL, steps1=3, steps2=2)
    assert made == []


def test_the_shadow_s_one_margin(made: list[tuple[Any, Any, bool]]) -> None:
    """Of plain descent with orthonormal tokens."""
    train(SMALL, steps1=30, steps2=2, optimizer="gd")
    [(loss, other, lost)] = made
    assert not lost
    assert 0 < abs(loss.margin_size - other.margin_size) < 1e-12 * loss.margin_size


def test_the_shadow_of_one_margin_has_each_its_own(
    made: list[tuple[Any, Any, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of tokens that are orthogonal and longer than 1, or nearly; if memory has no room, all have one there too."""
    longer = 2 * np.eye(6)
    for off, own in ((0.0, CommonMargin), (1e-13, CommonMargin), (1e-11, GeneralB)):
        longer[0, 1] = off
        train(dataclasses.replace(SMALL, embedding=longer), steps1=30, steps2=2)
        loss, other, lost = made.pop()
        assert (type(loss), type(other), lost) == (own, GeneralB, False)
    longer[0, 1] = 0.0
    size = GeneralB.size(other.classes, 6)
    assert size == other.margins.size + other.gain.size
    for most, kind in ((size, GeneralB), (size - 1, CommonMargin)):
        monkeypatch.setattr(stage2, "LARGEST_SHADOW", most)
        train(dataclasses.replace(SMALL, embedding=longer), steps1=30, steps2=2)
        assert type(made.pop()[1]) is kind


def test_a_gradient_that_is_the_rounding_of_w_ov_has_no_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own terms do not hide it."""
    E = np.array([[2.0, 0.0], [0.5, 1.0]])
    classes = sample_classes(TWO)
    space = EmbeddedKQ(E, classes.key, classes.pair_query)

    def loss(off: float) -> GeneralB:
        return GeneralB(space, classes, 2, np.zeros((2, 2)), np.array([[1.0, 1.0 + off], [0.0, 0.0]]))

    for off, of_shadow, known in (
        (1e-9, 1.0e-9, True),
        (1e-9, 1.2e-9, True),
        (1e-9, 1.3e-9, False),
        (1e-9, -1.0e-9, False),
        (0.0, 1.0e-9, False),
        (0.0, 0.0, True),
    ):
        for normalised in (True, False):
            iterate, shadow = (Iterate(space.shape, 0.5, None, normalised=normalised) for _ in range(2))
            Shadowed(loss(off), loss(of_shadow), shadow, lost=False).advance(iterate, 1, lambda _: None)
            expected = known or (off != 0 and not normalised)
            assert np.isfinite(iterate.inherited_error) == expected, (off, of_shadow, normalised)

    far, iterate, shadow = loss(1e-9), *(Iterate(space.shape, 0.5, None) for _ in range(2))
    larger = dataclasses.replace(far.gradient(shadow), log_scale=460.0)  # 1e200, whose square overflows
    monkeypatch.setattr(far, "gradient", lambda _: larger)
    Shadowed(loss(1e-9), far, shadow, lost=False).advance(iterate, 1, lambda _: None)
    assert np.isinf(iterate.inherited_error)


@pytest.mark.parametrize("steps", [True, False])
def test_the_shadow_s_margins(steps: bool, made: list[tuple[Any, Any, bool]], monkeypatch: pytest.MonkeyPatch) -> None:
    """They differ by the rounding of steps, and by that of W_ov E^T."""
    if not steps:
        monkeypatch.setattr(Perturbed, "step", Stepper.step)
    embedding = np.random.default_rng(1).normal(size=(6, 6))
    train(dataclasses.replace(SMALL, embedding=embedding), steps1=30, steps2=2)
    [(loss, other, lost)] = made
    assert not lost
    off = np.abs(loss.margins - other.margins)
    assert EPS * loss.margin_size / 10 < off.max() < 1e-11 * loss.margin_size


@pytest.mark.parametrize(("lr1", "known"), [(0.1, True), (20.0, False)])
def test_a_stage_1_that_rounding_hides_is_lost(lr1: float, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The terms of two tokens of one embedding cancel; after a few long steps they hide the rest of the gradient."""
    monkeypatch.setattr(Perturbed, "step", Stepper.step)  # also where its shadow stops at the same place
    following = {"a": "b", "b": "a", "c": "c"}
    alike = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    data = Dataset("alike", ("a", "b", "c"), (Sample(("a", "c"), "c"),), (1,), next_token=following, embedding=alike)
    found = train(data, steps1=9, steps2=2, lr1=lr1, kq_reference=np.diag([1.0, 2.0]))
    assert np.isinf(found.margin_error) != known
    error = found.stage2.distance_error[1:]
    assert (error < 1e-13).all() if known else (error == 2).all()
