"""The conditions under which what is proved decides other statements about sentences, each to its end.

And the steps t with t >= factor log^power t.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb

from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_c_stage2.lemma7 import above_the_sharp_lemma7
from marginaudit.claims.ntp.appendix_c_stage2.theorem1 import above_the_sharp_direction
from marginaudit.claims.ntp.appendix_c_stage2.theorem2 import beyond_large_loss, beyond_lemma_10_1
from marginaudit.claims.ntp.bounds import Sizes, crossings, sizes
from marginaudit.claims.ntp.step_size import long_step
from marginaudit.orders.ntp import Dataset, Sample
from marginaudit.reports.ntp.paper import PAPER
from tests.papers import unmet
from tests.solutions import known


def uneven(most: int, lr2: float | None = None) -> Run:
    """Two samples, one of them so many times as frequent."""
    samples = (Sample(("a", "b"), "b"), Sample(("c", "d"), "d"))
    following = dict(zip("abcd", "bcda", strict=True))
    return Run(Dataset("uneven", tuple("abcd"), samples, (most, 1), following), Config(lr2=lr2))


def rare(power: int) -> Sizes:
    """The same with frequencies 10^power and 1, which no dataset holds."""
    return Sizes(N=2, L=2, w=arb(1), eta=arb(0.025), rarity=arb(log_rarity(power)))


FOLLOWING = ["ntp.theorem1.direction", "ntp.lemma7", "ntp.theorem2.weight", "ntp.theorem2.loss.any-step"]


@pytest.mark.parametrize("target", FOLLOWING)
def test_the_bounds_of_stage_2_follow_for_frequencies_that_a_dataset_may_have(target: str) -> None:
    assert unmet(PAPER, target)(uneven(2**52)) is None


def test_the_sizes_are_those_of_the_run() -> None:
    found = known(sizes(uneven(10**6, lr2=0.5)))
    assert (found.N, found.L, found.w == 1, found.eta == 0.5) == (2, 2, True, True)
    assert float(found.rarity) == pytest.approx(log_rarity(6), abs=1e-12)


def log_rarity(power: int) -> float:
    """log(2 L^3/pi_min) of frequencies 10^power and 1."""
    return float(np.log(16.0) + np.logaddexp(0, power * np.log(10.0)))


@pytest.mark.parametrize(
    ("power", "eta"),
    [*((power, 0.025) for power in (0, 100, 1000, 5000, 5500, 6000, 7000, 10000)), (0, 230.0), (0, 300.0)],
)
def test_theorem_1_follows_exactly_where_no_step_is_an_exception(power: int, eta: float) -> None:
    """b of sharp.theorem1 against max(printed, 2), step by step: w = 1, N = L = 2."""
    t = np.geomspace(2, 1e12, 200_000)
    rarity = log_rarity(power)
    sharp = ((2 * rarity + eta) * (1 + np.log(t)) + np.sqrt(2) * eta) / (t * eta)
    printed = 54 * 2 * 16 * np.log(t) ** 2 / (t * eta)
    follows = bool((np.minimum(sharp, 2) <= printed).all())
    assert (above_the_sharp_direction(replace(rare(power), eta=arb(eta))) is None) == follows
    assert follows == (power < 6000 and eta < 300)


@pytest.mark.parametrize("power", [0, 65, 66, 400])
def test_lemma_7_follows_exactly_where_its_a_is_larger_beyond_the_threshold(power: int) -> None:
    r = np.geomspace(4 * np.sqrt(2) * 2, 1e12, 1000)
    follows = bool((log_rarity(power) <= 4 * 2 * 4 * (1 + np.log(4 * r))).all())
    assert (above_the_sharp_lemma7(rare(power)) is None) == follows
    assert follows == (power < 66)


@pytest.mark.parametrize("power", [0, 1000, 10_000, 14_000, 16_000, 20_000])
def test_theorem_2_follows_only_where_its_threshold_is_beyond_that_of_lemma_10_1(power: int) -> None:
    """At each step beyond the threshold 16 w^2 b(t) <= 1."""
    eta, rarity = 0.025, log_rarity(power)
    t = np.geomspace(2, 1e14, 400_000)
    t = t[t >= 1696 * 32 * np.log(t) ** 2 / eta]
    sharp = ((2 * rarity + eta) * (1 + np.log(t)) + np.sqrt(2) * eta) / (t * eta)
    follows = bool((16 * sharp <= 1).all())
    said = beyond_lemma_10_1(rare(power), 1696) is None
    assert said == follows == (power < 15_000)


def test_theorem_2_at_steps_so_long_that_its_threshold_means_nothing_is_left_alone() -> None:
    for target in ("ntp.theorem2.weight.any-step", "ntp.theorem2.loss.any-step"):
        assert "e^2" in str(unmet(PAPER, target)(uneven(1, lr2=1e5)))


@pytest.mark.parametrize("eta", [0.025, 10.0, 100.0, 150.0, 200.0, 1000.0, 4000.0, 10_000.0])
def test_eq_4_follows_only_where_its_threshold_is_beyond_the_large_losses(eta: float) -> None:
    """At each step beyond the threshold t eta > 4 theta w^3 + 2 eta w^2: w = 1, N = L = 2; no frequency matters."""
    t = np.geomspace(2, 1e14, 400_000)
    t = t[t >= 1696 * 32 * np.log(t) ** 2 / eta]
    follows = bool((t * eta > 4 * (4 * np.log(2) + 3.1) + 2 * eta).all())
    said = beyond_large_loss(replace(rare(20_000), eta=arb(eta)), 1696) is None
    assert said <= follows
    assert said == (eta <= 10_000)


def test_the_rate_follows_for_short_steps_alone() -> None:
    at = unmet(PAPER, "sharp.rate.any-step")
    assert at(uneven(1, lr2=0.25)) is None
    assert "= 0.25" in str(at(uneven(1, lr2=math.nextafter(0.25, 1))))
    large = replace(uneven(1).dataset, embedding=2 * np.eye(4))  # where the norm is 1/4, and no fraction
    assert "not known exactly" in str(at(Run(large, Config(lr2=0.1))))
    assert long_step(Run(large, Config(lr2=0.999))) is None
    assert long_step(Run(large, Config(lr2=1.001))) is not None


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("factor", [2.0, 2.8, 3.0, 4.2, 10.0, 1e4, 1e30])
def test_it_is_true_to_the_early_crossing_and_from_the_late_one_on(factor: float, power: int) -> None:
    early, late = crossings(factor, power)
    t = np.concatenate([np.linspace(2, 100, 5001), late * np.geomspace(1e-3, 1e3, 1001)])
    t = t[(t >= 2) & (abs(t / late - 1) > 1e-9) & (abs(t / max(early, 1) - 1) > 1e-9)]
    np.testing.assert_array_equal((t <= early) | (t >= late), t >= factor * np.log(t) ** power)


def test_a_factor_that_is_never_reached_crosses_nowhere() -> None:
    assert crossings(math.e * 0.999, 1) == (0.0, 2.0)
    assert crossings(0.5, 2) == (0.0, 2.0)
    assert crossings(math.e * 1.001, 1)[1] > 2.0
