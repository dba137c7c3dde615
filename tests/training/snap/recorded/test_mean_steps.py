"""Error bars of mean steps: how often they cover the true means, for SGD, momentum and Adam, and how wide they are."""

from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit.orders.arrays import Floats
from marginaudit.training.approximation import Approximation
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.recorded import batch, mean_steps
from marginaudit.training.snap.recorded.batch import moments_of_Z, sequences
from marginaudit.training.snap.recorded.mean_steps import GRID, WINDOWS, BatchRule, MeanGradients, MeanSteps, phi
from marginaudit.training.snap.recorded.repeated import RUNS, MeanOfRuns, standardised
from marginaudit.training.snap.recorded.step import Tokens
from tests.training.snap.recorded.batches import Batches
from tests.training.snap.recorded.program import THREE

LOGITS, TOKENS = Logits(THREE), Tokens(THREE)
PAIRS = len(LOGITS.names)
CONFIDENCE = 0.99


def along(pair: int) -> mean_steps.Vectors:
    return lambda z: np.broadcast_to((np.arange(PAIRS) == pair).astype(float), z.shape)


def by_state(z: Floats) -> Floats:
    """A vector that depends on the weights before a step."""
    return np.asarray(np.cos(5 * z) + np.arange(PAIRS))


VECTORS = (*(along(pair) for pair in range(PAIRS)), by_state)


def gradients_of(run: Batches, confidence: float = CONFIDENCE, seed: int = 0) -> tuple[MeanGradients, Floats]:
    """Mean steps of a run, and their true values: means over all sequences at the weights before each step."""
    decoder, attention = run.run(THREE)
    rule = BatchRule(run.batch, run.length, run.momentum)
    found = MeanGradients(LOGITS, decoder, attention, rule, run.lr_z, seed, confidence)
    draws = sequences(TOKENS, run.length, 1, np.random.default_rng(0))
    true = [
        moments_of_Z(TOKENS, decoder.weights[i], attention.weights[i], draws, 1).mean[found.place] for i in found.before
    ]
    return found, np.array(true)


def z_scores(found: MeanSteps, true: Floats) -> Floats:
    """Distance of each mean from the true one, in error bars."""
    every, scores = np.ones(len(found.before), dtype=bool), []
    windows = found.windows(every)
    for of in VECTORS:
        mean = found.means(of, every)
        expected = windows @ (true * of(found.states.value)).sum(axis=1) / windows.sum(axis=1)
        scores.append((mean.value - expected) / mean.error)
    return np.array(scores)


@pytest.mark.parametrize("enumerated", [True, False])
@pytest.mark.parametrize(("size", "momentum"), [(1, 0.0), (4, 0.0), (16, 0.9)])
def test_error_bars_cover_the_means_over_all_sequences(
    size: int, momentum: float, enumerated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each of thirty runs all bars cover, and noise fills a good part of some: they are not idly wide."""
    largest = []
    for seed in range(30):
        run = Batches(batch=size, length=3, steps=40, lr_z=0.5, momentum=momentum, seed=seed)
        with monkeypatch.context() as patch:
            decoder, attention = run.run(THREE)
            found, true = gradients_of(run)
            if not enumerated:
                patch.setattr(batch, "MOST_COUNTS", 0)
                found = MeanGradients(LOGITS, decoder, attention, BatchRule(size, 3, momentum), 0.5, seed, CONFIDENCE)
            largest.append(np.abs(z_scores(found, true)).max())
    assert max(largest) < 1
    assert np.median(largest) > 0.3


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_a_run_of_another_rule_is_outside(momentum: float) -> None:
    """The same runs with the wrong sign of Z's gradient, and a momentum that is not the declared one."""
    wrong = Batches(batch=64, length=3, steps=40, lr_z=-0.5, momentum=momentum)
    decoder, attention = wrong.run(THREE)
    found = MeanGradients(LOGITS, decoder, attention, BatchRule(64, 3, momentum), 0.5, 0, CONFIDENCE)
    _, true = gradients_of(wrong)
    assert np.abs(z_scores(found, true)).max() > 2


def test_the_variance_of_sampled_costs_is_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "MOST_COUNTS", 0)
    decoder, attention = Batches(batch=4, length=3, steps=4, lr_z=0.5).run(THREE)
    vector = np.broadcast_to(np.arange(PAIRS) == 0, (4, PAIRS)).astype(float)
    rows = [
        MeanGradients(LOGITS, decoder, attention, BatchRule(4, 3), 0.5, seed, CONFIDENCE).costs(vector)
        for seed in range(300)
    ]
    costs, variances = (np.array([one[i] for one in rows])[:, 12, 1:] for i in range(2))  # lam = 4; step 1 is 0
    np.testing.assert_allclose(variances.mean(axis=0), costs.var(axis=0, ddof=1), rtol=0.4)
    # the bar has three standard errors of the sum
    found = MeanGradients(LOGITS, decoder, attention, BatchRule(4, 3), 0.5, 0, CONFIDENCE)
    mean, variance = found.costs(vector)
    asked = np.log(len(GRID) / found.chance)
    expected = np.nanmin((asked + mean.sum(axis=1) + 3 * np.sqrt(variance.sum(axis=1))) / GRID)
    assert found.bars(lambda _: vector, np.ones((1, 4), dtype=bool))[0] == pytest.approx([expected], rel=1e-12, abs=0)


def test_rounding_of_the_file_is_in_the_bars() -> None:
    decoder, attention = Batches(batch=64, length=3, steps=40, lr_z=1e-4).run(THREE)
    rough = Recorded(attention.step, attention.weights.astype(np.float32))
    fine, coarse = (
        MeanGradients(LOGITS, decoder, one, BatchRule(64, 3, 0.5), 1e-4, 0, CONFIDENCE) for one in (attention, rough)
    )
    off = np.abs(fine.moved.value - coarse.moved.value)
    assert (off <= coarse.moved.error).all()
    assert (off > 0.1 * coarse.moved.error).any()
    every = np.ones(40, dtype=bool)
    wider = coarse.means(along(0), every).error - fine.means(along(0), every).error
    assert (wider >= 0.5 * (coarse.windows(every) @ coarse.moved.error[:, 0]) / 10).all()


@pytest.mark.parametrize("top", [1e-9, -1e-3, 0.5, 30.0])
def test_phi(top: float) -> None:
    with mpmath.workdps(50):
        expected = float(mpmath.expm1(top) - top)
    assert phi(np.array(top)) == pytest.approx(expected, rel=1e-6, abs=1e-24)


def test_steps_that_the_file_does_not_show_alone_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder, attention = Batches(batch=4, length=3, steps=9, lr_z=0.5).run(THREE)

    def shown(momentum: float, *records: int) -> list[int]:
        Y, Z = (Recorded(one.step[list(records)], one.weights[list(records)]) for one in (decoder, attention))
        found = MeanGradients(LOGITS, Y, Z, BatchRule(4, 3, momentum), 0.5, 0, CONFIDENCE)
        return [int(t) for t in found.step]

    assert shown(0.0, 0, 1, 2, 5, 6, 8) == [1, 2, 6]
    assert shown(0.9, 0, 1, 2, 5, 6, 7) == [1, 2, 7]
    assert shown(0.9, 1, 2, 3) == [3]
    assert shown(0.0, 0, 2) == []
    monkeypatch.setattr(mean_steps, "MOST_STEPS", 4)
    assert shown(0.0, *range(10)) == [1, 4, 6, 9]


def test_windows_have_the_steps_that_are_chosen() -> None:
    found, _ = gradients_of(Batches(batch=4, length=3, steps=40, lr_z=0.5))
    chosen = np.zeros(40, dtype=bool)
    chosen[[0, 3, 25]] = True
    assert found.ends(chosen).tolist() == [4, 26]
    mean = found.means(along(2), chosen)
    moved = found.moved.value[:, 2]
    shift = [(found.bars(along(2), row[np.newaxis])) for row in found.windows(chosen)]
    expected = [
        (moved[[0, 3]].sum() + (shift[0][1][0] - shift[0][0][0]) / 2) / 2,
        moved[25] + (shift[1][1] - shift[1][0])[0] / 2,
    ]
    np.testing.assert_allclose(mean.value, expected)
    assert len(found.ends(np.ones(40, dtype=bool))) == WINDOWS


def adam_steps(run: Batches, seed: int = 0) -> MeanOfRuns:
    rule = BatchRule(run.batch, run.length)
    return MeanOfRuns(LOGITS, *run.run(THREE), rule, (run.lr_y, run.lr_z), seed, adam=True)


MOMENTUM: dict[str, Any] = {"batch": 16, "length": 20, "steps": 40, "lr_y": 0.1, "lr_z": 0.05, "momentum": 0.9}

ADAM: dict[str, Any] = {"batch": 16, "length": 20, "steps": 40, "lr_y": 0.1, "lr_z": 0.05, "adam": True}


def test_error_bars_cover_the_means_over_runs_of_adam() -> None:
    """Of a program in NumPy, by repetitions of the compiled kernel: the bars of 99 in 100 runs cover."""
    runs, every = [adam_steps(Batches(**ADAM, seed=seed), seed) for seed in range(100)], np.ones(40, dtype=bool)
    missed = np.zeros(100, dtype=bool)
    for of in VECTORS:
        means = [one.means(of, every) for one in runs]
        values, bars = (np.array([getattr(one, name) for one in means]) for name in ("value", "error"))
        deviation = values.std(axis=0, ddof=1)
        missed |= (np.abs(values - values.mean(axis=0)) > bars + deviation / 5).any(axis=1)
        assert (bars[:, 1:].mean(axis=0) < 10 * deviation[1:]).all()
    assert missed.sum() <= 4


def test_records_with_gaps_are_compared_with_repetitions_of_their_spans() -> None:
    """From a record after the first: with the spans' lengths, means per step are near those of single steps."""
    kept, single = [3, 5, 8, 12, 20, 24, 40], []
    spans: list[Approximation] = []
    for seed in range(40):
        decoder, attention = Batches(batch=16, length=20, steps=40, lr_z=0.5, seed=seed).run(THREE)
        Y, Z = (Recorded(one.step[kept], one.weights[kept]) for one in (decoder, attention))
        found = MeanOfRuns(LOGITS, Y, Z, BatchRule(16, 20), (1.0, 0.5), seed)
        assert found.step.tolist() == kept[1:]
        assert found.sequences == RUNS * 16 * 37
        spans.append(found.means(along(0), np.ones(6, dtype=bool)))
        z = attention.weights[:, 0, LOGITS.data.index[LOGITS.names[0][1]]] / 0.5
        single.append([(z[8] - z[3]) / 5, (z[12] - z[8]) / 4, (z[24] - z[12]) / 12, (z[40] - z[24]) / 16])
    np.testing.assert_allclose([one.value for one in spans], single, rtol=1e-9)
    # each run has its own start, whose mean is not that of the others; bars are of one run from there
    assert (np.std(single, axis=0, ddof=1) < 3 * np.mean([one.error for one in spans], axis=0)).all()
    zero = [
        MeanOfRuns(LOGITS, *Batches(**MOMENTUM, seed=seed).run(THREE), BatchRule(16, 20, 0.9), (0.1, 0.05), seed).means(
            along(0), np.ones(40, dtype=bool)
        )
        for seed in range(40)
    ]
    values, bars = (np.array([getattr(one, name) for one in zero]) for name in ("value", "error"))
    missed = np.abs(values - values.mean(axis=0)) > bars + values.std(axis=0, ddof=1) / 3
    assert missed.any(axis=1).sum() <= 2
    assert (bars.mean(axis=0) < 8 * values.std(axis=0, ddof=1)).all()


def test_a_wrong_sign_under_adam_is_outside() -> None:
    right, wrong = (
        MeanOfRuns(LOGITS, *Batches(**ADAM | {"lr_z": lr}).run(THREE), BatchRule(16, 20), (0.1, 0.05), 0, adam=True)
        for lr in (0.05, -0.05)
    )
    every = np.ones(40, dtype=bool)
    bars = [one.means(along(1), every) for one in (right, wrong)]
    assert (bars[0].value - bars[0].error > 0)[:2].all()
    assert (bars[1].value + bars[1].error < 0)[:2].any()


def test_distances_are_from_the_mean_of_the_others() -> None:
    values = np.random.default_rng(0).normal(size=(7, 3))
    values[:, 2] = 1.0
    for i, row in enumerate(standardised(values)):
        others = np.delete(values, i, axis=0)
        expected = np.abs(values[i] - others.mean(axis=0))[:2] / others.std(axis=0, ddof=1)[:2]
        np.testing.assert_allclose(row, [*expected, 0.0])


def test_the_bars_of_repetitions_are_those_of_the_farthest() -> None:
    """In the mean over windows and pairs, as few as one run in a hundred is farther off than all repetitions."""
    found, every = adam_steps(Batches(**ADAM)), np.ones(40, dtype=bool)
    bars = np.array([found.bars(along(pair), found.windows(every))[0] for pair in range(PAIRS)])
    windows, rng = found.windows(every), np.random.default_rng(5)
    rule, more = BatchRule(16, 20), []
    for _ in range(3):
        again = MeanOfRuns(LOGITS, *Batches(**ADAM).run(THREE), rule, (0.1, 0.05), int(rng.integers(10**6)), adam=True)
        more.append(np.array([again.bars(along(pair), windows)[0] for pair in range(PAIRS)]))
    np.testing.assert_allclose(np.median(np.array(more) / bars, axis=(1, 2)), 1, rtol=0.6)
    assert found.sequences == RUNS * 16 * 40
