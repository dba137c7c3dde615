"""Draws of classes: their law, and that a seed's draws are its own."""

import numpy as np
import pytest
from scipy.stats import chisquare

from marginaudit.training.snap.counts.drawn import class_counts, class_sequences, generators
from tests.training.snap.dense import counts_of

FREQUENCY = [0.5, 0.3, 0.2]
FOUR = [0.25] * 4


def test_sequences_and_counts_follow_the_frequencies() -> None:
    seeds, steps = 3000, 40
    sequences = class_sequences(steps, FREQUENCY, seeds, entropy=1)
    drawn = np.array([counts_of(sequence, [15, steps], K=3) for sequence in sequences])
    for counts in (drawn, class_counts([15, steps], FREQUENCY, seeds, entropy=1)):
        assert (counts.sum(axis=2) == [15, steps]).all()
        assert chisquare(counts[:, 1].sum(axis=0), steps * seeds * np.array(FREQUENCY)).pvalue > 1e-3
        later = counts[:, 1] - counts[:, 0]
        for t, part in ((15, counts[:, 0]), (25, later)):
            expected = t * (np.diag(FREQUENCY) - np.outer(FREQUENCY, FREQUENCY))
            np.testing.assert_allclose(np.cov(part.T), expected, atol=0.1 * t * 0.25)
        assert abs(np.corrcoef(counts[:, 0, 0], later[:, 0])[0, 1]) < 0.06


def test_a_seed_draws_the_same_however_many_there_are() -> None:
    assert (class_sequences(50, FOUR, 9, entropy=3)[:2] == class_sequences(50, FOUR, 2, entropy=3)).all()
    assert (class_counts([7, 9, 10**12], FOUR, 9, 3)[:2] == class_counts([7, 9, 10**12], FOUR, 2, 3)).all()
    assert (class_sequences(50, FOUR, 2, entropy=3) == class_sequences(80, FOUR, 2, entropy=3)[:, :50]).all()
    one, other = class_sequences(50, FOUR, 2, entropy=3)
    assert (one != other).any()
    assert (one != class_sequences(50, FOUR, 1, entropy=4)[0]).any()


def test_states_of_the_one_generator_are_those_of_spawned_ones() -> None:
    spawned = [np.random.default_rng(child) for child in np.random.SeedSequence(5).spawn(3)]
    assert [rng.random() for rng in generators(3, 5)] == [rng.random() for rng in spawned]


def test_counts_drawn_again_are_shared_and_cannot_be_changed() -> None:
    counts = class_counts([7, 9], FOUR, 2, 3)
    assert class_counts((7, 9), FOUR, 2, 3) is counts
    with pytest.raises(ValueError, match="read-only"):
        counts[0] = 0


@pytest.mark.parametrize(
    "frequency", [[0.5, 0.4], [1.5, -0.5], [np.nan, 1.0], [0.5, 0.5 + 1.1e-12], [0.5, 0.5 - 1.1e-12]]
)
def test_no_frequencies(frequency: list[float]) -> None:
    expected = r"^frequency: got .*, expected numbers from 0 on of sum 1"
    with pytest.raises(ValueError, match=expected):
        class_sequences(3, frequency, 1, 0)
    with pytest.raises(ValueError, match=expected):
        class_counts([3], frequency, 1, 0)


@pytest.mark.parametrize("at", [[5, 4], [-1]])
def test_recorded_steps_that_decrease(at: list[int]) -> None:
    with pytest.raises(ValueError, match=r"^at: got "):
        class_counts(at, [1.0], 1, 0)
