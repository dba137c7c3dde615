"""Runs of a stranger's program: the right ones conform, each mistake is found at its first step with its cause."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset, Sample
from marginaudit.record import Recorder
from marginaudit.training.departure import Departure, StageComparison
from marginaudit.training.ntp import train
from marginaudit.training.ntp.recorded.comparison import compared
from marginaudit.training.ntp.recorded.gradients import Stage1Loss, TextbookGradient
from marginaudit.training.ntp.recorded.rules import Stage, adaptive, stage1_rounding, textbook
from marginaudit.training.ntp.recorded.trajectory import Trajectory, read_trajectory
from marginaudit.training.ntp.start import step_sizes
from tests.solutions import known
from tests.training.ntp.recorded.program import Mistake, run, stage1_gradient, stage2_gradient
from tests.training.ntp.recorded.styles import FORMS, Program, Style, random_dataset

ONE_HOT = CASES["example-1"]()
COUNTED = replace(CASES["free-20"](), counts=tuple(1 + 7 * (i % 3) for i in range(CASES["free-20"]().N)))
EMBEDDED = replace(ONE_HOT, embedding=np.random.default_rng(3).normal(size=(4, 3)))
SQUARE = replace(ONE_HOT, embedding=np.random.default_rng(3).normal(size=(4, 4)))
OTHER = tuple(np.random.default_rng(7).uniform(0.1, 1, COUNTED.N).tolist())
LENGTHS = tuple(pi * len(sample.tokens) for pi, sample in zip(SQUARE.frequencies, SQUARE.samples, strict=True))
BOTH = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def read(tmp_path: Path, data: Dataset, recorder: Recorder) -> Trajectory:
    recorder.save(tmp_path / "run.npz")
    return read_trajectory(tmp_path / "run.npz", data)


def stages(tmp_path: Path, data: Dataset, recorder: Recorder) -> list[StageComparison]:
    return compared(data, read(tmp_path, data, recorder))


def departure(tmp_path: Path, data: Dataset, recorder: Recorder) -> Departure:
    first, second = stages(tmp_path, data, recorder)
    assert first.departs_at is None
    found = known(second.departs_at)
    assert found.stage == 2
    return found


@BOTH
@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("data", [ONE_HOT, COUNTED, EMBEDDED], ids=["one-hot", "counted", "embedded"])
def test_a_strangers_algorithm_1_conforms_step_by_step_and_across_gaps(
    data: Dataset, every: int, dtype: Any, tmp_path: Path
) -> None:
    for one in stages(tmp_path, data, run(data, dtype, (60, 40), every=every)):
        assert one.departs_at is None
        assert one.decided == one.records


@BOTH
@pytest.mark.parametrize(
    ("mistake", "step", "cause", "value"),
    [
        (Mistake(normalised=False), 1, "gradient not normalised", None),
        (Mistake(real_lr2=0.0), 1, "step size 0", None),
        (Mistake(real_lr2=0.07), 1, "another step size (0.07)", 0.07),
        (Mistake(normalised=False, real_lr2=0.5), 1, "gradient not normalised, and another step size (0.5)", 0.5),
        (Mistake(uniform=True), 1, "the mean over other weights than pi (every distinct sample alike)", None),
        (Mistake(weights=OTHER), 1, "the mean over other weights than pi (found by least squares)", None),
        (Mistake(transposed=True), 1, "a transposed W_kq", None),
        (Mistake(together=True), 1, "W_ov not frozen (both normalised together)", None),
        (Mistake(ov_moves=True), 2, "W_ov not frozen (descends on Loss, step size 0.1)", None),
        (
            Mistake(ov_moves=True, ov_plainly=True),
            2,
            "W_ov not frozen (descends on Loss, not normalised, step size 0.1)",
            None,
        ),
        (Mistake(momentum=0.9), 2, "momentum (0.9)", 0.9),
        (Mistake(real_lr2=0.03, momentum=0.9), 1, "momentum (0.9), and another step size (0.03)", 0.9),
        (Mistake(epsilon=0.03), 1, "epsilon in the norm (0.03)", 0.03),
        (Mistake(normalised=False, momentum=0.5), 1, "momentum (0.5), and gradient not normalised", 0.5),
        (Mistake(scale=20**-0.5), 2, "scores divided by sqrt(d)", None),
        (Mistake(optimizer="sign"), 1, "sign descent (step size 0.05)", 0.05),
        (Mistake(optimizer="adam"), 1, "Adam (step size 0.05)", 0.05),
        (Mistake(decay=0.25), 2, "weight decay (0.25)", 0.25),
        (Mistake(start=0.125), 0, "another start than zero", None),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_mistake_is_found_at_its_first_step_with_its_cause(
    mistake: Mistake, step: int, cause: str, value: float | None, dtype: Any, tmp_path: Path
) -> None:
    found = departure(tmp_path, COUNTED, run(COUNTED, dtype, (30, 8), mistake=mistake))
    assert (found.step, found.cause) == (step, cause)
    assert found.value == (None if value is None else pytest.approx(value, rel=1e-3, abs=0))
    assert found.error > 10 * found.bar
    assert found.token in COUNTED.vocabulary


def test_a_recorded_zero_is_no_other_start(tmp_path: Path) -> None:
    whole = read(tmp_path, COUNTED, run(COUNTED, steps=(30, 8)))
    second = known(whole.stage2)
    still = replace(second, weights=np.concatenate([second.weights[:1], second.weights[:-1]]))
    _, found = compared(COUNTED, replace(whole, stage2=still))
    assert (known(found.departs_at).step, known(found.departs_at).cause) == (1, "step 1 skipped")


def test_another_start_is_seen_from_later_records_too(tmp_path: Path) -> None:
    whole = read(tmp_path, COUNTED, run(COUNTED, steps=(30, 8), mistake=Mistake(start=0.125)))
    second = known(whole.stage2)
    late = replace(second, step=second.step[1:], weights=second.weights[1:])
    _, found = compared(COUNTED, replace(whole, stage2=late))
    assert (known(found.departs_at).step, known(found.departs_at).cause) == (1, "another start than zero")


@pytest.mark.parametrize(
    ("mistake", "cause"),
    [
        (Mistake(real_lr2=0.07), "another step size (0.07)"),
        (Mistake(momentum=0.9), "momentum (0.9)"),
        (Mistake(transposed=True), "a transposed W_kq"),
        (Mistake(weights=LENGTHS), "the mean over other weights than pi (pi times the length)"),
    ],
    ids=["size", "momentum", "transposed", "weights"],
)
def test_a_mistake_is_found_where_steps_are_left_out(mistake: Mistake, cause: str, tmp_path: Path) -> None:
    found = departure(tmp_path, SQUARE, run(SQUARE, steps=(30, 20), mistake=mistake, every=5))
    assert (found.step, found.cause) == (5, cause)


def test_the_query_whose_column_is_off_is_named(tmp_path: Path) -> None:
    recorder = Recorder(lr2=0.05)
    trained = train(ONE_HOT, steps1=900, steps2=3, lr2=0.05, at=[0, 1, 2, 3])
    recorder.stage1(900, trained.W_ov)
    for i, t in enumerate(trained.stage2.step.tolist()):
        W = trained.stage2.score_matrix(i, 4)
        W[1, 2] += 1e-9 * (t == 3)
        recorder.stage2(t, W)
    found = departure(tmp_path, ONE_HOT, recorder)
    assert (found.step, found.token, found.cause) == (3, "O", None)
    assert found.error == pytest.approx(1e-9, rel=1e-5, abs=0)


def test_a_stage_1_of_plain_descent_departs_and_stage_2_is_judged_by_its_own_w_ov(tmp_path: Path) -> None:
    recorder, W_ov = Recorder(lr1=0.1, lr2=0.05), np.zeros((4, 4))
    n = ONE_HOT.collocation.function
    answer = [ONE_HOT.index[n[x]] for x in ONE_HOT.vocabulary]
    for t in range(10):
        recorder.stage1(t, W_ov)
        e = np.exp(W_ov)
        G = e / e.sum(axis=0)
        G[answer, range(4)] -= 1
        W_ov = W_ov - 0.1 * G
    recorder.stage2(0, np.zeros((4, 4)))
    first, second = stages(tmp_path, ONE_HOT, recorder)
    assert (known(first.departs_at).step, known(first.departs_at).cause) == (1, "gradient not normalised")
    assert second.departs_at is None


def test_joint_training_is_a_w_ov_that_is_not_frozen(tmp_path: Path) -> None:
    recorder, W_ov, W = Recorder(lr1=0.1, lr2=0.05), np.zeros((4, 4)), np.zeros((4, 4))
    for t in range(8):
        recorder.stage1(t, W_ov)
        recorder.stage2(t, W)
        G_ov, (G, _) = stage1_gradient(ONE_HOT, W_ov), stage2_gradient(ONE_HOT, W_ov, W, Mistake())
        W_ov = W_ov - 0.1 * G_ov / np.linalg.norm(G_ov)
        W = W - 0.05 * G / (np.linalg.norm(G) or 1)
    found = departure(tmp_path, ONE_HOT, recorder)
    assert (found.step, found.cause) == (1, "W_ov not frozen (as recorded at each step)")


def test_nothing_is_decided_where_rounding_hides_the_gradient(tmp_path: Path) -> None:
    """In float32 P - e_y has no digit left at margins of 50."""
    recorder = Recorder(lr1=0.1)
    W_ov = train(ONE_HOT, steps1=900, steps2=0, lr1=0.1).W_ov
    recorder.stage1(900, W_ov.astype(np.float32))
    astray = np.random.default_rng(0).normal(size=(4, 4))
    W_ov += 0.1 * astray / np.linalg.norm(astray)
    recorder.stage1(901, W_ov.astype(np.float32))
    (found,) = stages(tmp_path, ONE_HOT, recorder)
    assert found.departs_at is None
    assert (found.decided, found.records) == (1, 2)


@pytest.mark.parametrize("T", [600, 900])
def test_a_step_has_its_length_where_rounding_hides_its_direction(T: int, tmp_path: Path) -> None:
    """After 900 steps the squares of the gradient's entries underflow in float32."""
    recorder = Recorder(lr1=0.1)
    W_ov = train(ONE_HOT, steps1=T, steps2=0, lr1=0.1).W_ov.astype(np.float32)
    for t in (T, T + 1):
        recorder.stage1(t, W_ov)
    (found,) = stages(tmp_path, ONE_HOT, recorder)
    departs = found.departs_at and (found.departs_at.step, found.departs_at.cause)
    assert departs == ((601, "a step of length 0") if T == 600 else None)


def test_a_norm_that_underflows_is_no_departure_and_is_said(tmp_path: Path) -> None:
    """Squares of exp(-46) and less in float32, of margins that grow by 8/sqrt(3) a step."""
    first, _ = stages(tmp_path, ONE_HOT, run(ONE_HOT, np.float32, (30, 0), (8.0, 0.05)))
    assert first.departs_at is None
    assert first.note.startswith("at step ")
    assert "stage 1 the norm underflowed in float32" in first.note
    assert first.decided < first.records


def test_steps_that_an_open_w_ov_leaves_undecided_are_not_called_an_underflow(tmp_path: Path) -> None:
    """Random steps of other lengths than lr, from a random start, after 900 steps of stage 1 in float32."""
    recorder = Recorder()
    for t, W in enumerate(np.cumsum(np.random.default_rng(0).normal(size=(4, 4, 4)), axis=0)):
        recorder.stage2(t, (0.01 * W).astype(np.float32))
    (found,) = stages(tmp_path, ONE_HOT, recorder)
    assert found.decided == 1
    assert found.note == "rounding leaves W_ov open in float32: record its last value as stage 1"


def test_w_ov_is_as_far_off_as_roundings_of_its_steps_add_up_to() -> None:
    """Beside stage 1 in float32: exact where a step takes no error along, and a bound after 200 of the paper's."""
    data = random_dataset(3, 8, "rotated", 1)
    stage = Stage(Stage1Loss(data), 0.2 / 8**0.5, 2.0**-24)
    first, u = stage.gradient(np.zeros((8, 8))), 2.0**-24
    once = np.sqrt(2) * np.linalg.norm(first.rounding) / np.linalg.norm(first.value) + (64 / 2 + 4) * u + u
    assert stage1_rounding(stage, 1) == pytest.approx(stage.lr * once, rel=1e-12, abs=0)
    for form in FORMS:
        program = Program(data, Style(form=form, dtype=np.float32))
        W_ov, _ = program.run((200, 0), (float(np.float32(stage.lr)), 0.05))
        off = np.linalg.norm(W_ov[-1] - train(data, steps1=200, steps2=0, lr1=stage.lr).W_ov)
        assert 0 < off < stage1_rounding(stage, 200) < 1e4 * off


def test_steps_across_a_gap_are_as_long_as_underflow_makes_the_last_one(tmp_path: Path) -> None:
    first, _ = stages(tmp_path, ONE_HOT, run(ONE_HOT, np.float32, (19, 0), (8.0, 0.05), every=5))
    assert first.departs_at is None


def test_a_gradient_that_is_rounding_alone_may_lead_anywhere_across_a_gap_too(tmp_path: Path) -> None:
    data = Dataset("alike", ("a", "b"), (Sample(("a",) * 3, "b"),), (1,), next_token={"a": "b", "b": "a"})
    recorder = Recorder(lr1=0.1, lr2=0.05)
    recorder.stage1(9, train(data, steps1=9, steps2=0, lr1=0.1).W_ov)
    for t in (0, 3):
        recorder.stage2(t, t * 0.05 * np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert [one.departs_at for one in stages(tmp_path, data, recorder)] == [None, None]


def test_a_textbooks_stage_1_stands_still_where_its_gradient_underflows() -> None:
    W_ov = textbook(Stage(Stage1Loss(ONE_HOT), 100.0, 2.0**-53), 900)
    assert np.isfinite(W_ov).all()


@pytest.mark.parametrize(
    ("t", "lr", "share", "departs"),
    [(600, 0.1, 0.3, False), (600, 0.1, 2.0, True), (30_000, 5e-4, 1.015, False), (30_000, 5e-4, 1.03, True)],
)
def test_five_steps_go_no_farther_than_five_lengths_and_may_turn(
    t: int, lr: float, share: float, departs: bool, tmp_path: Path
) -> None:
    """Each of them is rounded: of W of length 60 by 180 units of 2^-24, 2 % of 5e-4."""
    recorder = Recorder(lr1=lr)
    W_ov = train(ONE_HOT, steps1=600, steps2=0, lr1=0.1).W_ov
    recorder.stage1(t, W_ov.astype(np.float32))
    recorder.stage1(t + 5, (W_ov + share * 5 * lr * W_ov / np.linalg.norm(W_ov)).astype(np.float32))
    (found,) = stages(tmp_path, ONE_HOT, recorder)
    assert (found.departs_at is not None) == departs


def test_a_departure_over_gaps_without_a_cause_says_what_is_not_recognised_there(tmp_path: Path) -> None:
    """A minibatch leaves its samples open, which one step shows and five do not."""
    for every, cause, note in (
        (1, "a minibatch (other samples at each step)", ""),
        (5, None, "Muon, schedules and minibatches are recognised in consecutive steps only: record every step"),
    ):
        _, found = stages(tmp_path, SQUARE, run(SQUARE, steps=(30, 20), mistake=Mistake(batch=3), every=every))
        assert (known(found.departs_at).cause, found.note) == (cause, note)


@pytest.mark.parametrize("only", [300, 900])
def test_a_w_ov_that_is_not_recorded_is_rounded_and_may_be_of_another_step(only: int, tmp_path: Path) -> None:
    """Late in stage 1 all digits of P - e_y are lost in float64 too."""
    data = ONE_HOT if only == 900 else COUNTED
    trajectory = replace(read(tmp_path, data, run(data, steps=(only, 20))), stage1=None)
    (found,) = compared(data, trajectory, steps1=only)
    assert found.departs_at is None
    (found,) = compared(data, trajectory)
    assert (found.departs_at and found.departs_at.cause) == (None if only == 900 else "W_ov after 300 steps")


@pytest.mark.parametrize(("optimizer", "cause"), [("sign", "sign descent"), ("adam", "Adam")])
def test_signs_of_entries_that_cancel_are_left_out(optimizer: str, cause: str, tmp_path: Path) -> None:
    """12 entries of section 7's gradient are rounding alone at the first step."""
    data = CASES["section-7"]()
    recorder = run(data, steps=(60, 6), mistake=Mistake(optimizer=optimizer))
    found = departure(tmp_path, data, recorder)
    assert (found.step, found.cause) == (1, f"{cause} (step size 0.05)")


def test_a_change_late_in_a_run_is_found(tmp_path: Path) -> None:
    recorder = Recorder(lr2=0.05)
    own = train(ONE_HOT, steps1=60, steps2=600, lr2=0.05, at=range(601))
    recorder.stage1(60, own.W_ov)
    weights = [own.stage2.score_matrix(i, 4) for i in range(601)]
    for _ in range(4):
        G, _ = stage2_gradient(ONE_HOT, own.W_ov, weights[-1], Mistake())
        weights.append(weights[-1] - 0.02 * G / np.linalg.norm(G))
    for t, W in enumerate(weights):
        recorder.stage2(t, W)
    found = departure(tmp_path, ONE_HOT, recorder)
    assert (found.step, found.cause) == (601, "another step size (0.02)")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("alone", [False, True])
def test_pytorch_conforms(alone: bool, dtype: str, tmp_path: Path) -> None:
    """Also of stage 2 alone, after 900 steps of the paper's size on tokens that are orthonormal and not one-hot."""
    torch = pytest.importorskip("torch")
    kind, data = getattr(torch, dtype), COUNTED
    if alone:
        data = random_dataset(4, 8, "rotated", 1)
    sizes = step_sizes(data.V, *((None, None) if alone else (0.1, 0.05)))
    E, pi = torch.tensor(data.embeddings, dtype=kind), torch.tensor(data.frequencies, dtype=kind)
    n = data.collocation.function
    following = torch.tensor([data.index[n[x]] for x in data.vocabulary])
    bags = [torch.tensor([data.index[x] for x in sample.tokens]) for sample in data.samples]
    answer = torch.tensor([data.index[sample.next] for sample in data.samples])
    entropy = torch.nn.functional.cross_entropy

    def loss1(W_ov: Any) -> Any:
        return entropy(E @ W_ov.T, following, reduction="sum")

    def loss2(W_kq: Any) -> Any:
        context = torch.stack([torch.softmax(E[x] @ W_kq @ E[x[-1]], 0) @ E[x] for x in bags])
        return (pi * entropy(context @ frozen.T, answer, reduction="none")).sum()

    recorder = Recorder(*sizes)
    frozen = torch.zeros(data.V, data.V, dtype=kind)
    stages_of: Any = ((loss1, recorder.stage1, 900 if alone else 40), (loss2, recorder.stage2, 20))
    for (loss, keep, steps), lr in zip(stages_of, sizes, strict=True):
        W = torch.zeros(data.V, data.V, dtype=kind, requires_grad=True)
        keep(0, W)
        for t in range(1, steps + 1):
            (G,) = torch.autograd.grad(loss(W), W)
            W = (W - lr * G / G.norm()).detach().requires_grad_()
            keep(t, W)
        frozen = W.detach() if loss is loss1 else frozen
    recorded = read(tmp_path, data, recorder)
    for one in compared(data, replace(recorded, stage1=None) if alone else recorded):
        assert one.departs_at is None
        assert one.decided == one.records or (alone and dtype == "float32")


def test_adams_bar_has_the_error_of_both_moments() -> None:
    """At the first step it is lr g/|g|; m and v are each off by the gradient's bar."""
    found = TextbookGradient(np.array([[4.0, -2.0]]), np.array([[0.25, 0.25]]))
    stage: Any = SimpleNamespace(gradient=lambda W: found, u=0.0)
    change, bar = adaptive(stage, 0.5)(np.zeros((1, 2)))
    np.testing.assert_allclose(change, [[-0.5, 0.5]], rtol=1e-7)
    assert bar == pytest.approx(0.5 * np.hypot(2 * 0.25 / 4, 2 * 0.25 / 2))


def test_a_stage_1_that_is_not_recorded_has_the_precision_of_stage_2(tmp_path: Path) -> None:
    whole = read(tmp_path, ONE_HOT, run(ONE_HOT, np.float32, (40, 12), (1.0, 0.05)))
    (second,) = compared(ONE_HOT, replace(whole, stage1=None), steps1=40)
    assert second.departs_at is None
