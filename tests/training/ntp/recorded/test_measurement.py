"""Recorded weights measured like our own: values against plain numbers, error bars against exact Algorithm 1."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import flint
import mpmath
import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from marginaudit.record import Recorder
from marginaudit.training.ntp import Training, train
from marginaudit.training.ntp.recorded import measurement
from marginaudit.training.ntp.recorded.comparison import compared
from marginaudit.training.ntp.recorded.measurement import recorded_training
from marginaudit.training.ntp.recorded.trajectory import read_trajectory
from marginaudit.training.weight_files.run_file import RunFile
from tests.oracle.descent import Matrix
from tests.training.ntp.naive import both_stages, off_direction
from tests.training.ntp.recorded.program import Mistake, run

ONE_HOT = CASES["example-1"]()
TURNED = replace(ONE_HOT, embedding=np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0])
WIDE = replace(ONE_HOT, embedding=np.linalg.qr(np.random.default_rng(4).normal(size=(6, 6)))[0][:4])
EMBEDDED = replace(ONE_HOT, embedding=np.random.default_rng(3).normal(size=(4, 3)))
STEPS, LR = (40, 30), (0.1, 0.05)


def measured(data: Dataset, recorder: Recorder, folder: Path) -> tuple[Training, bool]:
    recorder.save(folder / "run.npz")
    found = read_trajectory(folder / "run.npz", data)
    stages = compared(data, found)
    conforms = all(one.departs_at is None for one in stages)
    return recorded_training(data, found, stages, solve_ov(data), solve_kq(data)), conforms


@pytest.mark.parametrize("data", [ONE_HOT, TURNED, EMBEDDED], ids=["one-hot", "turned", "embedded"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("every", [1, 7])
def test_error_bars_of_a_run_that_conforms_reach_our_own(data: Dataset, dtype: Any, every: int, tmp_path: Path) -> None:
    found, conforms = measured(data, run(data, dtype, STEPS, LR, every=every), tmp_path)
    assert conforms
    u = float(np.finfo(dtype).eps)
    for stage in ("stage1", "stage2"):
        record = getattr(found, stage)
        own = getattr(
            train(
                data,
                steps1=40,
                steps2=30,
                lr1=0.1,
                lr2=0.05,
                at=record.step.tolist(),
                ov_reference=solve_ov(data),
                kq_reference=solve_kq(data),
            ),
            stage,
        )
        own_bar = np.where(own.step > 0, own.distance_error, 0)
        later = record.step > 0
        apart = abs(record.distance - own.distance)[later]
        assert (apart <= (record.distance_error + own_bar)[later]).all()
        assert (record.loss == pytest.approx(own.loss, rel=100 * u, abs=0)) or dtype is np.float32
    if data is not EMBEDDED:
        assert found.common_margin
        assert abs(found.margin - 40 * 0.1 / 3**0.5) <= found.margin_error + 1e-14
        assert found.stage2.distance_error[-1] < 2000 * u


@pytest.mark.parametrize(
    "data",
    [
        Dataset("one token", ("a",), (Sample(("a", "a"), "a"),), (1,), next_token={"a": "a"}),
        Dataset("no pair", ("a", "b"), (Sample(("a", "a"), "b"),), (1,), next_token={"a": "b", "b": "a"}),
    ],
    ids=lambda data: data.name,
)
def test_weights_that_stay_0_are_measured_too(data: Dataset, tmp_path: Path) -> None:
    recorder = Recorder(lr1=0.1, lr2=0.05)
    for t in range(4):
        own = train(data, steps1=t, steps2=3, lr1=0.1, lr2=0.05, at=range(4), ov_reference=solve_ov(data))
        recorder.stage1(t, own.W_ov)
        recorder.stage2(t, np.zeros((data.V, data.V)))
    found, conforms = measured(data, recorder, tmp_path)
    assert conforms
    assert found.margin_error < 1e-12
    for mine, theirs in ((own.stage1, found.stage1), (own.stage2, found.stage2)):
        for name in ("loss", "norm", "one_minus_cos"):
            np.testing.assert_allclose(theirs.columns()[name], mine.columns()[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_sparse_runs_against_high_precision(dtype: Any, tmp_path: Path) -> None:
    for seed in range(4):
        lr = (0.2 / 5**0.5, 0.05 / 5**0.5)  # the paper's
        rng = np.random.default_rng(seed)
        data = free_dataset(V=5, N=6, L=4, seed=seed)
        T, last = (int(x) for x in rng.integers(3, 30, 2))
        at = sorted({T, last, *rng.integers(1, max(T, last), 3).tolist()})
        whole = run(data, dtype, (T, last), lr)
        whole.save(tmp_path / "whole.npz")
        with np.load(tmp_path / "whole.npz") as file:
            kept = dict(file)
        sparse = Recorder(*lr)
        for t in at:
            if t <= T:
                sparse.stage1(t, kept["W_ov"][t])
            if t <= last:
                sparse.stage2(t, kept["W_kq"][t])
        found, conforms = measured(data, sparse, tmp_path)
        assert conforms
        ov, kq = (solve(data).optimal().scores for solve in (solve_ov, solve_kq))
        with flint.ctx.workprec(700):
            first, second = both_stages(data, T, last, lr)
            rows1 = [(stage1_loss(data, B), B, ov) for B in first]
            rows2 = [(state.log_loss.exp(), state.scores, kq) for state in second]
            for record, rows in ((found.stage1, rows1), (found.stage2, rows2)):
                for i, t in enumerate(record.step.tolist()):
                    loss, W, star = rows[t]
                    norm = float(sum((b * b for row in W for b in row), flint.arb(0)).sqrt())
                    bar = record.distance_error[i] + 1e-13
                    assert abs(record.norm[i] - norm) <= bar * norm + 1e-15
                    if t:
                        gap = off_direction([w for row in W for w in row], star)
                        assert abs(record.distance[i] - (2 * abs(gap)) ** 0.5) <= bar + 1e-8 * (dtype is np.float64)
                    assert record.loss[i] == pytest.approx(float(loss), rel=1e-4, abs=0)


def stage1_loss(data: Dataset, B: Matrix) -> flint.arb:
    """The sum over tokens of log sum over v of exp(B[v][x] - B[n(x)][x])."""
    n = [data.index[data.collocation.function[x]] for x in data.vocabulary]
    columns = (sum(((row[x] - B[y][x]).exp() for row in B), flint.arb(0)) for x, y in enumerate(n))
    return sum((total.log() for total in columns), flint.arb(0))


def test_a_run_that_departs_is_measured_as_it_is(tmp_path: Path) -> None:
    """Also where entries are not 0 that Algorithm 1 leaves at 0."""
    for mistake in (Mistake(start=0.1), Mistake(optimizer="adam")):
        found, conforms = measured(ONE_HOT, run(ONE_HOT, steps=STEPS, lr=LR, mistake=mistake), tmp_path)
        with np.load(tmp_path / "run.npz") as file:
            W = file["W_kq"]
        star = solve_kq(ONE_HOT).optimal().matrix
        assert not conforms
        assert found.stage2.norm == pytest.approx(np.linalg.norm(W, axis=(1, 2)), rel=1e-14, abs=0)
        cos = (W[1:] * star).sum((1, 2)) / np.linalg.norm(W[1:], axis=(1, 2)) / np.linalg.norm(star)
        assert found.stage2.one_minus_cos[1:] == pytest.approx(1 - cos, abs=1e-14)
        assert found.stage2.score(0, 1) == pytest.approx(W[:, 0, 1], rel=1e-14, abs=1e-15)
        assert (found.stage2.distance_error[1:] <= 1e-14).all()
        assert found.W_kq == pytest.approx(W[-1], abs=1e-15)


@pytest.mark.parametrize("data", [ONE_HOT, WIDE], ids=["one-hot", "weights outside of what the embeddings span"])
def test_stage_1_that_departs_gives_the_margins_of_stage_2(data: Dataset, tmp_path: Path) -> None:
    recorder, E = Recorder(*LR), data.embeddings
    W_ov = np.random.default_rng(0).normal(size=E.shape)
    recorder.stage1(1, W_ov)
    recorder.stage2(0, np.zeros((E.shape[1], E.shape[1])))
    found, conforms = measured(data, recorder, tmp_path)
    assert (conforms, found.common_margin) == (False, False)
    answer, scores = [data.index[data.collocation.function[x]] for x in data.vocabulary], W_ov @ E.T
    others = [scores[answer[x], x] - scores[v, x] for x in range(4) for v in range(4) if v != answer[x]]
    assert found.stage1.min_margin[0] == pytest.approx(min(others))
    assert found.stage1.norm[0] == pytest.approx(np.linalg.norm(W_ov))
    assert 0 < found.margin_error < 1e-13


def test_margins_that_are_one_but_for_rounding_are_common(tmp_path: Path) -> None:
    """7/2 in place of t eta0, so that ||W|| is 6.06; one token's weights are off by 5.7 roundings of 1, or by 12.6."""
    answer = [ONE_HOT.index[ONE_HOT.collocation.function[x]] for x in ONE_HOT.vocabulary]
    for off, common in ((4, True), (12, False)):
        W, recorder = 3.5 * (np.eye(4)[:, answer] - 0.25), Recorder(*LR)
        W[answer[:2], 0] += np.array([off, -4]) * 2.0**-24
        recorder.stage1(1, W.astype(np.float32))
        found, conforms = measured(ONE_HOT, recorder, tmp_path)
        assert (conforms, found.common_margin) == (False, common)
        mean = (3 * off + 4) / 12
        assert found.margin_spread == pytest.approx((off + 4 - mean) * 2.0**-24, rel=1e-6, abs=0)


def test_what_lies_outside_of_the_embeddings_counts_to_the_bar(tmp_path: Path) -> None:
    """Ten roundings of single precision, of which fourteen may lie there."""
    recorder, E = Recorder(*LR), WIDE.embeddings
    outside = np.linalg.svd(E)[2][-1]
    W = np.random.default_rng(0).normal(size=(4, 4)) @ E
    W += 10 * 2.0**-24 * np.linalg.norm(W) * np.outer([1, 0, 0, 0], outside)
    recorder.stage1(1, W.astype(np.float32))
    found, conforms = measured(WIDE, recorder, tmp_path)
    assert not conforms
    assert 10 * 2.0**-24 < found.stage1.distance_error[0] < 12 * 2.0**-24


def test_rounded_weights_are_no_farther_from_the_law_than_the_bar(tmp_path: Path) -> None:
    """T steps are T eta0 W* / ||W*||, with 1 at n(x) and 0 elsewhere less 1/4 in column x of W*, of length sqrt 3."""
    recorder, exact = Recorder(*LR), {}
    star = np.eye(4)[:, [ONE_HOT.index[ONE_HOT.collocation.function[x]] for x in ONE_HOT.vocabulary]] - 0.25
    with mpmath.workdps(40):
        for t in range(1, 30):
            exact[t] = t * mpmath.mpf(LR[0]) / mpmath.sqrt(3) * mpmath.matrix(star.tolist())
            recorder.stage1(t, np.array(exact[t].tolist(), dtype=float))
        found, conforms = measured(ONE_HOT, recorder, tmp_path)
        assert conforms
        for W, bar in zip(exact.values(), found.stage1.distance_error, strict=True):
            off = W - mpmath.matrix(np.array(W.tolist(), dtype=float).tolist())
            assert 0 < mpmath.mnorm(off, "f") <= bar * mpmath.mnorm(W, "f")
            assert bar < 1e-14


def test_of_a_long_trajectory_log_spaced_records_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "MOST_NUMBERS", 1)
    monkeypatch.setattr(measurement, "FEWEST", 10)
    found, conforms = measured(ONE_HOT, run(ONE_HOT, steps=STEPS, lr=LR), tmp_path)
    assert conforms
    assert found.stage2.step[[0, -1]].tolist() == [0, 30]
    assert len(found.stage2) <= 10


def test_a_stage_2_on_another_stage_1_is_measured_by_itself(tmp_path: Path) -> None:
    """It conforms to its own W_ov; its error bars are the file's roundings, and not those of Algorithm 1's run."""
    first = train(ONE_HOT, steps1=50, steps2=0, lr1=0.2, lr2=0.025)
    recorder = Recorder(0.1, 0.025)
    recorder.stage1(50, first.W_ov.astype(np.float32))
    for t in range(21):
        recorder.stage2(t, train(ONE_HOT, steps1=50, steps2=t, lr1=0.2, lr2=0.025).W_kq.astype(np.float32))
    found, _ = measured(ONE_HOT, recorder, tmp_path)
    both = compared(ONE_HOT, read_trajectory(tmp_path / "run.npz", ONE_HOT))
    assert [one.departs_at is None for one in both] == [False, True]
    assert found.stage2.distance_error[1:] == pytest.approx(2.0**-24, rel=1e-3, abs=0)


def test_error_bars_of_a_product_cover_the_rounding_of_both_factors(tmp_path: Path) -> None:
    """W_kq = k^T q, entries of k and q much larger than its own, in float32 beside the product before rounding."""
    random = np.random.default_rng(0)
    W, k = random.normal(size=(6, 4, 4)).cumsum(axis=0), np.broadcast_to(np.eye(4) + 1e4, (6, 4, 4))
    head, step = random.normal(size=(4, 4)), np.arange(6)
    np.savez(tmp_path / "exact.npz", allow_pickle=False, step2=step, W_kq=W, W_ov=head)
    factors = {"k": k.astype(np.float32), "q": np.linalg.solve(k[0].T, W).astype(np.float32)}
    np.savez(tmp_path / "wide.npz", allow_pickle=False, step=step, head=head, **factors)
    both = []
    for name, rules in (("exact", ()), ("wide", ("W_kq = k.T @ q", "W_ov = head"))):
        run = read_trajectory(RunFile(tmp_path / f"{name}.npz", rules, "given"), ONE_HOT)
        both.append(recorded_training(ONE_HOT, run, compared(ONE_HOT, run), None, solve_kq(ONE_HOT)).stage2)
    exact, wide = both
    apart = np.abs(exact.distance - wide.distance)
    assert (apart <= exact.distance_error + wide.distance_error).all()
    assert apart.max() > wide.distance_error.max() / 1000
