"""Recorded runs on sequence classes against a textbook SGD, and mistakes planted in it."""

from dataclasses import replace

import numpy as np
import pytest

from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.conformity import Departure
from marginaudit.training.snap.conformity import compared_classes
from marginaudit.training.trajectory import Recorded
from tests.training.snap.program import THREE, Program


def departure(program: Program) -> Departure:
    found = [one.departs_at for one in compared_classes(THREE, *program.run(THREE), 0.5, 0.05)]
    (only,) = (one for one in found if one is not None)
    return only


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_faithful_run_conforms_and_every_step_is_decided(dtype: type) -> None:
    found = compared_classes(THREE, *Program(dtype=dtype, steps=400).run(THREE), 0.5, float(dtype(0.05)))
    assert [(one.stage, one.records, one.departs_at) for one in found] == [("Y", 401, None), ("Z", 401, None)]
    assert all(one.decided == 401 for one in found)


@pytest.mark.parametrize("seed", range(40))
def test_no_faithful_run_departs(seed: int) -> None:
    """Classes, sizes, lengths and precisions at random; large steps learn a class within a few, and hide it."""
    rng = np.random.default_rng(seed)
    K, tokens = int(rng.integers(1, 5)), int(rng.integers(1, 8))
    classes = []
    for n in range(K):
        some = rng.choice(tokens, size=rng.integers(1, tokens + 1), replace=False)
        classes.append((f"n{n}", f"q{rng.integers(K)}", {f"t{i}": float(rng.integers(1, 9)) for i in some}))
    data = SequenceClasses.from_weights("random", int(rng.integers(3 * K + tokens, 60)), classes)
    dtype = (np.float32, np.float64)[seed % 2]
    lr_y, lr_z = float(dtype(10 ** rng.uniform(-2, 2))), float(dtype(10 ** rng.uniform(-3, 1.5)))
    program = Program(lr_y, lr_z, dtype, length=int(rng.integers(1, 60)), seed=seed)
    found = compared_classes(data, *program.run(data), lr_y, lr_z)
    assert [one.departs_at for one in found] == [None, None]
    assert all(one.decided > 1 for one in found)


@pytest.mark.parametrize(
    ("program", "stage", "step", "cause", "value"),
    [
        (Program(lr_y=0.3), "Y", 1, "step size 0.3", 0.3),
        (Program(lr_y=0.0), "Y", 1, "step size 0", 0.0),
        (Program(lr_z=0.2), "Z", 2, "step size 0.2", 0.2),
        (Program(lr_z=0.0), "Z", 2, "step size 0", 0.0),
        (Program(scale=0.5), "Z", 2, "step size 0.025", 0.025),
        (Program(normalised=False), "Y", 1, "f not normalised", None),
        (Program(normalised=False, lr_y=0.2), "Y", 1, "f not normalised and step size 0.2", 0.2),
        (Program(through_norm=False), "Z", 2, "no gradient through the norm of f", None),
        (Program(transposed=True), "Y", 1, "a transposed Y", None),
        (Program(momentum_y=0.9), "Y", 2, "momentum (0.9)", 0.9),
        (Program(momentum_z=0.37), "Z", 3, "momentum (0.37)", 0.37),
        (Program(batch=4), "Y", 1, None, None),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_mistake_is_found_at_its_first_step(
    program: Program, stage: str, step: int, cause: str | None, value: float | None, dtype: type
) -> None:
    found = departure(replace(program, dtype=dtype))
    assert (found.stage, found.step, found.cause) == (stage, step, cause)
    assert found.value == (value if value is None else pytest.approx(value, abs=1e-5))
    assert found.error > 10 * found.bar


@pytest.mark.parametrize(
    ("program", "token", "cause", "value"),
    [
        (Program(reversed_probabilities=True, steps=1500), "c", "tokens drawn with another probability", 1 / 3),
        (Program(rates=(0.6, 0.2, 0.2), steps=1500), "n0", "classes drawn at another rate", 0.6),
    ],
)
def test_draws_of_another_distribution_depart(program: Program, token: str, cause: str, value: float) -> None:
    found = departure(program)
    assert (found.stage, found.step, found.token, found.cause) == ("Y", 1500, token, cause)
    assert found.value == pytest.approx(value, abs=0.05)
    assert found.explained == "chance"


def test_weights_beyond_float64_are_no_run() -> None:
    decoder, attention = Program().run(THREE)
    large = Recorded(decoder.step, decoder.weights * 1e300)
    assert compared_classes(THREE, large, attention, 0.5, 0.05)[0].departs_at is not None


def test_a_gap_between_records_decides_nothing() -> None:
    decoder, attention = (Recorded(one.step[::2], one.weights[::2]) for one in Program(lr_y=0.3).run(THREE))
    found = compared_classes(THREE, decoder, attention, 0.5, 0.05)
    assert [(one.decided, one.departs_at) for one in found] == [(1, None), (1, None)]
