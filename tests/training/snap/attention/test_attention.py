"""Attention along eq. 10 against balls and closed forms."""

import math
from typing import Any

import numpy as np
import pytest
import scipy
from flint import arb

from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.orders.snap import SequenceClasses, classes_to_document
from marginaudit.training.approximation import Approximation
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.snap.attention import path, solver
from marginaudit.training.snap.attention.common import follow_common
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.path import follow, turned
from marginaudit.training.snap.attention.rates import features, off_by
from marginaudit.training.snap.attention.solver import FROM_ZERO, SAFETY, TOLERANCE, solved
from tests.oracle.snap.flow import Flow
from tests.oracle.snap.problem import Problem
from tests.training.snap.independent import eq_10

ETA_Y, ETA_Z = 0.5, 0.3


def three() -> SequenceClasses:
    """Two queries, two common tokens, one of which occurs under both queries, classes without symmetry."""
    classes = [
        ("l", "p", {"a": 3, "b": 1, "x": 1}),
        ("m", "q", {"c": 2, "d": 1, "x": 2, "y": 1}),
        ("n", "q", {"e": 1, "y": 1}),
    ]
    return SequenceClasses.from_weights("three", 40, classes)


@pytest.mark.parametrize("t", [1.0, 100.0])
def test_eq_10_against_balls(t: float) -> None:
    data = three()
    z, B = eq_10(data, t, ETA_Y, ETA_Z)
    found = follow(data, [turned(t, data.K, data.M, ETA_Y, ETA_Z).value])
    for value, truth in ((found.z, z), (found.B, B)):
        assert (np.abs(value.value[0] - truth) <= value.error[0]).all()
        assert (value.error[0] <= 1e-9 * np.abs(value.value[0])).all()
        assert (value.error[0] > 0).all()
    assert [name for _, name in found.logits.names] == ["a", "b", "x", "x", "c", "d", "y", "e"]


@pytest.mark.parametrize(("beside", "rare"), [("b", 1e-6), ("b", 1e-9), ("c", 1.6e-8)])
def test_what_rounding_makes_of_a_token_that_has_all_attention(beside: str, rare: float) -> None:
    """At first z = Gamma times the rate at 0, in which f_a (f_a f' f - f'_a) is f_a f_b (f_a f'_b - f_b f'_a)."""
    other = {"a": 1.0, beside: 1.0}
    data = SequenceClasses.from_weights("two", 2**53, [("m", "p", other), ("n", "q", {"a": 1, "b": rare})])
    other_a, other_b = math.sqrt(0.5), math.sqrt(0.5) * (beside == "b")
    f_a, f_b = (c / math.hypot(1.0, rare) for c in (1.0, rare))
    e, q_0, q_1 = f_a * other_a + f_b * other_b, -(2.0**-53), 1.0
    beta = (q_1 - q_0) * e / (1 - e * e) - q_0 / (1 + e)
    found = follow(data, [1e-60])
    at = found.logits.names.index(("q", "a"))
    expected = 1e-60 * beta * f_a * f_b * (f_a * other_b - f_b * other_a)
    assert abs(found.z.value[0, at] - expected) <= found.z.error[0, at]


@pytest.mark.parametrize("rare", [1e-4, 1e-6])
def test_a_token_with_nearly_all_attention_moves_against_the_others(rare: float) -> None:
    """By far less than rounding is of each of the two terms of its dz."""
    data = beside_three({"x": 1.0, "y": rare})
    found = follow(data, [1.0, 266.0])
    x, y = (found.logits.names.index(("p", token)) for token in "xy")
    assert found.z.value[:, x] == pytest.approx(-found.z.value[:, y], rel=1e-9, abs=0)
    assert (found.z.error[:, x] <= 1e-5 * abs(found.z.value[:, x])).all()


def test_b_is_known_at_its_first_time_however_late_the_last_is() -> None:
    """Nearly dependent classes, whose rounding is far above the solver's tolerance; B with 40 digits."""
    classes = [("m", "q", {"c": 0.9977, "a": 0.0023}), ("n", "q", {"c": 1.0})]
    data = SequenceClasses.from_weights("red", 1000, classes)
    found = follow(data, turned([1, 10**18], data.K, data.M, 0.5, 5000.0).value)
    assert found.B.value[0, 0] == pytest.approx(47046.836043869, rel=1e-9, abs=0)
    assert (found.B.error[0] <= 1e-8 * found.B.value[0]).all()


def beside_three(tokens: dict[str, float]) -> SequenceClasses:
    classes = [("m", "q", {"a": 5.0, "b": 4.0, "x": 1.0}), ("n", "p", tokens)]
    return SequenceClasses.from_weights("beside", 100_000, classes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"c": 1, "d": 1, "a": 8}, {"c": 1, "d": 1}),
        ({"c": 1, "d": 1, "a": 8}, {"c": 1.0000002, "d": 1}),
        ({"c": 3, "d": 7, "a": 90}, {"c": 3, "d": 7}),
        ({"c": 1, "a": 3}, {"c": 0.9999, "x": 0.0001}),
    ],
    ids=["tie", "near tie", "proportional", "nearly alone"],
)
def test_tokens_that_hardly_move_do_not_stop_the_solver(one: dict[str, float], other: dict[str, float]) -> None:
    data = SequenceClasses.from_weights("two", 50_000, [("m", "p", one), ("n", "q", other)])
    turns = [1e-3, 20.0]
    found = follow(data, turns)
    flow = Flow(Problem(classes_to_document(data)))
    for i, state in enumerate(flow.states([arb(turn) for turn in turns])):
        z = [float(state[flow.pairs.index(pair)]) for pair in found.logits.names]
        B = [float(b) for b in state[len(flow.pairs) :]]
        assert (np.abs(found.z.value[i] - z) <= found.z.error[i]).all()
        assert (np.abs(found.B.value[i] - B) <= found.B.error[i]).all()
        assert (found.B.error[i] <= 2e-8 * np.array(B)).all()


def test_an_exact_tie_that_rounding_breaks_on_the_way_does_not_stop_the_solver() -> None:
    classes = [
        ("l", "p", {"d": 3.0}),
        ("m", "p", {"a": 3.0, "b": 3.0, "c": 1.0, "d": 3.0}),
        ("n", "q", {"a": 1.0, "b": 1.0}),
    ]
    found = follow(SequenceClasses.from_weights("three", 50, classes), [1e-3, 20.0])
    still = [found.logits.names.index(("q", token)) for token in "ab"]
    assert (np.abs(found.z.value[:, still]) <= found.z.error[:, still]).all()
    assert (found.B.error <= 1e-8 * found.B.value).all()


def test_what_a_part_of_every_term_makes_of_a_rate() -> None:
    """f = (1, 2)/sqrt 5 beside (0, 1), M large: (1+e^2)/(1-e^2) of dz_a by E, and (1+f_a^2)/f_c^2 by its terms."""
    classes = [("m", "p", {"a": 1.0, "c": 2.0}), ("n", "q", {"c": 1.0})]
    logits = Logits(SequenceClasses.from_weights("two", 2**53, classes))
    still, part = np.zeros(len(logits.names) + 2), 1e-6
    rate, off = (path._turning(logits, by)(0.0, still)[logits.names.index(("p", "a"))] for by in (0.0, part))  # noqa: SLF001
    assert (off / rate - 1) / part == pytest.approx(1.8 / 0.2 + 1.2 / 0.8, rel=1e-4, abs=0)


def test_a_part_of_every_term_holds_the_roundings_of_many_classes_and_of_many_tokens() -> None:
    """2 n + 6 of an overlap and 3 K of elimination; 3 n + K + 17 of a term of dz."""
    tokens = {f"a{k}": 1.0 for k in range(40)}
    many = [(f"n{k}", "q", {"a": 1.0, f"b{k}": 1.0}) for k in range(40)]
    long = [("m", "q", tokens), ("n", "q", tokens | {"b": 1.0})]
    data = (SequenceClasses.from_weights("mine", 1000, classes) for classes in (many, long))
    of_many, of_long = (path._roundings(one) for one in data)  # noqa: SLF001
    assert of_many >= (2 * 2 + 6 + 3 * 40) * UNIT_ROUNDOFF
    assert of_long >= (3 * 41 + 2 + 17) * UNIT_ROUNDOFF


def test_each_term_of_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """States t, the same again, 2^-27 t and two that stay 0; in the coarser run all but the first are off."""

    def run(rate: Any, size: int, times: Any, tolerance: float, first: float) -> Any:
        state = np.outer(times, [1, 1, 2.0**-27, 0, 0])
        return state if tolerance == TOLERANCE else state + np.outer(times, [0, 2.0**-28, 2.0**-50, 2.0**-30, 0])

    monkeypatch.setattr(solver, "_run", run)
    at = np.array([0.0, 2.0, 6.0])
    found = solved(lambda t, x: x, 5, at, 2.0)
    least = SAFETY * TOLERANCE * FROM_ZERO * 2
    bars = SAFETY * np.array([2.0**-28, 2.0**-28, 2.0**-50, 2.0**-30, 0])
    np.testing.assert_allclose(found.error, [np.zeros(5), 2 * bars + least, 6 * bars + least], rtol=1e-5)
    monkeypatch.setattr(solver, "_run", lambda rate, size, times, *_: np.ones((len(times), size)))
    alike = solved(lambda t, x: x, 5, at, 2.0).error[1:]
    np.testing.assert_allclose(alike, SAFETY * TOLERANCE + 64 * UNIT_ROUNDOFF + least, rtol=1e-12)


def test_features_are_off_by_twice_the_largest_score_s_error() -> None:
    for value, error in ((np.array([0.5, -3.0]), np.array([0.25, 0.125])), (np.array([2.0]), np.zeros(1)), ([], [])):
        z = Approximation(np.asarray(value, dtype=float), np.asarray(error, dtype=float))
        bound = max([0.0, *map(abs, value)])
        expected = np.expm1(2 * max([0.0, *error])) + 64 * UNIT_ROUNDOFF * (1 + bound)
        assert off_by(z) == pytest.approx(expected, rel=1e-12, abs=0)


def test_attention_that_underflows_is_not_known_to_be_0() -> None:
    classes = [("m", "q", {"a": 1.0, "rare": 1e-320}), ("n", "q", {"b": 1.0})]
    logits = Logits(SequenceClasses.from_weights("two", 9, classes))
    z = Approximation(np.where([token == "rare" for _, token in logits.names], -50.0, 0.0), np.zeros(3))
    f, _ = features(logits, z)
    assert f.value[:, 1].tolist() == [0.0, 0.0]
    assert (f.error[:, 1] > 0).tolist() == [True, False]


@pytest.mark.parametrize("turns", [0.3, 1.0, 3.0, 10.0, 30.0, 100.0])
def test_a_bar_covers_wherever_it_is_asked_for(turns: float) -> None:
    """At single times the two runs can agree by chance, and did: eq. 13, where the truth is known."""
    for eta_Y, eta_Z in ((0.05, 3.0), (0.5, 0.05), (0.9, 1e-6)):
        at = turns * np.array([1.0, 1.7, 1e6])
        found = follow_common(at, 6.29, 2, 5000, eta_Y, eta_Z)
        expected = np.log1p(4 / 6.29 * turned(at, 2, 5000, eta_Y, eta_Z).value) / 4
        assert (np.abs(found.B.value - expected) < found.B.error).all()
        assert (found.B.error < 1e-9 * expected).all()


def test_classes_without_a_dual() -> None:
    same = [("m", "q", {"a": 1.0, "x": 1.0}), ("n", "q", {"a": 1.0, "x": 1.0})]
    with pytest.raises(ValueError, match="linearly dependent"):
        follow(SequenceClasses.from_weights("same", 40, same), [1.0])


@pytest.mark.parametrize("turns", [[1e-101, 1.0], [1.0, 1e51]])
def test_turns_beyond_the_solver(turns: list[float]) -> None:
    with pytest.raises(NotIntegrated, match="is not within 1e-100 to 1e"):
        follow(three(), turns)
    assert follow(three(), [1e-99]).B.value.min() > 0


def test_a_solver_that_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    LSODA = scipy.integrate.LSODA
    step, state = LSODA.step, LSODA.dense_output

    def failed(solver: Any) -> str:
        step(solver)
        solver.status = "failed"
        return "no more"

    monkeypatch.setattr(LSODA, "step", failed)
    with pytest.raises(NotIntegrated, match="to 1 on its clock: no more"):
        follow(three(), [1.0])
    with pytest.raises(NotIntegrated, match="on its clock: no more"):
        follow_common([1.0], 50.0, 2, 1000, ETA_Y, ETA_Z)
    monkeypatch.setattr(LSODA, "step", step)
    monkeypatch.setattr(LSODA, "dense_output", lambda solver: lambda at: np.nan * state(solver)(at))
    with pytest.raises(NotIntegrated, match="not integrated to 1"):
        follow(three(), [1.0])


def test_a_solution_that_overflows_ends_the_integration_without_a_warning() -> None:
    """Found by the oracle: attention of two classes becomes dependent to all digits."""
    rows = (
        {"c": 1.0041061491194989e-09, "a": 0.014122419057052065, "d": 0.07335797770329014, "b": 0.9125196022355516},
        {"b": 0.12450359293253435, "d": 0.00014178903847808337, "c": 0.8753546180289875},
        {"a": 1.0},
    )
    data = SequenceClasses.from_weights("near", 14, [(name, "b", row) for name, row in zip("abc", rows, strict=True)])
    steps = [110, 1100577, 128766513, 636027597, 15253343528, 214873573300]
    with pytest.raises(NotIntegrated, match="linearly dependent"):
        follow(data, turned(steps, 3, 14, 499.9, 1e17).value)
