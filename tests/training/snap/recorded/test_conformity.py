"""Recorded runs on sequence classes against a textbook SGD, and mistakes planted in it."""

from dataclasses import replace

import numpy as np
import pytest

from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.departure import Departure
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.snap.recorded.conformity import compared_classes
from marginaudit.training.snap.recorded.draws import OTHER_TOKENS, Draws
from marginaudit.training.snap.recorded.step import Rule, Tokens, WeightChange, shown_sequence, steps
from tests.training.snap.recorded.program import THREE, Program


def departure(program: Program) -> Departure:
    """Where the run departs: that step is decided, as all before it."""
    found = compared_classes(THREE, *program.run(THREE), 0.5, 0.05)
    ((only, decided),) = ((one.departs_at, one.decided) for one in found if one.departs_at is not None)
    assert decided == only.step + 1
    return only


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_faithful_run_conforms_and_every_step_is_decided(dtype: type) -> None:
    reached: list[float] = []
    found = compared_classes(
        THREE, *Program(dtype=dtype, steps=400).run(THREE), 0.5, float(dtype(0.05)), reached.append
    )
    assert [(one.stage, one.records, one.departs_at) for one in found] == [("Y", 401, None), ("Z", 401, None)]
    assert all(one.decided == 401 for one in found)
    assert reached == [i / 401 for i in range(1, 401)]


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


def test_a_step_less_its_momentum_is_known_as_both_steps_are() -> None:
    now, last = (
        WeightChange(0.0, np.zeros(1), np.array([by]), np.array([off])) for by, off in ((3.0, 0.25), (2.0, 0.5))
    )
    found = now.without(last, 0.5)
    ends = [a - 0.5 * b for a in (2.75, 3.25) for b in (1.5, 2.5)]
    assert [*(found.by - found.written), *(found.by + found.written)] == [min(ends), max(ends)]


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
        (Program(momentum_y=0.37), "Y", 2, "momentum (0.37)", 0.37),
        (Program(momentum_z=0.37), "Z", 3, "momentum (0.37)", 0.37),
        (Program(momentum_y=-0.3), "Y", 2, None, None),
        (Program(momentum_z=-0.3), "Z", 3, None, None),
        (Program(batch=4), "Y", 1, "a batch of sequences at each step", None),
        (
            Program(batch=8, momentum_y=0.9),
            "Y",
            1,
            "a batch of sequences at each step, with momentum or a larger step size",
            None,
        ),
        (Program(decay=0.01), "Y", 2, "weight decay (0.01)", 0.01),
        (Program(skipped=5), "Y", 5, "step 5 skipped", None),
        (Program(twice=5), "Y", 5, "step 5 taken twice", None),
        (Program(warmup=20), "Y", 1, "a schedule of step sizes (0.025 at step 1, 0.5 at step 60)", None),
        (Program(optimizer="sign", lr_y=0.05), "Y", 1, "sign descent (step size 0.05)", 0.05),
        (Program(optimizer="adam", lr_y=0.05), "Y", 1, "Adam (step size 0.05)", 0.05),
        (
            Program(optimizer="adamw", lr_y=0.05, decay=0.01),
            "Y",
            1,
            "AdamW (step size 0.05, weight decay 0.01)",
            0.05,
        ),
        (
            Program(optimizer="adagrad", lr_y=0.05),
            "Y",
            1,
            "Adagrad (step size 0.05) or RMSprop (step size 0.005)",
            0.05,
        ),
        (
            Program(optimizer="rmsprop", lr_y=0.05),
            "Y",
            1,
            "Adagrad (step size 0.5) or RMSprop (step size 0.05)",
            0.5,
        ),
        (Program(half="bfloat16"), "Y", 1, "half precision (bfloat16)", 2.0**-8),
        (Program(half="float16"), "Y", 1, "half precision (float16), or TF32", 2.0**-11),
        (Program(attends="query"), "Y", 1, "another mask (the query is attended too)", None),
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
    assert found.token in (THREE.queries if stage == "Z" else THREE.tokens)


@pytest.mark.parametrize(
    ("program", "token", "cause", "value"),
    [
        (Program(reversed_probabilities=True, steps=1500), "c", OTHER_TOKENS, 1 / 3),
        (Program(rates=(0.6, 0.2, 0.2), steps=1500), "n0", "classes drawn at another rate", 0.6),
        (Program(power=1.5, steps=1500), "a", OTHER_TOKENS, 5**1.5 / (5**1.5 + 2**1.5 + 3**1.5)),
    ],
)
def test_draws_of_another_distribution_depart(program: Program, token: str, cause: str, value: float) -> None:
    found = departure(program)
    assert (found.stage, found.step, found.token, found.cause) == ("Y", 1500, token, cause)
    assert found.value == pytest.approx(value, abs=0.05)
    assert found.explained == "chance"


LARGE = Program(lr_y=1.0, lr_z=1.0, batch=64, length=60, momentum_y=0.9, momentum_z=0.9, steps=40)
"""Batches and momentum as in section 8."""


def test_large_batches_with_momentum_are_named_with_both_numbers() -> None:
    """Also at another step size than compared with; not where tokens or classes are drawn otherwise."""
    words = "large batches (about 44 sequences), momentum about 0.9, and step size about 0.99"
    assert departure(LARGE).cause == words
    assert compared_classes(THREE, *LARGE.run(THREE), 0.3, 0.3)[0].departs_at.cause == words  # type: ignore[union-attr]
    for other in (replace(LARGE, reversed_probabilities=True), replace(LARGE, rates=(0.6, 0.2, 0.2))):
        assert str(departure(other).cause).startswith("a batch of sequences at each step")


def test_muon_is_told_by_the_singular_values_of_its_steps() -> None:
    found = departure(Program(optimizer="muon"))
    assert (found.step, str(found.cause)[:21]) == (1, "Muon (step size about")
    assert found.value == pytest.approx(0.5, rel=0.3, abs=0)


def test_sequences_of_several_lengths_may_vary_more() -> None:
    """Of one token or twelve: all shares are multiples of 1/12, and a class's tokens are not twelve times its draws."""
    runs = [Program(length=length, steps=750, seed=length).run(THREE) for length in (1, 12)]
    draws, tokens, rule = Draws(THREE), Tokens(THREE), Rule(0.5, 0.05)
    for run in runs:
        for _, step in steps(*run):
            draws.add(tokens, step, shown_sequence(tokens, step, rule))
    assert draws.departure(1500) is None
    for one, of in zip(draws.of_class, THREE.classes, strict=True):
        P = np.array([of.probabilities[token] for token in of.support])
        assert one.length(P) == 1
        assert (np.abs(one.mean - P) < 0.15).all()


def test_weights_beyond_float64_are_no_run() -> None:
    decoder, attention = Program().run(THREE)
    large = Recorded(decoder.step, decoder.weights * 1e300)
    assert compared_classes(THREE, large, attention, 0.5, 0.05)[0].departs_at is not None


ONE = SequenceClasses.from_weights("one", 3, [("n", "q", {"a": 1})])
TWO = SequenceClasses.from_weights("two", 4, [("n", "q", {"a": 1, "b": 1})])
UNEVEN = SequenceClasses.from_weights("uneven", 5, [("n", "q", {"a": 3, "b": 1}), ("m", "q", {"b": 1})])
WIDE = SequenceClasses.from_weights("wide", 402, [("n", "q", {f"t{i}": 1 for i in range(400)})])


@pytest.mark.parametrize(
    ("data", "program"),
    [
        (ONE, Program(lr_y=1e4, steps=3, start_y=((0, 2, 20.0),))),  # 1 - alpha_n is rounded to 0
        (UNEVEN, Program(length=10_000, steps=20)),  # sums over positions
        (TWO, Program(lr_y=0.01, lr_z=0.01, steps=400, start_z=((0, 1, 120.0),))),  # the other token's share underflows
        (WIDE, Program(length=2000, steps=4)),  # a norm of many squares
    ],
)
def test_what_rounding_does_in_float32_is_within_the_bars(data: SequenceClasses, program: Program) -> None:
    decoder, attention = replace(program, dtype=np.float32).run(data)
    lr_y, lr_z = float(np.float32(program.lr_y)), float(np.float32(program.lr_z))
    assert [one.departs_at for one in compared_classes(data, decoder, attention, lr_y, lr_z)] == [None, None]


def test_float32_that_is_written_as_float64_is_float32() -> None:
    run = Program(dtype=np.float32).run(THREE)
    decoder, attention = (Recorded(one.step, one.weights.astype(np.float64)) for one in run)
    found = compared_classes(THREE, decoder, attention, 0.5, float(np.float32(0.05)))
    assert [one.departs_at for one in found] == [None, None]


def test_no_cause_is_named_by_steps_that_cannot_tell() -> None:
    """First draws of classes without common tokens only scale; no step follows; Z stands still after one."""
    classes = [(f"n{i}", "q", {f"a{i}": 2, f"b{i}": 1}) for i in range(20)]
    data = SequenceClasses.from_weights("disjoint", 70, classes)
    smoothed = compared_classes(data, *Program(smoothed=0.1, steps=80).run(data), 0.5, 0.05)[0].departs_at
    assert smoothed is not None
    assert smoothed.cause is None
    assert [departure(Program(lr_y=0.3, steps=steps)).cause for steps in (1, 2)] == [None, "step size 0.3"]
    decoder, attention = Program().run(THREE)
    stands = Recorded(attention.step, np.concatenate([attention.weights[:3], attention.weights[2:-1]]))
    found = compared_classes(THREE, decoder, stands, 0.5, 0.05)[1].departs_at
    assert found is not None
    assert (found.step, found.cause) == (3, None)


def test_z_is_held_to_what_a_hidden_step_can_do() -> None:
    decoder, attention = Program(lr_y=40.0).run(TWO)
    jumps = attention.weights + 0.01 * (attention.step >= 30)[:, np.newaxis, np.newaxis]
    found = compared_classes(TWO, decoder, Recorded(attention.step, jumps), 40.0, 0.05)
    assert found[0].decided < 30
    assert found[1].departs_at is not None
    assert found[1].departs_at.step == 30


def test_a_gap_between_records_decides_nothing() -> None:
    decoder, attention = (Recorded(one.step[::2], one.weights[::2]) for one in Program(lr_y=0.3).run(THREE))
    found = compared_classes(THREE, decoder, attention, 0.5, 0.05)
    assert [(one.decided, one.departs_at) for one in found] == [(0, None), (0, None)]
    assert found[0].note == "no two records are one step apart, so none is compared: record every step"
